/** What `svc mcp` takes. */
import { DIRECTORY, type Group, JSON_OUT, SERVER } from '../../line/page.js'

const PLACE = {
  dir: { ...DIRECTORY, help: 'by the configuration of this directory' },
  server: { ...SERVER, otherwise: 'the local one, or one for the moment' },
  json: JSON_OUT,
} as const
const WORDS = [{ name: 'server', needs: 'the name of an MCP server' }] as const

export const MCP = {
  name: 'mcp',
  alias: 'mcp',
  summary: 'list MCP servers, add and remove them, sign in to them, and accept those that a workspace brings',
  pages: [
    {
      name: 'mcp list',
      summary: 'every one, or what one offers; the word "list" may be left out',
      words: [{ name: 'server' }],
      options: { connect: { type: 'flag', help: 'connect them first' }, ...PLACE },
      examples: [
        ['svc mcp', 'every server that is configured; none is started'],
        ['svc mcp files --connect', 'connects one, and lists what it offers'],
      ],
    },
    {
      name: 'mcp add',
      summary: 'configure one for every workspace: an address, or a program with its arguments',
      words: [...WORDS, { name: 'target', needs: 'an address, or a program and its arguments', many: true }],
      options: {
        header: { type: 'text', value: 'NAME=value', multiple: true, help: 'send this header to an address; may be repeated' },
        env: { type: 'text', value: 'NAME=value', multiple: true, help: 'give the program this variable; may be repeated' },
        ...PLACE,
      },
      examples: [
        ['svc mcp add tracker https://tracker.example/mcp', 'then svc mcp login tracker, where it wants a sign-in'],
        ['svc mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/data', 'a program; what follows -- is its own'],
        [
          "svc mcp add team https://team.example/mcp --header 'Authorization=Bearer {env:TEAM_TOKEN}'",
          'the token stays in the environment',
        ],
      ],
    },
    {
      name: 'mcp remove',
      summary: 'take one out of the configuration',
      words: WORDS,
      options: PLACE,
      examples: [['svc mcp remove tracker', 'and what was signed in stays until svc mcp logout']],
    },
    {
      name: 'mcp login',
      summary: 'sign in to one, in the browser',
      words: WORDS,
      options: { print: { type: 'flag', help: 'print the address, and open no browser' }, ...PLACE },
      examples: [['svc mcp login tracker', 'waits until the browser has come back']],
      notes: ['Where the browser is on another machine, paste the whole address that it came back to.'],
    },
    {
      name: 'mcp logout',
      summary: 'forget tokens and registration of one, and end its connection',
      words: WORDS,
      options: PLACE,
      examples: [['svc mcp logout tracker', 'it asks for a sign-in again']],
    },
    {
      name: 'mcp accept',
      summary: 'use one that the workspace brings, as it stands there now',
      words: WORDS,
      options: PLACE,
      examples: [['svc mcp accept files', 'this content, and no other']],
    },
    {
      name: 'mcp revoke',
      summary: 'take that back, and end its connection',
      words: WORDS,
      options: PLACE,
      examples: [['svc mcp revoke files', 'it is not used any more']],
    },
  ],
} as const satisfies Group

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
  summary: 'list MCP servers and how they are, and accept those that a workspace brings',
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

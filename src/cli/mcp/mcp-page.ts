/** What `svc mcp` takes. */
import { DIRECTORY, JSON_OUT, type Page, SERVER } from '../table/page.js'

export const MCP = {
  name: 'mcp',
  summary: 'list MCP servers and how they are',
  words: [{ name: 'server' }],
  options: {
    connect: { type: 'flag', help: 'connect them first' },
    dir: { ...DIRECTORY, help: 'by the configuration of this directory' },
    server: { ...SERVER, otherwise: 'the local one, or one for the moment' },
    json: JSON_OUT,
  },
  examples: [
    ['svc mcp', 'every server that is configured; none is started'],
    ['svc mcp files --connect', 'connects one, and lists what it offers'],
  ],
} as const satisfies Page

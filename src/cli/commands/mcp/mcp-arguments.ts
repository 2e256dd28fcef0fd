/** The command line of `svc mcp` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import type { McpOptions } from './mcp-options.js'
import { MCP } from './mcp-page.js'

interface PlaceValues {
  readonly dir: string | undefined
  readonly server: string | undefined
  readonly json: boolean
}

/** `readUrl` checks the address of a server. */
export function readMcpArguments([action, ...rest]: readonly string[], readUrl: (value: string) => string): McpOptions {
  const page = pageOf(MCP, action)
  const placeOf = ({ dir, server, json }: PlaceValues) => ({
    directory: dir,
    server: server === undefined ? undefined : readUrl(server),
    json,
  })
  switch (page.name) {
    case 'mcp list': {
      const { values, words } = readLine(page, rest)
      return { action: 'list', ...placeOf(values), name: words[0], connect: values.connect }
    }
    case 'mcp add': {
      const { values, words } = readLine(page, rest)
      const [name = '', first = '', ...others] = words
      const target = [first, ...others] as const
      const named = { headers: values.header, environment: values.env }
      return { action: 'add', ...placeOf(values), name, target, ...named }
    }
    case 'mcp login': {
      const { values, first: name } = readLine(page, rest)
      return { action: 'login', ...placeOf(values), name, isPrinted: values.print }
    }
    case 'mcp logout': {
      const { values, first: name } = readLine(page, rest)
      return { action: 'logout', ...placeOf(values), name, isPrinted: true }
    }
    case 'mcp remove': {
      const { values, first: name } = readLine(page, rest)
      return { action: 'remove', ...placeOf(values), name }
    }
    case 'mcp accept':
    case 'mcp revoke': {
      const { values, first: name } = readLine(page, rest)
      return { action: page.name === 'mcp accept' ? 'accept' : 'revoke', ...placeOf(values), name }
    }
  }
}

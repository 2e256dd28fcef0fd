/** Kinds of contributions by the names they go by, here and in plugins that run inside the server (service.md, first section). Pure. */
export const CONTRIBUTION_KINDS = [
  'tools',
  'hooks',
  'events',
  'routes',
  'websocketRoutes',
  'messageParts',
  'providers',
  'agents',
  'commands',
  'skills',
  'systemContext',
  'prompts',
  'config',
  'mcp',
  'mcpServers',
  'lsp',
  'pty',
  'vcs',
  'workflows',
  'goals',
  'subagents',
  'semantic',
] as const

/** Those that an object says something of, by its keys. */
export function namedKinds(fields: Readonly<Record<string, unknown>>): string[] {
  return CONTRIBUTION_KINDS.filter((kind) => Object.hasOwn(fields, kind) && !isNothing(fields[kind]))
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === false || (typeof value === 'object' && Object.keys(value).length === 0)
}

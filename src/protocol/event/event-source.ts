/** Who an event is of: `source` of its envelope (http-contract §4.1, sessions-events 11.1). */

const CORE = 'svc.core'
/** Built-in plugins whose events are part of the contract, by the first word of their types. */
const PLUGINS: ReadonlyMap<string, string> = new Map([
  ['lsp', 'dev.svc.lsp'],
  ['mcp', 'dev.svc.mcp'],
  ['pty', 'dev.svc.pty'],
  ['subagent', 'dev.svc.subagents'],
  ['vcs', 'dev.svc.vcs'],
  ['workflow', 'dev.svc.workflows'],
])

export function eventSource(type: string): string {
  return PLUGINS.get(type.slice(0, type.indexOf('.'))) ?? CORE
}

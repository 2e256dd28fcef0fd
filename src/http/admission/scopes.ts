/**
 * What the scopes of a token open on a worker (subsystems d.9), by the id of an operation. A scope is no more than what stands here: neither
 * implies another, and what does not stand here is for nobody.
 *
 * I1 Reading is `agent:read`; what changes conversations, their work and files by them is `agent:use`; configuration, credentials, and what
 *    lets programs of the workspace run is `workspace:admin`.
 * I2 Management and everything of the installation is for whoever started the worker, by its files (subsystems b.13).
 * I3 A worker that ends takes nothing new on; what ends work, answers what is asked, or reads goes on until it is gone.
 */
import { SvcError } from '../../protocol/errors.js'
import type { WorkerScope } from '../../protocol/hosting/worker.js'
import type { OperationCheck } from './operations.js'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

export const SCOPED: Readonly<Record<WorkerScope, ReadonlySet<string>>> = {
  'agent:read': new Set(
    words(`
      v2.meta.get v2.openapi.get v2.runtime.get v2.identity.get v2.capabilities.list v2.audit.list v2.directories.list
      v2.agents.list v2.agents.get v2.commands.list v2.skills.list v2.tools.list v2.config.get v2.config.defaults v2.config.validate
      v2.providers.list v2.providers.configured v2.providers.authMethods v2.external.options.preview v2.sessions.external.catalog
      v2.sessions.external.options.get v2.interactions.permissions.list v2.interactions.permissions.get v2.interactions.questions.list
      v2.interactions.questions.get v2.interactions.remembered.list v2.interactions.explain v2.events.subscribe v2.sessionCatalog.subscribe
      v2.executionActivity.list v2.executionActivity.events v2.sessions.list v2.sessions.status v2.sessions.get v2.sessions.children
      v2.sessions.runtime v2.sessions.todos v2.sessions.directoryOptions v2.sessions.participants.list v2.sessions.control.get
      v2.sessions.undoTree v2.sessions.context v2.sessions.messages v2.sessions.messages.get v2.sessions.queue.list v2.sessions.diff
      v2.artifacts.list v2.artifacts.get v2.artifacts.content v2.plugins.list v2.plugins.lifecycle v2.plugins.get
      v2.plugins.workflows.list v2.plugins.workflows.get v2.plugins.workflows.preview v2.plugins.workflows.history
      v2.plugins.workflows.runs.get v2.plugins.pty.list v2.plugins.pty.shells v2.plugins.pty.get v2.plugins.vcs.get v2.plugins.vcs.status
      v2.plugins.vcs.diff v2.plugins.vcs.diff.raw v2.plugins.lsp.status v2.plugins.lsp.codeActions v2.plugins.lsp.definition
      v2.plugins.lsp.diagnostics v2.plugins.lsp.documentHighlights v2.plugins.lsp.documentSymbols v2.plugins.lsp.formatting
      v2.plugins.lsp.hover v2.plugins.lsp.implementation v2.plugins.lsp.incomingCalls v2.plugins.lsp.outgoingCalls
      v2.plugins.lsp.inlayHints v2.plugins.lsp.prepareCallHierarchy v2.plugins.lsp.references v2.plugins.lsp.signatureHelp
      v2.plugins.lsp.acceptances v2.plugins.files.formatters v2.plugins.mcp.status v2.plugins.mcp.catalog v2.plugins.mcp.prompts
      v2.plugins.mcp.resources v2.plugins.mcp.tools v2.plugins.semantic.search v2.subagents.tasks.list v2.plugins.goals.get
    `),
  ),
  'agent:use': new Set(
    words(`
      v2.external.options.previewSelected v2.sessions.external.import v2.sessions.external.options.set v2.interactions.permissions.reply
      v2.interactions.questions.reply v2.interactions.questions.reject v2.interactions.remembered.forget v2.sessions.create
      v2.sessions.update v2.sessions.delete v2.sessions.pin v2.sessions.fork v2.sessions.control.claim v2.sessions.control.release
      v2.sessions.undo v2.sessions.redo v2.sessions.revert v2.sessions.unrevert v2.sessions.prompt v2.sessions.promptAsync
      v2.sessions.abort v2.sessions.wait v2.sessions.messages.delete v2.sessions.parts.update v2.sessions.parts.delete
      v2.sessions.queue.clear v2.sessions.queue.pop v2.sessions.queue.release v2.sessions.compact v2.sessions.summarize
      v2.sessions.commands.execute v2.sessions.shell v2.sessions.export v2.sessions.import v2.sessions.jobs.cancel v2.artifacts.create
      v2.artifacts.delete v2.plugins.workflows.activate v2.plugins.workflows.pause v2.plugins.workflows.run
      v2.plugins.workflows.runs.retry v2.plugins.pty.create v2.plugins.pty.update v2.plugins.pty.remove v2.plugins.pty.connectToken
      v2.plugins.vcs.apply v2.plugins.lsp.touch v2.plugins.lsp.shutdown v2.plugins.mcp.connect v2.plugins.mcp.disconnect
      v2.plugins.mcp.tools.call v2.subagents.tasks.stop v2.plugins.goals.set v2.plugins.goals.clear v2.plugins.goals.research
    `),
  ),
  'workspace:admin': new Set(
    words(`
      v2.config.update v2.providers.auth.get v2.providers.auth.set v2.providers.auth.delete v2.providers.connections.list
      v2.providers.connections.create v2.providers.connections.rename v2.providers.connections.delete
      v2.providers.connections.setDefault v2.providers.openai.usage v2.providers.oauth.authorize v2.providers.oauth.callback
      v2.inspector.tree v2.inspector.machines v2.inspector.events v2.inspector.lines v2.inspector.trace v2.metrics.get v2.pluginSettings.get
      v2.pluginSettings.secrets.set v2.pluginSettings.secrets.delete v2.plugins.workflows.create v2.plugins.workflows.update
      v2.plugins.workflows.patch v2.plugins.workflows.delete v2.plugins.lsp.accept v2.plugins.lsp.takeBack
      v2.plugins.files.formatters.accept v2.plugins.files.formatters.takeBack v2.plugins.mcp.add v2.plugins.mcp.config
      v2.plugins.mcp.accept v2.plugins.mcp.takeBack v2.plugins.mcp.auth.start v2.plugins.mcp.auth.remove
      v2.plugins.mcp.auth.authenticate v2.plugins.mcp.auth.callback.post
    `),
  ),
}

/** I3 */
export const WHILE_ENDING: ReadonlySet<string> = new Set(
  words(`
    v2.interactions.permissions.reply v2.interactions.questions.reply v2.interactions.questions.reject v2.sessions.control.release
    v2.sessions.abort v2.sessions.wait v2.sessions.queue.clear v2.sessions.queue.pop v2.sessions.jobs.cancel v2.sessions.export
    v2.subagents.tasks.stop v2.plugins.pty.remove v2.plugins.workflows.pause
  `),
)

const NEEDED: ReadonlyMap<string, WorkerScope> = new Map(
  (Object.keys(SCOPED) as WorkerScope[]).flatMap((scope) => Array.from(SCOPED[scope], (id) => [id, scope] as const)),
)

/** `isEnding`: the worker waits for what is under way, and is gone then. */
export function checkScopes(isEnding: () => boolean): OperationCheck {
  return (contract, { scopes }, { method, scope }) => {
    if (contract?.access.class === 'open') return
    const needed = contract === undefined ? ofPlugins(method) : NEEDED.get(contract.id)
    if (needed === undefined) throw new SvcError('request.forbidden', 'This operation is not for callers of a worker.') // I2
    if (scopes?.has(needed) !== true)
      throw new SvcError('request.forbidden', `This operation needs the scope ${needed}.`, { scope: needed })
    if (scope === 'installation' && needed !== 'agent:read')
      throw new SvcError('request.forbidden', 'The installation of a worker is for whoever started it.')
    if (isEnding() && needed !== 'agent:read' && !WHILE_ENDING.has(contract?.id ?? '')) throw new SvcError('lifecycle.closed')
  }
}

function ofPlugins(method: string): WorkerScope {
  return method === 'GET' || method === 'HEAD' ? 'agent:read' : 'agent:use'
}

/**
 * What a shared control plane does not do for anybody (subsystems d.9): run agents, models or programs. By the id of an operation: what begins
 * or replays the work of an agent, and everything of the plugins that start programs, which are not there (`src/server/control-plane.ts`).
 *
 * I1 What plugins contribute is code of others: it is not there either.
 */
import { SvcError } from '../../protocol/errors.js'
import type { OperationCheck } from './operations.js'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

export const EXECUTING_HERE: ReadonlySet<string> = new Set(
  words(`
    v2.sessions.prompt v2.sessions.promptAsync v2.sessions.commands.execute v2.sessions.shell v2.sessions.compact v2.sessions.summarize
    v2.sessions.undo v2.sessions.redo v2.sessions.revert v2.sessions.unrevert v2.sessions.queue.release v2.sessions.diff
    v2.external.options.preview v2.external.options.previewSelected v2.sessions.external.catalog v2.sessions.external.import
    v2.sessions.external.options.get v2.sessions.external.options.set
    v2.plugins.goals.get v2.plugins.goals.set v2.plugins.goals.clear v2.plugins.goals.research
    v2.plugins.workflows.list v2.plugins.workflows.create v2.plugins.workflows.get v2.plugins.workflows.update v2.plugins.workflows.patch
    v2.plugins.workflows.delete v2.plugins.workflows.activate v2.plugins.workflows.pause v2.plugins.workflows.preview
    v2.plugins.workflows.run v2.plugins.workflows.history v2.plugins.workflows.runs.get v2.plugins.workflows.runs.retry
    v2.plugins.pty.list v2.plugins.pty.create v2.plugins.pty.shells v2.plugins.pty.get v2.plugins.pty.update v2.plugins.pty.remove
    v2.plugins.pty.connectToken v2.plugins.pty.connect
    v2.plugins.vcs.get v2.plugins.vcs.status v2.plugins.vcs.diff v2.plugins.vcs.diff.raw v2.plugins.vcs.apply
    v2.plugins.lsp.status v2.plugins.lsp.codeActions v2.plugins.lsp.definition v2.plugins.lsp.diagnostics
    v2.plugins.lsp.documentHighlights v2.plugins.lsp.documentSymbols v2.plugins.lsp.formatting v2.plugins.lsp.hover
    v2.plugins.lsp.implementation v2.plugins.lsp.incomingCalls v2.plugins.lsp.outgoingCalls v2.plugins.lsp.inlayHints
    v2.plugins.lsp.prepareCallHierarchy v2.plugins.lsp.references v2.plugins.lsp.signatureHelp v2.plugins.lsp.touch
    v2.plugins.lsp.acceptances v2.plugins.lsp.accept v2.plugins.lsp.takeBack v2.plugins.lsp.shutdown
    v2.plugins.mcp.status v2.plugins.mcp.add v2.plugins.mcp.catalog v2.plugins.mcp.config v2.plugins.mcp.accept v2.plugins.mcp.takeBack
    v2.plugins.mcp.connect v2.plugins.mcp.disconnect v2.plugins.mcp.prompts v2.plugins.mcp.resources v2.plugins.mcp.tools
    v2.plugins.mcp.tools.call v2.plugins.mcp.auth.start v2.plugins.mcp.auth.remove v2.plugins.mcp.auth.authenticate
    v2.plugins.mcp.auth.callback.get v2.plugins.mcp.auth.callback.post
  `),
)

export const NOT_EXECUTED = 'Nothing is executed on this server: it is a shared control plane.'

export const refuseExecution: OperationCheck = (contract) => {
  if (contract === undefined || EXECUTING_HERE.has(contract.id)) throw new SvcError('feature.not_implemented', NOT_EXECUTED) // I1
}

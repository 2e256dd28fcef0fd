/** Prompts, messages, parts and the queue of a session (http-contract §5.5). */
import type { Runtime } from '../../ports/facades.js'
import { commandRoutes } from '../../protocol/resource/command.js'
import { messageRoutes as contracts } from '../../protocol/message/message-routes.js'
import { compactionRoutes } from '../../protocol/session/compaction.js'
import type { TraceContext } from '../../protocol/trace-context.js'
import type { Binder } from '../bind.js'

export function messageRoutes(bind: Binder, { sessions, traces }: Runtime): void {
  const arrive = (sessionId: string, messageId: string | undefined, trace: TraceContext | undefined): void => {
    if (trace !== undefined) traces.arrived(sessionId, messageId, trace)
  }
  for (const mode of ['prompt', 'prompt-async'] as const) {
    bind.json(mode === 'prompt' ? contracts.prompt : contracts.promptAsync, ({ caller, params, body, trace }) => {
      arrive(params.session_id, body.messageId, trace)
      return sessions.submitPrompt(caller, params.session_id, body, mode)
    })
  }
  bind.json(commandRoutes.execute, ({ caller, params, body, signal, trace }) => {
    arrive(params.session_id, undefined, trace)
    return sessions.runCommand(caller, params.session_id, body, signal)
  })
  bind.json(commandRoutes.shell, ({ caller, params, body, signal, trace }) => {
    arrive(params.session_id, undefined, trace)
    return sessions.runShell(caller, params.session_id, body, signal)
  })
  bind.json(contracts.abort, ({ params, body }) => sessions.abort(params.session_id, body))
  bind.json(compactionRoutes.compact, ({ params, signal }) => sessions.compact(params.session_id, signal))
  bind.json(compactionRoutes.summarize, async ({ params, signal }) => {
    await sessions.compact(params.session_id, signal)
    return true
  })
  bind.json(contracts.wait, ({ params, signal }) => sessions.wait(params.session_id, signal))
  bind.json(contracts.context, ({ params }) => sessions.context(params.session_id))
  bind.json(contracts.list, ({ params, query }) => sessions.messages(params.session_id, query))
  bind.json(contracts.get, ({ params }) => sessions.message(params.session_id, params.message_id))
  bind.json(contracts.delete, ({ params }) => sessions.deleteMessage(params.session_id, params.message_id))
  bind.json(contracts.updatePart, ({ params, body }) => sessions.updatePart(params.session_id, params.message_id, params.part_id, body))
  bind.json(contracts.deletePart, ({ params }) => sessions.deletePart(params.session_id, params.message_id, params.part_id))
  bind.json(contracts.queue, ({ params }) => sessions.queue(params.session_id))
  bind.json(contracts.clearQueue, ({ params }) => sessions.clearQueue(params.session_id))
  bind.json(contracts.releaseQueue, ({ caller, params, query }) => sessions.releaseQueue(caller, params.session_id, query.messageId))
  bind.json(contracts.popQueue, ({ params, query }) => sessions.popQueue(params.session_id, query.messageId))
}

/**
 * What a server asks while it is called: a question for the person, or one for the model (subsystems f.3).
 *
 * I1 Neither is asked anything in the name of a server unless all calls it is working on belong to one session.
 */
import type { CreateMessageRequest, CreateMessageResult, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import type { ToolContext } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { SessionListener } from '../link/session.js'

export interface Answering {
  ask(request: ElicitRequest['params'], context: ToolContext, signal: AbortSignal): Promise<ElicitResult>
  sample(request: CreateMessageRequest['params'], context: ToolContext, signal: AbortSignal): Promise<CreateMessageResult>
}

/** `calls`: those the server is working on now. */
export function listenFor(answering: Answering, calls: ReadonlySet<ToolContext>): Pick<SessionListener, 'onAsked' | 'onSampled'> {
  const asked = new WeakMap<ToolContext, number>()
  return {
    async onAsked(request, signal) {
      const context = asker(calls)
      const count = context === undefined ? 0 : (asked.get(context) ?? 0) + 1
      if (context === undefined || count > LIMITS.mcp.elicitations) return { action: 'cancel' }
      asked.set(context, count)
      return answering.ask(request, context, signal)
    },
    async onSampled(request, signal) {
      const context = asker(calls)
      if (context === undefined) throw new Error('The model is asked during the calls of one session only.')
      return answering.sample(request, context, signal)
    },
  }
}

/** I1 */
function asker(calls: ReadonlySet<ToolContext>): ToolContext | undefined {
  const sessions = new Set([...calls].map(({ sessionId }) => sessionId))
  const [context] = calls
  return sessions.size > 1 ? undefined : context
}

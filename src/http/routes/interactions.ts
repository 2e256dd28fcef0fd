/** Pending permission requests and questions, and their answers (http-contract §5.4). */
import type { Runtime } from '../../actors/facades.js'
import { interactionRoutes as contracts } from '../../protocol/interaction/interaction.js'
import type { Binder } from '../bind.js'

export function interactionRoutes(bind: Binder, { interactions }: Runtime): void {
  bind.json(contracts.permissions, ({ caller, query }) => interactions.permissions(caller, query.sessionId))
  bind.json(contracts.replyPermission, ({ params, body }) => interactions.replyPermission(params.request_id, body))
  bind.json(contracts.questions, ({ caller, query }) => interactions.questions(caller, query.sessionId))
  bind.json(contracts.replyQuestion, ({ params, body }) => interactions.replyQuestion(params.request_id, body))
  bind.json(contracts.rejectQuestion, ({ params }) => interactions.rejectQuestion(params.request_id))
}

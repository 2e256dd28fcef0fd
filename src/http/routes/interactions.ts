/** Pending permission requests and questions, and their answers (http-contract §5.4). */
import type { Runtime } from '../../ports/facades.js'
import { interactionRoutes as contracts } from '../../protocol/interaction/interaction.js'
import type { Binder } from '../bind.js'

export function interactionRoutes(bind: Binder, { interactions }: Runtime): void {
  bind.json(contracts.permissions, ({ caller, query }) => interactions.permissions(caller, query.sessionId))
  bind.json(contracts.permission, ({ params }) => interactions.permission(params.request_id))
  bind.json(contracts.question, ({ params }) => interactions.question(params.request_id))
  bind.json(contracts.remembered, ({ caller, directory }) => interactions.remembered(caller, directory))
  bind.json(contracts.explain, ({ caller, directory, query, signal }) => interactions.explain(caller, directory, query, signal))
  bind.json(contracts.forget, ({ caller, directory, params }) => interactions.forget(caller, directory, params.answer_id))
  bind.json(contracts.replyPermission, ({ caller, params, body }) => interactions.replyPermission(params.request_id, body, caller))
  bind.json(contracts.questions, ({ caller, query }) => interactions.questions(caller, query.sessionId))
  bind.json(contracts.replyQuestion, ({ caller, params, body }) => interactions.replyQuestion(params.request_id, body, caller))
  bind.json(contracts.rejectQuestion, ({ caller, params }) => interactions.rejectQuestion(params.request_id, caller))
}

/** What agents say of their subagents: by the protocol (`subagent_update`, not stable yet), or in the way of one of them (`_meta.claudeCode`). */
import * as z from 'zod'
import { isRecord } from '../../../protocol/text/json.js'

const id = z.string().min(1).max(512)
const text = z.string().nullish().catch(null)
const Announced = z.looseObject({
  sessionUpdate: z.literal('subagent_update'),
  sessionId: id,
  title: text,
  description: text,
  capabilities: z.looseObject({ cancel: z.unknown() }).partial().nullish().catch(null),
  state: z
    .looseObject({ state: z.string(), stopReason: text, error: z.looseObject({ message: text }).nullish().catch(null) })
    .nullish()
    .catch(null),
})
export type Announced = z.infer<typeof Announced>

const Call = z.looseObject({ toolCallId: id.optional().catch(undefined), _meta: z.unknown().optional() })
const Meta = z.looseObject({ claudeCode: z.looseObject({ parentToolUseId: id }) })

export function announcedIn(update: unknown): Announced | undefined {
  return isRecord(update) && update['sessionUpdate'] === 'subagent_update' ? Announced.safeParse(update).data : undefined
}

/** What is left out stays as it was. */
export function merged(before: Announced, told: Announced): Announced {
  const { title, description, capabilities, state } = before
  return {
    ...told,
    title: told.title ?? title,
    description: told.description ?? description,
    capabilities: told.capabilities ?? capabilities,
    state: told.state ?? state,
  }
}

const FINE = new Set(['end_turn', 'max_tokens', 'max_turn_requests'])

/** Why one that rests has failed; undefined = it has not. */
export function failureIn({ state }: Announced): string | undefined {
  const reason = state?.stopReason ?? 'end_turn'
  if (FINE.has(reason)) return undefined
  if (reason === 'cancelled') return 'It was stopped.'
  return state?.error?.message ?? `It has ended: ${reason}.`
}

/** The call that an update or a question is about, and the one that gave the work it is part of. */
export function giverIn(told: unknown): { readonly callId?: string | undefined; readonly giver?: string | undefined } {
  const { toolCallId: callId, _meta } = Call.safeParse(told).data ?? {}
  return { callId, giver: Meta.safeParse(_meta).data?.claudeCode.parentToolUseId }
}

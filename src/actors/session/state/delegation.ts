/**
 * Who has delegated to a session and who gave it more to do, as its record says (sessions-events §8.12). Pure.
 *
 * I1 What made the rules of a session is kept where that session goes and one it has resumed stays: nobody may do more for that.
 */
import * as z from 'zod'
import { PermissionRule } from '../../../protocol/interaction/interaction.js'
import { ExecutionPolicy } from '../../../protocol/session/execution-policy.js'
import type { Session } from '../../../protocol/session/session.js'
import { isRecord } from '../../../protocol/text/json.js'

/** Of a run that delegated: as whom. */
export interface Delegator {
  /** Its agent. */
  readonly agent: string
  /** Tools its prompt left out. */
  readonly refused: readonly string[]
}

/** What of a session its rules are made of. */
const Ruling = z.object({
  directory: z.string(),
  permission: z.array(PermissionRule).optional(),
  workflowRunID: z.string().optional(),
  workflowAccepted: z.boolean().optional(),
  executionPolicy: ExecutionPolicy.optional(),
  directoryPrefixes: z.array(z.string()).optional(),
})
export type Ruling = Readonly<z.infer<typeof Ruling>>

/** A run that gave it more to do, of a session above. */
export interface Resumption extends Delegator {
  readonly sessionId: string
  /** Of a session that is gone. */
  readonly ruling?: Ruling
}

export interface Delegation extends Delegator {
  readonly resumed: readonly Resumption[]
}

export function delegationOf({ delegation }: Session): Delegation | undefined {
  const delegator = delegatorOf(delegation)
  if (delegator === undefined || !isRecord(delegation)) return undefined
  const { resumed } = delegation
  const later = Array.isArray(resumed) ? resumed : []
  return { ...delegator, resumed: later.flatMap((each: unknown) => resumptionOf(each) ?? []) }
}

/** I1. The record of a session once one that has resumed it is gone; undefined where that has not. */
export function withoutResumer(session: Session, gone: Session): Session | undefined {
  const delegation = delegationOf(session)
  if (delegation?.resumed.some(({ sessionId }) => sessionId === gone.id) !== true) return undefined
  const resumed = delegation.resumed.map((each) => (each.sessionId === gone.id ? { ...each, ruling: Ruling.parse(gone) } : each))
  return { ...session, delegation: { ...delegation, resumed } }
}

function resumptionOf(value: unknown): Resumption | undefined {
  const known = delegatorOf(value)
  const sessionId = isRecord(value) ? value['sessionId'] : undefined
  if (known === undefined || !isRecord(value) || typeof sessionId !== 'string') return undefined
  if (value['ruling'] === undefined) return { sessionId, ...known }
  const { data: ruling } = Ruling.safeParse(value['ruling'])
  return { sessionId, ...known, ...(ruling && { ruling }) }
}

function delegatorOf(value: unknown): Delegator | undefined {
  if (!isRecord(value) || typeof value['agent'] !== 'string') return undefined
  const { agent, refused } = value
  return { agent, refused: Array.isArray(refused) ? refused.filter((each) => typeof each === 'string') : [] }
}

/** What the calls under way are called, for those who look at actors: a call's actor knows its ids alone. */
import { createLru } from '../../../kernel/lru.js'

interface NamedCall {
  readonly sessionId: string
  readonly tool: string
  /** Whose tool it is. */
  readonly pluginId: string
}

export interface CallNames {
  note(runId: string, callId: string, call: NamedCall): void
  /** Undefined once it is long over. */
  of(runId: string, callId: string): NamedCall | undefined
}

/** Calls that are remembered; of those there can be at once none is forgotten. */
const REMEMBERED = 4096

export function createCallNames(): CallNames {
  const known = createLru<string, NamedCall>(REMEMBERED)
  const keyOf = (runId: string, callId: string) => `${runId}\n${callId}`
  return {
    note: (runId, callId, call) => known.set(keyOf(runId, callId), call),
    of: (runId, callId) => known.get(keyOf(runId, callId)),
  }
}

/** Sessions that show what a subagent of an external agent does: their one run is played by the turn that the subagent is part of. */
import type { ToolContribution } from '../../../ports/plugin.js'
import { ProviderError, type SessionWorker } from '../../../ports/provider-adapter.js'

type Play = (...given: Parameters<SessionWorker<ToolContribution>['work']>) => Promise<void>

/** By the id of the session, while the turn lasts. */
export type Nested = Map<string, Play>

/** Rejects with `ProviderError` where nobody plays it any more. */
export async function playNested(nested: Nested, ...given: Parameters<Play>): Promise<void> {
  const [{ sessionId }] = given
  const play = nested.get(sessionId)
  if (play === undefined)
    throw new ProviderError('A subagent of an external agent worked here, and has ended with the turn that it was part of.', {
      retryable: false,
    })
  nested.delete(sessionId)
  await play(...given)
}

/** What the inspector shows of a life: every machine with its states, from the start on. */
import { VERSION } from '../../../server/version.js'
import type { TakeTrace } from '../actor-types.js'
import { type PlayedActors, watchActors } from '../actors.js'
import { createWaits } from '../waits.js'
import type { Life } from './life.js'

/** Records from now on; what was recorded stays when the life has ended. */
export function inspect(life: Pick<Life, 'running' | 'effects'>): TakeTrace {
  return inspectMarked(life).trace
}

/** The same, with a word for what happens to the life from outside. */
export function inspectMarked({ running, effects }: Pick<Life, 'running' | 'effects'>): Pick<PlayedActors, 'trace' | 'mark'> {
  // Nobody waits here.
  return watchActors(
    running,
    effects,
    createWaits(0, () => ''),
    VERSION,
  )
}

/** What the machines did in the last life of a history that fails, with its steps among it: for `svc inspect --trace`. */
import type { TakeTrace } from '../../src/published/testing/actor-types.js'
import { inspectMarked } from '../../src/published/testing/simulated/inspected.js'
import type { History } from './history.js'
import type { Defect } from './life.js'
import { type Onlooker, play } from './simulate.js'

/** As it stood when the fault was found; undefined when there is none. */
export async function traceOf(seed: number, history: History, defect: Defect): Promise<ReturnType<TakeTrace> | undefined> {
  let recorded: ReturnType<typeof inspectMarked> | undefined
  let last: readonly [says: string, payload?: unknown] | undefined
  let trace: ReturnType<TakeTrace> | undefined
  const onlooker: Onlooker = {
    life(life) {
      recorded = inspectMarked(life)
      if (last !== undefined) recorded.mark(...last)
    },
    step(says, step) {
      last = [says, step]
      recorded?.mark(says, step)
    },
    fault(says) {
      recorded?.mark(`does not hold: ${says.split('\n', 1)[0] ?? ''}`, undefined, 'fault')
      trace = recorded?.trace()
    },
  }
  await play(seed, history, defect, { onlooker })
  return trace
}

/** The instance machine with its effects: what one process does and undergoes, found by the id of its instance. */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { type AnyEventObject, fromCallback, fromPromise } from 'xstate'
import { type InstanceEvent, instanceMachine } from '../../../machines/plugin/instance.machine.js'

interface Named {
  readonly instanceId: string
}

export interface InstanceEffects {
  /** What it offers is known without starting it. */
  readonly isKnown: boolean
  /** Reports what happens to the process; answers what ends it. */
  process(report: (event: InstanceEvent) => void): () => void
  spawn(): Promise<void>
  initialize(): Promise<void>
  retire(): Promise<void>
  kill(): Promise<void>
}

export function instanceLogic(find: (instanceId: string) => InstanceEffects | undefined): typeof instanceMachine {
  const effectsOf = ({ instanceId }: Named): InstanceEffects => {
    const effects = find(instanceId)
    if (effects === undefined) throw new Error(`there is no process of ${instanceId}`)
    return effects
  }
  const does = (name: 'spawn' | 'initialize' | 'retire' | 'kill') => fromPromise<void, Named>(async ({ input }) => effectsOf(input)[name]())
  return laidOut(
    chartOf(instanceMachine).provide({
      actors: {
        process: fromCallback<AnyEventObject, Named>(({ input, sendBack }) => effectsOf(input).process(sendBack)),
        spawn: does('spawn'),
        initialize: does('initialize'),
        retire: does('retire'),
        kill: does('kill'),
      },
    }),
  )
}

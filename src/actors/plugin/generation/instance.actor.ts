/** The instance machine with its effects: what one process does and undergoes, found by the id of its instance. */
import { type AnyEventObject, fromCallback, fromPromise } from 'xstate'
import { type InstanceEvent, type InstanceInput, instanceMachine } from '../../../machines/plugin/instance.machine.js'

export interface InstanceEffects {
  /** Reports what happens to the process; answers what ends it. */
  process(report: (event: InstanceEvent) => void): () => void
  spawn(): Promise<void>
  initialize(): Promise<void>
  retire(): Promise<void>
  kill(): Promise<void>
}

export function instanceLogic(find: (instanceId: string) => InstanceEffects | undefined): typeof instanceMachine {
  const effectsOf = ({ instanceId }: InstanceInput): InstanceEffects => {
    const effects = find(instanceId)
    if (effects === undefined) throw new Error(`there is no process of ${instanceId}`)
    return effects
  }
  const does = (name: 'spawn' | 'initialize' | 'retire' | 'kill') =>
    fromPromise<void, InstanceInput>(async ({ input }) => effectsOf(input)[name]())
  return instanceMachine.provide({
    actors: {
      process: fromCallback<AnyEventObject, InstanceInput>(({ input, sendBack }) => effectsOf(input).process(sendBack)),
      spawn: does('spawn'),
      initialize: does('initialize'),
      retire: does('retire'),
      kill: does('kill'),
    },
  })
}

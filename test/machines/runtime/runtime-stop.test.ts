import { createActor, fromPromise, SimulatedClock } from 'xstate'
import { expect, it } from 'vitest'
import { runtimeMachine } from '../../../src/machines/runtime/runtime.machine.js'

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))
const now = async () => undefined
const never = () => new Promise<void>(() => undefined)

/** A service that was told to stop; what `hanging` names never ends. */
async function stopping(...hanging: readonly string[]) {
  const clock = new SimulatedClock()
  const began: { step: string; ms: number }[] = []
  const step = (name: string) =>
    fromPromise<void, void>(() => {
      began.push({ step: name, ms: clock.now() })
      return hanging.includes(name) ? never() : now()
    })
  const actors = {
    recover: step('recover'),
    startPlugins: step('startPlugins'),
    startSessions: step('startSessions'),
    listen: step('listen'),
    refuse: step('refuse'),
    drainSessions: step('drainSessions'),
    drainPlugins: step('drainPlugins'),
    closeStore: step('closeStore'),
    abandon: step('abandon'),
  }
  const actor = createActor(runtimeMachine.provide({ actors }), { clock })
  actor.start()
  for (let turns = 0; turns < 10; turns++) await turn()
  began.length = 0
  actor.send({ type: 'stop.requested' })
  for (let ms = 0; ms < 12_000; ms += 100) {
    await turn()
    await turn()
    clock.increment(100)
  }
  return { began, output: actor.getSnapshot().output }
}

it('neither a client that hears nothing nor a session that does not end keeps a stop from plugins for three seconds', async () => {
  const { began, output } = await stopping('refuse', 'drainSessions')
  expect(began.map(({ step }) => step)).toEqual(['refuse', 'drainSessions', 'drainPlugins', 'closeStore'])
  expect(began.find(({ step }) => step === 'drainPlugins')?.ms).toBeLessThanOrEqual(2600)
  expect(output).toMatchObject({ exitCode: 0 })
})

it('plugins that do not drain have the rest of ten seconds', async () => {
  const { began, output } = await stopping('refuse', 'drainPlugins')
  expect(began.map(({ step }) => step)).toEqual(['refuse', 'drainSessions', 'drainPlugins', 'abandon'])
  expect(began.at(-1)?.ms).toBeGreaterThan(9900)
  expect(output).toMatchObject({ exitCode: 1 })
})

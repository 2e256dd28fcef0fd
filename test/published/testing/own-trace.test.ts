import { expect, onTestFinished, test } from 'vitest'
import { checkTrace, recordedActors, replay, startTestRuntime } from '../../../src/published/testing/testing.js'
import { PATIENCE } from '../../fakes/patience.js'

test('what was recorded in a test replays in a test', async () => {
  const svc = await startTestRuntime({ tools: ['deploy'], waitMs: PATIENCE })
  onTestFinished(() => svc.stop())
  const session = await svc.sessions.create()
  svc.model.callsTool('deploy').says('Done.')
  svc.tool('deploy').answers('fine')
  await svc.sessions.ask(session, 'deploy')

  const trace = svc.trace()
  expect(checkTrace(trace)).toEqual([])
  expect(recordedActors(trace).map(({ machine }) => machine)).toEqual(expect.arrayContaining(['session', 'run', 'tool-call']))
  const { initial, steps, done } = replay(trace, { actor: `session:${session.id}/run` })
  expect([...initial, ...steps.flatMap(({ after }) => after)].filter((state, index, all) => state !== all[index - 1])).toEqual(
    svc.actors.history({ kind: 'run' }),
  )
  expect(done).toBe(true)
})

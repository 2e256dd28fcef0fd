import { createActor, fromPromise } from 'xstate'
import { expect, test } from 'vitest'
import { runMachine } from '../../../src/machines/session/run.machine.js'
import { FIRST_STEP, type Prepared, type StepPlan } from '../../../src/machines/session/step-plan.js'

test('the plan of a first step that is prepared early is that of the machine', () => {
  const plans: unknown[] = []
  const prepare = fromPromise<Prepared, StepPlan & { runId: string }>(({ input }) => {
    plans.push(input)
    return new Promise(() => undefined)
  })
  const run = createActor(runMachine.provide({ actors: { prepare } }), { input: { sessionId: 'ses_1', runId: 'run_1' } }).start()
  run.stop()
  expect(plans).toEqual([{ ...FIRST_STEP, runId: 'run_1' }])
})

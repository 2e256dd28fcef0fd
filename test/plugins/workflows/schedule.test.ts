/** When workflows run, and how often (subsystems a.8–a.11; threat-model §6.3). */
import { expect, describe, test } from 'vitest'
import { calls, gate, type PlayedStep, says } from '../../fakes/service.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { HOUR, startWorkflows, workflowEffects, workflowFile } from './service.js'

const FILE = '.svc/workflows/one.md'
const QUIET = 200
/** The fake clock begins on the hour. */
const START = Date.UTC(2026, 0, 5, 12)

const brief = (runs: readonly { scheduledAt: number; status: string; trigger: string }[]) =>
  runs.map(({ scheduledAt, status, trigger }) => `${trigger} ${(scheduledAt - START) / HOUR} ${status}`)

describe('an occurrence', () => {
  test('is run at its moment, and its session says whose it is', async () => {
    const flows = await startWorkflows(undefined, { steps: [says('Done.')] })
    flows.save(FILE, workflowFile({ name: 'Hourly', permissions: { bash: 'deny' } }, 'Look around.'))
    await flows.pass(QUIET)
    await flows.pass(HOUR - QUIET - 1)
    await expect(flows.runs('one')).resolves.toEqual([])
    await flows.pass(1)
    const run = await flows.untilRun('completed')
    expect(run).toMatchObject({ scheduledAt: START + HOUR, trigger: 'scheduled', attempt: 1, startedAt: START + HOUR, retryOf: null })
    const session = flows.service.runtime.sessions.get(run.sessionId ?? '')
    expect(session).toMatchObject({ title: 'Hourly', directory: flows.directory, workflowRunID: run.id, workflowTrigger: 'scheduled' })
    expect(session.permission).toEqual([{ permission: 'bash', pattern: '*', action: 'deny' }])
    expect(flows.service.messages(session.id)[0]?.parts).toMatchObject([{ text: 'Look around.' }])
    expect(await flows.view('one')).toMatchObject({ lastScheduledAt: START + HOUR })
  })

  test('is dropped for good while the run before it goes on', async () => {
    const open = gate()
    const slow: PlayedStep = async (push, signal, request) => {
      await open.promise
      await says('First.')(push, signal, request)
    }
    const flows = await startWorkflows(undefined, { steps: [slow, says('Second.')] })
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    await flows.pass(HOUR)
    await flows.untilRun('running')
    await flows.pass(HOUR)
    await flows.pass(10 * 60_000)
    expect(await flows.view('one')).toMatchObject({ lastScheduledAt: START + 2 * HOUR })
    open.open()
    const { id } = await flows.untilRun('completed')
    await flows.pass(60_000)
    expect(brief(await flows.runs('one'))).toEqual(['scheduled 1 completed'])
    await flows.pass(HOUR)
    await flows.service.until(
      ({ type, data }) => type === 'workflow.run.updated' && data['run'].status === 'completed' && data['run'].id !== id,
    )
    expect(brief(await flows.runs('one'))).toEqual(['scheduled 3 completed', 'scheduled 1 completed'])
  })

  test('takes the place of the run before it where the file says so', async () => {
    const flows = await startWorkflows(undefined, { steps: [(_push, signal) => until(signal), says('Second.')] })
    flows.save(FILE, workflowFile({ concurrency: { mode: 'replace' } }))
    await flows.pass(QUIET)
    await flows.pass(HOUR)
    await flows.untilRun('running')
    await flows.pass(HOUR)
    await flows.untilRun('completed')
    expect(brief(await flows.runs('one'))).toEqual(['scheduled 2 completed', 'scheduled 1 replaced'])
  })

  test('runs beside others as far as the file allows', async () => {
    const hold = (_push: unknown, signal: AbortSignal) => until(signal)
    const flows = await startWorkflows(undefined, { steps: [hold, hold, hold] })
    flows.save(FILE, workflowFile({ concurrency: { mode: 'allow', maxRunning: 2 } }))
    await flows.pass(QUIET)
    for (let hour = 0; hour < 3; hour++) {
      await flows.pass(HOUR)
      await flows.settle()
    }
    expect(brief(await flows.runs('one'))).toEqual(['scheduled 2 running', 'scheduled 1 running'])
    expect(await flows.view('one')).toMatchObject({ lastScheduledAt: START + 3 * HOUR })
  })

  test('that was missed thirty times while nothing ran is one run, of the latest', async () => {
    const world = workflowEffects()
    const first = await startWorkflows(world)
    first.save(FILE, workflowFile())
    await first.pass(QUIET)
    await first.service.stop()
    await world.effects.clock.advanceAsync(30 * HOUR + 60_000)
    const second = await startWorkflows(world, { steps: [says('Done.')] })
    await second.pass(1000)
    await second.untilRun('completed')
    await second.pass(60_000)
    expect(brief(await second.runs('one'))).toEqual(['scheduled 30 completed'])
  })

  test('is not executed again when the clock goes back, and late ones are one run when it goes on', async () => {
    const flows = await startWorkflows(undefined, { steps: [says('One.'), says('Two.'), says('Three.')] })
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    await flows.pass(HOUR)
    await flows.untilRun('completed')
    flows.effects.clock.stepWall(-3 * HOUR)
    for (let hour = 0; hour < 3; hour++) await flows.pass(HOUR)
    expect(brief(await flows.runs('one'))).toEqual(['scheduled 1 completed'])
    flows.effects.clock.stepWall(20 * HOUR)
    await flows.pass(10_000)
    await flows.service.until(
      ({ type, data }) => type === 'workflow.run.updated' && data['run'].status === 'completed' && data['run'].scheduledAt > START + HOUR,
    )
    expect(brief(await flows.runs('one'))).toEqual(['scheduled 21 completed', 'scheduled 1 completed'])
  })

  test('is executed as the file says at that moment, or not while the file is broken', async () => {
    const flows = await startWorkflows(undefined, { steps: [says('Done.')] })
    const path = flows.save(FILE, workflowFile({}, 'The old prompt.'))
    await flows.pass(QUIET)
    await flows.pass(HOUR - QUIET - 100)
    flows.save(path, '---\nid: one\n')
    await flows.pass(120)
    await flows.pass(1)
    flows.save(path, workflowFile({}, 'The new prompt.'))
    await flows.pass(QUIET)
    const run = await flows.passUntilRun(600_000, 'completed')
    // The occurrence is dropped when the broken file was noticed before it was repaired.
    expect([START + HOUR, START + 2 * HOUR]).toContain(run.scheduledAt)
    expect(flows.service.messages(run.sessionId ?? '')[0]?.parts).toMatchObject([{ text: 'The new prompt.' }])
  })

  test('of a schedule that was written later is none', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile({ schedule: { frequency: 'daily', time: '23:00' } }))
    await flows.pass(QUIET)
    await flows.pass(HOUR)
    flows.save(FILE, workflowFile({ schedule: { frequency: 'daily', time: '12:30' } }))
    await flows.pass(60_000)
    expect(await flows.runs('one')).toEqual([])
    expect(await flows.view('one')).toMatchObject({ active: true, lastScheduledAt: null })
  })
})

describe('a workflow of one moment', () => {
  const at = (ms: number) => ({ schedule: { at: new Date(START + ms).toISOString() } })

  test('never runs when it was activated after its moment', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile(at(-HOUR)))
    await flows.pass(QUIET)
    await flows.pass(2 * HOUR)
    expect(await flows.runs('one')).toEqual([])
  })

  test('runs once, whatever is done to it afterwards', async () => {
    const world = workflowEffects()
    const flows = await startWorkflows(world, { steps: [says('Done.')] })
    flows.save(FILE, workflowFile(at(HOUR)))
    await flows.pass(QUIET)
    await flows.pass(HOUR)
    await flows.untilRun('completed')
    await flows.pause('one')
    await flows.activate('one')
    flows.save(FILE, workflowFile(at(HOUR), 'Another prompt.'))
    await flows.pass(QUIET)
    // The same hour of the next day passes; what is before it need not.
    flows.effects.clock.stepWall(22 * HOUR)
    await flows.pass(3 * HOUR)
    flows.effects.clock.stepWall(-27 * HOUR)
    await flows.pass(30_000)
    await flows.service.stop()
    const again = await startWorkflows(world)
    await again.pass(3 * HOUR)
    expect(brief(await again.runs('one'))).toEqual(['scheduled 1 completed'])
  })
})

describe('a run', () => {
  test('that was under way when the service ended is interrupted and not executed again', async () => {
    const world = workflowEffects()
    const first = await startWorkflows(world, { steps: [(_push, signal) => until(signal)] })
    first.save(FILE, workflowFile())
    await first.pass(QUIET)
    await first.pass(HOUR)
    await first.untilRun('running')
    await first.service.stop()
    const second = await startWorkflows(world)
    await second.pass(60_000)
    expect(await second.runs('one')).toMatchObject([
      { status: 'interrupted', scheduledAt: START + HOUR, error: expect.stringContaining('stopped'), leaseOwner: null },
    ])
    expect(second.service.requests).toEqual([])
  })

  test('is repeated as its policy says, each attempt a run of its own', async () => {
    const fails = () => {
      throw new Error('the model is overloaded')
    }
    const flows = await startWorkflows(undefined, { steps: [fails, fails, says('Done.')] })
    flows.save(
      FILE,
      workflowFile({ retry: { maxAttempts: 3, backoff: 'exponential', initialDelayMs: 60_000, retryableErrors: ['OVERLOADED'] } }),
    )
    await flows.pass(QUIET)
    await flows.pass(HOUR)
    const failed = await flows.untilRun('failed')
    await flows.pass(59_000)
    expect((await flows.runs('one')).map(({ status }) => status)).toEqual(['retry_waiting', 'failed'])
    await flows.pass(1000)
    await flows.service.until(
      ({ type, data }) => type === 'workflow.run.updated' && data['run'].status === 'failed' && data['run'].attempt === 2,
    )
    await flows.pass(120_000)
    await flows.untilRun('completed')
    expect(await flows.runs('one')).toMatchObject([
      { attempt: 3, trigger: 'automatic-retry', status: 'completed', rootRunId: failed.id, scheduledAt: START + HOUR + 2 },
      { attempt: 2, trigger: 'automatic-retry', status: 'failed', rootRunId: failed.id, retryOf: failed.id, scheduledAt: START + HOUR + 1 },
      { attempt: 1, trigger: 'scheduled', status: 'failed', error: expect.stringContaining('overloaded') },
    ])
  })

  test.each([
    ['has an agent that nobody knows', { agent: 'nobody' }, 'There is no agent "nobody"'],
    ['has a skill that nobody knows', { skill: 'nothing' }, 'there is no skill "nothing"'],
  ])('fails without a session when it %s', async (_, fields, error) => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile(fields))
    await flows.pass(QUIET)
    await flows.run('one')
    const run = await flows.untilRun('failed')
    expect(run.error).toContain(error)
    expect(run.sessionId ?? null).toBeNull()
  })

  test('does not wait for ever for somebody who is not there', async () => {
    const flows = await startWorkflows(undefined, {
      config: { permission: { '*': 'ask' } },
      tools: [
        {
          id: 'touch',
          needs: () => [{ permission: 'touch', patterns: ['*'], title: 'touch' }],
          invoke: async () => ({ title: 'touched', output: 'touched' }),
        },
      ],
      steps: [calls({ callId: 'c1', tool: 'touch' })],
    })
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    await flows.pass(HOUR)
    const { sessionId } = await flows.untilRun('running')
    await flows.service.until(({ type }) => type === 'permission.asked')
    flows.service.listening.close()
    await flows.pass(11 * 60_000)
    for (let wait = 0; wait < 20 && (await flows.runs('one'))[0]?.status === 'running'; wait++) await flows.pass(1000)
    expect(brief(await flows.runs('one'))).toEqual(['scheduled 1 failed'])
    expect(JSON.stringify(flows.service.messages(sessionId ?? ''))).toContain('Nobody answered the request in time')
  })

  test('waits while too many others are under way, and runs when one of them has ended', async () => {
    const hold: PlayedStep = (_push, signal) => until(signal)
    const most = LIMITS.workflows.running
    const flows = await startWorkflows(undefined, { steps: Array.from({ length: most + 4 }, () => hold) })
    for (let index = 0; index < most + 4; index++) flows.save(`.svc/workflows/${index}.md`, workflowFile({ id: `many-${index}` }))
    await flows.pass(QUIET)
    await flows.pass(HOUR)
    const running = () =>
      flows.service.events.filter(({ type, data }) => type === 'workflow.run.updated' && data['run'].status === 'running')
    for (let wait = 0; wait < 50 && running().length < most; wait++) await flows.pass(100)
    await flows.pass(5000)
    expect(running()).toHaveLength(most)
    await flows.service.runtime.sessions.abort(String(running()[0]?.data['run'].sessionId))
    for (let wait = 0; wait < 50 && running().length === most; wait++) await flows.pass(100)
    expect(running()).toHaveLength(most + 1)
  })

  test('has the text of its skill before its prompt', async () => {
    const flows = await startWorkflows(undefined, { steps: [says('Done.')] })
    flows.save('.svc/skills/tidy/SKILL.md', '---\nname: tidy\ndescription: Tidies.\n---\n\nTidy up first.\n')
    flows.save(FILE, workflowFile({ active: false, skill: 'tidy' }, 'Then report.'))
    await flows.pass(1000)
    const { id } = await flows.run('one')
    const run = await flows.untilRun('completed')
    expect(run).toMatchObject({ id, trigger: 'manual' })
    expect(flows.service.messages(run.sessionId ?? '')[0]?.parts).toMatchObject([{ text: 'Tidy up first.\n\nThen report.' }])
    expect(await flows.view('one')).toMatchObject({ active: false, lastScheduledAt: null })
  })
})

function until(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }))
}

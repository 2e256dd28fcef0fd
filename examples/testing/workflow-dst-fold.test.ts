/** Clocks go back: half past two happens twice that night. Clocks go forward: it does not happen at all. A workflow runs once in both. */
import { startTestRuntime } from 'svc/testing'
import { expect, onTestFinished, test } from 'vitest'

const NIGHTLY = `---
id: nightly
name: Nightly report
active: true
schedule:
  frequency: daily
  time: "02:30"
  timezone: Europe/Berlin
---

Write the report.
`

/** What passes of a night; answers when the workflow ran. */
async function night(from: string, to: string) {
  const svc = await startTestRuntime({ at: from, files: { '.svc/workflows/nightly.md': NIGHTLY } })
  onTestFinished(() => svc.stop())
  svc.model.says('Written.')
  await svc.clock.advanceTo(to)
  const runs = await svc.workflows.runs('nightly')
  return { svc, ran: runs.map(({ status, scheduledAt }) => `${new Date(scheduledAt).toISOString()} ${status}`) }
}

test('an hour that happens twice runs a workflow at its first half past two only', async () => {
  // 02:30 is 00:30 UTC in summer time, and once more 01:30 UTC in winter time.
  const { svc, ran } = await night('2026-10-25T00:15:00Z', '2026-10-25T01:45:00Z')
  expect(ran).toEqual(['2026-10-25T00:30:00.000Z completed'])

  const [admitted] = svc.journal.of('session.prompt.admitted')
  expect(admitted?.timestamp).toBe(Date.parse('2026-10-25T00:30:00Z'))
  const run = (status: string) => ({ type: 'workflow.run.updated', data: { run: { status } } })
  svc.journal.expectOrder([run('queued'), 'session.created', run('running'), 'session.prompt.admitted', run('completed')])
  expect(svc.journal.filter(run('queued'))).toHaveLength(1)

  expect(svc.actors.history({ kind: 'run' })).toEqual(['working.preparing', 'working.generating', 'closing', 'finished'])
  expect(svc.actors.history({ kind: 'activation' })).toEqual(['claiming', 'waiting'])
})

test('an hour that does not happen runs it at the first minute that does', async () => {
  // At 02:00, 01:00 UTC, clocks show 03:00.
  const { ran } = await night('2026-03-29T00:15:00Z', '2026-03-29T01:45:00Z')
  expect(ran).toEqual(['2026-03-29T01:00:00.000Z completed'])
})

/** The operations of workflows: what they answer, and what they refuse (http-contract §5.12 and its notes; subsystems a.12). */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { WorkflowPreview, WorkflowRun, WorkflowView } from '../../../src/protocol/workflow/workflow.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { calls, type PlayedStep, type PlayedTool, says } from '../../fakes/service.js'
import { startWorkflows, workflowEffects, workflowFile } from './service.js'

const FILE = '.svc/workflows/one.md'
const QUIET = 200
const DEFINITION = {
  id: 'made',
  name: 'Made',
  active: true,
  schedule: { frequency: 'hourly', interval: 1, timezone: 'UTC' },
  prompt: 'Do it.',
}
const waits: PlayedStep = (_push, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }))

describe('writing a definition', () => {
  test('makes a file that is active at once, and the same definition gives the same bytes', async () => {
    const flows = await startWorkflows()
    const made = await flows.call<WorkflowView>('create', { body: DEFINITION })
    expect(made).toMatchObject({ active: true, writable: true, sourcePath: join(flows.directory, '.svc/workflows/made.md') })
    expect(made.revision).toBe(`sha256:${made.sourceHash}`)
    expect(flows.updates()).toEqual([{ id: 'made', active: true }])
    const same = await flows.call<WorkflowView>('update', { id: 'made', body: made.definition })
    expect(same.revision).toBe(made.revision)
    expect(flows.updates()).toHaveLength(1)
  })

  test('refuses to make what exists, valid or not, and tells its revision', async () => {
    const flows = await startWorkflows()
    const { revision } = await flows.call<WorkflowView>('create', { body: DEFINITION })
    await expect(flows.call('create', { body: DEFINITION })).rejects.toMatchObject({
      code: 'management.revision_conflict',
      details: { currentRevision: revision },
    })
    flows.save('.svc/workflows/made.md', 'broken')
    await expect(flows.call('create', { body: DEFINITION })).rejects.toMatchObject({
      code: 'management.revision_conflict',
      details: { currentRevision: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
    })
    expect(await flows.call('update', { id: 'made', body: DEFINITION })).toMatchObject({ revision })
  })

  test('compares the revision that the caller has seen', async () => {
    const flows = await startWorkflows()
    const { revision = '' } = await flows.call<WorkflowView>('create', { body: DEFINITION })
    const other = { headers: { 'if-match': `"sha256:${'0'.repeat(64)}"` } }
    const conflict = { code: 'management.revision_conflict', details: { currentRevision: revision } }
    await expect(flows.call('update', { id: 'made', body: DEFINITION, ...other })).rejects.toMatchObject(conflict)
    await expect(flows.call('patch', { id: 'made', body: { name: 'X' }, ...other })).rejects.toMatchObject(conflict)
    await expect(flows.call('delete', { id: 'made', query: { expectedRevision: 'sha256:0' } })).rejects.toMatchObject(conflict)
    const patched = await flows.call<WorkflowView>('patch', { id: 'made', body: { name: 'X' }, headers: { 'if-match': `"${revision}"` } })
    expect(patched).toMatchObject({ definition: { name: 'X' }, active: true })
    await flows.call('delete', { id: 'made', query: { expectedRevision: patched.revision } })
    expect(existsSync(join(flows.directory, '.svc/workflows/made.md'))).toBe(false)
    expect(flows.updates().at(-1)).toMatchObject({ id: 'made', active: false })
    await expect(flows.call('delete', { id: 'made' })).rejects.toMatchObject({ code: 'resource.not_found' })
  })

  test('clears what a patch sets to null, and checks what comes of it', async () => {
    const flows = await startWorkflows()
    await flows.call('create', { body: { ...DEFINITION, agent: 'build', directory: 'below' } })
    const patched = await flows.call<WorkflowView>('patch', { id: 'made', body: { agent: null, directory: null } })
    expect(Object.keys(patched.definition)).not.toContain('agent')
    expect(readFileSync(patched.sourcePath, 'utf8')).not.toContain('directory')
    for (const body of [{ id: 'other' }, { prompt: ' ' }, { permissions: { bash: 'ask' } }]) {
      await expect(flows.call('patch', { id: 'made', body })).rejects.toMatchObject({ code: 'management.invalid_request' })
    }
    await expect(flows.call('update', { id: 'made', body: { ...DEFINITION, id: 'other' } })).rejects.toMatchObject({
      code: 'management.invalid_request',
    })
  })

  test('leaves alone what another file defines', async () => {
    const flows = await startWorkflows()
    flows.save('.svc/workflows/deep/one.md', workflowFile())
    const definition = { ...DEFINITION, id: 'one' }
    const readOnly = { code: 'management.read_only' }
    expect(await flows.view('one')).toMatchObject({ writable: false })
    await expect(flows.call('create', { body: definition })).rejects.toMatchObject(readOnly)
    await expect(flows.call('update', { id: 'one', body: definition })).rejects.toMatchObject(readOnly)
    await expect(flows.call('patch', { id: 'one', body: { name: 'X' } })).rejects.toMatchObject(readOnly)
    await expect(flows.call('delete', { id: 'one' })).rejects.toMatchObject(readOnly)
  })

  test('writes for the installation into its configuration directory', async () => {
    const flows = await startWorkflows()
    const made = await flows.call<WorkflowView>('create', { body: DEFINITION, query: { scope: 'installation' } })
    expect(made).toMatchObject({ sourcePath: join(flows.effects.paths.config, 'workflows/made.md'), writable: true, active: false })
    await flows.pass(QUIET)
    expect(await flows.view('made')).toMatchObject({ writable: false, active: true })
  })

  test('never leaves the workspace: not by an id, not by a link', async () => {
    const world = workflowEffects()
    const flows = await startWorkflows(world)
    for (const id of ['../made', 'a/b', '.hidden', 'Made', '']) {
      await expect(flows.call('update', { id, body: { ...DEFINITION, id } })).rejects.toThrow(/id|workflow/)
      await expect(flows.call('delete', { id })).rejects.toMatchObject({ code: 'resource.not_found' })
    }
    const [other, elsewhere] = [join(world.effects.root, 'other'), join(world.effects.root, 'elsewhere')]
    mkdirSync(other)
    mkdirSync(elsewhere)
    symlinkSync(elsewhere, join(other, '.svc'))
    await expect(flows.call('create', { body: DEFINITION, directory: other })).rejects.toMatchObject({ code: 'management.read_only' })
    expect(existsSync(join(elsewhere, 'workflows'))).toBe(false)
  })
})

describe('running by hand', () => {
  test('answers at once, makes an inactive activation, and refuses a second run beside it', async () => {
    const flows = await startWorkflows(undefined, { steps: [waits, says('Done.')] })
    flows.save(FILE, workflowFile({ active: false }))
    await flows.pass(QUIET)
    const run = await flows.run('one')
    expect(run).toMatchObject({ status: 'queued', trigger: 'manual', attempt: 1, rootRunId: run.id, leaseOwner: expect.any(String) })
    expect(await flows.view('one')).toMatchObject({ active: false, activationID: run.activationId })
    await flows.untilRun('running')
    await expect(flows.run('one')).rejects.toMatchObject({ code: 'resource.conflict' })
    await expect(flows.call('runs.retry', { id: 'one', runId: run.id })).rejects.toMatchObject({ code: 'resource.conflict' })
    await flows.settle()
    const { sessionId } = await flows.call<WorkflowRun>('runs.get', { id: 'one', runId: run.id })
    await flows.service.runtime.sessions.abort(sessionId ?? '')
    await flows.untilRun('failed')
    const again = await flows.call<WorkflowRun>('runs.retry', { id: 'one', runId: run.id })
    expect(again).toMatchObject({
      trigger: 'manual-retry',
      attempt: 2,
      retryOf: run.id,
      rootRunId: run.id,
      scheduledAt: run.scheduledAt + 1,
    })
    await flows.untilRun('completed')
    await expect(flows.call('runs.retry', { id: 'one', runId: again.id })).rejects.toMatchObject({ code: 'resource.conflict' })
    expect((await flows.runs('one')).map(({ id }) => id)).toEqual([again.id, run.id])
    expect(await flows.call('history', { id: 'one', query: { limit: 1 } })).toMatchObject({ runs: [{ id: again.id }] })
  })

  test('knows no workflow and no run that is not there', async () => {
    const flows = await startWorkflows(undefined, { steps: [says('Done.')] })
    flows.save(FILE, workflowFile())
    flows.save('.svc/workflows/two.md', workflowFile({ id: 'two' }))
    const { id: runId } = await flows.run('one')
    for (const [operation, call] of [
      ['get', { id: 'none' }],
      ['preview', { id: 'none' }],
      ['activate', { id: 'none' }],
      ['pause', { id: 'none' }],
      ['run', { id: 'none' }],
      ['history', { id: 'none' }],
      ['runs.get', { id: 'one', runId: 'none' }],
      ['runs.get', { id: 'two', runId }],
      ['runs.retry', { id: 'two', runId }],
    ] as const) {
      const answer = await flows.call(operation, call).catch((error: unknown) => error)
      expect([operation, answer]).toMatchObject([operation, { code: 'resource.not_found' }])
    }
    await flows.untilRun('completed')
  })
})

test('a preview names ten occurrences in the zone of the schedule, of a file that is not active too', async () => {
  const flows = await startWorkflows()
  flows.save(FILE, workflowFile({ active: false, schedule: { frequency: 'daily', time: '09:00', timezone: 'local' } }))
  flows.save('.svc/workflows/past.md', workflowFile({ id: 'past', schedule: { date: '2000-01-01' } }))
  const preview = await flows.call<WorkflowPreview>('preview', { id: 'one' })
  expect(preview.definition.schedule.timezone).toBe('Europe/Berlin')
  expect(preview.upcoming).toHaveLength(10)
  expect(preview.upcoming[0]).toMatchObject({ scheduledAt: Date.UTC(2026, 0, 6, 8), local: expect.stringContaining('T09:00:00') })
  expect(await flows.call('preview', { id: 'past' })).toMatchObject({ upcoming: [] })
})

test('the ids of activations are those of the contract, and the installation has its own', async () => {
  const flows = await startWorkflows()
  writeFileSync(join(flows.directory, FILE), workflowFile())
  const here = await flows.activate('one')
  expect(here.activationId).toBe(`wfa_${flows.effects.sha256(`${flows.directory}\0one`)}`)
  flows.save(join(flows.effects.paths.config, 'workflows/one.md'), workflowFile())
  const installation = await flows.call<{ activationId: string }>('activate', { id: 'one', query: { scope: 'installation' } })
  expect(installation.activationId).not.toBe(here.activationId)
})

test('callers who may use a part of the machine only are refused', async () => {
  const flows = await startWorkflows()
  const caller = { ...TRUSTED_CALLER, directoryPrefixes: [flows.directory] }
  await expect(flows.call('list', { caller })).rejects.toMatchObject({ code: 'request.forbidden' })
})

test('a run goes on without what nobody answers in time, and its record says what that was', async () => {
  const open: PlayedTool = {
    id: 'open',
    needs: () => [{ permission: 'open', patterns: ['door'], title: 'Open the door' }],
    invoke: async () => ({ title: 'opened', output: 'opened' }),
  }
  const steps = [calls({ callId: 'a', tool: 'open' }), says('went on')]
  const flows = await startWorkflows(workflowEffects(), { config: { permission: { '*': 'allow', open: 'ask' } }, steps, tools: [open] })
  const schedule = { frequency: 'daily', interval: 1, timezone: 'UTC', time: '09:00' } // the clock stands at noon: nothing is due by itself
  await flows.call<WorkflowView>('create', { body: { ...DEFINITION, schedule } })
  await flows.run('made')
  await flows.service.until(({ type }) => type === 'permission.asked')
  await flows.pass(LIMITS.run.unattendedWait)
  expect(await flows.untilRun('completed')).toMatchObject({
    refused: [{ permission: 'open', title: 'Open the door', patterns: ['door'] }],
  })
})

/** What came with a checkout runs only once somebody accepted exactly that content (choice 16; threat-model W2, W3, W5). */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { says } from '../../fakes/service.js'
import { type Checkout, openCheckout } from '../../platform/git/checkout.js'
import { startWorkflows, workflowEffects, workflowFile, type WorkflowService } from './service.js'

const FILE = '.svc/workflows/one.md'
const QUIET = 200
const ALLOWING = workflowFile({ permissions: { bash: 'allow' } })

/** A workspace whose one workflow is committed, as a clone leaves it. */
async function cloned(
  config: Record<string, unknown> = {},
  content = ALLOWING,
): Promise<WorkflowService & { readonly checkout: Checkout }> {
  const world = workflowEffects()
  const checkout = openCheckout(world.effects.paths.cwd)
  checkout.git('init', '--quiet')
  checkout.write(FILE, content)
  checkout.commit()
  const flows = await startWorkflows(world, { config, steps: [says('Done.')] })
  return Object.assign(flows, { checkout })
}

const sessions = (flows: WorkflowService) =>
  flows.service.events.filter(({ type }) => type === 'session.created').map(({ data }) => data['info'] as Record<string, unknown>)

describe('a file of a checkout', () => {
  test('is shown and neither activated nor run until its content is accepted', async () => {
    const flows = await cloned()
    const { workflows, diagnostics } = await flows.list()
    expect(workflows).toMatchObject([{ active: false, definition: { active: true } }])
    expect(diagnostics).toMatchObject([
      { code: 'acceptance-required', sourcePath: join(flows.directory, FILE), message: expect.stringContaining('svc workflow accept one') },
    ])
    await flows.pass(3 * 3_600_000)
    expect(flows.updates()).toEqual([])
    await expect(flows.run('one')).rejects.toMatchObject({ code: 'request.forbidden', details: { reason: 'acceptance-required' } })
    expect(sessions(flows)).toEqual([])

    expect(await flows.activate('one')).toMatchObject({ active: true })
    expect((await flows.list()).diagnostics).toEqual([])
    await flows.passUntilRun(3_600_000, 'completed')
    expect(sessions(flows)[0]).toMatchObject({ workflowAccepted: true })
  })

  test('is accepted as the caller has seen it, or not at all', async () => {
    const flows = await cloned()
    const view = await flows.view('one')
    expect(view).toMatchObject({ diagnostics: [{ code: 'acceptance-required' }] })
    const expected = (revision: string) => flows.call('activate', { id: 'one', query: { expectedRevision: revision } })
    await expect(expected('sha256:other')).rejects.toMatchObject({
      code: 'management.revision_conflict',
      details: { currentRevision: `sha256:${view.sourceHash}` },
    })
    expect((await flows.view('one')).active).toBe(false)
    expect(await expected(`sha256:${view.sourceHash}`)).toMatchObject({ active: true })
  })

  test('needs acceptance again when a pull changes it, and not when content comes back that was accepted before', async () => {
    const flows = await cloned()
    await flows.activate('one')
    const pulled = workflowFile({}, 'Something else.')
    flows.save(FILE, pulled)
    flows.checkout.commit()
    await flows.pass(QUIET)
    // It was committed before anybody looked: what is listed is the checkout's.
    expect(flows.updates().at(-1)).toMatchObject({ active: false, error: expect.stringContaining('until its content is accepted') })
    await flows.activate('one')
    flows.checkout.git('checkout', '--quiet', 'HEAD~1')
    flows.report(join(flows.directory, FILE))
    await flows.pass(QUIET)
    expect(await flows.view('one')).toMatchObject({ active: true, definition: { permissions: { bash: 'allow' } } })
  })

  test('is active when somebody saves it, and stays so when he commits what he saved', async () => {
    const flows = await cloned()
    flows.save(FILE, workflowFile({}, 'Mine.'))
    await flows.pass(QUIET)
    expect(flows.updates()).toEqual([{ id: 'one', active: true }])
    flows.checkout.commit()
    flows.report(join(flows.directory, FILE))
    await flows.pass(QUIET)
    expect(await flows.view('one')).toMatchObject({ active: true })
    flows.save(FILE, workflowFile({}, 'Mine, and better.'))
    await flows.pass(QUIET)
    flows.save(FILE, workflowFile({}, 'Mine.'))
    await flows.pass(QUIET)
    expect(flows.updates().map(({ active }) => active)).toEqual([true, true, true])
    expect((await flows.list()).diagnostics).toEqual([])
  })

  test('is not taken for saved while git writes, and is looked at again by itself', async () => {
    const flows = await cloned({}, workflowFile({ active: false }))
    const lock = join(flows.directory, '.git/index.lock')
    writeFileSync(lock, '')
    flows.save('.svc/workflows/two.md', workflowFile({ id: 'two' }))
    await flows.pass(QUIET)
    expect((await flows.list()).diagnostics).toMatchObject([
      {},
      { code: 'acceptance-required', message: expect.stringContaining('index.lock') },
    ])
    expect(flows.updates()).toEqual([])
    rmSync(lock)
    await flows.pass(LIMITS.workflows.recheck.first)
    expect(flows.updates()).toEqual([{ id: 'two', active: true }])
  })

  test('runs under "files", and is allowed nothing more until its content is accepted', async () => {
    const flows = await cloned({ workflows: { acceptance: 'files' } })
    expect(await flows.view('one')).toMatchObject({ active: true })
    expect((await flows.list()).diagnostics).toMatchObject([{ code: 'rules-not-accepted' }])
    await flows.passUntilRun(3_600_000, 'completed')
    expect(sessions(flows)[0]).toMatchObject({ workflowAccepted: false, permission: [{ permission: 'bash', action: 'allow' }] })
    await flows.activate('one')
    expect((await flows.list()).diagnostics).toEqual([])
  })

  test('keeps so many accepted contents, and forgets the oldest', async () => {
    const flows = await startWorkflows()
    for (let count = 0; count < LIMITS.workflows.acceptedContents + 5; count++) {
      flows.save(FILE, workflowFile({}, `Version ${count}.`))
      await flows.activate('one')
      await flows.effects.clock.advanceAsync(1)
    }
    const rows = flows.service.store.pluginRows.list('dev.svc.workflows', 'acceptance')
    expect(rows).toHaveLength(LIMITS.workflows.acceptedContents)
  })
})

describe('a file that was saved', () => {
  const HOURS = 3_600_000

  test('runs, and what it allows over an ask counts only once its content is accepted', async () => {
    const flows = await startWorkflows(workflowEffects(), { steps: [says('Done.'), says('Done.')] })
    flows.save(FILE, ALLOWING)
    await flows.pass(QUIET)
    expect((await flows.list()).diagnostics).toMatchObject([
      { code: 'rules-not-accepted', message: expect.stringContaining('it was saved') },
    ])
    await flows.passUntilRun(HOURS, 'completed')
    await flows.run('one')
    await expect.poll(() => sessions(flows).length).toBe(2)
    expect(sessions(flows)).toMatchObject([{ workflowAccepted: false }, { workflowAccepted: false }])
    await flows.activate('one')
    expect((await flows.list()).diagnostics).toEqual([])
    await flows.run('one')
    await expect.poll(() => sessions(flows).length).toBe(3)
    expect(sessions(flows)[2]).toMatchObject({ workflowAccepted: true })
  })

  test.each([
    ['that denies', workflowFile({ permissions: { bash: 'deny' } })],
    ['without permissions', workflowFile()],
  ])('%s has nothing to accept', async (_, content) => {
    const flows = await startWorkflows()
    flows.save(FILE, content)
    await flows.pass(QUIET)
    expect([flows.updates(), (await flows.list()).diagnostics]).toEqual([[{ id: 'one', active: true }], []])
  })

  test.each([
    ['on', { permission: { sandbox: 'on' } }, []],
    ['any other value, which counts as on', { permission: { sandbox: 'strict' } }, []],
    ['off', { permission: { sandbox: 'off' } }, [{ id: 'one', active: true }]],
    ['on, and files are believed', { permission: { sandbox: 'on' }, workflows: { acceptance: 'files' } }, [{ id: 'one', active: true }]],
  ])('needs acceptance or not while the sandbox is %s', async (_, config, updates) => {
    const flows = await startWorkflows(workflowEffects(), { config })
    flows.save(FILE, ALLOWING)
    await flows.pass(QUIET)
    expect(flows.updates()).toEqual(updates)
    const isHeld = updates.length === 0
    expect((await flows.list()).diagnostics).toMatchObject([{ code: isHeld ? 'acceptance-required' : 'rules-not-accepted' }])
    await flows.pass(2 * HOURS)
    expect(sessions(flows).length > 0).toBe(!isHeld)
    if (!isHeld) return
    await expect(flows.run('one')).rejects.toMatchObject({ code: 'request.forbidden', details: { reason: 'acceptance-required' } })
    expect(await flows.activate('one')).toMatchObject({ active: true })
    expect((await flows.list()).diagnostics).toEqual([])
  })

  test('before the sandbox was switched on needs acceptance from then on', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, ALLOWING)
    await flows.pass(QUIET)
    expect(flows.updates()).toEqual([{ id: 'one', active: true }])
    await flows.service.runtime.configs.update(flows.effects.paths.config, { permission: { sandbox: 'on' } })
    flows.save('.svc/workflows/two.md', workflowFile({ id: 'two' }))
    await flows.pass(QUIET)
    expect(flows.updates().at(-1)).toMatchObject({ id: 'one', active: false, error: expect.stringContaining('permission.sandbox is on') })
  })

  test('is accepted where the API writes it, also in the sandbox, and nothing else by that', async () => {
    const flows = await startWorkflows(workflowEffects(), { config: { permission: { sandbox: 'on' } } })
    flows.save('.svc/workflows/other.md', workflowFile({ id: 'two' }))
    const { definition } = await flows.call<{ definition: object }>('preview', { id: 'two' })
    await flows.call('create', { body: { ...definition, id: 'three' } })
    expect(await flows.view('three')).toMatchObject({ active: true })
    expect((await flows.view('three')).diagnostics ?? []).toEqual([])
    expect(await flows.view('two')).toMatchObject({ active: false, diagnostics: [{ code: 'acceptance-required' }] })
  })

  test('does not become accepted because the file before it was removed', async () => {
    const flows = await startWorkflows(workflowEffects(), { config: { permission: { sandbox: 'on' } } })
    flows.save('.svc/workflow/one.md', ALLOWING)
    const { definition } = await flows.call<{ definition: object }>('preview', { id: 'one' })
    flows.remove('.svc/workflow/one.md')
    await flows.call('create', { body: definition })
    flows.save('.svc/workflow/one.md', ALLOWING)
    await flows.call('delete', { id: 'one' })
    expect(await flows.view('one')).toMatchObject({ active: false, diagnostics: [{ code: 'acceptance-required' }] })
  })
})

describe('a workflow whose directory is missing', () => {
  const AWAY = workflowFile({ directory: 'away' })

  test('is neither activated nor run, says why, and is active once the directory is there', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, AWAY)
    await flows.pass(QUIET)
    expect(flows.updates()).toEqual([])
    expect(await flows.list()).toMatchObject({
      workflows: [{ active: false }],
      diagnostics: [{ code: 'directory-missing', message: expect.stringContaining('away') }],
    })
    for (const act of [flows.run, flows.activate]) {
      await expect(act('one')).rejects.toMatchObject({ code: 'request.unprocessable', message: expect.stringContaining('does not exist') })
    }
    flows.save('away/kept.txt', '')
    await flows.pass(LIMITS.workflows.relook)
    expect(flows.updates()).toEqual([{ id: 'one', active: true }])
  })

  test('becomes inactive when the directory goes', async () => {
    const flows = await startWorkflows()
    flows.save('away/kept.txt', '')
    flows.save(FILE, AWAY)
    await flows.pass(QUIET)
    rmSync(join(flows.directory, 'away'), { recursive: true })
    expect(await flows.view('one')).toMatchObject({ active: false })
    await flows.pass(QUIET)
    expect(flows.updates().at(-1)).toMatchObject({ active: false, error: expect.stringContaining('does not exist') })
    await expect(flows.run('one')).rejects.toMatchObject({ code: 'request.unprocessable' })
  })

  test('that is paused stays paused through it', async () => {
    const flows = await startWorkflows()
    flows.save('away/kept.txt', '')
    flows.save(FILE, AWAY)
    await flows.pass(QUIET)
    await flows.pause('one')
    rmSync(join(flows.directory, 'away'), { recursive: true })
    await flows.pass(LIMITS.workflows.relook)
    flows.save('away/kept.txt', '')
    await flows.pass(2 * LIMITS.workflows.relook)
    expect(flows.updates().map(({ active }) => active)).toEqual([true, false])
  })
})

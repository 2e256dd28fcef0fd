/** How activations follow their files (subsystems a.7; service.md, Workflow activation). */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { startWorkflows, workflowEffects, workflowFile } from './service.js'

const FILE = '.svc/workflows/one.md'
const QUIET = 200

describe('an activation', () => {
  test('begins once a file that is active was quiet for the debounce, and not before', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile())
    await flows.pass(100)
    expect(flows.updates()).toEqual([])
    await flows.pass(QUIET)
    expect(flows.updates()).toEqual([{ id: 'one', active: true }])
    expect(await flows.view('one')).toMatchObject({ active: true, lastScheduledAt: null, writable: true })
  })

  test('is not made of a file that is not active, and such a file is listed all the same', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile({ active: false }))
    await flows.pass(QUIET)
    expect(flows.updates()).toEqual([])
    expect(await flows.view('one')).toMatchObject({ active: false, activationID: null })
    await expect(flows.pause('one')).rejects.toMatchObject({ code: 'resource.not_found' })
    await expect(flows.runs('one')).rejects.toMatchObject({ code: 'resource.not_found' })
  })

  test('stays paused while its file says the same, and follows the file when a byte changes', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    expect(await flows.pause('one')).toMatchObject({ active: false })
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    expect(await flows.view('one')).toMatchObject({ active: false })
    flows.save(FILE, workflowFile({}, 'Do it well.'))
    await flows.pass(QUIET)
    expect(flows.updates().map(({ active }) => active)).toEqual([true, false, true])
  })

  test('stays active when it was activated by a call, until the file changes', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile({ active: false }))
    await flows.pass(QUIET)
    expect(await flows.activate('one')).toMatchObject({ active: true })
    flows.report(join(flows.directory, FILE))
    await flows.pass(QUIET)
    expect(await flows.view('one')).toMatchObject({ active: true })
    flows.save(FILE, workflowFile({ active: false, name: 'Another' }))
    await flows.pass(QUIET)
    expect(await flows.view('one')).toMatchObject({ active: false, definition: { name: 'Another' } })
  })

  test('loses nothing when the file is broken for a moment', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    await flows.pause('one')
    flows.save(FILE, '')
    await flows.pass(50)
    await flows.list()
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    expect(flows.updates().map(({ active }) => active)).toEqual([true, false])
  })

  test('becomes inactive when its file is broken, and says what is wrong', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    flows.save(FILE, workflowFile({ schedule: { frequency: 'yearly' } }))
    await flows.pass(QUIET)
    expect(flows.updates().at(-1)).toMatchObject({ id: 'one', active: false, error: expect.stringMatching(/one\.md: line \d+: .*yearly/) })
    await expect(flows.activate('one')).rejects.toMatchObject({ code: 'management.invalid_request' })
    await expect(flows.run('one')).rejects.toMatchObject({ code: 'management.invalid_request' })
  })

  test('becomes inactive when its file is deleted, and active again when the same bytes come back', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    flows.remove(FILE)
    await flows.pass(QUIET)
    expect(flows.updates().at(-1)).toMatchObject({ active: false, error: expect.stringContaining('is gone') })
    await expect(flows.view('one')).rejects.toMatchObject({ code: 'resource.not_found' })
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    expect(flows.updates().map(({ active }) => active)).toEqual([true, false, true])
  })

  test('ends when the id of its file changes, and the new id begins', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    flows.save(FILE, workflowFile({ id: 'two' }))
    await flows.pass(QUIET)
    expect(
      flows
        .updates()
        .slice(1)
        .toSorted((a, b) => a.id.localeCompare(b.id)),
    ).toMatchObject([
      { id: 'one', active: false },
      { id: 'two', active: true },
    ])
  })

  test('is found by the slow look when no watcher tells of its file', async () => {
    const flows = await startWorkflows()
    writeFileSync(join(flows.directory, FILE), workflowFile())
    await flows.pass(61_000)
    expect(flows.updates()).toEqual([{ id: 'one', active: true }])
  })

  test('is found in a directory that did not exist', async () => {
    const world = workflowEffects()
    const flows = await startWorkflows(world)
    const other = join(world.effects.root, 'other')
    mkdirSync(other)
    await flows.call('list', { directory: other })
    await flows.pass(1000)
    mkdirSync(join(other, '.svc/workflow/deep/er'), { recursive: true })
    writeFileSync(join(other, '.svc/workflow/deep/er/one.md'), workflowFile())
    await flows.pass(600)
    await flows.pass(QUIET)
    expect(flows.updates()).toEqual([{ id: 'one', active: true }])
  })

  test('is kept over a restart, with what was said by calls', async () => {
    const world = workflowEffects()
    const first = await startWorkflows(world)
    first.save(FILE, workflowFile())
    first.save('.svc/workflows/two.md', workflowFile({ id: 'two' }))
    await first.pass(QUIET)
    await first.pause('two')
    await first.service.stop()
    const second = await startWorkflows(world)
    expect((await second.list()).workflows.map(({ active }) => active)).toEqual([true, false])
    expect(second.updates()).toEqual([])
  })
})

describe('the catalog', () => {
  test('hides no workflow because of a bad file, and says what is wrong with each', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile())
    flows.save('.svc/workflows/bad.md', workflowFile({ id: 'bad', schedule: {} }))
    flows.save('.svc/workflows/no-fence.md', 'Do it.')
    flows.save('.svc/workflows/notes.txt', 'no workflow')
    const { workflows, diagnostics } = await flows.list()
    expect(workflows.map(({ definition }) => definition.id)).toEqual(['one'])
    expect(diagnostics.map(({ sourcePath }) => sourcePath)).toEqual([
      join(flows.directory, '.svc/workflows/bad.md'),
      join(flows.directory, '.svc/workflows/no-fence.md'),
    ])
  })

  test('takes the later of two files of one id in one place and says so, and the stronger of two places silently', async () => {
    const flows = await startWorkflows()
    flows.save(join(flows.effects.paths.config, 'workflows/one.md'), workflowFile({ name: 'Of the installation' }))
    flows.save('.svc/workflow/a.md', workflowFile({ name: 'Singular' }))
    flows.save('.svc/workflows/a.md', workflowFile({ name: 'Plural' }))
    const { workflows, diagnostics } = await flows.list()
    expect(workflows.map(({ definition }) => definition.name)).toEqual(['Plural'])
    expect(diagnostics).toEqual([
      {
        sourcePath: join(flows.directory, '.svc/workflow/a.md'),
        message: expect.stringContaining('has the same id "one" and comes later'),
      },
    ])
    flows.save(join(flows.effects.paths.home, '.svc/workflows/one.md'), workflowFile({ name: 'Of the home folder' }))
    expect((await flows.list()).workflows.map(({ definition }) => definition.name)).toEqual(['Of the home folder'])
  })

  test('does not read what others may write, nor what a link leads to elsewhere', async () => {
    const flows = await startWorkflows()
    chmodSync(flows.save(FILE, workflowFile()), 0o666)
    const elsewhere = join(flows.effects.root, 'elsewhere.md')
    writeFileSync(elsewhere, workflowFile({ id: 'linked' }))
    symlinkSync(elsewhere, join(flows.directory, '.svc/workflows/linked.md'))
    symlinkSync(join(flows.directory, '.svc/inside.md'), join(flows.directory, '.svc/workflows/inside.md'))
    flows.save('.svc/inside.md', workflowFile({ id: 'inside' }))
    symlinkSync(join(flows.directory, 'unprotected.md'), join(flows.directory, '.svc/workflows/unprotected.md'))
    flows.save('unprotected.md', workflowFile({ id: 'unprotected' }))
    const { workflows, diagnostics } = await flows.list()
    expect(workflows.map(({ definition, sourcePath }) => [definition.id, sourcePath])).toEqual([
      ['inside', join(flows.directory, '.svc/inside.md')],
    ])
    expect(diagnostics.map(({ message }) => message).toSorted()).toEqual([
      'is not read: it can be written by everybody',
      expect.stringContaining('is not read: it leads outside'),
      expect.stringMatching(/^is not read: it leads to .*unprotected\.md, which is in no \.svc directory$/),
    ])
  })

  test('does not read what is reached through a directory that others may write, and reads it once they may not', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile())
    const look = async () => {
      const { workflows, diagnostics } = await flows.list()
      return [workflows.map(({ definition }) => definition.id), diagnostics.map(({ message }) => message)]
    }
    expect(await look()).toEqual([['one'], []])
    chmodSync(flows.directory, 0o777)
    expect(await look()).toEqual([[], [`is not read: it is reached through ${flows.directory}, which can be written by everybody`]])
    chmodSync(flows.directory, 0o755)
    expect(await look()).toEqual([['one'], []])
  })

  test('says when the directory of a workflow is not there, and lists it', async () => {
    const flows = await startWorkflows()
    flows.save(FILE, workflowFile({ directory: 'missing' }))
    const { workflows, diagnostics } = await flows.list()
    expect(workflows).toHaveLength(1)
    expect(diagnostics).toEqual([
      { code: 'directory-missing', sourcePath: join(flows.directory, FILE), message: expect.stringContaining('does not exist') },
    ])
  })
})

describe('a workspace', () => {
  test('has the workflows of the installation for itself, and a project its own once', async () => {
    const world = workflowEffects()
    const top = world.effects.paths.cwd
    mkdirSync(join(top, '.git'))
    mkdirSync(join(top, 'below'))
    const flows = await startWorkflows(world)
    flows.save(FILE, workflowFile())
    flows.save(join(world.effects.paths.config, 'workflows/all.md'), workflowFile({ id: 'all' }))
    await flows.call('list', { directory: join(top, 'below') })
    await flows.pass(QUIET)
    const roots = flows.service.events
      .filter(({ type }) => type === 'workflow.updated')
      .map(({ data }) => `${data['workflow'].workflowId} in ${data['workflow'].workspaceRoot}`)
    expect(roots.toSorted((a, b) => a.localeCompare(b))).toEqual([`all in ${top}`, `all in ${join(top, 'below')}`, `one in ${top}`])
  })

  test('is in use once a session was created there, but not because a workflow runs there', async () => {
    const world = workflowEffects()
    const flows = await startWorkflows(world)
    flows.save(
      join(world.effects.paths.config, 'workflows/all.md'),
      workflowFile({ id: 'all', active: true, schedule: { date: '2000-01-01' } }),
    )
    await flows.pass(QUIET)
    expect(flows.updates()).toHaveLength(1)
    await flows.run('all')
    await flows.untilRun('failed')
    await flows.pass(QUIET)
    expect(flows.updates()).toHaveLength(1)
  })

  test('that is used makes no room for others: its use is noted now and then', async () => {
    const flows = await startWorkflows()
    const noted = () => flows.service.store.pluginRows.list('dev.svc.workflows', 'workspace').map(({ sort }) => sort)
    const [first] = noted()
    await flows.list()
    expect(noted()).toEqual([first])
    await flows.pass(LIMITS.workflows.useNoted)
    await flows.list()
    expect(noted()).toEqual([flows.effects.clock.now()])
    await flows.pass(1000)
    await flows.list()
    expect(noted()).toEqual([flows.effects.clock.now() - 1000])
  })

  test('has content that nobody accepted neither activated nor run when the installation asks for acceptance', async () => {
    const flows = await startWorkflows(workflowEffects(), { config: { workflows: { acceptance: 'required' } } })
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    expect(flows.updates()).toEqual([])
    const { workflows, diagnostics } = await flows.list()
    expect(workflows).toMatchObject([{ active: false }])
    expect(diagnostics).toMatchObject([{ message: expect.stringContaining('until its content is accepted') }])
    await expect(flows.run('one')).rejects.toMatchObject({ code: 'request.forbidden' })

    expect(await flows.activate('one')).toMatchObject({ active: true })
    expect((await flows.list()).diagnostics).toEqual([])
    flows.save(FILE, workflowFile({}, 'Do something else.'))
    await flows.pass(QUIET)
    expect(flows.updates().at(-1)).toMatchObject({ active: false, error: expect.stringContaining('until its content is accepted') })
    flows.save(FILE, workflowFile())
    await flows.pass(QUIET)
    expect(await flows.view('one')).toMatchObject({ active: true })
  })
})

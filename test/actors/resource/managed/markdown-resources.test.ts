// Holds subsystems b.13.
import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createFakePlugins, createFakeView, registered } from '../../../fakes/plugins.js'
import { conflict, createManagedPlace } from './place.js'

const NONE = undefined
const revisionOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`

test('an agent is written with sorted front matter, forced name and one final newline, and is in effect at once', async () => {
  const { management, here, read, resources, work, changed, at } = createManagedPlace()
  const request = { content: '\nReview it.\n\n', frontmatter: { topP: 0.5, description: 'Reviews: all', name: 'other', 'max-steps': 3 } }
  const made = await management.agents.create(here, 'reviewer', request, NONE)
  const text = '---\ndescription: "Reviews: all"\nname: reviewer\nsteps: 3\ntopP: 0.5\n---\n\nReview it.\n'
  expect(read('work/.svc/agents/reviewer.md')).toBe(text)
  expect(made).toMatchObject({
    id: 'reviewer',
    scope: 'workspace',
    origin: 'managed',
    provenance: at('work/.svc/agents/reviewer.md'),
    writable: true,
    managed: true,
    revision: revisionOf(text),
    definition: { name: 'reviewer', prompt: 'Review it.', steps: 3, native: false },
  })
  expect((await resources.agent(work, 'reviewer')).record.description).toBe('Reviews: all')
  expect(changed).toEqual([here.directory])
})

test('a list holds what is built in, discovered and managed, by id', async () => {
  const { management, here, everywhere, write, at } = createManagedPlace()
  write('work/svc.json', { agent: { written: { prompt: 'From a file.' } } })
  write('work/.svc/agent/team/found.md', 'Found.')
  await management.agents.create(here, 'mine', { content: 'Mine.' }, NONE)
  await management.agents.create(everywhere, 'global', { content: 'Global.' }, NONE)
  const rows = (await management.agents.list(here)).map(({ id, origin, provenance, scope, writable }) => [
    id,
    origin,
    provenance,
    scope,
    writable,
  ])
  expect(rows.filter(([id]) => !['compaction', 'explore', 'general', 'plan', 'summary', 'title'].includes(String(id)))).toEqual([
    ['build', 'builtIn', 'dev.svc.agents', null, false],
    ['global', 'discovered', at('config/agents/global.md'), null, false],
    ['mine', 'managed', at('work/.svc/agents/mine.md'), 'workspace', true],
    ['team/found', 'discovered', at('work/.svc/agent/team/found.md'), null, false],
    ['written', 'discovered', at('work/svc.json'), null, false],
  ])
  expect((await management.agents.list(everywhere)).find(({ id }) => id === 'global')).toMatchObject({
    origin: 'managed',
    scope: 'installation',
  })
})

test('what plugins contribute is of the plugin that has the name, and what a file says of it is of the file', async () => {
  const agent = (name: string) => ({ name, mode: 'all' as const })
  const view = createFakeView({
    agents: [
      registered('dev.example.first', {
        id: 'a',
        priority: 1,
        call: async () => ({ agents: [agent('one'), agent('two')], defaultAgent: null }),
      }),
      registered('dev.example.second', {
        id: 'b',
        priority: 0,
        call: async () => ({ agents: [agent('two'), agent('three')], defaultAgent: null }),
      }),
    ],
    commands: [
      registered('dev.svc.mcp', {
        id: 'c',
        priority: 0,
        call: async () => [{ name: 'mcp__files__look' }, { name: 'init' }, { name: 'told' }],
      }),
    ],
  })
  const { management, here, write, at } = createManagedPlace({ plugins: createFakePlugins(() => view) })
  write('work/.svc/command/told.md', 'Told by a file.')
  const shown = async (kind: 'agents' | 'commands', names: readonly string[]) =>
    (await management[kind].list(here)).filter(({ id }) => names.includes(id)).map(({ id, provenance }) => [id, provenance])
  expect(await shown('agents', ['build', 'one', 'two', 'three'])).toEqual([
    ['build', 'dev.svc.agents'],
    ['one', 'dev.example.first'],
    ['three', 'dev.example.second'],
    ['two', 'dev.example.first'],
  ])
  expect(await shown('commands', ['init', 'mcp__files__look', 'summarize', 'told'])).toEqual([
    ['init', 'dev.svc.mcp'],
    ['mcp__files__look', 'dev.svc.mcp'],
    ['summarize', 'dev.svc.commands'],
    ['told', at('work/.svc/command/told.md')],
  ])
})

test('a revision that does not match is refused with the one there is', async () => {
  const { management, here } = createManagedPlace()
  const { revision } = await management.commands.create(here, 'fix', { content: 'Fix $1.' }, NONE)
  const { commands } = management
  await expect(commands.create(here, 'fix', { content: 'Other' }, NONE)).rejects.toMatchObject(conflict(revision))
  await expect(commands.update(here, 'fix', { content: 'Other', expectedRevision: 'sha256:0' }, NONE)).rejects.toMatchObject(
    conflict(revision),
  )
  await expect(commands.delete(here, 'fix', 'W/"sha256:0"')).rejects.toMatchObject(conflict(revision))
  await expect(commands.create(here, 'none', { content: 'x' }, '*')).rejects.toMatchObject(conflict(null))
  const replaced = await commands.create(here, 'fix', { content: 'Other $1' }, `"${revision ?? ''}"`)
  expect(replaced).toMatchObject({ definition: { name: 'fix', template: 'Other $1' } })
  await expect(commands.get(here, 'fix', revision ?? '')).rejects.toMatchObject(conflict(replaced.revision))
  await commands.delete(here, 'fix', '*')
  await expect(commands.get(here, 'fix', NONE)).rejects.toMatchObject({ code: 'management.not_found' })
  await expect(commands.delete(here, 'fix', NONE)).rejects.toMatchObject({ code: 'management.not_found' })
})

test('of 32 writers who expect one revision exactly one succeeds', async () => {
  const { management, here, read } = createManagedPlace()
  const { revision } = await management.agents.create(here, 'one', { content: 'Zero.' }, NONE)
  const writes = Array.from({ length: 32 }, (_, index) =>
    management.agents.update(here, 'one', { content: `Writer ${index}.`, expectedRevision: revision ?? '' }, NONE),
  )
  const outcomes = await Promise.allSettled(writes)
  const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  expect(winners).toHaveLength(1)
  expect(winners[0]?.revision).toBe(revisionOf(read('work/.svc/agents/one.md')))
  const losers = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  for (const loser of losers) expect(loser).toMatchObject(conflict(winners[0]?.revision ?? null))
})

test('a file written by hand is the same resource: in place, renamed over, removed', async () => {
  const { management, here, write, at } = createManagedPlace()
  write('work/.svc/agents/hand.md', 'By hand.')
  const first = await management.agents.get(here, 'hand', NONE)
  expect(first).toMatchObject({ managed: true, revision: revisionOf('By hand.'), definition: { prompt: 'By hand.' } })
  write('work/new.md', '---\nmode: subagent\n---\nRenamed over.')
  renameSync(at('work/new.md'), at('work/.svc/agents/hand.md'))
  expect((await management.agents.get(here, 'hand', NONE)).definition).toMatchObject({ prompt: 'Renamed over.', mode: 'subagent' })
  await expect(management.agents.update(here, 'hand', { content: 'x' }, first.revision ?? '')).rejects.toMatchObject({
    code: 'management.revision_conflict',
  })
  writeFileSync(at('work/.svc/agents/hand.md'), '---\nmode: [broken\n---\n')
  expect(await management.agents.get(here, 'hand', NONE)).toMatchObject({ managed: true, definition: null })
  await management.agents.update(here, 'hand', { content: 'Repaired.' }, '*')
  rmSync(at('work/.svc/agents/hand.md'))
  await expect(management.agents.get(here, 'hand', NONE)).rejects.toMatchObject({ code: 'management.not_found' })
})

test('what is built in or discovered is not changed; a managed one in its place is removed again', async () => {
  const { management, here, write, at } = createManagedPlace()
  const { agents } = management
  await expect(agents.update(here, 'plan', { content: 'x' }, NONE)).rejects.toMatchObject({ code: 'management.read_only' })
  await expect(agents.delete(here, 'plan', NONE)).rejects.toMatchObject({ code: 'management.read_only' })
  write('work/.svc/agent/found.md', 'Found.')
  await expect(agents.delete(here, 'found', NONE)).rejects.toMatchObject({
    code: 'management.read_only',
    details: { id: 'found', provenance: at('work/.svc/agent/found.md') },
  })
  write('work/.svc/agents/team/found.md', 'Found in a folder.')
  for (const change of [agents.update(here, 'team/found', { content: 'x' }, NONE), agents.delete(here, 'team/found', NONE)]) {
    await expect(change).rejects.toMatchObject({ code: 'management.read_only', details: { id: 'team/found' } })
  }
  await expect(agents.delete(here, 'team/nothing', NONE)).rejects.toMatchObject({ code: 'management.invalid_request' })
  expect(await agents.create(here, 'plan', { content: 'Our own plan.' }, NONE)).toMatchObject({ definition: { native: true } })
  await agents.delete(here, 'plan', NONE)
  expect(await agents.get(here, 'plan', NONE)).toMatchObject({ origin: 'builtIn', revision: null })
})

test('ids, keys and values that would not be used are refused before anything is written', async () => {
  const { management, here } = createManagedPlace()
  const invalid = { code: 'management.invalid_request' }
  for (const id of ['', '../x', 'a/b', '-x', 'x'.repeat(81), 'ä', '.']) {
    await expect(management.agents.create(here, id, { content: 'x' }, NONE)).rejects.toMatchObject(invalid)
  }
  const write = (frontmatter: Record<string, unknown>) => management.agents.create(here, 'x', { content: 'x', frontmatter }, NONE)
  await expect(write({ steps: 'many' })).rejects.toMatchObject({ ...invalid, details: { issues: [{ path: 'body.frontmatter.steps' }] } })
  await expect(write({ options: { constructor: 1 } })).rejects.toMatchObject(invalid)
  await expect(management.commands.create(here, 'x', { content: ' \n' }, NONE)).rejects.toMatchObject(invalid)
  await expect(management.agents.create(here, 'x', { content: 'é'.repeat(300_000) }, NONE)).rejects.toMatchObject(invalid)
  await expect(management.agents.get(here, 'x', NONE)).rejects.toMatchObject({ code: 'management.not_found' })
})

test('nothing is written through a link, in a folder or in place of a file', async () => {
  const { management, here, at, write, read } = createManagedPlace()
  write('elsewhere/x.md', 'Untouched.')
  mkdirSync(at('work/.svc/agents'), { recursive: true })
  symlinkSync(at('elsewhere/x.md'), at('work/.svc/agents/x.md'))
  await expect(management.agents.update(here, 'x', { content: 'y' }, NONE)).rejects.toMatchObject({ code: 'management.read_only' })
  symlinkSync(at('elsewhere'), at('work/.svc/commands'))
  await expect(management.commands.create(here, 'x', { content: 'y' }, NONE)).rejects.toMatchObject({ code: 'management.read_only' })
  expect(read('elsewhere/x.md')).toBe('Untouched.')
})

test('the place of a call: body before query, never both ways, the configuration root is no workspace', () => {
  const { management, effects, work } = createManagedPlace()
  const { config } = effects.paths
  expect(management.place(work, { asked: undefined })).toEqual({ scope: 'workspace', directory: work })
  expect(management.place(work, { asked: undefined, body: 'installation' })).toEqual({ scope: 'installation', directory: config })
  const invalid = expect.objectContaining({ code: 'management.invalid_request' })
  expect(() => management.place(work, { asked: 'workspace', body: 'installation' })).toThrow(invalid)
  expect(() => management.place(config, { asked: 'workspace' })).toThrow(invalid)
  const off = createManagedPlace({ env: { SVC_AGENT_MANAGEMENT_API: '0' } })
  expect(() => off.management.place(work, { asked: undefined })).toThrow(expect.objectContaining({ code: 'management.disabled' }))
})

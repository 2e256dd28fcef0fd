// Holds threat-model F4.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { conflict, createManagedPlace } from './place.js'

const NONE = undefined
const FILES = { 'scripts/run.sh': '#!/bin/sh\ntouch /tmp/never\n', 'notes.md': 'Notes.\n' }

test('a skill is installed with its files, offered to models, and nothing of it is run', async () => {
  const { management, here, read, resources, work, at } = createManagedPlace()
  const made = await management.skills.create(
    here,
    'sum',
    { content: 'Add up.', description: 'Adds.', version: '2', metadata: { z: 1, a: [2] }, files: FILES },
    NONE,
  )
  expect(read('work/.svc/skills/sum/SKILL.md')).toBe(
    '---\ndescription: Adds.\nmetadata:\n  a:\n    - 2\n  z: 1\nname: sum\nversion: "2"\n---\n\nAdd up.\n',
  )
  expect(read('work/.svc/skills/sum/scripts/run.sh')).toBe(FILES['scripts/run.sh'])
  expect(made).toMatchObject({
    id: 'sum',
    scope: 'workspace',
    origin: 'managed',
    provenance: at('work/.svc/skills/sum/SKILL.md'),
    definition: { info: { name: 'sum', description: 'Adds.', version: '2', metadata: { z: 1, a: [2] } }, content: 'Add up.' },
  })
  expect(await resources.skills(work)).toEqual([{ name: 'sum', description: 'Adds.', path: at('work/.svc/skills/sum/SKILL.md') }])
  expect(readdirSync(at('work/.svc'))).toEqual(['skills'])
})

test('the revision is the hash over path, NUL, bytes, NUL of each file in order', async () => {
  const { management, here, at } = createManagedPlace()
  const { revision } = await management.skills.create(here, 'x', { content: 'X.', files: FILES }, NONE)
  const program = `const h = require('node:crypto').createHash('sha256')
for (const p of ['SKILL.md', 'notes.md', 'scripts/run.sh']) h.update(p + '\\0').update(require('node:fs').readFileSync(p)).update('\\0')
process.stdout.write('sha256:' + h.digest('hex'))`
  expect(revision).toBe(execFileSync(process.execPath, ['-e', program], { cwd: at('work/.svc/skills/x'), encoding: 'utf8' }))
})

test('versions stay, also when the skill goes, and are restored byte for byte', async () => {
  const { management, here, at, write } = createManagedPlace()
  const { skills } = management
  const first = await skills.create(here, 'x', { content: 'First.', files: FILES }, NONE)
  await skills.update(here, 'x', { content: 'Second.' }, NONE)
  expect(existsSync(at('work/.svc/skills/x/notes.md'))).toBe(false)
  write('work/.svc/skills/x/SKILL.md', 'By hand,   no front matter\r\n')
  const hand = await skills.get(here, 'x', NONE)
  await skills.delete(here, 'x', hand.revision ?? '')
  expect(existsSync(at('work/.svc/skills/x'))).toBe(false)
  await expect(skills.get(here, 'x', NONE)).rejects.toMatchObject({ code: 'management.not_found' })
  const versions = await skills.versions(here, 'x')
  expect(versions.map(({ bundle }) => bundle.content).toSorted()).toEqual(['By hand,   no front matter', 'First.', 'Second.'])
  expect(await skills.version(here, 'x', first.revision?.slice(7) ?? '')).toMatchObject({
    skillId: 'x',
    revision: first.revision,
    bundle: { content: 'First.', name: 'x', files: FILES },
  })
  await expect(skills.restore(here, 'x', versions[0]?.id ?? '', { query: '*', ifMatch: NONE })).rejects.toMatchObject(conflict(null))
  const back = await skills.restore(here, 'x', hand.revision?.slice(7) ?? '', { query: NONE, ifMatch: NONE })
  expect(back.revision).toBe(hand.revision)
  expect(readFileSync(at('work/.svc/skills/x/SKILL.md'), 'utf8')).toBe('By hand,   no front matter\r\n')
  expect((await skills.restore(here, 'x', first.revision?.slice(7) ?? '', { query: back.revision ?? '', ifMatch: NONE })).revision).toBe(
    first.revision,
  )
  await expect(skills.version(here, 'x', '../../auth')).rejects.toMatchObject({ code: 'management.not_found' })
})

test('of 32 writers who expect one revision exactly one succeeds, and its bundle is there whole', async () => {
  const { management, here, read } = createManagedPlace()
  const { revision } = await management.skills.create(here, 'one', { content: 'Zero.' }, NONE)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 32 }, (_, index) =>
      management.skills.update(
        here,
        'one',
        { content: `${index}.`, files: { 'n.txt': `${index}.` }, expectedRevision: revision ?? '' },
        NONE,
      ),
    ),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(read('work/.svc/skills/one/SKILL.md').endsWith(`\n${read('work/.svc/skills/one/n.txt')}\n`)).toBe(true)
})

const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, 'x']))
const bad: readonly [string, Record<string, string>][] = [
  ['500 files', many],
  ['a way up', { '../x': 'x' }],
  ['a way up inside', { 'a/../../x': 'x' }],
  ['an absolute path', { '/etc/x': 'x' }],
  ['a backslash', { 'a\\b': 'x' }],
  ['a NUL', { 'a\0b': 'x' }],
  ['an empty name', { 'a//b': 'x' }],
  ['a second SKILL.md', { 'inner/skill.md': 'x' }],
  ['a repository', { '.git/hooks/post-checkout': 'x' }],
  ['a file that is a directory', { a: 'x', 'a/b': 'x' }],
  ['names that one file system takes for the same', { a: 'x', A: 'x' }],
  ['a file beyond its size', { a: 'é'.repeat(140_000) }],
  ['a bundle beyond its size', Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`f${index}`, 'x'.repeat(262_144)]))],
]
test.each(bad)('%s is refused, and nothing is written', async (_name, files) => {
  const { management, here, at } = createManagedPlace()
  await expect(management.skills.create(here, 'x', { content: 'X.', files }, NONE)).rejects.toMatchObject({
    code: 'management.invalid_request',
  })
  expect(existsSync(at('work/.svc'))).toBe(false)
})

test('a hand-made skill with links, or too many files, is discovered and left alone', async () => {
  const { management, here, write, at } = createManagedPlace()
  write('work/.svc/skills/linked/SKILL.md', 'Linked.')
  symlinkSync('/etc/hostname', at('work/.svc/skills/linked/secret'))
  write('work/.svc/skills/large/SKILL.md', 'Large.')
  for (let index = 0; index < 500; index++) writeFileSync(at(`work/.svc/skills/large/f${index}`), 'x')
  const rows = (await management.skills.list(here)).map(({ id, origin, writable }) => [id, origin, writable])
  expect(rows).toEqual([
    ['large', 'discovered', false],
    ['linked', 'discovered', false],
  ])
  for (const id of ['large', 'linked']) {
    await expect(management.skills.update(here, id, { content: 'X.' }, '*')).rejects.toMatchObject({ code: 'management.read_only' })
    await expect(management.skills.delete(here, id, NONE)).rejects.toMatchObject({ code: 'management.read_only' })
  }
})

test('a write that was killed between the old and the new files is taken back by the next start', async () => {
  const { management, here, at, effects, read } = createManagedPlace()
  await management.skills.create(here, 'x', { content: 'Old.', files: FILES }, NONE)
  const [target, staging] = [at('work/.svc/skills/x'), at('work/.svc/.staging/k')]
  mkdirSync(staging, { recursive: true })
  renameSync(target, join(staging, 'old'))
  mkdirSync(join(effects.paths.state, 'skill-writes'), { recursive: true })
  writeFileSync(join(effects.paths.state, 'skill-writes/k.json'), JSON.stringify({ target, old: join(staging, 'old'), staging }))
  await management.recover()
  expect(read('work/.svc/skills/x/SKILL.md')).toContain('Old.')
  expect([existsSync(at('work/.svc/.staging')), readdirSync(join(effects.paths.state, 'skill-writes'))]).toEqual([false, []])
})

/** Names below names, further down than a path can say. */
function dig(folder: string): void {
  const script = `process.chdir(process.argv[1])
    for (let left = 30; left > 0; left--) { require('node:fs').mkdirSync('n'.repeat(200)); process.chdir('n'.repeat(200)) }`
  execFileSync(process.execPath, ['-e', script, folder])
  onTestFinished(() => void execFileSync('rm', ['-rf', folder])) // no path that a program of Node could use leads there
}

test.each<readonly [what: string, spoil: (folder: string) => void, said: RegExp]>([
  ['a file whose name is no UTF-8', (folder) => writeFileSync(Buffer.from(`${folder}/x\xff`, 'latin1'), 'x'), /no UTF-8/],
  ['folders that are too deep', dig, /cannot be read \(ENAMETOOLONG\)/],
  ['a link', (folder) => symlinkSync('/etc/hostname', join(folder, 'link')), /the link "link"/],
])('%s in a skill hides no other skill, and the skill is not written', async (_, spoil, said) => {
  const { management, here, at } = createManagedPlace()
  const { skills } = management
  for (const id of ['good', 'odd']) await skills.create(here, id, { content: 'X.' }, NONE)
  expect(
    (await skills.list(here)).map(({ id, writable }) => [id, writable]),
    'control',
  ).toEqual([
    ['good', true],
    ['odd', true],
  ])
  spoil(at('work/.svc/skills/odd'))
  expect((await skills.list(here)).map(({ id, writable }) => [id, writable])).toEqual([
    ['good', true],
    ['odd', false],
  ])
  await expect(skills.update(here, 'odd', { content: 'Y.' }, NONE)).rejects.toMatchObject({
    code: 'management.read_only',
    message: expect.stringMatching(said) as string,
  })
  expect(await skills.get(here, 'odd', NONE)).toMatchObject({ id: 'odd', origin: 'discovered' })
})

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Caller } from '../../../src/protocol/caller.js'
import { createManagement } from '../../../src/actors/runtime/management.js'
import { conflict, createManagedPlace } from '../resource/managed/place.js'

const operator: Caller = { subject: 'local-operator', tenantId: 'local', authenticated: true, operator: true, directoryPrefixes: undefined }
const NONE = undefined

test('a directory is registered, renamed and forgotten, and its files stay', async () => {
  const place = createManagedPlace({ git: false })
  const { workspaces } = place.management
  place.write('work/kept.txt', 'kept')
  const made = await workspaces.create(operator, { root: place.work })
  expect(made).toMatchObject({ name: 'work', root: place.work, id: expect.stringMatching(/^ws_[0-9a-f]{16}$/) })
  await expect(workspaces.create(operator, { root: place.work, id: 'other' })).rejects.toMatchObject({ code: 'resource.conflict' })
  const renamed = await workspaces.update(operator, made.id, { name: 'New', expectedRevision: made.revision }, NONE)
  expect(renamed.revision).not.toBe(made.revision)
  await expect(workspaces.update(operator, made.id, { name: 'x' }, `"${made.revision}"`)).rejects.toMatchObject(conflict(renamed.revision))
  const again = createManagement({ ...place, resources: place.resources, snapshots: place.configs.snapshots })
  expect(await again.workspaces.list(operator)).toEqual([renamed])
  await workspaces.delete(operator, made.id, renamed.revision)
  expect([await workspaces.list(operator), existsSync(place.at('work/kept.txt'))]).toEqual([[], true])
})

test('a root is absolute, there, a directory, and told by its only name', async () => {
  const { management, at, work, write } = createManagedPlace({ git: false })
  const create = (root: string, createDirectory?: boolean) =>
    management.workspaces.create(operator, { root, ...(createDirectory !== undefined && { createDirectory }) })
  symlinkSync(work, at('alias'))
  write('file', 'x')
  for (const root of ['work', at('none'), at('file'), at('alias'), `${work}/../work`, `${work}/`, `${work}//x`]) {
    await expect(create(root)).rejects.toMatchObject({ code: 'management.invalid_request' })
  }
  await expect(create(at('alias/new'), true)).rejects.toMatchObject({ code: 'management.invalid_request' })
  expect((await create(at('new/deep'), true)).root).toBe(at('new/deep'))
  const narrow = { ...operator, directoryPrefixes: [at('elsewhere')] }
  await expect(management.workspaces.create(narrow, { root: work })).rejects.toMatchObject({ code: 'management.directory_forbidden' })
  expect(await management.workspaces.list(narrow)).toEqual([])
})

test('a repository is a workspace that is the top of a worktree; its address is told without a credential', async () => {
  const { management, work, at } = createManagedPlace({ git: false })
  mkdirSync(join(work, 'sub'))
  await expect(management.repositories.create(operator, { kind: 'existing', path: work }, AbortSignal.any([]))).rejects.toMatchObject({
    code: 'management.invalid_request',
  })
  execFileSync('git', ['init', '--quiet', work])
  execFileSync('git', ['-C', work, 'remote', 'add', 'origin', 'https://me:secret@example.org/x.git'])
  const made = await management.repositories.create(operator, { kind: 'existing', path: work, id: 'main' }, AbortSignal.any([]))
  expect(made).toMatchObject({ id: 'main', workspaceId: 'main', path: work, remoteUrl: 'https://example.org/x.git' })
  expect(await management.workspaces.get(operator, 'main')).toMatchObject({
    root: work,
    repository: { remoteUrl: 'https://example.org/x.git' },
  })
  await management.workspaces.create(operator, { root: at('work/sub'), id: 'sub' })
  expect((await management.repositories.list(operator)).map(({ id }) => id)).toEqual(['main'])
  await expect(management.repositories.get(operator, 'sub')).rejects.toMatchObject({ code: 'management.not_found' })
  await management.repositories.delete(operator, 'main', NONE)
  expect(existsSync(join(work, '.git'))).toBe(true)
})

test('a thousand registered workspaces are not looked at; a registry that cannot be read is left alone', async () => {
  const { management, effects, work, counts } = createManagedPlace({ git: false })
  const path = join(effects.paths.state, 'workspaces.json')
  const workspaces = Array.from({ length: 1024 }, (_, index) => {
    return { id: `w${index}`, name: 'w', root: `/nowhere/${index}`, createdAt: 1, updatedAt: 1 }
  })
  mkdirSync(effects.paths.state, { recursive: true })
  writeFileSync(path, JSON.stringify({ version: 1, workspaces }))
  const before = { ...counts }
  expect(await management.workspaces.list(operator)).toHaveLength(1024)
  expect([counts.stat - before.stat, counts.read - before.read]).toEqual([1, 1])
  await expect(management.workspaces.create(operator, { root: work })).rejects.toMatchObject({ code: 'quota.exceeded' })
  const broken = createManagedPlace({ git: false })
  mkdirSync(broken.effects.paths.state, { recursive: true })
  const file = join(broken.effects.paths.state, 'workspaces.json')
  writeFileSync(file, '{"version": 2}')
  await expect(broken.management.workspaces.create(operator, { root: broken.work })).rejects.toMatchObject({
    code: 'management.storage_error',
  })
  expect(readFileSync(file, 'utf8')).toBe('{"version": 2}')
})

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { AnyActorRef } from 'xstate'
import { createWorkspaces } from '../../../src/actors/plugin/package/workspaces.js'
import { createSnapshots } from '../../../src/actors/resource/snapshot/snapshots.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

it('a plugin directory that is watched stays watched while another one does not exist yet, so that no change falls between', async () => {
  const effects = createFakeEffects()
  const directory = effects.paths.cwd
  const project = join(directory, '.svc/plugins')
  const begun: string[] = []
  const ended: string[] = []
  const files: typeof effects.files = {
    ...effects.files,
    async watch(root) {
      if ((await effects.files.stat(root)) === undefined) return undefined
      begun.push(root)
      return () => void ended.push(root)
    },
  }
  const workspaces = createWorkspaces({
    effects: { ...effects, files },
    snapshots: createSnapshots(effects),
    look: async () => ({ perSession: false }),
    onIdle: () => undefined,
  })
  for (let look = 0; look < 3; look++) await workspaces.refresh(directory)
  expect({ begun, ended }).toEqual({ begun: [effects.paths.config], ended: [] })
  mkdirSync(project, { recursive: true })
  await workspaces.refresh(directory)
  expect({ begun, ended }).toEqual({ begun: [effects.paths.config, project], ended: [] })
  workspaces.stop()
  expect(ended).toEqual([effects.paths.config, project])
})

it('forgets a session that was only visited, and then its workspace, once nobody came back for the time of idleness', async () => {
  const effects = createFakeEffects()
  const directory = effects.paths.cwd
  const idle: (string | undefined)[] = []
  const seen: string[][] = []
  const workspaces = createWorkspaces({
    effects,
    snapshots: createSnapshots(effects),
    async look({ sessions }) {
      seen.push([...sessions])
      return { perSession: true }
    },
    onIdle: (_directory, sessionId) => void idle.push(sessionId),
  })
  await workspaces.use(directory, { sessionId: 'visited', isVisit: true })
  await workspaces.use(directory, { sessionId: 'awake', isVisit: false })
  await workspaces.use(directory, { sessionId: 'awake', isVisit: true })
  expect(seen.at(-1)).toEqual(['visited', 'awake'])
  await effects.clock.advanceAsync(LIMITS.plugins.idleTeardown + 1)
  expect(idle).toEqual(['visited'])
  expect(workspaces.sessionEnded('awake')).toBe(directory)
  await effects.clock.advanceAsync(LIMITS.plugins.idleTeardown)
  expect(idle).toEqual(['visited', undefined])
  workspaces.stop()
})

it('tells its actor of uses that follow at once only once, and stays while it is used', async () => {
  const effects = createFakeEffects()
  const directory = effects.paths.cwd
  const idle: (string | undefined)[] = []
  let told = 0
  const workspaces = createWorkspaces({
    effects,
    snapshots: createSnapshots(effects),
    actors: { add: (ref: AnyActorRef) => void ref.subscribe(() => told++) },
    look: async () => ({ perSession: false }),
    onIdle: (_directory, sessionId) => void idle.push(sessionId),
  })
  await workspaces.use(directory)
  await workspaces.use(directory, { sessionId: 'awake', isVisit: false })
  const before = told
  for (let at = 0; at < 50; at++) {
    await workspaces.use(directory)
    await workspaces.use(directory, { sessionId: 'awake', isVisit: false })
  }
  expect(told).toBe(before)
  expect(workspaces.sessionEnded('awake')).toBe(directory)
  for (let at = 0; at < 3; at++) {
    await effects.clock.advanceAsync(LIMITS.plugins.idleTeardown - 1)
    expect(idle).toEqual([])
    await workspaces.use(directory)
  }
  await effects.clock.advanceAsync(LIMITS.plugins.idleTeardown)
  expect(idle).toEqual([undefined])
  workspaces.stop()
})

it('looks again after a look that failed, and hears changes told meanwhile and later', async () => {
  const effects = createFakeEffects()
  const directory = effects.paths.cwd
  let tell: () => void = () => undefined
  let looks = 0
  const files: typeof effects.files = {
    ...effects.files,
    async watch(root, onChange) {
      if (root !== effects.paths.config) return undefined
      tell = () => onChange([join(root, 'plugins')])
      return () => undefined
    },
  }
  const workspaces = createWorkspaces({
    effects: { ...effects, files },
    snapshots: createSnapshots(effects),
    async look() {
      if (++looks > 1) return { perSession: false }
      tell()
      throw new Error('too many open files')
    },
    onIdle: () => undefined,
  })
  await workspaces.use(directory)
  expect(looks).toBe(1)
  await effects.clock.advanceAsync(LIMITS.plugins.recheck.first + 50)
  await expect.poll(() => looks).toBe(2)
  tell()
  await effects.clock.advanceAsync(50)
  await expect.poll(() => looks).toBe(3)
  workspaces.stop()
})

it('is one actor: it looks, watches, is dirty, looks again, and is idle at last; a use waits for the look that is under way', async () => {
  const effects = createFakeEffects()
  const directory = effects.paths.cwd
  mkdirSync(join(directory, '.svc/plugins'), { recursive: true })
  let tell: () => void = () => undefined
  const files: typeof effects.files = {
    ...effects.files,
    async watch(root, onChange) {
      tell = () => onChange([join(root, 'changed')])
      return () => undefined
    },
  }
  const actors: { readonly kind: string; readonly ref: AnyActorRef }[] = []
  const looks: (() => void)[] = []
  const idle: string[] = []
  const workspaces = createWorkspaces({
    effects: { ...effects, files },
    snapshots: createSnapshots(effects),
    actors: { add: (ref, kind) => void actors.push({ ref, kind }) },
    look: () => new Promise((resolve) => looks.push(() => resolve({ perSession: false }))),
    onIdle: (forgotten) => void idle.push(forgotten),
  })
  const state = () => actors[0]?.ref.getSnapshot().value
  const first = workspaces.use(directory)
  await expect.poll(() => looks.length).toBe(1)
  expect([actors.map(({ kind, ref }) => [kind, ref.id]), state()]).toEqual([
    [['workspace', `workspace:${directory}`]],
    { tracked: { files: { looking: 'current' }, sessions: 'none' } },
  ])
  looks[0]?.()
  await first
  expect(state()).toEqual({ tracked: { files: 'watched', sessions: 'none' } })
  tell()
  expect(state()).toEqual({ tracked: { files: 'dirty', sessions: 'none' } })
  await effects.clock.advanceAsync(LIMITS.plugins.lookDebounce)
  await expect.poll(() => looks.length).toBe(2)
  let hasAnswered = false
  const second = workspaces.use(directory).then(() => (hasAnswered = true))
  await effects.files.readDirectory(directory)
  expect(hasAnswered).toBe(false)
  looks[1]?.()
  await second
  await effects.clock.advanceAsync(LIMITS.plugins.relook)
  expect(state()).toEqual({ tracked: { files: 'stale', sessions: 'none' } })
  await effects.clock.advanceAsync(LIMITS.plugins.idleTeardown)
  expect([state(), idle, actors.length]).toEqual(['idle', [directory], 1])
  workspaces.stop()
})

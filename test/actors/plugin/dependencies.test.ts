/** Packages that depend on others: who starts first, whose hook comes first, and what is said of those that are missing. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PlayedChild } from '../../../src/simulation/child.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { startTestService } from '../../fakes/service.js'

type Wanted = Readonly<Record<string, readonly string[]>>

/** Packages with a hook each; `held` ones are asked to initialize and answer when they are let. */
async function begin(wanted: Wanted, { approved = Object.keys(wanted), held = [] as readonly string[] } = {}) {
  const effects = createFakeEffects({ env: { SVC_AGENT_PLUGIN_SANDBOX: 'off' } })
  const asked: string[] = []
  const waiting = new Map<string, () => void>()
  effects.processes.pipe(
    ({ args }) =>
      (child) =>
        play(child, args.find((arg) => arg.startsWith('dev.')) ?? ''),
  )
  function play(child: PlayedChild, id: string): void {
    child.onInput((text) => {
      for (const line of text.split('\n').filter((each) => each !== '')) {
        const frame = JSON.parse(line) as { id?: number; method: string }
        if (frame.method !== 'initialize') continue
        asked.push(id)
        const result = { protocol: 'svc-plugin/2', hooks: ['chat.options'] }
        const answer = () => child.stdout(`${JSON.stringify({ id: frame.id, result })}\n`)
        if (held.includes(id)) waiting.set(id, answer)
        else answer()
      }
    })
  }
  for (const [id, dependencies] of Object.entries(wanted)) {
    const root = join(effects.paths.config, 'plugins', id)
    mkdirSync(root, { recursive: true })
    writeFileSync(
      join(root, 'svc-plugin.json'),
      JSON.stringify({ id, version: '1', dependencies, agent: { runtime: 'process', command: ['/bin/sh', id] } }),
    )
  }
  const service = await startTestService({ effects })
  const list = () => service.runtime.plugins.lifecycle(service.directory)
  const approve = async (ids: readonly string[]) => {
    const file = join(effects.paths.config, 'config.json')
    const entries = (await list()).flatMap(({ packageId, revision }) => {
      const trust = [{ workspaceId: service.directory, packageId, revision, executableApproved: true }]
      return ids.includes(packageId) ? [[packageId, { options: { trust } }]] : []
    })
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), plugins: Object.fromEntries(entries) }))
    await list()
  }
  const active = (id: string) =>
    service.until(({ type, data }) => type === 'package.updated' && data['info'].packageId === id && data['info'].state === 'active')
  await approve(approved)
  const said = async (id: string) => (await list()).find(({ packageId }) => packageId === id)?.diagnostics.map(({ message }) => message)
  return { service, asked, waiting, active, said, approve }
}

test('a package starts once what it depends on serves, and its hook is asked after that one', async () => {
  const { service, asked, waiting, active, said } = await begin(
    { 'dev.a': ['dev.m'], 'dev.m': ['dev.z'], 'dev.z': [] },
    { held: ['dev.z', 'dev.m'] },
  )
  await expect.poll(() => asked).toEqual(['dev.z'])
  waiting.get('dev.z')?.()
  await active('dev.z')
  await expect.poll(() => asked).toEqual(['dev.z', 'dev.m'])
  waiting.get('dev.m')?.()
  await active('dev.a')
  expect(asked).toEqual(['dev.z', 'dev.m', 'dev.a'])
  expect(await said('dev.a')).toEqual([])
  const view = (await service.runtime.plugins.list(service.directory)).filter(({ id }) => id.startsWith('dev.'))
  expect(view.map(({ active: serves }) => serves)).toEqual([true, true, true])
})

test('without dependencies all start at once', async () => {
  const { asked } = await begin({ 'dev.a': [], 'dev.z': [] }, { held: ['dev.a', 'dev.z'] })
  await expect.poll(() => asked.toSorted()).toEqual(['dev.a', 'dev.z'])
})

test('what is missing, not approved or needs it in turn is told, and keeps nobody from starting', async () => {
  const wanted = {
    'dev.a': ['dev.none', 'dev.b'],
    'dev.b': ['dev.a'],
    'dev.c': ['dev.d'],
    'dev.d': [],
    'dev.e': ['dev.svc.nothing', 'test.played'],
  }
  const { active, said, approve } = await begin(wanted, { approved: ['dev.a', 'dev.b', 'dev.c', 'dev.e'] })
  for (const id of ['dev.a', 'dev.b', 'dev.c', 'dev.e']) await active(id)
  expect(await said('dev.a')).toEqual(['needs dev.none, which is not here'])
  expect(await said('dev.b')).toEqual(['needs dev.a, which needs it in turn: it does not wait for it'])
  expect(await said('dev.c')).toEqual(['needs dev.d, which does not serve (permission-required)'])
  expect(await said('dev.e')).toEqual(['needs dev.svc.nothing, which is not here'])
  await approve(Object.keys(wanted))
  await active('dev.d')
  expect(await said('dev.c')).toEqual([])
})

test('one that fails to start is told, and the other starts without it', async () => {
  const { service, asked, active, said } = await begin({ 'dev.a': ['dev.z'], 'dev.z': [] }, { held: ['dev.z'] })
  await expect.poll(() => asked).toEqual(['dev.z'])
  await service.effects.clock.advanceAsync(10_000)
  await active('dev.a')
  expect(await said('dev.a')).toEqual(['needs dev.z, which does not serve (failed)'])
})

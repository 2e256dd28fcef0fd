// Holds subsystems a.1.
/** What becomes of workflows when the disk fails for a while. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Effects } from '../../../src/ports/effects.js'
import { createCheckouts } from '../../../src/platform/git/origin.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import type { NativeHost } from '../../../src/ports/plugin.js'
import { startEngine } from '../../../src/plugins/workflows/schedule/engine.js'
import { workspaceContext } from '../../../src/plugins/workflows/files/places.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { playedRows } from '../played-rows.js'
import { workflowFile } from './service.js'

const MINUTE = 60_000

/** An engine whose store and directories fail when the test says so. */
async function start() {
  const faults: { store?: Error; directories?: Error } = {}
  const files = createNodeFiles()
  const told = new Set<(paths: readonly string[]) => void>()
  const watch: Effects['files']['watch'] = async (directory, onChange) => {
    if ((await files.stat(directory))?.kind !== 'directory') return undefined
    told.add(onChange)
    return () => void told.delete(onChange)
  }
  const readDirectory: Effects['files']['readDirectory'] = async (path) => {
    if (faults.directories !== undefined) throw faults.directories
    return files.readDirectory(path)
  }
  const effects = createFakeEffects({ files: { ...files, watch, readDirectory } })
  const rows = playedRows(() => {
    if (faults.store !== undefined) throw faults.store
  })
  const controller = new AbortController()
  const host = {
    effects,
    rows,
    stopping: controller.signal,
    config: async () => ({}),
    actors: { add: () => undefined },
    sessions: {},
    checkouts: createCheckouts(effects),
    sandbox: { isOn: async () => false },
  }
  const engine = startEngine(host as unknown as NativeHost, {
    places: { configDirectory: undefined, withoutProjects: false },
    version: 'test',
    localZone: () => 'UTC',
  })
  const directory = effects.paths.cwd
  mkdirSync(join(directory, '.svc/workflows'), { recursive: true })
  await engine.use(workspaceContext(directory))
  const settle = async () => {
    for (let turn = 0; turn < 12; turn++) {
      await files.readDirectory(directory)
      await effects.clock.advanceAsync(0)
    }
  }
  return {
    engine,
    faults,
    rows,
    save(name: string, text: string) {
      const path = join(directory, '.svc/workflows', name)
      writeFileSync(path, text)
      for (const tell of told) tell([path])
    },
    async pass(ms: number) {
      await settle()
      await effects.clock.advanceAsync(ms)
      await settle()
    },
    active: () =>
      [...engine.ledger.activations()].filter(({ projection }) => projection.active).map(({ projection }) => projection.workflowId),
  }
}

test('a file that was saved while nothing could be written is active soon after that is over', async () => {
  const world = await start()
  world.save('one.md', workflowFile())
  await world.pass(1000)
  expect(world.active()).toEqual(['one'])
  world.faults.store = new Error('database or disk is full')
  world.save('two.md', workflowFile({ id: 'two' }))
  await world.pass(1000)
  expect(world.active()).toEqual(['one'])
  delete world.faults.store
  await world.pass(MINUTE)
  expect(world.active()).toEqual(['one', 'two'])
  await world.engine.stop()
})

test('workflows stay active while their directory cannot be listed for a moment', async () => {
  const world = await start()
  world.save('one.md', workflowFile())
  await world.pass(1000)
  world.faults.directories = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  world.save('two.md', workflowFile({ id: 'two' }))
  await world.pass(1000)
  expect(world.active()).toEqual(['one'])
  expect(world.rows.emitted.filter(({ type }) => type === 'workflow.updated')).toHaveLength(1)
  delete world.faults.directories
  await world.pass(2000)
  expect(world.active()).toEqual(['one', 'two'])
  await world.engine.stop()
})

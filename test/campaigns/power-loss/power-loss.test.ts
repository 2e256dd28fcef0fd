// Holds threat-model §6.1, §6.2.
/**
 * The power is lost at any change of the disk. Every change that the built server makes to its files is recorded while clients work with it;
 * of what was not synced, each sector may be there or not, and a folder may have forgotten its newest names. What was acknowledged is there.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isTemporaryName } from '../../../src/kernel/temporary-name.js'
import { createRandom } from '../../../src/simulation/random.js'
import { makePlace, withModel } from '../../e2e/server/place.js'
import { openScene, type Scene } from '../../e2e/server/server.js'
import { lacking } from '../../fakes/machine.js'
import { PATIENCE } from '../../fakes/patience.js'
import { type ModelServer, startModelServer } from '../../fixtures/model-server.js'
import { SEED, times, WHOLE } from '../scale.js'
import { diskAfter, layOut, type Recording, readRecording, standing } from './recording.js'
import { type Acknowledged, openFound, turn, work } from './work.js'

const NO_COMPILER = lacking('cc')
const LOSSES = times(100, 2000)
const STARTS = times(3, 40)

let folder: string
let scene: Scene
let model: ModelServer
let recording: Recording
let done: Acknowledged[]
let state: string
let config: string

describe.skipIf(NO_COMPILER !== '')(`a loss of power${NO_COMPILER}`, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-power-loss-'))
    const library = join(folder, 'recorder.so')
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(import.meta.dirname, 'recorder.c')])
    model = await startModelServer(turn)
    scene = openScene(makePlace())
    scene.place.configure(withModel(model.url, { permission: { bash: 'ask' } }))
    state = scene.place.state
    config = dirname(scene.place.configFile)
    const before = standing([state, config])
    const record = join(folder, 'record')
    const server = await scene.start({ LD_PRELOAD: library, SVC_TEST_RECORD: record, SVC_TEST_RECORD_UNDER: scene.place.root })
    done = await work(server, record, WHOLE ? 8 : 4)
    await server.kill()
    recording = readRecording(readFileSync(record), before)
  }, 6 * PATIENCE)

  afterAll(async () => {
    await scene.close()
    await model.close()
    rmSync(folder, { recursive: true })
  })

  test('the record has every change: played to its end, it is the disk that the server left', () => {
    const disk = diskAfter(recording, recording.changes.length)
    const files = [...disk].filter(([path]) => !path.includes('/repo/') || path.endsWith('.json'))
    expect(files.length).toBeGreaterThan(10)
    for (const [path, content] of files) expect([path, content.equals(readFileSync(path))]).toEqual([path, true])
  })

  test(
    `nothing that was acknowledged is gone after ${LOSSES} losses of power`,
    () => {
      expect(lost(recording, LOSSES)).toEqual([])
    },
    6 * PATIENCE,
  )

  test.each([
    ['of the log of the store', /agent\.sqlite3-wal$/, /the prompt|no such table: sessions/],
    ['of the file of credentials', /state\/\.svc-\w+\.tmp$/, /the credential/],
    ['of the configuration', /repo\/\.svc-\w+\.tmp$/, /the patch/],
    ['of an artifact', /\.partial$/, /the artifact/],
    ['of the folder of artifacts', /artifacts\/local$/, /the artifact/],
    ['of the folder of the store', /state$/, /no such table: sessions/],
  ])('a sync %s that is left out is found', (_what, path, missed) => {
    const changes = recording.changes.map((change) => (change.kind === 'sync' && path.test(change.path) ? { ...change, began: 0 } : change))
    expect(lost({ ...recording, changes }, 40)).toContainEqual(expect.stringMatching(missed))
  })

  test(
    `a server starts on what is left, and ends what was under way (${STARTS} times)`,
    async () => {
      const random = createRandom(SEED)
      for (let number = 0; number < STARTS; number++) {
        const count = pointOf(random)
        await atLoss(recording, count, random.below(2 ** 31), async (root, holding) => {
          const config = join(root, 'config', 'svc', 'svc.json')
          writeFileSync(config, JSON.stringify(withModel(model.url)))
          const found = openScene({ ...scene.place, root, state: join(root, 'state'), env: envIn(root), remove: () => undefined })
          const server = await found.start()
          for (const id of Object.keys(await server.statuses()))
            expect((await server.call('POST', `/v2/sessions/${id}/wait`)).status).toBe(204)
          expect(await server.statuses()).toEqual({})
          await server.stop()
          expect(holding()).toEqual([])
          // A write that was under way has left its file, which goes an hour later.
          for (const name of readdirSync(join(root, 'state'))) if (isTemporaryName(name)) rmSync(join(root, 'state', name))
          await found.close()
        })
      }
    },
    20 * PATIENCE,
  )
})

/** What is there of the acknowledged at so many losses; each miss with the number of the change before which the power went. */
function lost(from: Recording, losses: number): string[] {
  const random = createRandom(SEED)
  const misses: string[] = []
  for (let number = 0; number < losses; number++) {
    const count = pointOf(random)
    atLoss(from, count, random.below(2 ** 31), (_root, holding) => {
      try {
        misses.push(...holding().map((what) => `${what}, at ${count}`))
      } catch (cause) {
        misses.push(`${String(cause)}, at ${count}`)
      }
    })
  }
  return misses
}

/** Somewhere after the first answer. */
function pointOf(random: ReturnType<typeof createRandom>): number {
  const first = recording.countAt(done[0]?.at ?? 0)
  return first + random.below(recording.changes.length - first + 1)
}

/** Lays out what is left when the power goes after `count` changes. `holding` answers what was acknowledged until then and is not there. */
function atLoss<T>(from: Recording, count: number, seed: number, look: (root: string, holding: () => string[]) => T): T {
  const root = mkdtempSync(join(folder, 'left-'))
  const disk = diskAfter(from, count, createRandom(seed))
  mkdirSync(join(root, 'state'))
  layOut(disk, scene.place.root, root)
  const file = (name: string) => disk.get(join(state, name)) ?? disk.get(join(scene.place.repo, name))
  const holding = () => {
    const found = openFound(join(root, 'state'), file)
    try {
      const due = done.filter(({ at, until }) => from.countAt(at) <= count && from.countAt(until) >= count)
      return due.filter((each) => !each.holds(found)).map(({ what }) => what)
    } finally {
      found.close()
    }
  }
  const end = () => rmSync(root, { recursive: true })
  const result = look(root, holding)
  if (result instanceof Promise) return result.finally(end) as T
  end()
  return result
}

const envIn = (root: string) => ({
  ...scene.place.env,
  XDG_CONFIG_HOME: join(root, 'config'),
  SVC_AGENT_STATE_DIR: join(root, 'state'),
})

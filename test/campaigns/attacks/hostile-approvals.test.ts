// Holds plugin-protocol §2; threat-model F4, X1.
/**
 * Approvals that are for something else or for nothing, and dependencies that lead in circles: nothing runs that was not approved as it lies there,
 * what was is served whatever it depends on, and the server goes on.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PackageLifecycleInfo } from '../../../src/protocol/plugin/plugin.js'
import { makePlace } from '../../e2e/server/place.js'
import { packageRoot, toolProgram, writePackage } from '../../e2e/server/plugins.js'
import { openScene, type Scene, type Server } from '../../e2e/server/server.js'
import { SEED } from '../scale.js'
import { type Choices, choicesOf } from './generated/random.js'

const OUTSIDE = { SVC_AGENT_PLUGIN_SANDBOX: 'off' }

let scene: Scene
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(() => scene.close())

const mark = (id: string) => join(scene.place.root, `ran-${id}`)
const hasRun = (id: string) => existsSync(mark(id))

/** A program that leaves a mark as soon as it runs. */
function write(id: string, dependencies: readonly string[] = []): void {
  const program = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mark(id))}, '')\n${toolProgram(id.replaceAll(/\W/g, '_'), 'hello')}`
  writePackage(scene.place, id, { files: { 'plugin.mjs': program } })
  const agent = { runtime: 'process', command: ['node', 'plugin.mjs'], scope: 'workspace', capabilities: ['config-read'] }
  const manifest = { id, name: id, version: '1.0.0', apiVersion: 1, dependencies, agent }
  writeFileSync(join(packageRoot(scene.place, id), 'svc-plugin.json'), JSON.stringify(manifest))
}

async function records(server: Server): Promise<ReadonlyMap<string, PackageLifecycleInfo>> {
  const infos = await server.get<PackageLifecycleInfo[]>('/v2/plugins/lifecycle')
  return new Map(infos.map((info) => [info.packageId, info]))
}

/** The approval that `svc plugin trust` would write. */
function approval({ packageId, revision, digest }: PackageLifecycleInfo): Record<string, unknown> {
  const granted = { capabilities: ['config-read'], executableApproved: true, luaApproved: false }
  return { workspaceId: scene.place.repo, packageId, revision, digest, scope: 'workspace', ...granted }
}

type Approval = Record<string, unknown>

/** Something in the place of an approval. */
const APPROVALS: Readonly<Record<string, (right: Approval, other: Approval, choices: Choices) => unknown>> = {
  none: () => [],
  'a-word': ({ revision }) => revision,
  yes: () => true,
  'of-another-package': (right, other) => ({ ...right, packageId: other['packageId'] }),
  'of-other-content': (right, other) => ({ ...right, revision: other['revision'], digest: other['digest'] }),
  'of-another-revision': (right, { revision }) => ({ ...right, revision }),
  'of-another-digest': (right, { digest }) => ({ ...right, digest }),
  'of-a-shorter-revision': (right, _other, { number }) => ({
    ...right,
    revision: String(right['revision']).slice(0, number(8, 70)),
    digest: undefined,
  }),
  'in-capitals': (right) => ({ ...right, revision: String(right['revision']).toUpperCase() }),
  'of-another-workspace': (right, _other, { one }) => ({
    ...right,
    workspaceId: one(['/', '', '..', `${scene.place.repo}/`, `${scene.place.repo}x`, '*']),
  }),
  'of-another-scope': (right, _other, { one }) => ({ ...right, scope: one(['session', 'galaxy', 'constructor']) }),
  'for-lua-alone': (right) => ({ ...right, executableApproved: false, luaApproved: true }),
  'in-words': (right, _other, { one }) => ({ ...right, executableApproved: one<unknown>(['yes', 'true', 1, [], {}]) }),
  'for-nothing': (right) => ({ ...right, capabilities: [] }),
  'for-everything': (right, _other, { one }) => ({
    ...right,
    capabilities: one<unknown>([['everything'], '*', { 'config-read': true }, [['config-read']]]),
  }),
  'in-lists': (right) => [[right]],
  'of-the-prototype': (right) => ({ __proto__x: right, constructor: right, prototype: right }),
  'a-thousand': (right, { revision }, { word }) =>
    Array.from({ length: 1000 }, () => ({ ...right, revision, packageId: `dev.${word()}.x` })),
}
/** The one that is what it should be. */
const RIGHT = 'right'

test(`nothing runs by an approval of something else, seed ${SEED}`, { timeout: 120_000 }, async () => {
  const names = [RIGHT, ...Object.keys(APPROVALS)]
  const idOf = (name: string) => `hostile.${name}`
  for (const name of names) write(idOf(name))
  scene.place.configure({})
  const server = await scene.start(OUTSIDE)
  const found = await records(server)
  const right = (name: string) => approval(found.get(idOf(name)) as PackageLifecycleInfo)
  const plugins = Object.fromEntries(
    names.map((name, index) => {
      const made = APPROVALS[name]?.(right(name), right(RIGHT), choicesOf(SEED, index))
      return [idOf(name), { options: { trust: name === RIGHT ? right(name) : made } }]
    }),
  )
  scene.place.configure({ plugins })
  await expect.poll(async () => (await records(server)).get(idOf(RIGHT))).toMatchObject({ state: 'active', diagnostics: [] })
  const states = await records(server)
  expect(names.filter((name) => states.get(idOf(name))?.state === 'active' || hasRun(idOf(name)))).toEqual([RIGHT])
  const silent = names.filter((name) => name !== RIGHT && (states.get(idOf(name))?.diagnostics.length ?? 0) === 0)
  expect(silent).toEqual([])
  expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
})

test('content that changes after it was approved does not run', async () => {
  write('hostile.changes')
  scene.place.configure({})
  const server = await scene.start(OUTSIDE)
  const info = (await records(server)).get('hostile.changes') as PackageLifecycleInfo
  writeFileSync(join(packageRoot(scene.place, 'hostile.changes'), 'further.txt'), 'x')
  scene.place.configure({ plugins: { 'hostile.changes': { options: { trust: approval(info) } } } })
  await expect.poll(async () => (await records(server)).get('hostile.changes')?.revision).not.toBe(info.revision)
  expect((await records(server)).get('hostile.changes')?.state).not.toBe('active')
  expect(hasRun('hostile.changes')).toBe(false)
})

test('dependencies in circles, on nobody and in long rows keep nothing from serving', { timeout: 120_000 }, async () => {
  const row = Array.from({ length: 12 }, (_, at) => `row.of-${at}`)
  const graph: Readonly<Record<string, readonly string[]>> = {
    'circle.itself': ['circle.itself'],
    'circle.one': ['circle.two'],
    'circle.two': ['circle.three'],
    'circle.three': ['circle.one', 'circle.two'],
    'missing.one': ['nobody.at-all', '../outside', 'constructor', ''],
    'many.ones': Array.from({ length: 2000 }, (_, at) => `nobody.n${at}`),
    ...Object.fromEntries(row.map((id, at) => [id, row.slice(at + 1, at + 3)])),
  }
  for (const [id, dependencies] of Object.entries(graph)) write(id, dependencies)
  scene.place.configure({})
  const server = await scene.start(OUTSIDE)
  const found = await records(server)
  const entries = [...found.values()].map((info) => [info.packageId, { options: { trust: approval(info) } }])
  scene.place.configure({ plugins: Object.fromEntries(entries) as object })
  const ids = Object.keys(graph)
  await expect
    .poll(async () =>
      [...(await records(server)).values()]
        .filter(({ state }) => state === 'active')
        .map(({ packageId }) => packageId)
        .toSorted(),
    )
    .toEqual(ids.toSorted())
  expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
})

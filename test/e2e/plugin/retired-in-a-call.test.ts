/**
 * A plugin that ends in the middle of a call of every broker: nothing that it had begun is left, and nobody waits for it.
 * Holds plugin-protocol §2.5, §3.6, §4.8.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { subagentRoutes, type SubagentTask } from '../../../src/protocol/session/subagent.js'
import type { InspectorTree } from '../../../src/protocol/system/inspector.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { approve, configurePlugin, deletePackage, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { mentioning } from '../server/processes.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'
import { PATIENCE } from '../../fakes/patience.js'
import { contentOf } from './host.js'
import { type Held, heldCalls, type Peer, startPeer } from './retired-in-a-call.js'

const ID = 'test.holds'
const BROKERS = new URL('../../../src/actors/plugin/brokers/', import.meta.url)
const stay = { type: 'stay' } as const

let scene: Scene
let server: Server
let model: ModelServer
let peer: Peer
let stream: Stream
/** What the model was asked, does not answer, and is still waited for. */
const unanswered = new Set<string>()
/** How requests to it have ended. */
const endings: string[] = []

const temporary = () => join(scene.place.root, 'tmp')

beforeAll(async () => {
  peer = await startPeer()
  model = await startModelServer((request) => {
    const { messages = [] } = request.body ?? {}
    const prompt = contentOf(messages.findLast(({ role }) => role === 'user')?.['content'])
    if (/^(?:look around|why) /.test(prompt)) {
      unanswered.add(prompt)
      void request.ended.then((how) => {
        unanswered.delete(prompt)
        endings.push(how)
      })
      return reply(text('Well'), stay)
    }
    if (messages.at(-1)?.role === 'tool') return reply(text('Done.'), finish('stop'))
    const input = JSON.parse(prompt.slice('hold '.length)) as object
    return reply(text('Let me see.'), toolCall({ id: `call_${request.index}`, name: 'hold', input }), finish('tool_calls'))
  })
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
  mkdirSync(temporary())
  server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off', TMPDIR: temporary() })
  stream = await server.stream({ tail: true })
})

afterAll(async () => {
  stream.close()
  await scene.close()
  await model.close()
  peer.close()
})

/** Content of the package, by what distinguishes it. */
function write(mark: string): void {
  const capabilities = [...new Set(heldCalls(peer, '').map(({ capability }) => capability)), 'config-read']
  const secrets = [{ alias: 'token', purpose: 'to ask and to sign', hosts: [peer.host] }]
  const files = { 'plugin.mjs': 'fixture:holds-calls.mjs', 'mark.txt': mark }
  writePackage(scene.place, ID, { agent: { capabilities, secrets }, files })
}

async function activate(mark: string): Promise<number> {
  write(mark)
  configurePlugin(scene.place, ID, ({ enabled: _enabled, options }) => ({ options: { ...(options as object), hosts: [peer.host] } }))
  await lifecycleOf(server, ID)
  await approve(server, scene.place, ID)
  const from = stream.events.length
  await lifecycleOf(server, ID)
  const { generation = 0 } = await untilState(stream, ID, 'active', from)
  const set = [PROGRAM, 'plugin', 'configure', ID, '--set', 'token']
  execFileSync(process.execPath, set, { env: scene.place.env, cwd: scene.place.repo, input: 'a-secret-of-a-test\n' })
  return generation
}

const tree = () => server.get<InspectorTree>('/v2/inspector/tree')

interface Looked {
  readonly mark: string
  readonly generation: number
  /** Actors of its leases and ids. */
  readonly own: ReadonlySet<string>
}

/** What there is of the calls, as everybody sees it who has something to do with them. */
async function look({ mark, generation, own }: Looked) {
  const { actors, plugins } = await tree()
  const generations = plugins.filter(({ pluginId }) => pluginId === ID).flatMap((each) => each.generations)
  const leases = generations.find(({ number }) => number === generation)?.brokers ?? []
  const permissions = await server.get<{ title?: string }[]>('/v2/interactions/permissions')
  return {
    generation: generations.some(({ number }) => number === generation),
    leases: leases.filter(({ calls }) => calls > 0).map(({ capability }) => capability),
    actors: actors.filter(({ id }) => own.has(id)).length > 0,
    processes: mentioning(mark).length > 0,
    connections: peer.open.filter((path) => path.endsWith(mark)).toSorted(),
    asked: permissions.filter(({ title }) => title?.includes(mark)).length,
    questions: [...unanswered].toSorted(),
    busy: Object.keys(await server.statuses()).length > 0,
    temporary: readdirSync(temporary()),
  }
}

interface Way {
  readonly name: string
  /** The tool does not answer before: how long a call may go on is a matter of the way, and long for one that switches off. */
  readonly stays: boolean
  retire(): Promise<void>
}

const untilStateAfter = async (change: () => unknown, state: Parameters<typeof untilState>[2]) => {
  const from = stream.events.length
  await change()
  await lifecycleOf(server, ID)
  await untilState(stream, ID, state, from)
}

const WAYS: readonly Way[] = [
  {
    name: 'its trust is withdrawn',
    stays: true,
    retire: () =>
      untilStateAfter(
        () =>
          configurePlugin(scene.place, ID, (entry) => {
            const { trust: _trust, ...options } = entry['options'] as Record<string, unknown>
            return { ...entry, options }
          }),
        'permission-required',
      ),
  },
  {
    name: 'its content changes and is approved',
    stays: false,
    retire: () =>
      untilStateAfter(async () => {
        write('other')
        await approve(server, scene.place, ID)
      }, 'active'),
  },
  {
    name: 'it is removed',
    stays: true,
    async retire() {
      deletePackage(scene.place, ID)
      await expect.poll(async () => lifecycleOf(server, ID)).toBeUndefined()
    },
  },
  {
    name: 'it is switched off',
    stays: false,
    retire: () => untilStateAfter(() => configurePlugin(scene.place, ID, (entry) => ({ ...entry, enabled: false })), 'disabled'),
  },
]

test.each(WAYS)('$name: what it was in the middle of ends', async ({ name, stays, retire }) => {
  const mark = `held${process.pid}-${WAYS.findIndex((way) => way.name === name)}`
  const generation = await activate(mark)
  const before = readdirSync(temporary())
  const calls = heldCalls(peer, mark).filter(({ isOfCall }) => stays || isOfCall !== true)
  const heard = join(scene.place.root, `heard-${mark}`)
  endings.length = 0

  const from = stream.events.length
  const sessions = await Promise.all(calls.map((held) => begin(held, { stays, heard })))
  const leases = (await tree()).actors.filter(({ kind }) => kind === 'lease' || kind === 'handles')
  const own = new Set(leases.map(({ id }) => id))
  await Promise.race([Promise.all(calls.map((held) => begun(held, mark))), refused(from)])
  await expect
    .poll(() => look({ mark, generation, own }))
    .toMatchObject({
      generation: true,
      leases: expect.arrayContaining(
        [...new Set(calls.map(({ capability }) => capability))].filter((each) => each !== 'config-write'),
      ) as unknown,
      actors: true,
      processes: true,
      connections: calls.flatMap(({ path = [] }) => path).toSorted(),
      asked: stays ? 1 : 0,
      questions: [`look around ${mark}`, `why ${mark}?`],
      busy: true,
    })
  expect(answersIn(heard)).toEqual([])
  expect(await peer.came(`/secret-${mark}`)).toEqual({ authorization: 'Bearer a-secret-of-a-test' })

  await retire()
  peer.read()
  await expect
    .poll(() => look({ mark, generation, own }))
    .toEqual({
      generation: false,
      leases: [],
      actors: false,
      processes: false,
      connections: [],
      asked: 0,
      questions: [],
      busy: false,
      temporary: before,
    })
  expect(endings).toEqual(['cut', 'cut'])
  const tasks = await Promise.all(sessions.map((id) => server.get<SubagentTask[]>(subagentRoutes.list.path.replace('{session_id}', id))))
  expect(tasks.flat().map(({ status }) => status)).toEqual([expect.not.stringMatching(/running|pending/)])
  expect(server.stderr()).not.toContain('did not end in time')
  // Whatever was answered in its last moments was a refusal.
  expect(answersIn(heard).filter((answer) => !('error' in answer))).toEqual([])
})

/** What the plugin was answered of what it is in the middle of. */
function answersIn(heard: string): object[] {
  const lines = existsSync(heard) ? readFileSync(heard, 'utf8').trim().split('\n') : []
  return lines.map((line) => JSON.parse(line) as object)
}

/** Has the plugin begin the call, in a session of its own. */
async function begin({ asks, again = false }: Held, rest: { readonly stays: boolean; readonly heard: string }): Promise<string> {
  const { id } = await server.createSession({ permission: [{ permission: 'deploy', pattern: '*', action: 'ask' }] })
  await server.prompt(id, { prompt: `hold ${JSON.stringify({ asks, again, ...rest }).replaceAll('$.sessionId', id)}` })
  return id
}

/** Rejects when the host refuses what is asked before the call that is held. */
async function refused(from: number): Promise<never> {
  const event = await stream.waitFor(
    ({ type, data }) => type === 'message.part.updated' && /"output":"[a-z.]+: /.test(JSON.stringify(data)),
    from,
  )
  throw new Error(JSON.stringify(event.data))
}

/** Resolves when whoever is at the other end has it. */
async function begun({ path, marked, asksModel, asksPerson }: Held, mark: string): Promise<void> {
  if (path !== undefined) await peer.came(path)
  if (marked !== undefined) await vi.waitUntil(() => mentioning(marked).length >= 3, { timeout: PATIENCE })
  if (asksModel !== undefined) await vi.waitUntil(() => unanswered.has(asksModel), { timeout: PATIENCE })
  if (asksPerson === true) await stream.waitFor(({ type, data }) => type === 'permission.asked' && JSON.stringify(data).includes(mark))
}

test('every broker has a case', () => {
  const files = readdirSync(BROKERS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.broker.ts'))
  const served = files.map((name) => /defineBroker\('([a-z-]+)'/.exec(readFileSync(new URL(name, BROKERS), 'utf8'))?.[1])
  const cases = new Set(heldCalls(peer, '').map(({ capability }) => capability))
  expect(served.length).toBeGreaterThan(0)
  expect(served.filter((capability) => capability === undefined || !cases.has(capability))).toEqual([])
  expect(existsSync(new URL('own-config.ts', BROKERS)) && cases.has('config-write')).toBe(true)
})

/** Hostile packages on a server, many at a time, beside one that does nobody any harm, and a vigil over the server meanwhile. */
import { expect } from 'vitest'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import type { PackageLifecycleInfo } from '../../../src/protocol/plugin/plugin.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { type Place, withModel } from '../server/place.js'
import { deletePackage, type PackageFiles, writePackage } from '../server/plugins.js'
import { ASKABLE, household, memoryOf, quantile, startProbe, strangers } from '../server/probe.js'
import type { Server } from '../server/server.js'
import type { AnyEvent, Stream } from '../server/stream.js'
import { toolParts } from '../server/transcript.js'
import { watchPace } from './pace.js'

export interface Hostile extends PackageFiles {
  readonly id: string
  /** Options of its entry, beside the approval. */
  readonly options?: object
}

interface Call {
  readonly name: string
  readonly input: unknown
}

interface Neighbour {
  readonly pid: number
  readonly info: PackageLifecycleInfo
}

/** A server with a scripted model that makes the calls it is told to. */
export interface Ward {
  readonly model: ModelServer
  /** Writes packages, and approves all of them at once as they lie there. */
  install(packages: readonly Hostile[]): Promise<void>
  remove(ids: readonly string[]): void
  /** All calls in one turn; how each ended, by tool. */
  turn(calls: readonly Call[]): Promise<ReadonlyMap<string, ToolPart['state']>>
  /** The records of all packages, by id. */
  records(): Promise<ReadonlyMap<string, PackageLifecycleInfo>>
  /** Waits for the next of these states of a package, counted from the beginning of the stream. */
  until(id: string, states: readonly string[]): Promise<PackageLifecycleInfo>
  /** What the neighbour says of itself now. */
  neighbour(): Promise<Neighbour>
}

export const NEIGHBOUR = 'good.neighbour'
const NEIGHBOUR_ROUTE = `/v2/plugins/${NEIGHBOUR}/pid`

/** A server whose plugins run outside any sandbox, and that can be asked for its memory. */
export const WARD = { SVC_AGENT_PLUGIN_SANDBOX: 'off', ...ASKABLE }

/** `open` starts the server once the configuration is written. */
export async function openWard(place: Place, open: () => Promise<Server>): Promise<{ ward: Ward; server: Server; stream: Stream }> {
  let calls: readonly Call[] = []
  const model = await startModelServer((request) =>
    request.body?.messages.at(-1)?.role === 'tool'
      ? reply(text('Done.'), finish('stop'))
      : reply(
          calls.flatMap(({ name, input }, index) => toolCall({ index, id: `call_${request.index}_${index}`, name, input })),
          finish('tool_calls'),
        ),
  )
  place.configure(withModel(model.url))
  const server = await open()
  const stream = await server.stream({ tail: true })
  const entries: Record<string, object> = {}

  const records = async () => {
    const infos = await server.get<PackageLifecycleInfo[]>('/v2/plugins/lifecycle')
    return new Map(infos.map((info) => [info.packageId, info]))
  }
  const ward: Ward = {
    model,
    async install(packages) {
      for (const { id, ...files } of packages) writePackage(place, id, files)
      const found = await records()
      for (const { id, options } of packages) {
        const info = found.get(id)
        if (info === undefined) throw new Error(`there is no package ${id}`)
        entries[id] = { options: { ...options, trust: approval(place, info) } }
      }
      place.configure(withModel(model.url, { plugins: entries }))
    },
    remove(ids) {
      for (const id of ids) {
        deletePackage(place, id)
        delete entries[id]
      }
      place.configure(withModel(model.url, { plugins: entries }))
    },
    async turn(wanted) {
      calls = wanted
      const session = await server.createSession()
      await server.prompt(session.id, { prompt: 'go on' })
      await server.call('POST', `/v2/sessions/${session.id}/wait`)
      return new Map(toolParts(await server.messages(session.id)).map(({ tool, state }) => [tool, state]))
    },
    records,
    async until(id, states) {
      const event = await stream.waitFor((each) => infoOf(each)?.packageId === id && states.includes(infoOf(each)?.state ?? ''))
      return infoOf(event) ?? never()
    },
    async neighbour() {
      const { pid } = await server.get<{ pid: number }>(NEIGHBOUR_ROUTE)
      return { pid, info: (await records()).get(NEIGHBOUR) ?? never() }
    },
  }
  await ward.install([{ id: NEIGHBOUR, files: { 'plugin.mjs': 'fixture:good-neighbour.mjs', 'wire.mjs': 'fixture:wire.mjs' } }])
  await ward.until(NEIGHBOUR, ['active'])
  return { ward, server, stream }
}

function approval(place: Place, { packageId, revision, requestedCapabilities }: PackageLifecycleInfo): object {
  const approved = { executableApproved: true, luaApproved: true }
  return { workspaceId: place.repo, packageId, revision, capabilities: requestedCapabilities, ...approved }
}

function infoOf(event: AnyEvent): PackageLifecycleInfo | undefined {
  return event.type === 'package.updated' ? event.data.info : undefined
}

function never(): never {
  throw new Error('it was there a moment ago')
}

/** On a machine of the usual pace. */
const HEALTH_MS = 500
/** A look at changed packages is waited for, at most a second. */
const NEIGHBOUR_MS = 3000
/** What the records of a hundred packages and calls may take, which the server keeps for its clients. */
const LIVE_MIB = 16
const RESIDENT_MIB = 64

export interface Vigil {
  /** The neighbour before anything happened. */
  readonly before: Neighbour
  /** The server has seen about a third of the attacks: code is compiled and pools are filled, so its size should stay. */
  warm(): Promise<void>
  /** Expects that the server was well all the time, that nothing is left of the attacks, and that the neighbour saw none. */
  end(): Promise<void>
}

export async function keepVigil(server: Server, place: Place, ward: Ward): Promise<Vigil> {
  await ward.turn([{ name: 'neighbour', input: {} }])
  const before = await ward.neighbour()
  const home = household(server, place)
  const first = await memoryOf(server)
  let warm = first
  const health = await startProbe(server, '/v2/health', 20)
  const pace = watchPace()
  const neighbour = await startProbe(server, `${NEIGHBOUR_ROUTE}?directory=${place.repo}`, 100, before.pid)
  return {
    before,
    async warm() {
      warm = await memoryOf(server)
    },
    async end() {
      const answers = await health.stop()
      const kept = await neighbour.stop()
      const slowness = pace.stop()
      expect.soft(await strangers(() => household(server, place), home)).toEqual([])
      const last = await memoryOf(server)
      const figures = {
        p50: quantile(answers, 0.5),
        p99: quantile(answers, 0.99),
        neighbour: kept.at(-1),
        slowness,
        live: last.live - first.live,
        resident: last.resident - warm.resident,
      }
      process.stdout.write(`${JSON.stringify({ answers: answers.length, ...figures })}\n`)
      expect.soft(figures.p99).toBeLessThanOrEqual(HEALTH_MS * slowness)
      expect.soft(figures.neighbour).toBeLessThan(NEIGHBOUR_MS * slowness)
      expect.soft(figures.live).toBeLessThanOrEqual(LIVE_MIB)
      expect.soft(figures.resident).toBeLessThanOrEqual(RESIDENT_MIB)
      expect(await ward.neighbour()).toEqual(before)
    },
  }
}

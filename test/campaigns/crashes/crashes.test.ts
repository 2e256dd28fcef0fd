/**
 * The server is killed at many instants of its work and started again on the same state (threat-model §6.1, §6.2).
 * The instants are drawn from the seed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { Message, SessionQueueInfo } from '../../../src/protocol/message/message.js'
import {
  finish,
  hold,
  type ModelServer,
  type ModelServerRequest,
  type Reply,
  reasoning,
  reply,
  startModelServer,
  type Step,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../../e2e/server/place.js'
import { descendants, isRunning, type Process, untilNone } from '../../e2e/server/processes.js'
import { openScene, type Scene, type Server } from '../../e2e/server/server.js'
import type { AnyEvent, Received, Stream } from '../../e2e/server/stream.js'
import { durable, rebuild, unfinished } from '../../e2e/server/transcript.js'
import { SEED, times } from '../scale.js'
import { PATIENCE } from '../../fakes/patience.js'

const CRASHES = times(6, 200)
/** Prompts waiting at most, so that the end can be waited for. */
const BACKLOG = 3

const scenes: Scene[] = []
const models: ModelServer[] = []
afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.close()))
  await Promise.all(models.splice(0).map((model) => model.close()))
})

test(
  `nothing that was accepted is lost or done twice over ${CRASHES} kills`,
  async () => {
    const half = Math.ceil(CRASHES / 2)
    const halves = [crashes(half, SEED), crashes(CRASHES - half, SEED + 1)]
    // Neither may still be starting servers when the other has failed.
    await Promise.allSettled(halves)
    // The instants have met every kind of work; otherwise this test would show little.
    const met = new Set((await Promise.all(halves)).flat())
    expect(met.size).toBeGreaterThanOrEqual(CRASHES < 20 ? 1 : 3)
  },
  PATIENCE * (3 + CRASHES),
)

/** Kills one server `count` times; answers what was under way at those instants. */
async function crashes(count: number, seed: number): Promise<string[]> {
  const random = generator(seed)
  const model = await startModelServer(turn)
  models.push(model)
  const scene = openScene(makePlace({ 'notes.txt': 'count: 0\n' }))
  scenes.push(scene)
  scene.place.configure(withModel(model.url, { permission: { doom_loop: 'allow' } }))
  const met: string[] = []
  const client = createClient()
  const prompts = createPrompts(random)
  const starts: number[] = []
  let server = await scene.start()
  let sessionId = (await server.createSession()).id

  for (let round = 0; round < count; round++) {
    // Long transcripts would only make every look at them slower.
    if (round % 8 === 7) {
      await settle(server, client, sessionId)
      await compareWithLog(server, client, sessionId)
      sessionId = (await server.createSession()).id
      prompts.forget()
    }
    await client.connect(server)
    const feeding = prompts.feed(server, sessionId)
    await instant(random, { client, prompts, sessionId })
    server.child.kill('SIGSTOP')
    const theirs = descendants(server.pid)
    met.push(...underWay(client.events(), sessionId, theirs))
    const newest = client.lastId()
    await server.kill()
    prompts.stop()
    await feeding
    await client.disconnect()

    const startedAt = Date.now()
    starts.push(startedAt)
    server = await scene.start()
    expect(await untilNone(() => theirs.filter(isRunning))).toEqual([])
    await client.connect(server)
    await lookAround(server, client, { sessionId, startedAt, prompts, round })
    expect(client.idsAfter(newest)[0]).toBeGreaterThan(newest)
    await prompts.repeatDoubtful(server, sessionId)
  }

  await settle(server, client, sessionId)
  const messages = await server.messages(sessionId)
  const users = messages.flatMap(({ info }) => (info.role === 'user' ? [info.id] : []))
  expect(users.toSorted()).toEqual([...prompts.accepted()].toSorted())
  expectOneProcessPerPrompt(messages, starts)
  await compareWithLog(server, client, sessionId)
  expect(await server.statuses()).toEqual({})
  return met
}

/** A turn of several steps, streamed at the pace of a quick model. What comes next follows from the request alone. */
function turn({ body }: ModelServerRequest): Reply {
  const messages = body?.messages ?? []
  const from = messages.findLastIndex(({ role }) => role === 'user')
  const step = messages.slice(from).filter(({ role }) => role === 'assistant').length
  const asked = messages[from]?.['content']
  const name = typeof asked === 'string' ? asked : 'unknown'
  const call = (id: string, tool: string, input: object, index: number) =>
    toolCall({ id: `${name}-${step}-${id}`, name: tool, input, index, pieces: 3 })
  if (step === 0) {
    return paced(
      reasoning('I ', 'think'),
      text('First ', 'I ', 'look. '),
      call('a', 'read', { filePath: 'notes.txt' }, 0),
      call('b', 'bash', { command: `sleep 300 >/dev/null 2>&1 & sleep 0.3; echo ${name}`, description: 'leave something running' }, 1),
      finish('tool_calls'),
    )
  }
  if (step === 1)
    return paced(
      text('Then ', 'I ', 'write. '),
      call('c', 'write', { filePath: `out/${name}.txt`, content: `${name}\n` }, 0),
      finish('tool_calls'),
    )
  return paced(text('Done ', 'with ', name, '.'), finish('stop'))
}

/** Steps a few milliseconds apart. */
function paced(...steps: readonly (readonly Step[])[]): Reply {
  const all = steps.flat()
  return reply(all.flatMap((step, index) => [step, hold({ open: () => undefined, opened: delay((index + 1) * 4) })]))
}

/** Waits for the instant of a kill: some time or some events after the connection, the very moment a prompt is acknowledged, or somewhere inside a command. */
async function instant(
  random: () => number,
  { client, prompts, sessionId }: { client: Client; prompts: Prompts; sessionId: string },
): Promise<void> {
  const kind = random()
  if (kind < 0.25) return delay(random() * 600)
  if (kind < 0.45) return prompts.nextAccepted()
  if (kind < 0.75) {
    await client.stream().waitFor(isCommandRunning, client.position())
    return delay(random() * 500)
  }
  let left = Math.floor(random() * 90)
  await client.stream().waitFor((event) => event.subject?.id === sessionId && left-- <= 0, client.position())
}

function isCommandRunning(event: AnyEvent): boolean {
  if (event.type !== 'message.part.updated' || event.data.part.type !== 'tool') return false
  return event.data.part.tool === 'bash' && event.data.part.state.status === 'running'
}

function underWay(events: readonly AnyEvent[], sessionId: string, theirs: readonly Process[]): string[] {
  const met: string[] = theirs.some(({ command }) => command === 'sleep 300') ? ['process'] : []
  const last = rebuild(events, sessionId).at(-1)
  if (last?.info.role === 'assistant' && last.info.time.completed === undefined) {
    met.push('streaming')
    if (last.parts.some((part) => part.type === 'tool' && part.state.status === 'running')) met.push('tool')
  }
  const queue = events.findLast((event) => event.type === 'session.queue.updated')
  if (queue?.type === 'session.queue.updated' && queue.data.queue.count > 0) met.push('queued')
  return met
}

interface Round {
  readonly sessionId: string
  readonly startedAt: number
  readonly prompts: Prompts
  readonly round: number
}

/** What must hold right after a start, while queued prompts are already running again. */
async function lookAround(server: Server, client: Client, { sessionId, startedAt, prompts, round }: Round): Promise<void> {
  // The queue first: a prompt that moves on meanwhile is then seen in both places, never in neither.
  const queue = await server.get<SessionQueueInfo>(`/v2/sessions/${sessionId}/queue`)
  const statuses = await server.statuses()
  const messages = await server.messages(sessionId)
  const before = messages.filter(({ info }) => info.time.created < startedAt)
  expect(unfinished(before)).toEqual([])
  const ids = messages.map(({ info }) => info.id)
  expect(new Set(ids).size).toBe(ids.length)
  const waiting = queue.items.map(({ text }) => text)
  expect(new Set(waiting).size).toBe(waiting.length)
  const present = new Set([...ids, ...waiting.map((words) => prompts.idOf(words ?? ''))])
  expect(prompts.accepted().filter((id) => !present.has(id))).toEqual([])
  for (const status of Object.values(statuses)) expect(status.type === 'busy' && (status.runID !== undefined || queue.count > 0)).toBe(true)

  const title = `round ${round}`
  expect((await server.call('PATCH', `/v2/sessions/${sessionId}`, { title })).status).toBe(200)
  await client.stream().waitFor((event) => event.type === 'session.updated' && event.data.info.title === title)
  const seen = rebuild(durable(client.events()), sessionId).filter(({ info }) => info.time.created < startedAt)
  expect(seen).toEqual(before)
}

async function settle(server: Server, client: Client, sessionId: string): Promise<void> {
  await client.connect(server)
  expect((await server.call('POST', `/v2/sessions/${sessionId}/wait`)).status).toBe(204)
  expect(unfinished(await server.messages(sessionId))).toEqual([])
}

/** The whole log against REST, and against what the client that was cut off again and again has seen. */
async function compareWithLog(server: Server, client: Client, sessionId: string): Promise<void> {
  const marker = await server.createSession({ title: 'marker' })
  const isMarker = (event: AnyEvent) => event.type === 'session.created' && event.data.sessionID === marker.id
  const log = await server.stream({ since: 0 })
  await Promise.all([log.waitFor(isMarker), client.stream().waitFor(isMarker)])
  const ids = idsOf(log.received)
  expect(ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0))).toBe(true)
  expect(rebuild(log.events, sessionId)).toEqual(await server.messages(sessionId))
  const seen = client.ids()
  expect(seen.every((id, index) => index === 0 || id > (seen[index - 1] ?? 0))).toBe(true)
  const kept = new Set(ids)
  expect(seen.filter((id) => kept.has(id))).toEqual(ids.filter((id) => id <= (seen.at(-1) ?? 0)))
  log.close()
}

/** The answers to one prompt come from one process: what had begun when the server died is not begun again. */
function expectOneProcessPerPrompt(messages: readonly Message[], starts: readonly number[]): void {
  const processes = new Map<string, Set<number>>()
  for (const { info } of messages) {
    if (info.role !== 'assistant') continue
    const process = starts.filter((start) => start <= info.time.created).length
    processes.set(info.parentId, (processes.get(info.parentId) ?? new Set()).add(process))
  }
  expect([...processes].filter(([, several]) => several.size > 1)).toEqual([])
}

const idsOf = (received: readonly Received[]) => received.flatMap(({ id }) => (id === undefined ? [] : [id]))

type Client = ReturnType<typeof createClient>

/** One reader over many connections: each goes on where the one before was cut. */
function createClient() {
  const earlier: Received[] = []
  let current: Stream | undefined
  const all = () => [...earlier, ...(current?.received ?? [])]
  const ids = () => idsOf(all())
  return {
    async connect(server: Server) {
      if (current !== undefined) return
      current = await server.stream({ lastEventId: ids().at(-1) ?? 0 })
    },
    async disconnect() {
      await current?.ended
      earlier.push(...(current?.received ?? []))
      current = undefined
    },
    stream(): Stream {
      if (current === undefined) throw new Error('not connected')
      return current
    },
    position: () => current?.events.length ?? 0,
    ids,
    idsAfter: (id: number) => ids().filter((other) => other > id),
    lastId: () => ids().at(-1) ?? 0,
    events: () => all().map(({ event }) => event),
  }
}

type Prompts = ReturnType<typeof createPrompts>

/** Submits prompts without a pause and remembers which were acknowledged. */
function createPrompts(random: () => number) {
  let count = 0
  let running = false
  let accepted: string[] = []
  let onAccepted: (() => void) | undefined
  let doubtful: { id: string; body: object; mode: string }[] = []
  const idOf = (words: string) => `msg_${words}`

  async function submit(server: Server, sessionId: string, prompt: { id: string; body: object; mode: string }): Promise<boolean> {
    const { status, text: why } = await server.call('POST', `/v2/sessions/${sessionId}/${prompt.mode}`, prompt.body)
    if (status !== 204) throw new Error(`a prompt was answered ${status}: ${why}`)
    accepted.push(prompt.id)
    onAccepted?.()
    return true
  }

  return {
    idOf,
    accepted: (): readonly string[] => accepted,
    nextAccepted: () => new Promise<void>((resolve) => (onAccepted = resolve)),
    forget() {
      accepted = []
      doubtful = []
    },
    stop() {
      running = false
    },
    async feed(server: Server, sessionId: string): Promise<void> {
      running = true
      while (running) {
        let prompt: { id: string; body: object; mode: string } | undefined
        try {
          const queue = await server.call('GET', `/v2/sessions/${sessionId}/queue`)
          if ((queue.body as SessionQueueInfo).count >= BACKLOG) {
            await delay(10)
            continue
          }
          const words = `p${SEED}x${count++}`
          const body = { prompt: words, messageId: idOf(words), delivery: random() < 0.3 ? 'steer' : 'queue' }
          prompt = { id: body.messageId, body, mode: 'prompt' }
          await submit(server, sessionId, prompt)
        } catch (error) {
          if (!isBroken(error)) throw error
          if (prompt !== undefined) doubtful.push(prompt)
          return
        }
      }
    },
    /** What was cut off before its answer is sent again, as a client would; it may have been accepted. */
    async repeatDoubtful(server: Server, sessionId: string): Promise<void> {
      for (const prompt of doubtful.splice(0)) await submit(server, sessionId, prompt)
    },
  }
}

/** Errors of a connection whose server died; everything else is a finding. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError && /fetch failed|terminated|other side closed/.test(error.message)
}

/** Mulberry32: the same instants for the same seed. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

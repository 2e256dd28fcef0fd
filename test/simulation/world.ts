/**
 * A simulated world: one server after the other on the same state, clients, a model and tools, and what the clients know.
 *
 * I1 Everything follows from the seed and the history: no draw of one step is felt by another, or a shorter history would be another one.
 * I2 What the clients know is what they were answered: a prompt whose server died before the answer is in doubt.
 */
import { createHash } from 'node:crypto'
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { SvcError } from '../../src/protocol/errors.js'
import { createIds } from '../../src/protocol/ids.js'
import type { Message } from '../../src/protocol/message/message.js'
import type { SeenEvent } from '../../src/published/testing/heard.js'
import { letPass } from '../../src/published/testing/simulated/sleep.js'
import { namedStreams } from '../../src/simulation/random.js'
import type { Play, Step } from './history.js'
import { beginLife, type Defect, firstRemains, type Life, type OnLife, turns } from './life.js'
import { playWorld } from './played.js'
import { caughtUp, createReader, type Reader } from './reader.js'

interface SentPrompt {
  readonly name: number
  readonly sessionId: string
  readonly messageId: string
  readonly delivery: 'steer' | 'queue'
  /** Of its text, at least. */
  readonly characters: number
  /** It was answered with success. */
  acknowledged: boolean
}

interface Aborted {
  readonly sessionId: string
  readonly runId: string
}

export interface World {
  readonly life: Life
  readonly sessions: readonly string[]
  readonly prompts: ReadonlyMap<number, SentPrompt>
  /** Ids of messages that somebody took back: from the queue, or by undoing them. */
  readonly removed: ReadonlySet<string>
  /** Runs whose abort was answered with success. */
  readonly aborted: readonly Aborted[]
  /** How often an answer to a request was told, by its id. */
  readonly answers: ReadonlyMap<string, number>
  /** Hears everything from the start of each life. */
  readonly witness: Reader
  readonly readers: readonly Reader[]
  readonly trace: Trace
  /** How often a call had which outcome. */
  readonly met: ReadonlyMap<string, number>
  perform(step: Step): Promise<void>
  /** How long all lives have lasted, ms. */
  readonly lasted: number
  /** Lets everything that hangs go on, and everything asked be answered, until nothing is under way. */
  calm(): Promise<void>
  messages(sessionId: string): readonly Message[]
  end(): Promise<void>
}

interface Trace {
  add(what: unknown): void
  /** Hex. */
  digest(): string
}

const START = Date.UTC(2026, 2, 1, 8)
const CLIENTS = 2
/** Prompts of a flood, and characters of each: more than may wait. */
const FLOOD = 36
const LONG = 1_000_000
const ROUNDS = 60
/** Through longer times the machine may sleep, ms. */
const SHORT = 600_000

export async function createWorld(seed: number, defect: Defect = {}, onLife?: OnLife): Promise<World> {
  const streams = namedStreams(seed)
  const trace = createTrace()
  const plays = new Map<number, readonly Play[]>()
  const attempts = new Map<number, number>()
  const prompts = new Map<number, SentPrompt>()
  const sessions: string[] = []
  const removed = new Set<string>()
  const aborted: Aborted[] = []
  const answers = new Map<string, number>()
  const requests: { readonly id: string; readonly isQuestion: boolean }[] = []
  const clientRandom = streams('clients')
  const clientIds = createIds({ now: () => START + clientTime++, randomBytes: (size) => clientRandom.bytes(size) })
  let clientTime = 0
  const underWay = new Set<Promise<unknown>>()
  const met = new Map<string, number>()
  /** What REST answers, since the last step. */
  const read = new Map<string, Message[]>()
  let era = 0
  let heard = 0
  let lives = 0
  let livedBefore = 0

  const played = playWorld(
    (name) => plays.get(name) ?? [],
    (name) => {
      const attempt = attempts.get(name) ?? 0
      attempts.set(name, attempt + 1)
      return attempt
    },
  )

  function hear({ type, sequence, data }: SeenEvent): void {
    trace.add([sequence, type, data])
    heard++
    if (type === 'message.removed') removed.add(data['messageID'])
    if (type === 'session.queue.updated' && ['pop', 'clear', 'clear-all'].includes(data['action'])) {
      for (const id of [data['messageID'], ...(data['messageIDs'] ?? [])]) removed.add(id)
    }
    const request = data['requestID'] ?? data['id']
    if (type === 'permission.asked' || type === 'question.asked') requests.push({ id: request, isQuestion: type === 'question.asked' })
    if (['permission.replied', 'question.replied', 'question.rejected'].includes(type))
      answers.set(request, (answers.get(request) ?? 0) + 1)
  }

  let life = await begin(firstRemains(START))
  let witness = createReader(hear)
  let readers = Array.from({ length: CLIENTS }, () => createReader())
  witness.come(life.runtime)
  for (const reader of readers) reader.come(life.runtime)

  function begin(from: Parameters<typeof beginLife>[0]['from']): Promise<Life> {
    underWay.clear()
    const answersSent = async () => void (await Promise.all(underWay))
    return beginLife({ from, random: streams(`life ${++lives}`), plugin: played.plugin, answersSent, defect, onLife })
  }

  async function die(how: 'kill' | 'power', torn: number): Promise<void> {
    for (const reader of [witness, ...readers]) reader.leave()
    era++ // What it answers from now on nobody hears.
    const remains = await life.die(how, namedStreams(torn)('torn'))
    await rise(remains, how === 'power')
  }

  async function rise(from: Parameters<typeof begin>[0], forgets: boolean): Promise<void> {
    livedBefore += life.clock.monotonic()
    played.held.length = 0
    life = await begin(from)
    // Every cursor that was ever told is one to go on behind.
    await come()
    if (!forgets) return
    // What was told and lost with the power, clients fetch anew.
    for (const reader of [witness, ...readers]) reader.leave()
    answers.clear()
    witness = createReader(hear)
    readers = readers.map(() => createReader())
    await come()
  }

  async function come(): Promise<void> {
    for (const reader of [witness, ...readers]) reader.come(life.runtime)
    await caughtUp(life.store)
  }

  /** What comes of a call is noted when it comes, unless the server has died. */
  function call<T>(what: string, work: () => T | Promise<T>, then: (value: T) => void = () => undefined): void {
    const calling = era
    const note = (outcome: unknown) => {
      if (calling !== era) return
      trace.add([what, outcome])
      const kind = `${what.replace(/ \d+$/, '')}: ${String(outcome)}`
      met.set(kind, (met.get(kind) ?? 0) + 1)
    }
    const answered = Promise.resolve()
      .then(work)
      .then(
        (value) => {
          if (calling !== era) return
          note('done')
          then(value)
        },
        (error: unknown) => note(error instanceof SvcError ? error.code : String(error)),
      )
      .finally(() => underWay.delete(answered))
    underWay.add(answered)
  }

  function send(name: number): void {
    const prompt = prompts.get(name)
    if (prompt === undefined) return
    const { sessionId, messageId, delivery, characters } = prompt
    const request = { prompt: `p${name}`.padEnd(characters), messageId, delivery }
    call(
      `prompt ${name}`,
      () => life.runtime.sessions.submitPrompt(TRUSTED_CALLER, sessionId, request, 'prompt'),
      () => (prompt.acknowledged = true),
    )
  }

  function prompt(name: number, sessionId: string, delivery: SentPrompt['delivery'], given: readonly Play[], characters = 0): void {
    if (prompts.has(name)) return
    plays.set(name, given)
    prompts.set(name, { name, sessionId, messageId: clientIds.next('msg'), delivery, characters, acknowledged: false })
    send(name)
  }

  function answer(index: number, how: 'once' | 'always' | 'reject'): void {
    const request = requests.at(-1 - index)
    if (request === undefined) return
    const { interactions } = life.runtime
    call(`answer ${how}`, () => {
      if (!request.isQuestion) return interactions.replyPermission(request.id, { reply: how })
      return how === 'reject' ? interactions.rejectQuestion(request.id) : interactions.replyQuestion(request.id, { answers: [[how]] })
    })
  }

  function onSession(index: number, work: (sessionId: string) => void): void {
    const sessionId = sessions[index % Math.max(1, sessions.length)]
    if (sessionId !== undefined) work(sessionId)
  }

  function abort(sessionId: string, queue: 'go-on' | 'hold' | 'clear'): void {
    const runId = runOf(sessionId)
    call(
      'abort',
      () => life.runtime.sessions.abort(sessionId, { queue }),
      (did) => {
        if (did && runId !== undefined) aborted.push({ sessionId, runId })
      },
    )
  }

  function runOf(sessionId: string): string | undefined {
    const status: { readonly runID?: unknown } | undefined = life.runtime.sessions.status(TRUSTED_CALLER)[sessionId]
    return typeof status?.runID === 'string' ? status.runID : undefined
  }

  async function take(step: Step): Promise<void> {
    const { sessions: facade } = life.runtime
    switch (step.do) {
      case 'create':
        if (sessions.length === 3) return
        return call(
          'create',
          () => facade.create(TRUSTED_CALLER, '/played/work', { title: 'Simulated' }),
          ({ id }) => sessions.push(id),
        )
      case 'prompt':
        return onSession(step.session, (id) => prompt(step.name, id, step.delivery, step.plays))
      case 'repeat':
        return send(step.name)
      case 'flood':
        return onSession(step.session, (id) => {
          for (let each = 0; each < FLOOD; each++) prompt(step.name + each, id, 'queue', [], LONG)
        })
      case 'abort':
        return onSession(step.session, (id) => abort(id, step.queue))
      case 'clear':
        return onSession(step.session, (id) => call('clear', () => facade.clearQueue(id)))
      case 'pop':
        return onSession(step.session, (id) => call('pop', () => facade.popQueue(id)))
      case 'undo':
      case 'redo':
        return onSession(step.session, (id) => call(step.do, () => (step.do === 'undo' ? facade.undo(id, {}) : facade.redo(id, {}))))
      case 'answer':
        return answer(step.request, step.how)
      case 'release':
        return played.held[step.held]?.[step.how]()
      case 'leave':
        return readers[step.client]?.leave()
      case 'return':
        readers[step.client]?.come(life.runtime)
        return caughtUp(life.store)
      case 'wait':
        return step.ms > SHORT ? letPass(life.clock, step.ms, () => heard) : life.clock.advanceAsync(step.ms)
      case 'jump':
        return life.clock.stepWall(step.ms)
      case 'die':
        return die(step.how, step.torn)
      case 'restart': {
        for (const reader of [witness, ...readers]) reader.leave()
        return rise(await life.stop(), false)
      }
    }
  }

  const isCalm = () =>
    Object.keys(life.runtime.sessions.status(TRUSTED_CALLER)).length === 0 &&
    sessions.every((id) => life.runtime.sessions.queue(id).items.every(({ held }) => held === true))

  const world: World = {
    get life() {
      return life
    },
    get witness() {
      return witness
    },
    get lasted() {
      return livedBefore + life.clock.monotonic()
    },
    get readers() {
      return readers
    },
    sessions,
    prompts,
    removed,
    aborted,
    answers,
    trace,
    met,
    async perform(step) {
      trace.add(step)
      read.clear()
      await take(step)
      await turns(step.turns)
    },
    async calm() {
      read.clear()
      for (const reader of readers) reader.come(life.runtime)
      for (let round = 0; round < ROUNDS; round++) {
        await life.clock.advanceAsync(1000)
        if (isCalm()) break
        const { interactions } = life.runtime
        for (const { id } of interactions.permissions(TRUSTED_CALLER, undefined)) interactions.replyPermission(id, { reply: 'once' })
        for (const { id } of interactions.questions(TRUSTED_CALLER, undefined)) interactions.rejectQuestion(id)
        for (const each of played.held) each.finishes()
        await life.clock.advanceAsync(35_000)
      }
      await life.clock.advanceAsync(1000)
    },
    messages(sessionId) {
      const messages = read.get(sessionId) ?? (JSON.parse(life.runtime.sessions.context(sessionId).rawJson) as Message[])
      read.set(sessionId, messages)
      return messages
    },
    async end() {
      for (const reader of [witness, ...readers]) reader.leave()
      await life.stop()
    },
  }
  return world
}

function createTrace(): Trace {
  const hash = createHash('sha256')
  return {
    add: (what) => void hash.update(`${JSON.stringify(what)}\n`),
    digest: () => hash.copy().digest('hex'),
  }
}

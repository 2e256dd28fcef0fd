/**
 * A simulated world: one server after the other on the same state, clients, an operator, a model and tools.
 *
 * I1 Everything follows from the seed and the history: no draw of one step is felt by another, or a shorter history would be another one.
 */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { SvcError } from '../../src/protocol/errors.js'
import { createIds } from '../../src/protocol/ids.js'
import type { Message } from '../../src/protocol/message/message.js'
import type { DiskFault } from '../../src/simulation/disk.js'
import { letPass } from '../../src/published/testing/simulated/sleep.js'
import { namedStreams } from '../../src/simulation/random.js'
import { act } from './acts.js'
import { judgedExecution } from './executions.js'
import { createMeeting } from './acts-moments.js'
import { moody } from './moody.js'
import type { Faults } from './faults.js'
import type { Step } from './history.js'
import { house } from './lodger.js'
import { goalsPlugin } from '../../src/plugins/goals/goals.plugin.js'
import { houseOutward, letOutsideGoOn, outsidePlugins } from './outside.js'
import { isOff, isUnderWay, WORKFLOWS, workflowRunsOf } from './rows.js'
import { createKnowing, type Known, type Trace } from './known.js'
import { beginLife, type Defect, firstRemains, type Life, type OnLife, turns } from './life.js'
import { playWorld } from './played.js'
import { caughtUp, createReader, type Reader } from './reader.js'

export interface World extends Known {
  readonly life: Life
  /** Hears everything from the start of each life. */
  readonly witness: Reader
  readonly readers: readonly Reader[]
  readonly trace: Trace
  /** The disk fails, or has done so until just now: what cannot be recorded is recorded later. */
  readonly isShaken: boolean
  /** A machine of which an actor went round, without time or anybody else in between. */
  readonly endless: string | undefined
  perform(step: Step): Promise<void>
  /** How long all lives have lasted, ms. */
  readonly lasted: number
  /** Lets everything that hangs go on, and everything asked be answered, until nothing is under way. */
  calm(): Promise<void>
  messages(sessionId: string): readonly Message[]
  end(): Promise<void>
}

const START = Date.UTC(2026, 2, 1, 8)
const CLIENTS = 2
const ROUNDS = 60
/** Where nothing was heard for so many rounds nothing comes any more. */
const SILENT = 12
/** What could not be recorded is tried again within this time, ms. */
const RECOVERED = 16_000
/** An operation of the disk that takes so long is slow, and what was begun so has ended within this time after it, ms. */
const LONG = 100
const HASTENED = 5000
/** Through longer times the machine may sleep, ms. */
const SHORT = 900_000

interface Beyond {
  /** With what is outside of a server. */
  readonly isOutward: boolean
  /** With the plugin of goals. */
  readonly isPursuing: boolean
}

export async function createWorld(
  seed: number,
  defect: Defect,
  onLife: OnLife | undefined,
  { isOutward, isPursuing }: Beyond,
): Promise<World> {
  const streams = namedStreams(seed)
  const known = createKnowing(() => ({ life, at: life.clock.monotonic(), isShaken: isShaken() }), isSlow)
  const { trace, met, sessions } = known
  const clientRandom = streams('clients')
  const ids = createIds({ now: () => START + clientTime++, randomBytes: (size) => clientRandom.bytes(size) })
  let clientTime = 0
  const faults: Faults = { disk: undefined, slow: 0 }
  const underWay = new Set<Promise<unknown>>()
  /** What REST answers, since the last step and the last event. */
  const read = new Map<string, Message[]>()
  /** The last that REST has answered, which is mostly what it answers next. */
  const answered = new Map<string, { readonly rawJson: string; readonly messages: Message[] }>()
  let era = 0
  let heard = 0
  let lives = 0
  let livedBefore = 0
  /** On the clock of the life, when its disk was all right again; undefined = it always was. */
  let freedAt: number | undefined
  /** On the clock of the life, when its disk was slow last. */
  let slowAt: number | undefined
  let isUp = false
  let isActing = true
  let endless: string | undefined
  /** The life that dies or stops already: it is not stopped once more. */
  let ending: Life | undefined
  /** The life that is dead: it dies no more. */
  let dead: Life | undefined
  const played = playWorld(known.plays, (call) => known.executed.push(judgedExecution(known, call, isUp ? life : undefined)))

  const housed = house({
    known: known.lodger,
    trace,
    onCall: (call) => known.executed.push(judgedExecution(known, { tool: 'lodges', ...call }, isUp ? life : undefined)),
  })

  const housing = isOutward ? houseOutward(housed, known, played) : housed

  const hear: typeof known.hear = (event) => {
    heard++
    read.clear()
    known.hear(event)
  }

  const callers = [TRUSTED_CALLER, ...known.tenants.map(({ caller }) => caller)]
  const all = () => [witness, ...readers, ...known.tenants.map(({ reader }) => reader)]

  // From the first machine on.
  const meeting = createMeeting({
    trace,
    suffer,
    die,
    restart,
    isUp: () => isUp && dead !== life,
    isActing: () => isActing,
    take,
    endless: (machine) => void (endless ??= machine),
  })
  let life = await begin(firstRemains(START))
  let witness = createReader(hear)
  let readers = Array.from({ length: CLIENTS }, () => createReader())
  for (const reader of all()) reader.come(life.runtime)

  /** A start that fails, as the disk does, is tried again by the operator, who has made room. */
  async function begin(from: Parameters<typeof beginLife>[0]['from']): Promise<Life> {
    isUp = false
    underWay.clear()
    faults.disk = undefined
    freedAt = undefined
    faults.slow = 0
    slowAt = undefined
    const answersSent = async () => void (await Promise.all(underWay))
    const plugins = [
      played.plugin,
      moody(known.mood, () => life.clock),
      ...(isOutward ? outsidePlugins() : []),
      ...(isPursuing ? [goalsPlugin({ env: {} })] : []),
    ]
    const beginning = { from, plugins, answersSent, defect, faults, house: housing, onLife }
    try {
      const begun = await beginLife({ ...beginning, random: streams(`life ${++lives}`) })
      isUp = true
      return begun
    } catch (error) {
      housing.over(known.lodger.life)
      if (faults.disk === undefined) throw error
      trace.add(String(error))
      return begin(from)
    }
  }

  /** Ends the life at once; the next one begins when what it answers is called. */
  function die(how: 'kill' | 'power', torn: number): (() => Promise<void>) | undefined {
    if (dead === life) return undefined
    dead = life
    for (const reader of all()) reader.leave()
    era++ // What it answers from now on nobody hears.
    ending = life
    const { life: lodging } = known.lodger
    known.lodger.life = undefined
    const fallen = life.fall(how, namedStreams(torn)('torn'))
    return async () => {
      const remains = await fallen()
      housing.over(lodging)
      await rise(remains, how === 'power')
    }
  }

  async function rise(from: Parameters<typeof begin>[0], forgets: boolean): Promise<void> {
    livedBefore += life.clock.monotonic()
    played.held.length = 0
    life = await begin(from)
    if (freedAt !== undefined) freedAt = 0 // While it started.
    // Every cursor that was ever told is one to go on behind.
    await come()
    if (!forgets) return
    // What was told and lost with the power, clients fetch anew.
    for (const reader of all()) reader.leave()
    known.forget()
    witness = createReader(hear)
    readers = readers.map(() => createReader())
    for (const tenant of known.tenants) tenant.renew()
    await come()
  }

  async function come(): Promise<void> {
    for (const reader of all()) reader.come(life.runtime)
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
    const answered = new Promise<T>((resolve) => resolve(work()))
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

  function take(step: Step): void | Promise<void> {
    switch (step.do) {
      case 'release':
        return played.held[step.held]?.[step.how]()
      case 'leave':
        return readers[step.client]?.leave()
      case 'stall':
        return readers[step.client]?.stall()
      case 'return':
        readers[step.client]?.come(life.runtime)
        return caughtUp(life.store)
      case 'wait':
        return step.ms > SHORT ? letPass(life.clock, step.ms, () => heard) : life.clock.advanceAsync(step.ms)
      case 'calm':
        return calm()
      case 'jump':
        return life.clock.stepWall(step.ms)
      case 'die':
        return die(step.how, step.torn)?.()
      case 'restart':
        return restart()()
      case 'slow':
        return slow(step.ms)
      case 'when':
        return meeting.await(step)
      case 'fill':
        return suffer(step.how)
      case 'free':
        return suffer(undefined)
      default:
        return act({ known, life, ids, call }, step)
    }
  }

  function slow(ms: number): void {
    if (faults.slow >= LONG) slowAt = life.clock.monotonic()
    faults.slow = ms
  }

  function suffer(how: DiskFault | undefined): void {
    if (faults.disk !== undefined) freedAt = life.clock.monotonic()
    faults.disk = how
    life?.disk.fail(how)
  }

  /** As `die`, unless it dies while it stops. */
  function restart(): () => Promise<void> {
    if (ending === life) return () => Promise.resolve()
    ending = life
    const stopping = era
    for (const reader of all()) reader.leave()
    const stopped = life.stop()
    return async () => {
      const remains = await stopped
      if (stopping !== era) return
      housing.over(known.lodger.life)
      await rise(remains, false)
    }
  }

  const isShaken = () => faults.disk !== undefined || (freedAt !== undefined && life.clock.monotonic() - freedAt < RECOVERED)

  function isSlow(): boolean {
    return faults.slow >= LONG || (slowAt !== undefined && life.clock.monotonic() - slowAt < HASTENED)
  }

  const isCalm = () =>
    (isOff(known, WORKFLOWS) || !workflowRunsOf(life).some(isUnderWay)) &&
    callers.every((caller) => Object.keys(life.runtime.sessions.status(caller)).length === 0) &&
    [...sessions, ...known.tenants.flatMap((tenant) => tenant.sessions)].every((id) =>
      life.runtime.sessions.queue(id).items.every(({ held }) => held === true),
    )

  /** A life may end meanwhile. */
  async function pass(ms: number): Promise<void> {
    await life.clock.advanceAsync(ms)
    await meeting.over()
  }

  async function calm(): Promise<void> {
    meeting.forget()
    suffer(undefined)
    slow(0)
    read.clear()
    for (const reader of all()) reader.come(life.runtime)
    let last = { round: 0, heard }
    for (let round = 0; round < ROUNDS && round - last.round < SILENT; round++) {
      if (heard !== last.heard) last = { round, heard }
      await pass(1000)
      // What is due begins at full seconds.
      if (isCalm()) await pass(1000)
      if (isCalm()) break
      const { interactions } = life.runtime
      for (const { id } of callers.flatMap((caller) => interactions.permissions(caller, undefined)))
        interactions.replyPermission(id, { reply: 'reject' })
      for (const { id } of callers.flatMap((caller) => interactions.questions(caller, undefined))) interactions.rejectQuestion(id)
      for (const each of played.held) each.finishes()
      letOutsideGoOn(known)
      await pass(35_000)
    }
    freedAt = undefined
  }

  return {
    ...known,
    get life() {
      return life
    },
    get witness() {
      return witness
    },
    get lasted() {
      return livedBefore + life.clock.monotonic()
    },
    get endless() {
      return endless
    },
    get isShaken() {
      return isShaken()
    },
    get readers() {
      return readers
    },
    async perform(step) {
      trace.add(step)
      read.clear()
      isActing = true
      await meeting.over()
      await take(step)
      await turns(step.turns)
      await meeting.over()
      isActing = false
      await meeting.over() // It may have died as that was waited for.
      meeting.passed()
    },
    calm,
    messages(sessionId) {
      const known = read.get(sessionId)
      if (known !== undefined) return known
      const { rawJson } = life.runtime.sessions.context(sessionId)
      const before = answered.get(sessionId)
      const messages = before?.rawJson === rawJson ? before.messages : (JSON.parse(rawJson) as Message[])
      answered.set(sessionId, { rawJson, messages })
      read.set(sessionId, messages)
      return messages
    },
    async end() {
      meeting.end()
      for (const reader of all()) reader.leave()
      await life.stop()
    },
  }
}

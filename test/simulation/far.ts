/**
 * A model that is reached by a network: what the network does with requests and answers, and what is known of them.
 *
 * I1 What happens in a life that is over is noted no more.
 * I2 Time passes here between what is asked and what is read, and nowhere else: what the model says follows from the prompt alone.
 */
import type { PlainAnswer } from '../../src/ports/effects.js'
import type { GenerateRequest, StreamPart } from '../../src/ports/provider-adapter.js'
import { gate, type PlayedStep } from '../../src/published/testing/steps.js'
import type { FakeClock } from '../../src/simulation/clock.js'
import type { FakeEffects } from '../../src/simulation/effects.js'

/**
 * How the network does. `slow` = connections overtake each other, `slower` = every wait is twice as long as the one before; `mute` takes a request and answers
 * nothing, `late` answers once nobody waits, `stalls` in the middle, `haunts` does so and tells the rest when the connection is closed; `resets` and
 * `cuts` in the middle, with and without a word; `refuses` connections; `busy`, `torn` = pieces end anywhere.
 */
export const WEATHERS = ['fair', 'slow', 'slower', 'mute', 'late', 'stalls', 'haunts', 'resets', 'cuts', 'refuses', 'busy', 'torn'] as const
export type Weather = (typeof WEATHERS)[number]

/** A request to the model. */
export interface FarRequest {
  readonly number: number
  readonly life: object
  /** The newest prompt it shows. */
  readonly name: string
  /** On the clock of its life, ms: when something was sent or read last. */
  readonly heardAt: number
  readonly hasAnswer: boolean
  /** `closed` by the server. */
  readonly state: 'open' | 'over' | 'closed'
  /** What the server has read, where it is all that there is. */
  readonly whole: string | undefined
}

type Noted = { -readonly [Key in keyof FarRequest]: FarRequest[Key] }

export interface KnownFar {
  readonly weather: { is: Weather }
  /** Sessions whose model it is. */
  readonly sessions: string[]
  /** Of all lives, oldest first. */
  readonly requests: Noted[]
  /** Prompts of which a request began while another was under way. */
  readonly doubled: string[]
  life: object | undefined
}

export const FAR_MODEL = { providerId: 'far', id: 'one' }
const MODEL = { name: 'Far', toolCall: true, limit: { context: 100_000, output: 1000 } }
/** What the operator says of it, beside what is in files. */
export const FAR_ENV = {
  SVC_AGENT_CONFIG_CONTENT: JSON.stringify({
    provider: {
      far: {
        npm: '@ai-sdk/openai-compatible',
        auth: 'none',
        options: { baseURL: 'http://127.0.0.1:9/far' },
        models: { one: MODEL },
      },
    },
  }),
}
/** Said when nobody listens any more. */
export const GHOST = 'ghost-'

/** ms. */
const PACES = [50, 1500, 400]
const FIRST = 50
const LATE = 310_000
const TORN = 7

export function createKnownFar(): KnownFar {
  return { weather: { is: 'fair' }, sessions: [], requests: [], doubled: [], life: undefined }
}

/** Of the life that goes on. */
export function openRequests({ requests, life }: KnownFar): readonly FarRequest[] {
  return requests.filter((request) => request.life === life && request.state === 'open')
}

/** Effects of a life in which the model is `ask`. */
export function farEffects(
  known: KnownFar,
  effects: FakeEffects,
  life: object,
  ask: (request: GenerateRequest) => PlayedStep,
): FakeEffects {
  known.life = life
  const { clock } = effects
  return {
    ...effects,
    async post(_address, { body, onOpen }) {
      const asked = asRequest(body.map((piece) => (typeof piece === 'string' ? piece : new TextDecoder().decode(piece))).join(''))
      const name = asked.messages.map((message) => JSON.stringify(message)).findLast((text) => /"p\d/.test(text)) ?? ''
      if (name !== '' && openRequests(known).some((request) => request.name === name)) known.doubled.push(name)
      const request: Noted = {
        number: known.requests.length + 1,
        life,
        name,
        heardAt: clock.monotonic(),
        hasAnswer: false,
        state: 'open',
        whole: undefined,
      }
      known.requests.push(request)
      return connect({ known, clock, request, step: ask(asked), asked }, onOpen)
    },
  }
}

/** As the protocol has it, as far as the played model looks at it. */
function asRequest(json: string): GenerateRequest {
  const { messages } = JSON.parse(json) as Pick<GenerateRequest, 'messages'>
  return { sessionId: 'far', messages } as GenerateRequest
}

interface Connecting {
  readonly known: KnownFar
  readonly clock: FakeClock
  readonly request: Noted
  readonly step: PlayedStep
  readonly asked: GenerateRequest
}

async function connect({ known, clock, request, step, asked }: Connecting, onOpen: (end: () => void) => void): Promise<PlainAnswer> {
  const { weather } = known
  const closing = new AbortController()
  const closed = gate<never>()
  closed.promise.catch(() => undefined)
  const close = () => {
    if (request.state === 'open') request.state = 'closed'
    closing.abort()
    closed.fail(new Error('closed'))
  }
  onOpen(close)
  /** Rejects when the connection is closed. */
  const pause = (ms: number) => Promise.race([new Promise<void>((resolve) => clock.setTimeout(resolve, ms)), closed.promise])
  const never = () => closed.promise
  const over = () => void (request.state === 'open' && (request.state = 'over'))
  const lose = (why: string) => {
    over()
    return new Error(why)
  }
  const pace = PACES[request.number % PACES.length] ?? 0

  await pause(weather.is === 'slow' ? pace : 1)
  if (weather.is === 'refuses') throw lose('connect ECONNREFUSED')
  if (weather.is === 'mute') await never()
  if (weather.is === 'late') await pause(LATE)
  if (weather.is === 'busy') return refusal(request)

  const answer = createAnswer()
  const saying = Promise.resolve(step(answer.push, closing.signal, asked)).then(answer.end, answer.fail)
  saying.catch(() => undefined)
  let wait = FIRST
  let reads = 0
  const heard = new TextDecoder()
  let text = ''

  async function read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const piece = await Promise.race([answer.next(weather.is === 'torn' ? TORN : undefined), never()])
    const isFirst = reads++ === 0
    if (weather.is === 'slow') await pause(pace)
    if (weather.is === 'slower') await pause((wait *= 2))
    if (!isFirst && piece !== undefined) {
      if (weather.is === 'resets') throw lose('read ECONNRESET')
      if (weather.is === 'cuts') {
        over()
        return undefined
      }
      if (weather.is === 'stalls') await never()
      if (weather.is === 'haunts') return never().catch(() => bytesOf(eventOf({ content: GHOST })))
    }
    request.heardAt = clock.monotonic()
    request.hasAnswer = true
    if (piece === undefined) {
      over()
      return undefined
    }
    text += heard.decode(piece, { stream: true })
    if (text.includes(FINISHED)) request.whole = answer.said()
    return piece
  }

  return { status: 200, header: (name) => (name === 'content-type' ? 'text/event-stream' : null), read, cancel: close }
}

function refusal(request: Noted): PlainAnswer {
  let isRead = false
  return {
    status: 503,
    header: (name) => (name === 'retry-after' ? '2' : null),
    async read() {
      request.state = 'over'
      if (isRead) return undefined
      isRead = true
      return bytesOf('{"error":{"message":"busy"}}')
    },
    cancel: () => void (request.state = 'over'),
  }
}

const END = 'data: [DONE]\n\n'
/** Of the event after which nothing more is said. */
const FINISHED = '"finish_reason"'

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function eventOf(delta: object, more: object = {}): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...more }] })}\n\n`
}

/** What the model says, as events; they are taken one by one, or by bytes. */
function createAnswer() {
  const waiting: string[] = []
  let isOver = false
  let failure: Error | undefined
  let wake: () => void = () => undefined
  let calls = 0
  let text = ''

  function add(event: string): void {
    waiting.push(event)
    wake()
  }

  return {
    said: () => text,
    push(part: StreamPart): void {
      if (part.type === 'text') {
        text += part.delta
        add(eventOf({ content: part.delta }))
      }
      if (part.type === 'tool-call') {
        const { callId: id, tool: name, input } = part
        add(eventOf({ tool_calls: [{ index: calls++, id, type: 'function', function: { name, arguments: input } }] }))
      }
      if (part.type !== 'finish') return
      const reason = part.reason === 'tool-calls' ? 'tool_calls' : part.reason
      const { input, output } = part.usage
      add(eventOf({}, { finish_reason: reason }))
      add(`data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: input, completion_tokens: output } })}\n\n`)
      add(END)
    },
    end() {
      isOver = true
      wake()
    },
    fail(error: unknown) {
      failure = error instanceof Error ? error : new Error(String(error))
      wake()
    },
    /** The next event, or so many bytes of it; undefined = there is no more. */
    async next(most = Number.POSITIVE_INFINITY): Promise<Uint8Array<ArrayBuffer> | undefined> {
      while (waiting.length === 0) {
        if (failure !== undefined) throw failure
        if (isOver) return undefined
        await new Promise<void>((resolve) => (wake = resolve))
      }
      const event = waiting.shift() ?? ''
      if (event.length > most) waiting.unshift(event.slice(most))
      return bytesOf(event.slice(0, most))
    },
  }
}

/** One program of an external agent, as it runs: it speaks the Agent Client Protocol over its standard streams, and does not always keep to it. */
import type { ChildPipe } from '../../src/ports/effects.js'
import { isRecord } from '../../src/protocol/text/json.js'
import type { PlayedChild } from '../../src/simulation/child.js'
import type { FakeClock } from '../../src/simulation/clock.js'

/**
 * How a program does what it is asked for. `asks` for a permission first, `leaves` while that is open, `deserts` is gone by then; `late` tells more
 * when its turn is over, `stray` tells of another session; `nests` sends what nobody can read; `clings` does not end its prompt when it is told to;
 * `dawdles` is never ready, `refuses` to speak or to open a session, `forgets` opens none again, and `repeats` what was said in one that it opens again.
 */
export const GUEST_MANNERS = [
  'well',
  'asks',
  'leaves',
  'deserts',
  'twice',
  'late',
  'stray',
  'floods',
  'nests',
  'dies',
  'hangs',
  'clings',
  'dawdles',
  'refuses',
  'forgets',
  'repeats',
] as const
export type GuestManner = (typeof GUEST_MANNERS)[number]

/** What nobody may hear of it: said when its turn was over, of another session, or said before. */
export const UNHEARD = ['late-', 'stray-', 'again-'] as const

/** What became of its prompt: `died` = its program ended by itself before it had answered. */
type GuestEnd = 'none' | 'open' | 'answered' | 'died' | 'ended'

export interface Guest {
  readonly number: number
  /** Of whose life it is. */
  readonly life: object
  /** On the clock of its life, ms. */
  readonly begunAt: number
  /** It was told its prompt, whether it has read it or not. */
  readonly isPrompted: boolean
  /** It was told to end its prompt. */
  readonly cancelledAt: number | undefined
  readonly isOver: boolean
  /** It was stopped where it is, and does nothing more. */
  readonly isHeld: boolean
  /** By which id it knows its session. */
  readonly session: string | undefined
  readonly end: GuestEnd
  /** When it died, on the clock of its life, ms. */
  readonly diedAt: number | undefined
  /** Name of the prompt that it was told. */
  readonly asks: number | undefined
  /** In its turn, in order. */
  readonly said: readonly string[]
  /** How often what it asked for was answered, by the id of its request. */
  readonly asked: ReadonlyMap<string, number>
  /** Ends it, as it happens, or lets it hang. */
  crash(how: 'dies' | 'hangs'): void
  /** It tells something by itself. */
  stir(): void
  /** What hangs goes on. */
  goOn(): void
}

interface RunningGuest extends Guest {
  begin(child: PlayedChild): void
  /** The pipe to it, through which is seen what the server does with it. */
  seen(pipe: ChildPipe): ChildPipe
}

/** What it knows of its world. */
export interface GuestTold {
  readonly clock: FakeClock
  manner(): GuestManner
  /** It opens a session again. */
  onOpen(session: string): void
}

interface Frame {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

/** ms, and how many. */
const WORKS = 200
const DESERTS = 100
const FLOOD = 60
/** Of every second program for as long as it may before it is prompted. */
const REPEATS = { ms: 20, times: 13, fewer: 3 }
const CLINGS = { ms: 500, times: 24 }
/** Deeper than a message may be, and long enough to be looked at. */
const NESTED = 20_000

export function guestProgram({ number, life }: Pick<Guest, 'number' | 'life'>, { clock, manner, onOpen }: GuestTold): RunningGuest {
  const begunAt = clock.monotonic()
  const asked = new Map<string, number>()
  const answers = new Map<string, (isAllowed: boolean) => void>()
  const said: string[] = []
  const allowed = new Set<string>()
  let child: PlayedChild | undefined
  let end: GuestEnd = 'none'
  let session: string | undefined
  let prompt: unknown
  let asks: number | undefined
  let diedAt: number | undefined
  let cancelledAt: number | undefined
  let isPrompted = false
  let isTold = false
  let isHeld = false
  let isHung = false
  let words = 0

  const pause = (ms: number) => new Promise<void>((resolve) => clock.setTimeout(resolve, ms))
  const isGone = () => isHeld || child === undefined || child.ended

  function send(frame: object): void {
    if (isGone()) return
    const line = `${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`
    child?.stdout(manner() === 'twice' ? `${line}${line}` : line)
  }

  const tell = (update: object, of = session) => send({ method: 'session/update', params: { sessionId: of, update } })
  const chunk = (text: string) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })

  function say(): void {
    if (isGone()) return
    const word = `g${number}.${words++} `
    said.push(word)
    if (manner() === 'twice') said.push(word)
    tell(chunk(word))
  }

  function answer(stopReason: string): void {
    if (end !== 'open' || isGone()) return
    end = 'answered'
    send({ id: prompt, result: { stopReason } })
  }

  function die(exitCode: number): void {
    if (child === undefined || child.ended) return
    if (end === 'open' && !isTold) diedAt = clock.monotonic()
    if (end === 'open') end = isTold ? 'ended' : 'died'
    child.end({ exitCode })
  }

  function crash(how: 'dies' | 'hangs'): void {
    if (how === 'dies') return die(1)
    isHung = true
    child?.stopReading()
  }

  function ask(): Promise<boolean> {
    const id = `ask-${number}-${asked.size}`
    const toolCall = { toolCallId: id, title: id, kind: 'execute', rawInput: { command: 'make' } }
    const options = [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ]
    asked.set(id, 0)
    send({ id, method: 'session/request_permission', params: { sessionId: session, toolCall, options } })
    return new Promise((resolve) => answers.set(id, resolve))
  }

  async function work(): Promise<void> {
    say()
    switch (manner()) {
      case 'dies':
        return die(3)
      case 'hangs':
      case 'clings':
        return
      case 'nests':
        return child?.stdout(`${'['.repeat(NESTED)}\n`)
      case 'asks': {
        const isAllowed = await ask()
        const toolCallId = [...asked.keys()].at(-1)
        tell({ sessionUpdate: 'tool_call_update', toolCallId, status: isAllowed ? 'completed' : 'failed' })
        break
      }
      case 'leaves':
        void ask()
        break
      case 'deserts':
        void ask()
        await pause(DESERTS)
        return die(4)
      case 'floods':
        for (let each = 0; each < FLOOD; each++) say()
        break
      case 'stray':
        tell(chunk('stray- '), 'of-nobody')
        break
      default:
        break
    }
    await pause(WORKS)
    if (isHung || end !== 'open') return
    say()
    answer('end_turn')
  }

  async function cling(): Promise<void> {
    for (let time = 0; time < CLINGS.times && !isGone(); time++) {
      say()
      await pause(CLINGS.ms)
    }
  }

  /** What it wrote before it was stopped is still in its pipe. */
  function leaveUnheard(): void {
    if (manner() === 'late') tell(chunk('late- '))
  }

  function openAgain(id: unknown, known: string): void {
    session = known
    onOpen(known)
    if (manner() === 'repeats') tell(chunk('again- '))
    send({ id, result: {} })
    if (manner() === 'repeats') void repeat()
  }

  async function repeat(): Promise<void> {
    const times = number % 2 === 0 ? REPEATS.fewer : REPEATS.times
    for (let time = 0; time < times && !isPrompted; time++) {
      tell(chunk('again- '))
      await pause(REPEATS.ms)
    }
  }

  function capabilities(): object {
    if (manner() === 'forgets') return {}
    return manner() === 'repeats' ? { loadSession: true } : { sessionCapabilities: { resume: {} } }
  }

  const refuse = (id: unknown) => send({ id, error: { code: -32000, message: 'not today' } })

  function hear({ id, method, params }: Frame): void {
    const about = isRecord(params) ? params : {}
    if (method === undefined) return hearAnswer(id)
    switch (method) {
      case 'initialize':
        if (manner() === 'dawdles') return
        if (manner() === 'refuses' && number % 2 === 0) return refuse(id)
        return send({ id, result: { protocolVersion: 1, agentCapabilities: capabilities() } })
      case 'session/new':
      case 'session/resume':
      case 'session/load':
        if (manner() === 'refuses') return refuse(id)
        if (method !== 'session/new') return openAgain(id, String(about['sessionId']))
        session = `guest-${number}`
        return send({ id, result: { sessionId: session } })
      case 'session/prompt':
        prompt = id
        asks = Number(/.*\bp(\d+)/s.exec(JSON.stringify(about['prompt']))?.[1])
        end = 'open'
        return void work()
      case 'session/cancel':
        if (manner() === 'clings') return void cling()
        return isHung ? undefined : answer('cancelled')
      default:
        if (id !== undefined) send({ id, error: { code: -32601, message: 'there is no such method' } })
    }
  }

  function hearAnswer(id: unknown): void {
    if (typeof id !== 'string') return
    const goOn = answers.get(id)
    answers.delete(id)
    goOn?.(allowed.has(id))
  }

  return {
    number,
    life,
    begunAt,
    crash,
    asked,
    said,
    stir: () => (end === 'open' && !isHung ? say() : undefined),
    goOn() {
      if (isHung) return die(1)
      if (end === 'open') answer('end_turn')
    },
    get isPrompted() {
      return isPrompted
    },
    get cancelledAt() {
      return cancelledAt
    },
    get isOver() {
      return child?.ended === true
    },
    get isHeld() {
      return isHeld
    },
    get session() {
      return session
    },
    get end() {
      return end
    },
    get diedAt() {
      return diedAt
    },
    get asks() {
      return asks
    },
    begin(begun) {
      child = begun
      let rest = ''
      begun.onInput((text) => {
        const lines = `${rest}${text}`.split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (!isGone()) hear(JSON.parse(line) as Frame)
      })
    },
    seen(pipe) {
      return {
        ...pipe,
        get waiting() {
          return pipe.waiting
        },
        write(data) {
          const isTaken = pipe.write(data)
          if (isTaken) for (const frame of framesOf(data)) see(frame)
          return isTaken
        },
        /** It is held where it is: nothing ends by that. */
        signal(name) {
          if (child?.ended === true) return false
          leaveUnheard()
          isTold = true
          if (name === 'SIGSTOP') isHeld = true
          return true
        },
        kill() {
          leaveUnheard()
          isTold = true
          if (end === 'open') end = 'ended'
          pipe.kill()
        },
      }
    },
  }

  function see({ id, method, result }: Readonly<Record<string, unknown>>): void {
    if (method === 'session/prompt') isPrompted = true
    if (method === 'session/cancel') {
      cancelledAt ??= clock.monotonic()
      isTold = true
    }
    if (method !== undefined || typeof id !== 'string' || !asked.has(id)) return
    asked.set(id, (asked.get(id) ?? 0) + 1)
    const outcome = isRecord(result) ? result['outcome'] : undefined
    if (isRecord(outcome) && outcome['optionId'] === 'yes') allowed.add(id)
  }
}

/** Each is written whole. */
function framesOf(data: string | Uint8Array): readonly Readonly<Record<string, unknown>>[] {
  const text = typeof data === 'string' ? data : new TextDecoder().decode(data)
  return text.split('\n').flatMap((line) => {
    const frame: unknown = line === '' ? undefined : JSON.parse(line)
    return isRecord(frame) ? [frame] : []
  })
}

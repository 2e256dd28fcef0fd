/** What happens in a simulated history: steps that are data, so that a history can be printed, cut down and played again. */
import type { Random } from '../../src/simulation/random.js'

/** One step of the model. `words`: how much it says first. */
export type Play =
  | { readonly as: 'says'; readonly words: number }
  | { readonly as: 'calls'; readonly words: number; readonly tools: readonly Called[] }
  /** As a provider fails. */
  | { readonly as: 'fails'; readonly words: number; readonly retryable: boolean }
  /** Ends without an end. */
  | { readonly as: 'cut'; readonly words: number }
  /** Says nothing more until it is released. */
  | { readonly as: 'hangs'; readonly words: number }

/** `holds` waits until it is released, `late` does so whatever is aborted meanwhile; `guarded` needs a permission, `question` an answer. */
export type Called = 'answers' | 'fails' | 'holds' | 'late' | 'guarded' | 'question'

/** `turns` of the event loop until the next step; without them everything happens that needs no time. */
export type Step = Act & { readonly turns?: number }

type Act =
  | { readonly do: 'create' }
  | {
      readonly do: 'prompt'
      readonly session: number
      readonly name: number
      readonly delivery: 'steer' | 'queue'
      readonly plays: readonly Play[]
    }
  /** The client sends a prompt again, as it does when it has heard no answer. */
  | { readonly do: 'repeat'; readonly name: number }
  /** More prompts than may wait, of no model. */
  | { readonly do: 'flood'; readonly session: number; readonly name: number }
  | { readonly do: 'abort'; readonly session: number; readonly queue: 'go-on' | 'hold' | 'clear' }
  | { readonly do: 'clear' | 'pop' | 'undo' | 'redo'; readonly session: number }
  /** An answer to one of all requests so far, be it open or not. */
  | { readonly do: 'answer'; readonly request: number; readonly how: 'once' | 'always' | 'reject' }
  /** Something that hangs goes on. */
  | { readonly do: 'release'; readonly held: number; readonly how: 'finishes' | 'fails' }
  | { readonly do: 'leave' | 'return'; readonly client: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** The wall clock alone. */
  | { readonly do: 'jump'; readonly ms: number }
  | { readonly do: 'die'; readonly how: 'kill' | 'power'; readonly torn: number }
  | { readonly do: 'restart' }

export type History = readonly Step[]

/** Together with the others they make days of somebody who works some of the time: about seven prompts in each, and fifty steps. */
const HOURS = [0.5, 2, 10, 20].map((hours) => hours * 3_600_000)
const WAITS = [1, 1, 2, 5, 20, 100, 1000, 2500, 31_000, 125_000, ...HOURS]
const JUMPS = [-3_600_000, -1000, 1000, 3_600_000, 86_400_000]
const SESSIONS = 3
const CLIENTS = 2
/** Of so many steps each is how many. */
const OFTEN = {
  prompt: 4,
  wait: 6,
  answer: 3,
  release: 2,
  abort: 2,
  leave: 1,
  return: 2,
  die: 1,
  repeat: 1,
  clear: 1,
  pop: 1,
  undo: 1,
  redo: 1,
  jump: 1,
  create: 1,
  restart: 1,
} as const satisfies Partial<Record<Step['do'], number>>
const KINDS = (Object.keys(OFTEN) as (keyof typeof OFTEN)[]).flatMap((kind) => Array.from({ length: OFTEN[kind] }, () => kind))

/** A history of so many steps. `floods`: with more prompts than may wait, which takes long. */
export function draw(random: Random, steps: number, { floods = false } = {}): History {
  const history: Step[] = [{ do: 'create' }]
  let name = 0
  while (history.length < steps) {
    if (floods && random.isOneIn(30)) history.push({ do: 'flood', session: random.below(SESSIONS), name: (name += 2000) })
    else history.push({ ...drawAct(random, ++name), ...(random.isOneIn(2) && { turns: random.below(4) }) })
  }
  return history
}

function drawAct(random: Random, name: number): Act {
  const kind = random.pick(KINDS)
  const session = random.below(SESSIONS)
  switch (kind) {
    case 'prompt':
      return { do: kind, session, name, delivery: random.isOneIn(3) ? 'steer' : 'queue', plays: drawPlays(random) }
    case 'repeat':
      return { do: kind, name: 1 + random.below(name) }
    case 'abort':
      return { do: kind, session, queue: random.pick(['go-on', 'go-on', 'hold', 'clear']) }
    case 'answer':
      return { do: kind, request: random.below(8), how: random.pick(['once', 'once', 'always', 'reject']) }
    case 'release':
      return { do: kind, held: random.below(4), how: random.isOneIn(3) ? 'fails' : 'finishes' }
    case 'leave':
    case 'return':
      return { do: kind, client: random.below(CLIENTS) }
    case 'wait':
      return { do: kind, ms: random.pick(WAITS) }
    case 'jump':
      return { do: kind, ms: random.pick(JUMPS) }
    case 'die':
      return { do: kind, how: random.isOneIn(3) ? 'kill' : 'power', torn: random.below(1_000_000) }
    case 'create':
    case 'restart':
      return { do: kind }
    default:
      return { do: kind, session }
  }
}

function drawPlays(random: Random): Play[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const words = random.below(4)
    const as = random.pick(['says', 'says', 'calls', 'calls', 'calls', 'fails', 'cut', 'hangs'] as const)
    if (as === 'fails') return { as, words, retryable: !random.isOneIn(3) }
    if (as !== 'calls') return { as, words }
    const tools = Array.from({ length: 1 + random.below(3) }, () =>
      random.pick(['answers', 'fails', 'holds', 'late', 'guarded', 'guarded', 'question'] as const),
    )
    return { as, words, tools }
  })
}

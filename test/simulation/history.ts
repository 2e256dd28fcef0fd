/** What happens in a simulated history: steps that are data, so that a history can be printed, cut down and played again. */
import type { DiskFault } from '../../src/simulation/disk.js'
import type { Random } from '../../src/simulation/random.js'
import type { GoalStep } from './acts-goals.js'
import type { LodgerStep } from './acts-lodger.js'
import type { OutsideStep } from './acts-outside.js'
import type { TenantStep } from './acts-tenants.js'
import { drawBeside } from './draw-beside.js'
import { ASKED, differently, drawPlays, type Manner, USUAL } from './draw-plays.js'
import type { Said } from './life.js'
import type { Moment } from './moments.js'
import { swarm } from './swarm.js'

/** One step of the model. `words`: how much it says first. */
export type Play =
  | { readonly as: 'says'; readonly words: number }
  /** The same, and as much was said by then as the model can take. */
  | { readonly as: 'fills'; readonly words: number }
  /** `below`: what the model does for tasks that are delegated so. */
  | { readonly as: 'calls'; readonly words: number; readonly tools: readonly Called[]; readonly below?: readonly Play[] }
  /** As a provider fails. */
  | { readonly as: 'fails'; readonly words: number; readonly retryable: boolean }
  /** Was asked more than it can take. */
  | { readonly as: 'overflows'; readonly words: number }
  /** Ends without an end. */
  | { readonly as: 'cut'; readonly words: number }
  /** Says nothing more until it is released. */
  | { readonly as: 'hangs'; readonly words: number }

/**
 * `writes` writes one of few files, `holds` waits until it is released, `late` does so whatever is aborted meanwhile; `guarded` needs a permission, `question` an answer; `forbidden` has
 * none, and `nothing` is there under that name.
 */
export type Own = 'answers' | 'writes' | 'fails' | 'holds' | 'late' | 'guarded' | 'question' | 'forbidden' | 'nothing'
/** A task in the background, one that is waited for, more for the task that was delegated last, the end of all, and a look at all. */
export type Delegating = 'task' | 'waits' | 'more' | 'stops' | 'looks'

/** `lodges` is of a plugin in a process of its own; `completes` ends a goal. */
export type Called = Own | Delegating | 'lodges' | 'completes'

/** What a file of a workflow says besides its prompt. `soon`: once, some seconds later; `broken`: it cannot be read. */
export interface Workflow {
  readonly schedule: 'hourly' | 'daily' | 'soon' | 'broken'
  readonly concurrency: 'forbid' | 'replace' | 'allow'
  readonly attempts: number
  readonly active: boolean
  /** Where it runs, below the workspace; undefined = in the workspace. */
  readonly folder?: string
}

/** `turns` of the event loop until the next step; without them everything happens that needs no time. */
export type Step = Act & { readonly turns?: number }

type Act =
  | LodgerStep
  | TenantStep
  | OutsideStep
  | GoalStep
  /** `untitled`: the model is to find a title. */
  | { readonly do: 'create'; readonly untitled?: boolean }
  | {
      readonly do: 'prompt'
      readonly session: number
      readonly name: number
      readonly delivery: 'steer' | 'queue'
      readonly plays: readonly Play[]
      /** Of its text, at least. */
      readonly characters?: number
      /** What the model does when it is to summarise a conversation whose newest prompt this is. */
      readonly summary?: readonly Play[]
    }
  /** The client sends a prompt again, as it does when it has heard no answer. */
  | { readonly do: 'repeat'; readonly name: number }
  /** More prompts than may wait: the model hangs at the first. */
  | { readonly do: 'flood'; readonly session: number; readonly name: number }
  | { readonly do: 'abort'; readonly session: number; readonly queue: 'go-on' | 'hold' | 'clear' }
  | { readonly do: 'clear' | 'pop' | 'undo' | 'redo'; readonly session: number }
  /** An answer to one of all requests so far, be it open or not. */
  | { readonly do: 'answer'; readonly request: number; readonly how: 'once' | 'always' | 'reject' }
  /** Something that hangs goes on. */
  | { readonly do: 'release'; readonly held: number; readonly how: 'finishes' | 'fails' }
  /** `stall`: its connection takes nothing any more, until it returns. */
  | { readonly do: 'leave' | 'return' | 'stall'; readonly client: number }
  /** A client stops all tasks of the session, or deletes it. */
  | { readonly do: 'stop' | 'delete'; readonly session: number }
  /** The operator writes a workflow, or removes its file. */
  | { readonly do: 'save'; readonly workflow: number; readonly name: number; readonly says: Workflow; readonly plays: readonly Play[] }
  | { readonly do: 'lose' | 'activate' | 'pause' | 'run' | 'retry'; readonly workflow: number }
  /** A client deletes the session of its newest run. */
  | { readonly do: 'drop'; readonly workflow: number }
  /** A client says something to the task that was delegated last. */
  | { readonly do: 'nudge'; readonly name: number; readonly plays: readonly Play[] }
  /** The operator makes a folder, removes what is there, or writes a file by hand, below the workspace. */
  | { readonly do: 'folder'; readonly path: string; readonly how: 'makes' | 'removes' | 'writes' }
  /** How the plugin `test.moody` does from now on: `rivals` = it offers what another one offers, `lingers` = its stop takes a minute. */
  | { readonly do: 'mood'; readonly is: Mood }
  /** The operator edits the configuration. */
  | { readonly do: 'configure'; readonly says: Said }
  /** The disk of files and database is full, broken or read-only until `free`, or until the server is started anew. */
  | { readonly do: 'fill'; readonly how: DiskFault }
  | { readonly do: 'free' }
  /** A client has the conversation compacted. */
  | { readonly do: 'compact'; readonly session: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** Nobody does anything new until nothing is under way, and all that must hold then is looked at. */
  | { readonly do: 'calm' }
  /** The wall clock alone. */
  | { readonly do: 'jump'; readonly ms: number }
  | { readonly do: 'die'; readonly how: 'kill' | 'power'; readonly torn: number }
  | { readonly do: 'restart' }
  /** Reading and writing a file takes so long from now on. */
  | { readonly do: 'slow'; readonly ms: number }
  /** In the next moment in which a machine gets somewhere: a disk that fails does so until it has gone on. */
  | (Moment & { readonly do: 'when'; readonly steps: History })

export type Mood = 'well' | 'refuses' | 'rivals' | 'lingers'

export type History = readonly Step[]

const WAITS = [1, 1, 2, 5, 20, 100, 1000, 2500, 31_000, 125_000, 700_000]
/** Together with the others they make days of somebody who works some of the time: about seven prompts in each, and fifty steps. */
const HOURS = [0.5, 2, 10, 20].map((hours) => hours * 3_600_000)
const JUMPS = [-3_600_000, -1000, 1000, 3_600_000, 86_400_000]
const SESSIONS = 3
const CLIENTS = 2
const WORKFLOWS = 3
/** In a history with floods one comes in so many steps; of those that a search draws, one in so many has them. */
const FLOODS = 30
const FLOODED = 6
/** Of the prompts. */
const LAST = 3
const PLUGINS = ['dev.svc.subagents', 'dev.svc.workflows']
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
  stop: 1,
  delete: 1,
  save: 3,
  lose: 1,
  activate: 1,
  pause: 1,
  run: 2,
  retry: 1,
  configure: 1,
  fill: 1,
  free: 3,
  compact: 1,
  beside: 4,
} as const satisfies Partial<Record<Step['do'] | 'beside', number>>
const KINDS = (Object.keys(OFTEN) as (keyof typeof OFTEN)[]).flatMap((kind) => Array.from({ length: OFTEN[kind] }, () => kind))

const CALM_EVERY = 60

/** In every history. */
const ALWAYS = ['prompt', 'wait', 'create'] as const

/** How histories differ from others in what they are full of. */
interface Taste {
  readonly kinds: readonly Kind[]
  readonly manner: Manner
  /** A flood comes once in so many steps; undefined = never. */
  readonly floods: number | undefined
  /** What is done next may follow from what was done just now. */
  readonly hasSequels: boolean
  readonly bent: Bent | undefined
}

/** What a searched history is all about: workflows that somebody switches, over starts and minutes, or answers to what the agent asks for. */
export type Bent = 'patient' | 'asking'
/** Ms in which a workflow comes due that is scheduled: for the minutes before an hour, and from any moment on. */
const DUE = [125_000, 3_700_000]
const PATIENT = ['save', 'save', 'pause', 'pause', 'activate', 'run', 'wait', 'prompt'] as const
const ASKING = ['prompt', 'prompt', 'answer', 'answer', 'answer', 'wait', 'wait', 'save', 'run', 'configure', 'create'] as const

type Kind = keyof typeof OFTEN | 'calm'

/**
 * A history of so many steps. `floods`: with more prompts than may wait; `hours`: with long waits; `swarms`: with some acts more often than with
 * others, and about what `bent` says.
 */
export function draw(
  random: Random,
  steps: number,
  {
    floods = false,
    hours = false,
    swarms = false,
    bent,
  }: { floods?: boolean; hours?: boolean; swarms?: boolean; bent?: Bent | undefined } = {},
): History {
  const taste = swarms ? drawTaste(random, bent) : { ...ORDINARY, floods: floods ? FLOODS : undefined }
  const history: Step[] = [{ do: 'create' }]
  let name = 0
  while (history.length < steps) {
    if (taste.floods !== undefined && random.isOneIn(taste.floods)) {
      history.push({ do: 'flood', session: random.below(SESSIONS), name: (name += 2000) })
      continue
    }
    const drawn = drawAct(random, taste, ++name)
    const act = swarms ? aimed(random, drawn, history) : drawn
    const waits = hours && act.do === 'wait' && random.isOneIn(3) ? { ms: random.pick(HOURS) } : {}
    history.push({ ...act, ...waits, ...(random.isOneIn(2) && { turns: random.below(4) }) })
    if (taste.hasSequels) history.push(...sequelOf(random, act))
    if (taste.bent !== undefined) history.push(...bentSequelOf(random, act, () => drawOf('prompt', random, taste, ++name)))
  }
  return history.flatMap((step, at) => ((at + 1) % CALM_EVERY === 0 && at + 1 < steps ? [step, { do: 'calm' }] : [step]))
}

const ORDINARY = { kinds: KINDS, manner: USUAL, hasSequels: false, bent: undefined }

function drawTaste(random: Random, bent: Bent | undefined): Taste {
  const kinds = swarm<Kind>(random, { ...OFTEN, prompt: 2 * OFTEN.prompt, calm: 1 }, ALWAYS)
  return {
    kinds: bent === undefined ? kinds : [...kinds.slice(0, PATIENT.length), ...(bent === 'patient' ? PATIENT : ASKING)],
    manner: bent === 'asking' ? ASKED : differently(random),
    floods: random.isOneIn(FLOODED) ? FLOODS : undefined,
    hasSequels: !random.isOneIn(3),
    bent,
  }
}

/** Who has saved a workflow may switch it off; what was switched stays so over a start; who has answered lets the agent go on. */
function bentSequelOf(random: Random, act: Act, prompt: () => Act): readonly Step[] {
  if (act.do === 'answer') return [{ do: 'wait', ms: random.pick(WAITS) }, prompt()]
  if (act.do !== 'pause' && act.do !== 'activate' && act.do !== 'save') return []
  const switched: readonly Step[] =
    act.do === 'save'
      ? [
          { do: 'wait', ms: 2500 },
          { do: 'pause', workflow: act.workflow },
        ]
      : []
  const later: Step = { do: 'wait', ms: random.pick(DUE) }
  const start: Step = random.isOneIn(2) ? { do: 'die', how: 'kill', torn: 1 } : { do: 'restart' }
  return random.isOneIn(3) ? [later] : [...switched, start, later]
}

/**
 * What repeats a prompt repeats one that may have been sent, mostly one of the last, of which there may be no answer yet; what is answered is mostly
 * what was asked last.
 */
function aimed(random: Random, act: Act, history: History): Act {
  if (act.do === 'answer') return { ...act, request: random.below(1 + act.request) }
  const sent = act.do === 'repeat' ? history.flatMap((step) => (step.do === 'prompt' ? [step.name] : [])) : []
  if (act.do !== 'repeat' || sent.length === 0) return act
  return { ...act, name: random.pick(random.isOneIn(3) ? sent : sent.slice(-LAST)) }
}

/**
 * A client that hears nothing sends its prompt again; who sees what comes of it may have seen enough; who has deleted a conversation begins another; after a start nobody may be there, and what
 * the server does is its own doing.
 */
function sequelOf(random: Random, act: Act): readonly Step[] {
  if (act.do === 'delete' && random.isOneIn(2)) return [{ do: 'create' }]
  if (act.do === 'prompt' && random.isOneIn(6)) return [{ do: 'repeat', name: act.name }]
  if (act.do === 'prompt' && random.isOneIn(4)) return [{ do: 'abort', session: act.session, queue: 'go-on' }]
  return (act.do === 'die' || act.do === 'restart') && random.isOneIn(2) ? [{ do: 'calm' }] : []
}

function drawAct(random: Random, taste: Taste, name: number): Act {
  return drawOf(random.pick(taste.kinds), random, taste, name)
}

function drawOf(kind: Kind, random: Random, { manner }: Taste, name: number): Act {
  const plays = () => drawPlays(random, manner)
  const session = random.below(SESSIONS)
  switch (kind) {
    case 'prompt':
      return { do: kind, session, name, delivery: random.isOneIn(3) ? 'steer' : 'queue', plays: plays() }
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
      return { do: kind, untitled: random.isOneIn(3) }
    case 'restart':
    case 'calm':
    case 'free':
      return { do: kind }
    case 'fill':
      return { do: kind, how: random.pick(['ENOSPC', 'EIO', 'EROFS']) }
    case 'configure':
      return {
        do: kind,
        says: { guarded: random.pick(['ask', 'ask', 'allow', 'deny']), off: random.isOneIn(4) ? [random.pick(PLUGINS)] : [] },
      }
    case 'beside':
      return drawBeside(random, name, plays)
    case 'save':
      return { do: kind, workflow: random.below(WORKFLOWS), name, says: drawWorkflow(random), plays: plays() }
    case 'lose':
    case 'activate':
    case 'pause':
    case 'run':
    case 'retry':
      return { do: kind, workflow: random.below(WORKFLOWS) }
    default:
      return { do: kind, session }
  }
}

function drawWorkflow(random: Random): Workflow {
  return {
    schedule: random.pick(['hourly', 'hourly', 'daily', 'soon', 'soon', 'broken']),
    concurrency: random.pick(['forbid', 'replace', 'allow']),
    attempts: 1 + random.below(3),
    active: !random.isOneIn(4),
  }
}

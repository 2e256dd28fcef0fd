/**
 * What is known of a server outside of it: what clients have sent and were answered, and what was heard.
 *
 * I1 What clients know is what they were answered: a prompt whose server died before the answer is in doubt.
 * I2 What was told and lost with the power is forgotten, besides what is kept before anything of it happens.
 */
import { createHash } from 'node:crypto'
import type { SeenEvent } from '../../src/published/testing/heard.js'
import type { WorkflowRun } from '../../src/protocol/workflow/workflow.js'
import { createKnownFar, type KnownFar } from './far.js'
import { createKnownGuests, type KnownGuests } from './guests.js'
import type { Mood, Play, Workflow } from './history.js'
import { createLately, type Lately, type Moment } from './lately.js'
import { createKnownLodger, type KnownLodger } from './lodger.js'
import { FIRST_CONFIG, PLACES, type Said } from './life.js'
import { isUnderWay } from './rows.js'
import { createTenants, type Tenant } from './tenants.js'

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
  /** Tasks that the run waited for, and what ran in the session of each. */
  readonly tasks: readonly { readonly id: string; readonly runId: string | undefined }[]
}

interface Request {
  readonly id: string
  readonly sessionId: string
  readonly isQuestion: boolean
  /** What it is for. */
  readonly patterns: readonly string[]
}

/** A workflow, where it is and what was asked of it last. */
export interface KnownWorkflow {
  readonly id: string
  readonly path: string
  /** Sequence of the last event before its pause was acknowledged; undefined = it may run. */
  pausedAfter: number | undefined
  /** When its file, or what the file says, was changed last; by the monotonic clock of a life. */
  changed: { readonly life: object; readonly at: number } | undefined
  /** What its file says, where it can be read. */
  readonly file: Lately<Written>
}

/** Of a file of a workflow: what it says, and when it was written, by the wall clock, Unix ms. */
export interface Written extends Workflow {
  readonly at: number
}

/** The moment in which a run of a workflow was begun. */
interface Claim extends HeardRun {
  /** What its file said then. */
  readonly files: readonly Written[]
}

/** A run that was heard of, as it was first: an occurrence that has a session is claimed for ever. */
interface HeardRun {
  readonly run: WorkflowRun
  /** Of the event. */
  readonly sequence: number
}

export interface Known {
  /** Those that exist, as far as clients know. */
  readonly sessions: readonly string[]
  readonly prompts: ReadonlyMap<number, SentPrompt>
  /** Ids of messages that somebody took back: from the queue, or by undoing them. */
  readonly removed: ReadonlySet<string>
  /** Sessions in which somebody has taken something back, or was about to. */
  readonly touched: ReadonlySet<string>
  /** Tasks whose session somebody has asked something by itself. */
  readonly nudged: ReadonlySet<string>
  /** How often somebody was about to begin a goal of a session, or to go on with it, by the session. */
  readonly begun: ReadonlyMap<string, number>
  /** Runs whose abort was answered with success. */
  readonly aborted: readonly Aborted[]
  /** How often an answer to a request was told, by its id. */
  readonly answers: ReadonlyMap<string, number>
  readonly workflows: readonly KnownWorkflow[]
  /** By the occurrence, then by the run. */
  readonly occurrences: ReadonlyMap<string, ReadonlyMap<string, HeardRun>>
  /** Runs of workflows that were begun, by their ids, the newest last. */
  readonly claims: ReadonlyMap<string, Claim>
  /** Sessions whose deletion was answered with success. */
  readonly deleted: ReadonlySet<string>
  /** How often a call had which outcome. */
  readonly met: ReadonlyMap<string, number>
  /** Calls of tools that were executed, in order. */
  readonly executed: readonly Execution[]
  /** What somebody has allowed, or was about to: patterns for good, and with their session (`onceFor`) for one call. */
  readonly allowed: ReadonlySet<string>
  /** What the configuration says. */
  readonly config: Lately<Said>
  readonly lodger: KnownLodger
  readonly tenants: readonly Tenant[]
  readonly guests: KnownGuests
  readonly far: KnownFar
  /** Sessions and folders that are nothing to it. */
  foreignTo(tenant: Tenant): readonly string[]
}

/** By its tool, session and name. */
export interface ExecutedCall {
  readonly tool: string
  readonly sessionId: string
  readonly id: string
}

export interface Execution extends ExecutedCall {
  /** Somebody, or a rule, allowed it. */
  readonly isAllowed: boolean
  /** An abort of its run had been acknowledged. */
  readonly isAborted: boolean
}

export interface Trace {
  add(what: unknown): void
  /** Hex. */
  digest(): string
}

/** What the acts of clients change. */
export interface Knowing extends Known {
  readonly sessions: string[]
  readonly prompts: Map<number, SentPrompt>
  readonly touched: Set<string>
  readonly nudged: Set<string>
  readonly begun: Map<string, number>
  readonly deleted: Set<string>
  readonly aborted: Aborted[]
  readonly requests: Request[]
  readonly met: Map<string, number>
  readonly executed: Execution[]
  readonly allowed: Set<string>
  readonly plays: Map<string, readonly Play[]>
  /** Of the plugin `test.moody`. */
  readonly mood: { is: Mood }
  readonly trace: Trace
  hear(event: SeenEvent): void
  /** I2 */
  forget(): void
}

/** `isSlow`: the disk is, or was just now: looks at packages take long. */
export function createKnowing(now: () => Moment, isSlow: () => boolean): Knowing {
  const trace = createTrace()
  const removed = new Set<string>()
  const requests: Request[] = []
  const answers = new Map<string, number>()
  const occurrences = new Map<string, Map<string, HeardRun>>()
  const claims = new Map<string, Claim>()
  const config = createLately<Said>([FIRST_CONFIG], now)
  const underWay = new Set<string>()

  function hearRun(run: WorkflowRun, sequence: number): void {
    const occurrence = `${run.activationId} ${run.scheduledAt}`
    const runs = occurrences.get(occurrence) ?? new Map<string, HeardRun>()
    occurrences.set(occurrence, runs)
    const first = runs.get(run.id)
    runs.set(run.id, { run, sequence: first?.sequence ?? sequence })
    const isNow = isUnderWay(run)
    if (isNow && !underWay.has(run.id) && sequence > (claims.get(run.id)?.sequence ?? 0)) {
      claims.delete(run.id)
      const files = workflows.find(({ id }) => id === run.workflowId)?.file.values() ?? []
      claims.set(run.id, { run, sequence, files })
    }
    if (isNow) underWay.add(run.id)
    else underWay.delete(run.id)
  }

  const workflows = [`${PLACES.cwd}/.svc`, `${PLACES.cwd}/.svc`, PLACES.config].map((place, at) => ({
    id: `w${at}`,
    path: `${place}/workflows/w${at}.md`,
    pausedAfter: undefined,
    changed: undefined,
    file: createLately<Written>([], now),
  }))

  const sessions: string[] = []
  const deleted = new Set<string>()
  const foreignTo = (tenant: Tenant) => [
    ...sessions,
    ...deleted,
    ...tenants.flatMap(({ directory, sessions: own, family }) => [directory, ...own, ...family]).filter((each) => !isOf(tenant, each)),
  ]
  const tenants = createTenants(foreignTo)

  return {
    sessions,
    tenants,
    foreignTo,
    prompts: new Map(),
    removed,
    touched: new Set(),
    nudged: new Set(),
    begun: new Map(),
    aborted: [],
    answers,
    requests,
    met: new Map(),
    executed: [],
    allowed: new Set(),
    plays: new Map(),
    mood: { is: 'well' },
    trace,
    occurrences,
    workflows,
    claims,
    config,
    lodger: createKnownLodger(() => ({ ...now(), isShaken: now().isShaken || isSlow() })),
    guests: createKnownGuests(),
    far: createKnownFar(),
    deleted,
    hear({ type, sequence, data }) {
      trace.add([sequence, type, data])
      if (type === 'message.removed') removed.add(data['messageID'])
      if (type === 'session.queue.updated' && ['pop', 'clear', 'clear-all'].includes(data['action'])) {
        for (const id of [data['messageID'], ...(data['messageIDs'] ?? [])]) removed.add(id)
      }
      if (type === 'workflow.run.updated') hearRun(data['run'], sequence)
      const request = data['requestID'] ?? data['id']
      if (type === 'permission.asked' || type === 'question.asked')
        requests.push({
          id: request,
          sessionId: data['sessionId'],
          isQuestion: type === 'question.asked',
          patterns: data['patterns'] ?? [],
        })
      if (['permission.replied', 'question.replied', 'question.rejected'].includes(type))
        answers.set(request, (answers.get(request) ?? 0) + 1)
    },
    forget() {
      answers.clear()
      underWay.clear()
      for (const [occurrence, runs] of occurrences) {
        for (const [id, { run }] of runs) if (typeof run.sessionId !== 'string') runs.delete(id)
        if (runs.size === 0) occurrences.delete(occurrence)
      }
    },
  }
}

function isOf({ directory, sessions, family }: Tenant, named: string): boolean {
  return named === directory || sessions.includes(named) || family.has(named)
}

function createTrace(): Trace {
  const hash = createHash('sha256')
  return {
    add: (what) => void hash.update(`${JSON.stringify(what)}\n`),
    digest: () => hash.copy().digest('hex'),
  }
}

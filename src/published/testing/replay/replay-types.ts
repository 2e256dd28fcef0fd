/** Traces of the inspector, as tests read and replay them. Part of the declarations of `svc/testing`: types only. */

/** A saved trace, as far as tests need it. */
export interface Trace {
  /** When it was saved, Unix ms. */
  readonly createdAt: number
  readonly serverVersion: string
  /** Records before the first one that were not kept. */
  readonly dropped: number
  /** Who lives after the last record. */
  readonly actors: readonly { readonly id: string; readonly machine?: string | undefined }[]
  readonly records: readonly TraceRecord[]
}

export interface TraceRecord {
  /** Grows by one from record to record. */
  readonly sequence: number
  readonly at: number
  readonly actorId: string
  readonly type: 'event' | 'transition' | 'start' | 'stop'
  /** Type of the event that arrived or caused it. */
  readonly event?: string | undefined
  /** JSON of the event, of a start its input; only in traces of `svc serve --inspect-payloads`. */
  readonly payload?: string | undefined
  /** Of a transition: the record of the event that caused it. */
  readonly cause?: number | undefined
  /** Paths of the innermost active states. */
  readonly before?: readonly string[] | undefined
  readonly after?: readonly string[] | undefined
  readonly actor?: { readonly machine?: string | undefined } | undefined
  readonly end?: 'done' | 'error' | 'stopped' | undefined
}

/** One life of one actor: from its start to its stop, or to the end of the trace. */
export interface RecordedActor {
  /** `session:ses_1/run`. */
  readonly actor: string
  /** Which of the lives under this id, from 1. */
  readonly life: number
  /** Id of its machine. */
  readonly machine: string
}

export interface ReplayedStep {
  /** The record of the event. */
  readonly sequence: number
  readonly event: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

interface Replay extends RecordedActor {
  /** State at its start. */
  readonly initial: readonly string[]
  /** One for each recorded event, in order; stepping back and forward is an index. */
  readonly steps: readonly ReplayedStep[]
  /** State after the last event. */
  readonly state: readonly string[]
  /** It reached a final state. */
  readonly done: boolean
  /** What it answered in the final state. */
  readonly output: unknown
}

/** A recorded state that the chart of today does not lead to. */
interface TraceFinding {
  readonly sequence: number
  readonly actor: string
  readonly message: string
}

/** Reads the text of a saved trace; throws an `Error` with a sentence when it is none. */
export type ReadTrace = (text: string) => Trace

/** Actors with states whose start is in the trace, in the order they began; only these can be replayed. */
export type RecordedActors = (trace: Trace) => RecordedActor[]

/**
 * Sends a recorded actor its recorded events again, with the machine of today and without any effect, and answers every step.
 * Throws an `Error` that says what was recorded and what the machine does now at the first difference, and one that says what is
 * missing when the trace does not hold the start of the actor, or no payloads.
 */
export type ReplayActor = (trace: Trace, which: { readonly actor: string; readonly life?: number }) => Replay

/**
 * Checks every start and every transition of the trace against the charts of today; empty when nothing is wrong. It needs no
 * payloads. Guards are left out: what is found cannot happen any more, what is not may still depend on a guard; `replay` tells that.
 */
export type CheckTrace = (trace: Trace) => TraceFinding[]

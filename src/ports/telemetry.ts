/** Traces: what somebody who works hands on to whom he asks, and what callers have handed to us (W3C Trace Context). */
import type { TraceContext } from '../protocol/trace-context.js'

export interface Traces {
  /** What belongs to a call of a tool, or else to the step or the run of the session; undefined where nobody traces. */
  of(sessionId: string, callId?: string): TraceContext | undefined
  /** A prompt comes from a trace of its caller; without an id it is the next one of the session. */
  arrived(sessionId: string, messageId: string | undefined, from: TraceContext): void
}

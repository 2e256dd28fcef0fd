/**
 * The end of one prompt, wherever it is: in the queue, in a run, nowhere.
 *
 * I1 No other run is aborted: until it is known which one has the prompt, it is looked for again.
 */
import { findStanding } from './catch-up.js'
import type { PromptOptions } from './client-types.js'
import type { Operations } from './operation-types.js'
import { type Platform, pause } from './platform.js'
import type { Transcript } from './transcript.js'

/** What was admitted and has not begun is neither in the queue nor stored for some moments. */
const BEGINS_MS = 25
const MOST_TRIES = 40

interface Ending extends Pick<PromptOptions, 'abortQueue'> {
  readonly sessionId: string
  readonly messageId: string
  readonly transcript: Transcript
  /** By the call that follows it; false: by an earlier one, if at all. */
  readonly isSent: () => boolean
  readonly signal: AbortSignal
}

/** Answers whether the prompt was taken back; false: its run ends. Rejects once the signal is aborted. */
export async function endOwn(
  { sessions }: Pick<Operations, 'sessions'>,
  platform: Pick<Platform, 'after'>,
  { sessionId, messageId, transcript, abortQueue, isSent, signal }: Ending,
): Promise<boolean> {
  const place = { sessionId, messageId, signal }
  for (let tries = 1; ; tries++) {
    if (!transcript.started && (await sessions.queue.pop(place)).removed > 0) return true
    const { runId: seen } = transcript
    const standing = seen === undefined ? await findStanding({ sessions }, place) : { is: 'running' as const, runId: seen }
    if (standing.is === 'running') {
      const body = { runId: standing.runId, ...(abortQueue !== undefined && { queue: abortQueue }) }
      await sessions.abort({ sessionId, signal, body })
    }
    if (standing.is === 'running' || standing.is === 'over') return false
    // What was sent before, if at all, and is nowhere has never come.
    if (standing.is === 'absent' && !isSent() && (standing.isIdle || tries >= MOST_TRIES)) return true
    await pause(platform, BEGINS_MS, signal)
    signal.throwIfAborted()
  }
}

/** What is left of a part whose run is over (sessions-events §4.10). */
import type { Part } from '../../../protocol/message/message.js'

export const ABORTED_CALL = 'The tool call was aborted.'

/** The part as it ended at `now`; the very same when it had ended before. Texts that never began a time have none to end. */
export function interruptedPart(part: Part, now: number): Part {
  if (part.type === 'text' && part.time !== undefined && part.time.end === undefined)
    return { ...part, time: { ...part.time, end: Math.max(now, part.time.start) } }
  if (part.type === 'reasoning' && part.time.end === undefined)
    return { ...part, time: { ...part.time, end: Math.max(now, part.time.start) } }
  if (part.type !== 'tool' || (part.state.status !== 'pending' && part.state.status !== 'running')) return part
  const start = part.state.status === 'running' ? part.state.time.start : now
  const metadata = { ...(typeof part.metadata === 'object' ? part.metadata : {}), interrupted: true }
  return {
    ...part,
    metadata,
    state: { status: 'error', input: part.state.input, error: ABORTED_CALL, time: { start, end: Math.max(now, start) } },
  }
}

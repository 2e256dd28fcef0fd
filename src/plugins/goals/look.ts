/** What came of the runs of a session since its goal was last looked at. */
import type { NativeHost } from '../../ports/plugin.js'
import type { EndedRun } from '../../machines/goals/goal-course.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Message } from '../../protocol/message/message.js'
import type { Pursuit } from './pursuits.js'

const LOOKED_AT = 200
const FINGERPRINT = 16
/** Of the tool that ends a goal: calling it is no progress. */
export const COMPLETE = 'complete_goal'

export interface Looked {
  readonly run: EndedRun
  /** The last answer. */
  readonly seen: string | undefined
  /** Calls that are known from now on. */
  readonly known: readonly string[]
  readonly unattended: boolean
}

/** Undefined when no run has ended since. */
export function lookAt({ sessions, effects }: Pick<NativeHost, 'sessions' | 'effects'>, pursuit: Pursuit): Looked | undefined {
  const { sessionId, seen, since, ended, isTold, isParked } = pursuit
  const answers = sessions.answers(sessionId, { after: seen, most: LOOKED_AT }).filter((answer) => completedAt(answer) >= since)
  const last = sessions.lastEnd(sessionId)
  if (last === undefined) return undefined
  const end = last.end === 'aborted' && isParked ? 'stopped' : last.end
  // A server that is killed, and an abort, take a run with them of which nothing was said yet.
  const isTaken = last.isUnanswered && (end === 'stopped' || end === 'aborted') && last.runId !== ended
  if (answers.length === 0 && !isTold && !isTaken) return undefined
  const calls = answers.flatMap(({ parts }) => parts.flatMap((part) => fingerprint(part, effects.sha256)))
  const before = new Set(pursuit.known)
  const { error, unattended } = last
  return {
    run: {
      end,
      newCalls: calls.filter((call) => !before.has(call)).length,
      isAnswered: answers.length > 0,
      ...(error !== undefined && { error }),
    },
    seen: answers.at(-1)?.info.id ?? seen,
    known: [...new Set([...pursuit.known, ...calls])].slice(-LIMITS.goals.knownCalls),
    unattended,
  }
}

function completedAt({ info }: Message): number {
  return info.role === 'assistant' ? (info.time.completed ?? 0) : 0
}

/** The same call with the same outcome has the same one. */
function fingerprint(part: Message['parts'][number], sha256: (text: string) => string): readonly string[] {
  if (part.type !== 'tool' || part.tool === COMPLETE || part.state.status !== 'completed') return []
  const { input, output } = part.state
  return [sha256(JSON.stringify([part.tool, input, output])).slice(0, FINGERPRINT)]
}

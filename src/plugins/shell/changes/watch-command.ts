/** Compares what a command may have changed, in bounded time; a command that is known only to read costs nothing. */
import { LIMITS } from '../../../protocol/limits.js'
import { timeLimit } from '../../../kernel/patience.js'
import type { ChangeNotes } from '../../../protocol/session/snapshot.js'
import type { ShellScan } from '../judge/scan.js'
import { type ChangeHost, watchChanges } from './watch-changes.js'

/** They write nothing, whatever their arguments, unless their output is redirected. */
const READERS = new Set(['cat', 'head', 'tail', 'wc', 'ls', 'pwd', 'echo', 'printf', 'true', 'false', 'grep', 'stat', 'sleep', 'test', '['])

interface Command {
  readonly sessionId: string
  readonly directory: string
  readonly scan: ShellScan
}

/** Answers what tells the changes once the command has ended. */
export async function watchCommand(
  host: ChangeHost,
  { sessionId, directory, scan }: Command,
  signal: AbortSignal,
): Promise<(wasAborted: boolean) => Promise<ChangeNotes>> {
  if (onlyReads(scan)) return async () => ({})
  const { clock } = host.effects
  const watch = await watchChanges(host, { sessionId, directory, writes: scan.writes }, signal)
  return async (wasAborted) => {
    const late = timeLimit(clock, wasAborted ? LIMITS.undo.lateCompare : LIMITS.undo.compare, 'the comparison took too long')
    try {
      return await watch.end(late.signal)
    } finally {
      late.clear()
    }
  }
}

function onlyReads({ segments, writes, reasons }: ShellScan): boolean {
  return writes.length === 0 && reasons.length === 0 && segments.every(({ program }) => READERS.has(program))
}

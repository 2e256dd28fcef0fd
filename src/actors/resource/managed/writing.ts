/**
 * The one lane in which managed files are written.
 *
 * I1 Writes happen one after the other, and a revision is compared in the same turn as the file is written: of many writers
 *    who expect one revision exactly one succeeds.
 * I2 At most `LIMITS.management.waiting` wait for their turn.
 */
import { createLane } from '../../../kernel/lane.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'

export interface WritingLane {
  /** Runs `work` when all before it have ended. What storage throws becomes `management.storage_error`. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

export function createWritingLane(): WritingLane {
  const lane = createLane({
    most: LIMITS.management.waiting, // I2
    full: () => new SvcError('quota.exceeded', 'Too many writes wait for their turn.'),
  })
  return {
    inTurn: (work) =>
      lane.run(async () => {
        try {
          return await work()
        } catch (error) {
          throw worded(error)
        }
      }),
  }
}

function worded(error: unknown): unknown {
  if (error instanceof SvcError || !(error instanceof Error) || !('code' in error)) return error
  const code = String(error.code)
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    return new SvcError('management.read_only', `The file system does not let this server write there (${code}).`, {}, { cause: error })
  }
  return new SvcError('management.storage_error', `The file could not be written (${code}).`, {}, { cause: error })
}

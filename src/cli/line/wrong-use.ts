/** A command line that cannot mean anything here, although its words are understood. */
import { SvcError } from '../../protocol/errors.js'

const EXIT_CODE = 2

/** The program ends with 2. */
export function wrongUse(message: string): SvcError {
  return new SvcError('request.invalid', message, { exitCode: EXIT_CODE })
}

/** What the program ends with after this error. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof Error) || !('details' in error)) return 1
  const { details } = error
  return typeof details === 'object' && details !== null && 'exitCode' in details && details.exitCode === EXIT_CODE ? EXIT_CODE : 1
}

/** What an operation on a file that fails says of the file. */

/** Of the system as a whole: it says nothing of a file, and the same may succeed a moment later. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EAGAIN', 'EBUSY', 'EINTR', 'ETIMEDOUT'])

export function isPassing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && PASSING.has(error.code)
}

/** For `catch` where a look fails: what is not there, or not for us, is nothing; where that cannot be told at the moment it throws. */
export function absentUnlessPassing(error: unknown): undefined {
  if (isPassing(error)) throw error
  return undefined
}

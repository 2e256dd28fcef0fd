/** What a person is told when a command fails. */

/**
 * One paragraph for the terminal: the message of an expected failure (`SvcError`, told by its name so that nothing
 * is loaded for it), the stack of an unexpected one.
 */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.name === 'SvcError' ? error.message : (error.stack ?? error.message)
}

/** What a person is told when a command fails. */

/** Errors whose message is meant for a person, told by their names so that nothing is loaded for them. */
const EXPECTED: ReadonlySet<string> = new Set(['SvcError', 'SvcClientError'])

const HINTS: Readonly<Record<string, string>> = {
  'client.unreachable': 'Start one with "svc serve", or name another with --server.',
  'auth.invalid_token': 'Set SVC_AGENT_TOKEN to the token of the server.',
  'management.authentication_required': 'Start the server with SVC_AGENT_TOKEN, and set it to the same token here.',
}

/** One paragraph for the terminal: the message of an expected failure and what to do about it, the stack of an unexpected one. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!EXPECTED.has(error.name)) return error.stack ?? error.message
  const hint = error.name === 'SvcClientError' && 'code' in error ? HINTS[String(error.code)] : undefined
  return hint === undefined ? error.message : `${error.message} ${hint}`
}

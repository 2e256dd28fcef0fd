/** One line of JSON a fact, on standard error; never a credential. */
export type Log = (message: string, error?: unknown) => void

export function createLog(who: string): Log {
  return (message, error) => {
    const cause = error === undefined ? {} : { error: error instanceof Error ? error.message : JSON.stringify(error) }
    process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), who, message, ...cause })}\n`)
  }
}

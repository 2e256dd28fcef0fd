/** Sessions that stand above a session: what is contributed for one of them is there for it too. */

/** The session itself, the one above it, and so on. */
export type Line = (sessionId: string) => readonly string[]

const DEEPEST = 16

export function lineFrom(parentOf: (sessionId: string) => string | null | undefined): Line {
  return (sessionId) => {
    const line = [sessionId]
    for (let above = parentOf(sessionId); above !== undefined && above !== null && line.length < DEEPEST; above = parentOf(above))
      line.push(above)
    return line
  }
}

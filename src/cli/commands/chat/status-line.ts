/** One line of status for several turns: that of the turn that began first, until it ends. */

export interface StatusLine<Line> {
  /** A turn begins; what it draws is shown once those before it have ended. */
  begin(): { draw(line: Line | undefined): void; end(): void }
}

export function shareStatusLine<Line>(show: (line: Line | undefined) => void): StatusLine<Line> {
  const turns = new Map<symbol, Line | undefined>()
  return {
    begin() {
      const turn = Symbol('turn')
      turns.set(turn, undefined)
      const isFirst = () => turns.keys().next().value === turn
      return {
        draw(line) {
          if (!turns.has(turn)) return
          turns.set(turn, line)
          if (isFirst()) show(line)
        },
        end() {
          const wasFirst = isFirst()
          turns.delete(turn)
          if (wasFirst) show(turns.values().next().value)
        },
      }
    },
  }
}

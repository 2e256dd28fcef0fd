/** How long is waited for what should come or end, ms: only what hangs is ended by it, however busy the machine is. */
export const PATIENCE = 60_000

/** Counts down patience from look to look: a machine that stands still for a minute has used up little of it. */
export function patience(ms: number): { readonly isOver: () => boolean } {
  let left = ms
  let before = performance.now()
  return {
    isOver() {
      const now = performance.now()
      left -= Math.min(now - before, 1000)
      before = now
      return left < 0
    },
  }
}

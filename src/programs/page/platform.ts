/** The outside world of the page: its clock and its timers. */

/** Unix ms. */
export function now(): number {
  return Date.now()
}

export function after(ms: number, run: () => void): void {
  setTimeout(run, ms)
}

export function every(ms: number, run: () => void): void {
  setInterval(run, ms)
}

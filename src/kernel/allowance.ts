export interface Allowance {
  (): boolean
  /** How many there were in the window that runs. */
  used(): number
}

/** Answers whether there may be one more in a window of time, which begins with the first that comes after the last has ended. */
export function createAllowance({ most, window }: { readonly most: number; readonly window: number }, monotonic: () => number): Allowance {
  let since = monotonic()
  let count = 0
  const isAllowed = (): boolean => {
    const now = monotonic()
    if (now - since > window) [since, count] = [now, 0]
    return ++count <= most
  }
  return Object.assign(isAllowed, { used: () => (monotonic() - since > window ? 0 : Math.min(count, most)) })
}

/** Answers whether there may be one more in a window of time, which begins with the first that comes after the last has ended. */
export function createAllowance(
  { most, window }: { readonly most: number; readonly window: number },
  monotonic: () => number,
): () => boolean {
  let since = monotonic()
  let count = 0
  return () => {
    const now = monotonic()
    if (now - since > window) [since, count] = [now, 0]
    return ++count <= most
  }
}

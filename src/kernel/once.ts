/** Does its work the first time it is called, and nothing after that. */
export function once(work: () => void): () => void {
  let left: (() => void) | undefined = work
  return () => {
    const first = left
    left = undefined
    first?.()
  }
}

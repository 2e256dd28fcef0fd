/** How fast this machine is just now: the same work takes several times as long an hour later, or beside others. */
import { createHash } from 'node:crypto'

/** What the work takes beside attacks on the machine for which bounds in milliseconds are written, ms. */
const USUAL = 50
const EVERY = 500
const WORK = JSON.stringify(Array.from({ length: 200 }, (_, at) => ({ id: `x${at}`, text: 'abc '.repeat(20), at })))

function workOnce(): number {
  const begun = performance.now()
  for (let round = 0; round < 200; round++)
    createHash('sha256')
      .update(JSON.stringify(JSON.parse(WORK)))
      .digest()
  return performance.now() - begun
}

/** Looks every now and then, until it is stopped; answers how many times slower than usual the machine was, at least 1. */
export function watchPace(): { stop(): number } {
  const took: number[] = []
  const looking = setInterval(() => took.push(workOnce()), EVERY)
  return {
    stop() {
      clearInterval(looking)
      const sorted = took.toSorted((one, other) => one - other)
      return Math.max(1, (sorted[Math.floor(sorted.length / 2)] ?? USUAL) / USUAL)
    },
  }
}

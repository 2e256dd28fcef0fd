/**
 * Short numbers of requests, in a file of the state directory that only this user can read.
 *
 * I1 A number means the request it was last shown for, also when that is answered meanwhile: an answer never reaches another one.
 * I2 Numbers go round, so that one is given anew as late as can be.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { nodePaths } from '../../../platform/node/paths.js'
import { makeDirectoriesSync } from '../../../store/disk/make-directories.js'

const MOST = 99

const file = () => join(nodePaths(process.env).state, 'request-numbers.json')

/** Ids, the one that was numbered last at the end. */
interface Given {
  readonly next: number
  readonly ids: ReadonlyMap<number, string>
}

/** The number of each id, in their order; new ones are kept. */
export function numbersOf(ids: readonly string[]): readonly number[] {
  const given = read()
  const known = new Map([...given.ids].map(([number, id]) => [id, number]))
  const all = new Map(given.ids)
  let { next } = given
  const free = (number: number) => !ids.includes(all.get(number) ?? '')
  for (const id of ids) {
    if (known.has(id) || known.size >= MOST * 2) continue
    for (let tries = 0; tries < MOST && !free(next); tries++) next = after(next)
    all.set(next, id)
    known.set(id, next)
    next = after(next)
  }
  if (next !== given.next) keep({ next, ids: all })
  return ids.map((id) => known.get(id) ?? 0)
}

/** The id that was shown with a number. */
export function idOf(number: number): string | undefined {
  return read().ids.get(number)
}

function after(number: number): number {
  return number >= MOST ? 1 : number + 1
}

function read(): Given {
  try {
    const stored = JSON.parse(readFileSync(file(), 'utf8')) as { next?: unknown; ids?: unknown }
    const ids = Object.entries(stored.ids ?? {}).flatMap(([number, id]) => (typeof id === 'string' ? [[Number(number), id] as const] : []))
    const next = typeof stored.next === 'number' && stored.next >= 1 && stored.next <= MOST ? stored.next : 1
    return { next, ids: new Map(ids) }
  } catch {
    return { next: 1, ids: new Map() }
  }
}

/** Numbers that cannot be kept are no reason to stop: ids do as well. */
function keep({ next, ids }: Given): void {
  try {
    makeDirectoriesSync(dirname(file()), 0o700)
    writeFileSync(file(), JSON.stringify({ next, ids: Object.fromEntries(ids) }), { mode: 0o600 })
  } catch {
    // As above.
  }
}

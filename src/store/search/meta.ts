/** What the file of the index notes of itself, in numbers. Nobody but its writer sets them, so each is read once. */
import type { Database as Handle } from 'better-sqlite3'

/** Whoever rolls a change back calls `forget`. */
export function createMeta(handle: Handle) {
  const read = handle.prepare<[string], { value: number }>('select value from meta where name = ?')
  const write = handle.prepare<[string, number]>('insert or replace into meta (name, value) values (?, ?)')
  const known = new Map<string, number | undefined>()
  return {
    get(name: string): number | undefined {
      if (!known.has(name)) known.set(name, read.get(name)?.value)
      return known.get(name)
    },
    set(name: string, value: number): void {
      if (known.get(name) === value) return
      write.run(name, value)
      known.set(name, value)
    },
    forget: () => known.clear(),
  }
}

export type Meta = ReturnType<typeof createMeta>

/** The bytes of all texts, and the time of the newest that had to go because of them: nothing as old is taken in again. */
export function createAmounts(meta: Meta) {
  const value = (name: 'bytes' | 'floor') => meta.get(name) ?? 0
  return {
    bytes: () => value('bytes'),
    floor: () => value('floor'),
    add: (text: string) => meta.set('bytes', value('bytes') + Buffer.byteLength(text)),
    subtract: (text: string) => meta.set('bytes', value('bytes') - Buffer.byteLength(text)),
    raise: (created: number) => meta.set('floor', Math.max(created, value('floor'))),
  }
}

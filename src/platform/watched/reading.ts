/**
 * Reading what a value is made of, when it has to be.
 *
 * I1 What is not told is looked at: paths that cannot be watched every `LIMITS.config.look`, all of them every `LIMITS.config.relook`, because
 *    a system may lose what it has to tell.
 * I2 A value that says the same as the one before is the one before.
 */
import { LIMITS } from '../../protocol/limits.js'
import type { Effects } from '../../ports/effects.js'
import type { Watching } from '../../ports/watched.js'
import type { Dependency } from './dependency.js'
import type { FileMemory } from './file-memory.js'
import { areUnchanged, createFileProbe } from './file-probe.js'

export interface Entry<Input, Value> {
  readonly input: Input
  readonly value: Value
  readonly dependencies: readonly Dependency[]
  /** Those of which no change is told. */
  readonly unheard: readonly Dependency[]
  /** Something unheard was so new that a change right after the read might not show. */
  readonly isFresh: boolean
  /** When what is unheard was looked at, and when everything was, by the monotonic clock. */
  readonly lookedAt: number
  readonly sweptAt: number
}

/** What a look is for. */
export interface Asked<Input> {
  readonly input: Input
  readonly fresh: boolean
}

/** What is known of a place. */
export interface Ground<Input, Value> {
  readonly memory: FileMemory
  entry: Entry<Input, Value> | undefined
  /** Something was told since the last reading began. */
  isDirty: boolean
}

export interface Reading<Input, Value> {
  /** Whether the entry has to be looked at before it is used. */
  isDue(ground: Ground<Input, Value>, entry: Entry<Input, Value>, input: Input, fresh: boolean): boolean
  refresh(place: string, ground: Ground<Input, Value>, asked: Asked<Input>): Promise<Entry<Input, Value>>
}

export function createReading<Input, Value>(
  effects: Pick<Effects, 'files' | 'clock'>,
  { read, isSame, isSameInput = (input, before) => input === before }: Omit<Watching<Input, Value>, 'onChanged'>,
): Reading<Input, Value> {
  const { files, clock } = effects

  function isDue({ isDirty }: Ground<Input, Value>, entry: Entry<Input, Value>, input: Input, fresh: boolean): boolean {
    const now = clock.monotonic()
    if (isDirty || !isSameInput(input, entry.input) || (fresh && !files.tellsAtOnce)) return true
    if (now - entry.sweptAt > LIMITS.config.relook) return true
    return entry.unheard.length > 0 && (fresh || now - entry.lookedAt > LIMITS.config.look) // I1
  }

  async function refresh(directory: string, held: Ground<Input, Value>, { input, fresh }: Asked<Input>): Promise<Entry<Input, Value>> {
    const { entry: known, memory } = held
    const now = clock.monotonic()
    let sweptAt = now
    if (known !== undefined) {
      if (!isDue(held, known, input, fresh)) return known
      const isSweep = now - known.sweptAt > LIMITS.config.relook || (fresh && !files.tellsAtOnce)
      if (!isSweep) ({ sweptAt } = known)
      const suspects = isSweep ? known.dependencies : known.unheard
      const isAsItWas = !known.isFresh && (await areUnchanged(files, suspects))
      if (isAsItWas && !held.isDirty && isSameInput(input, known.input) && !(isSweep && memory.isDeaf))
        return { ...known, lookedAt: now, sweptAt }
      if (!isAsItWas || isSweep) memory.forgetAll()
    }
    held.isDirty = false
    const probe = createFileProbe(effects, memory)
    const found = await read(probe, directory, { input, before: known?.value })
    const dependencies = probe.dependencies()
    const unheard = dependencies.filter(({ path }) => !memory.isHeard(path))
    const value = known !== undefined && isSame(found, known.value) ? known.value : found // I2
    return { input, value, dependencies, unheard, isFresh: unheard.length > 0 && probe.isFresh(), lookedAt: now, sweptAt }
  }

  return { isDue, refresh }
}

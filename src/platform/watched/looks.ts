/**
 * What the files say of a directory, kept until one of them changes.
 *
 * I1 A value serves only while nothing was told of any path that it depends on. What is not told is looked at: paths that cannot be
 *    watched every `LIMITS.config.look`, all of them every `LIMITS.config.relook`, because a system may lose what it has to tell.
 * I2 `fresh` means everything that happened before it was asked for, and so does every call soon after svc itself has written.
 * I3 A directory is looked at once at a time; a caller that wants a fresh look never gets one that began before it asked.
 * I4 A value that says the same as the one before is the one before. Another one is told, and so is what svc has written, once.
 */
import { nextTurn } from '../../kernel/pause.js'
import { type Alarm, createAlarm } from '../../kernel/alarm.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import type { Effects } from '../../ports/effects.js'
import { createFileMemory, type FileMemory } from './file-memory.js'
import type { Dependency } from './file-answers.js'
import { areUnchanged, createFileProbe, type FileProbe } from './file-probe.js'
import type { FolderWatches } from './folder-watches.js'

export interface Looks<Input, Value> {
  /** `input` is what it depends on besides files. */
  get(directory: string, input: Input, options?: { readonly fresh?: boolean }): Promise<Value>
  /** What `get` would answer to the input of the last look; undefined = it would have to look first. Cheap. */
  latest(directory: string): Value | undefined
  /** svc has written something of the directory; the next look tells so. */
  noteWrite(directory: string): void
  /** Whether changes are looked for because they are not told. */
  isDeaf(directory: string): boolean
  /** Nobody uses the directory any more. */
  forget(directory: string): void
}

export interface LooksDeps<Input, Value> {
  readonly effects: Pick<Effects, 'files' | 'clock'>
  readonly watches: FolderWatches
  read(probe: FileProbe, directory: string, at: { readonly input: Input; readonly before: Value | undefined }): Promise<Value>
  isSame(value: Value, before: Value): boolean
  /** Without it, the same object is the same input. */
  readonly isSameInput?: (input: Input, before: Input) => boolean
  /** With it, what changes is looked at soon, also when nobody asks. */
  readonly onChanged?: ((directory: string) => void) | undefined
}

interface Entry<Input, Value> {
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

interface Look<Input, Value> {
  readonly result: Promise<Entry<Input, Value>>
  hasBegun: boolean
  next: Look<Input, Value> | undefined
}

interface Held<Input, Value> {
  readonly memory: FileMemory
  /** Rings when changes are to be looked at. */
  readonly settled: Alarm
  entry: Entry<Input, Value> | undefined
  look: Look<Input, Value> | undefined
  /** Something was told since the last look began. */
  isDirty: boolean
  /** svc wrote something that was not told yet. */
  isOwed: boolean
}

export function createLooks<Input, Value>({
  effects,
  watches,
  read,
  isSame,
  isSameInput = (input, before) => input === before,
  onChanged,
}: LooksDeps<Input, Value>): Looks<Input, Value> {
  type Here = Held<Input, Value>
  const { files, clock } = effects
  const directories = new Map<string, Here>()
  const recent = createLru<string, string>(LIMITS.config.directories, forget)
  let writtenAt = Number.NEGATIVE_INFINITY

  function forget(directory: string): void {
    const held = directories.get(directory)
    directories.delete(directory)
    held?.settled.end()
    held?.memory.end()
  }

  function hold(directory: string): Here {
    const known = directories.get(directory)
    recent.set(directory, directory)
    if (known !== undefined) return known
    const memory = createFileMemory({
      files,
      watches,
      onChanged() {
        held.isDirty = true
        if (onChanged !== undefined && !held.settled.isSet) held.settled.set(LIMITS.config.settle)
      },
    })
    const settled = createAlarm(clock, () => {
      if (held.isDirty && held.entry !== undefined) void get(directory, held.entry.input, false).catch(() => undefined)
    })
    const held: Here = { memory, settled, entry: undefined, look: undefined, isDirty: false, isOwed: false }
    directories.set(directory, held)
    return held
  }

  function isWrittenLately(): boolean {
    return clock.monotonic() - writtenAt <= LIMITS.config.look
  }

  /** Whether the entry has to be looked at before it is used. */
  function isDue({ isDirty }: Here, entry: Entry<Input, Value>, input: Input, fresh: boolean): boolean {
    const now = clock.monotonic()
    if (isDirty || !isSameInput(input, entry.input) || (fresh && !files.tellsAtOnce)) return true
    if (now - entry.sweptAt > LIMITS.config.relook) return true
    return entry.unheard.length > 0 && (fresh || now - entry.lookedAt > LIMITS.config.look) // I1
  }

  async function get(directory: string, input: Input, wantsFresh: boolean): Promise<Entry<Input, Value>> {
    const fresh = wantsFresh || isWrittenLately()
    if (fresh && files.tellsAtOnce && directories.has(directory)) for (let turn = 0; turn < 2; turn++) await nextTurn() // I2
    const held = hold(directory)
    const { entry, look } = held
    if (look === undefined) {
      if (entry !== undefined && !isDue(held, entry, input, fresh)) return entry
      held.look = begin(directory, held, { input, fresh }, Promise.resolve())
      return held.look.result
    }
    if (!fresh || !look.hasBegun) return look.result
    look.next ??= begin(directory, held, { input, fresh }, look.result.then(noop, noop))
    return look.next.result // I3
  }

  function begin(directory: string, held: Here, asked: { readonly input: Input; readonly fresh: boolean }, turn: Promise<void>) {
    const work = async () => {
      await turn
      held.look = look
      look.hasBegun = true
      try {
        const before = held.entry
        const entry = await refresh(directory, held, asked)
        held.entry = entry
        if (before !== undefined && before.value !== entry.value) tell(directory, held)
        return entry
      } catch (error) {
        held.isDirty = true
        throw error
      } finally {
        if (look.next === undefined) held.look = undefined
      }
    }
    const look: Look<Input, Value> = { hasBegun: false, next: undefined, result: Promise.resolve().then(work) }
    return look
  }

  function tell(directory: string, held: Here): void {
    held.isOwed = false
    onChanged?.(directory)
  }

  async function refresh(directory: string, held: Here, { input, fresh }: { readonly input: Input; readonly fresh: boolean }) {
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
    const value = known !== undefined && isSame(found, known.value) ? known.value : found // I4
    return { input, value, dependencies, unheard, isFresh: unheard.length > 0 && probe.isFresh(), lookedAt: now, sweptAt }
  }

  return {
    latest(directory) {
      const held = directories.get(directory)
      if (held?.entry === undefined || held.look !== undefined || held.isOwed || isWrittenLately()) return undefined
      return isDue(held, held.entry, held.entry.input, false) ? undefined : held.entry.value
    },
    async get(directory, input, options) {
      const { value } = await get(directory, input, options?.fresh === true)
      const held = directories.get(directory)
      if (held?.isOwed === true) tell(directory, held)
      return value
    },
    noteWrite(directory) {
      writtenAt = clock.monotonic()
      hold(directory).isOwed = true
    },
    isDeaf: (directory) => directories.get(directory)?.memory.isDeaf === true,
    forget(directory) {
      recent.delete(directory)
      forget(directory)
    },
  }
}

function noop(): void {}

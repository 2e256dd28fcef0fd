/**
 * What the files say of a directory, kept until one of them changes.
 *
 * I1 A value serves only while nothing was told of any path that it depends on, and as long as `reading.ts` believes what is not told.
 * I2 `fresh` means everything that happened before it was asked for, and so does every call soon after svc itself has written.
 * I3 A directory is looked at once at a time; a caller that wants a fresh look never gets one that began before it asked.
 * I4 A value that is another one is told, and so is what svc has written, once: what could not be told, as the disk fails, is told later. Who has
 *    asked has the value.
 * I5 What cannot be read at the moment is as it was read last, and is looked at again when somebody asks.
 */
import { laidOut } from '../../kernel/machine/laid-out.js'
import { chartOf } from '../../kernel/machine/chart.js'
import { type Actor, createActor, fromPromise } from 'xstate'
import { type LookInput, lookMachine } from '../../machines/look/look.machine.js'
import { ask, leave } from '../../kernel/looked.js'
import { nextTurn } from '../../kernel/pause.js'
import { reached } from '../../kernel/reached.js'
import { type Alarm, createAlarm } from '../../kernel/alarm.js'
import { SvcError } from '../../protocol/errors.js'
import { messageOf } from '../../protocol/message-of.js'
import { isPassing } from '../../protocol/text/file-faults.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import type { Effects } from '../../ports/effects.js'
import type { Watched, Watcher, Watching } from '../../ports/watched.js'
import { createFileMemory } from './file-memory.js'
import { createFolderWatches, type FolderWatches } from './folder-watches.js'
import { type Asked, createReading, type Entry, type Ground } from './reading.js'

interface LooksDeps<Input, Value> extends Watching<Input, Value> {
  readonly effects: Pick<Effects, 'files' | 'clock'>
  readonly watches: FolderWatches
}

interface Held<Input, Value> extends Ground<Input, Value> {
  /** Rings when changes are to be looked at. */
  readonly settled: Alarm
  readonly looks: Actor<typeof lookMachine>
  /** By whom the next look was asked for first. */
  asked: Asked<Input> | undefined
  /** What the look that began last comes to. */
  result: Promise<Entry<Input, Value>> | undefined
  /** svc wrote something that was not told yet. */
  isOwed: boolean
}

export function createWatcher(effects: Pick<Effects, 'files' | 'clock'>): Watcher {
  const watches = createFolderWatches(effects.files)
  return (how) => createLooks({ ...how, effects, watches })
}

function createLooks<Input, Value>({ effects, watches, onChanged, ...how }: LooksDeps<Input, Value>): Watched<Input, Value> {
  type Here = Held<Input, Value>
  const { files, clock } = effects
  const { isDue, refresh } = createReading(effects, how)
  const directories = new Map<string, Here>()
  const recent = createLru<string, string>(LIMITS.config.directories, forget)
  let writtenAt = Number.NEGATIVE_INFINITY

  const logic = laidOut(chartOf(lookMachine).provide({ actors: { look: fromPromise<void, LookInput>(({ input }) => begin(input.what)) } }))

  function forget(directory: string): void {
    const held = directories.get(directory)
    directories.delete(directory)
    if (held === undefined) return
    held.settled.end()
    held.memory.end()
    leave(held.looks)
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
      if ((held.isDirty || held.isOwed) && held.entry !== undefined) void found(directory, held.entry.input, false).catch(() => undefined)
    })
    const looks = createActor(logic, { id: `look:${directory}`, input: { what: directory }, clock }).start()
    const held: Here = { memory, settled, looks, entry: undefined, asked: undefined, result: undefined, isDirty: false, isOwed: false }
    directories.set(directory, held)
    return held
  }

  function isWrittenLately(): boolean {
    return clock.monotonic() - writtenAt <= LIMITS.config.look
  }

  async function get(directory: string, input: Input, wantsFresh: boolean): Promise<Entry<Input, Value>> {
    const fresh = wantsFresh || isWrittenLately()
    if (fresh && files.tellsAtOnce && directories.has(directory)) for (let turn = 0; turn < 2; turn++) await nextTurn() // I2
    const held = hold(directory)
    const { entry, looks } = held
    if (isLooking(held)) {
      if (!fresh) return outcome(held)
      held.asked ??= { input, fresh }
      const { begun } = looks.getSnapshot().context
      ask(looks)
      await reached(looks, ({ context }) => context.begun > begun) // I3
      if (looks.getSnapshot().context.begun === begun) return get(directory, input, true)
    } else {
      if (entry !== undefined && !isDue(held, entry, input, fresh)) return entry
      held.asked = { input, fresh }
      ask(looks)
    }
    return outcome(held)
  }

  function isLooking({ looks }: Here): boolean {
    return looks.getSnapshot().hasTag('looking')
  }

  /** Of the look that is under way. */
  async function outcome({ looks, result }: Here): Promise<Entry<Input, Value>> {
    const { begun } = looks.getSnapshot().context
    await reached(looks, ({ context }) => context.ended >= begun)
    if (result === undefined) throw new Error('nothing was looked at')
    return result
  }

  async function begin(directory: string): Promise<void> {
    const held = directories.get(directory)
    const asked = held?.asked
    if (held === undefined || asked === undefined) return
    held.asked = undefined
    held.result = look(directory, held, asked)
    await held.result
  }

  async function look(directory: string, held: Here, asked: Asked<Input>): Promise<Entry<Input, Value>> {
    try {
      const before = held.entry
      const entry = await refresh(directory, held, asked)
      held.entry = entry
      if (before !== undefined && before.value !== entry.value) tell(directory, held)
      return entry
    } catch (error) {
      held.isDirty = true
      if (!isPassing(error)) throw error
      if (held.entry === undefined) throw unreadable(directory, error)
      return held.entry // I5
    }
  }

  function tell(directory: string, held: Here): void {
    held.isOwed = false
    try {
      onChanged?.(directory)
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'store.unavailable') throw error
      held.isOwed = true
      held.settled.set(LIMITS.config.tellAgain)
    }
  }

  /** What nobody has to look for; `input`: absent = the same as before. */
  function known(directory: string, ...[input]: [] | [Input]): Entry<Input, Value> | undefined {
    const held = directories.get(directory)
    const entry = held?.entry
    if (held === undefined || entry === undefined || isLooking(held) || held.isOwed || isWrittenLately()) return undefined
    if (isDue(held, entry, input === undefined ? entry.input : input, false)) return undefined
    recent.set(directory, directory)
    return entry
  }

  async function found(directory: string, input: Input, wantsFresh: boolean): Promise<Value> {
    const { value } = await get(directory, input, wantsFresh)
    const held = directories.get(directory)
    if (held?.isOwed === true) tell(directory, held)
    return value
  }

  return {
    latest: (directory) => known(directory)?.value,
    get(directory, input, options) {
      const entry = options?.fresh === true ? undefined : known(directory, input)
      return entry === undefined ? found(directory, input, options?.fresh === true) : Promise.resolve(entry.value)
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

function unreadable(directory: string, error: unknown): SvcError {
  return new SvcError('store.unavailable', `Files of "${directory}" cannot be read at the moment: ${messageOf(error)}`)
}

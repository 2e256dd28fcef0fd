/** Keeps the index of what was said up with the sessions (subsystems i): steps off the hot path, between those of others. */
import { chartOf } from '../../kernel/machine/chart.js'
import { createActor, fromPromise, waitFor } from 'xstate'
import type { NativeHost } from '../../ports/plugin.js'
import { laidOut } from '../../kernel/machine/laid-out.js'
import { type CaughtUp, searchIndexMachine } from '../../machines/semantic/search-index.machine.js'
import { LIMITS } from '../../protocol/limits.js'
import { waitAtMost } from '../../kernel/patience.js'
import type { Pause } from '../../kernel/pause.js'

export interface Indexer {
  /** Something was said, changed or removed; `characters` are those of its text. */
  changed(characters?: number): void
  /** Resolves once the index has what was said before, or cannot, `LIMITS.search.patience` later at the latest. */
  ready(): Promise<void>
  stop(): void
}

/** `pause` lets others go on between two steps; `onCurrent` is called whenever nothing is left to be read. */
export function startIndexer(
  { effects, search, actors }: Pick<NativeHost, 'effects' | 'search' | 'actors'>,
  pause: Pause,
  onCurrent: () => void = () => undefined,
): Indexer {
  const { clock, log } = effects
  const backlog = createBacklog()
  /** The last event of those that are being caught up with; undefined where reading has not begun. */
  let upTo: number | undefined
  const logged = async <T>(what: string, work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      log.warn(`the index of the search ${what}`, { cause: String(error) })
      throw error
    }
  }
  const logic = chartOf(searchIndexMachine).provide({
    actors: {
      open: fromPromise(() => logged('could not be opened', () => search.open())),
      catchUp: fromPromise(({ signal }) => logged('could not be kept up', () => catchUp(signal))),
      discard: fromPromise(() => {
        log.warn('the index of the search cannot be kept up; it is made anew')
        return logged('could not be removed', () => search.discard())
      }),
    },
  })

  async function catchUp(signal: AbortSignal): Promise<CaughtUp> {
    upTo = undefined
    for (;;) {
      await pause()
      if (signal.aborted) return 'current'
      if (upTo === undefined) backlog.clear()
      upTo ??= search.head()
      const step = search.step(upTo)
      if (step === 'damaged') return 'damaged'
      if (step === 'more') continue
      onCurrent()
      return 'current'
    }
  }

  const ref = createActor(laidOut(logic), { id: 'search-index', clock })
  actors.add(ref, 'search-index')
  ref.subscribe({ error: (error) => log.error('the index of the search is no longer kept up', { cause: String(error) }) })
  ref.start()
  const isSettled = () => ref.getSnapshot().hasTag('settled') || ref.getSnapshot().status !== 'active'

  return {
    changed(characters = 0) {
      const now = ref.getSnapshot()
      if (backlog.add(characters) && now.hasTag('gathers')) ref.send({ type: 'filled' })
      else if (!now.hasTag('due') && !now.context.isBehind) ref.send({ type: 'changed' })
    },
    async ready() {
      const isCovered = ref.getSnapshot().hasTag('reads') && (upTo === undefined || upTo >= search.head())
      if (!isCovered) ref.send({ type: 'used' })
      if (isSettled()) return
      const over = new AbortController()
      const settled = waitFor(ref, isSettled, { signal: over.signal }).catch(() => undefined)
      await waitAtMost(clock, settled, LIMITS.search.patience)
      over.abort()
    },
    stop() {
      ref.send({ type: 'stop.requested' })
      search.close()
    },
  }
}

/** What was told since it was last caught up with. */
function createBacklog() {
  let changes = 0
  let characters = 0
  return {
    /** Answers whether it is too much. */
    add(more: number): boolean {
      changes += 1
      characters += more
      return changes >= LIMITS.search.backlog || characters >= LIMITS.search.backlogText
    },
    clear(): void {
      changes = 0
      characters = 0
    },
  }
}

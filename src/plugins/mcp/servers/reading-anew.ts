/**
 * Lists of a server are read anew after it says that they have changed: once for many such words, one reading at a time, and ever so seldom by a
 * server that goes on saying it.
 */
import { chartOf } from '../../../kernel/machine/chart.js'
import { createActor, fromPromise } from 'xstate'
import type { NativeHost } from '../../../ports/plugin.js'
import { lookMachine } from '../../../machines/look/look.machine.js'
import { createAlarm } from '../../../kernel/alarm.js'
import { ask, leave } from '../../../kernel/looked.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { OfferKind } from '../link/lists.js'

const { changedPause, changes, changesWindow } = LIMITS.mcp

export interface ReadingAnew {
  /** A list has changed, as the server says. */
  note(kind: OfferKind): void
  /** What was noted is forgotten. */
  clear(): void
  end(): void
}

/** `read` never rejects; `onFlood` is told when a server is read more seldom from now on. */
export function createReadingAnew(
  clock: NativeHost['effects']['clock'],
  read: (kinds: readonly OfferKind[]) => Promise<void>,
  onFlood: () => void,
): ReadingAnew {
  const stale = new Set<OfferKind>()
  const logic = chartOf(lookMachine).provide({ actors: { look: fromPromise(() => readStale()) } })
  const looks = createActor(logic, { id: 'look:lists', input: { what: 'lists' }, clock }).start()
  const alarm = createAlarm(clock, () => ask(looks))
  let begun = Number.NEGATIVE_INFINITY
  let readings = 0

  async function readStale(): Promise<void> {
    const kinds = [...stale]
    stale.clear()
    if (kinds.length > 0) await read(kinds)
  }

  function pause(): number {
    const now = clock.monotonic()
    if (now - begun >= changesWindow) {
      begun = now
      readings = 0
    }
    readings++
    if (readings <= changes) return changedPause
    if (readings === changes + 1) onFlood()
    return begun + changesWindow - now
  }

  return {
    note(kind) {
      stale.add(kind)
      if (!alarm.isSet) alarm.set(pause())
    },
    clear() {
      alarm.clear()
      stale.clear()
    },
    end() {
      alarm.end()
      leave(looks)
    },
  }
}

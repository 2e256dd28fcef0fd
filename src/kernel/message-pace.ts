/**
 * Messages of a peer, at the pace of everybody else: a bounded part of them in one turn of the event loop, and so many in a window of time.
 *
 * I1 Messages are delivered in the order they came. Those that wait are copies, and while some wait the peer is not read.
 * I2 A turn has one message at least; more until it has `inTurn` of them, or `bytesInTurn` together.
 * I3 A peer that sends more than `inWindow` in the window is told of once, and nothing of it is delivered from then on.
 * I4 While what earlier ones have begun is unsettled, nothing is delivered.
 */
import { createAllowance } from './allowance.js'

export interface MessagePace {
  /** The bytes are valid during the call only. */
  push(message: Uint8Array): void
  /** Resolves once nothing waits. */
  drained(): Promise<void>
  /** Nothing more is delivered. */
  end(): void
}

/** What was begun by messages that have been delivered. */
export interface Earlier {
  isUnsettled(): boolean
  /** Of what was begun so far. */
  settled(): Promise<unknown>
}

export interface MessagePaceOptions {
  readonly limits: { readonly inTurn: number; readonly bytesInTurn: number; readonly inWindow: number; readonly window: number }
  monotonic(): number
  deliver(message: Uint8Array): void
  /** The peer is not to be read until `release`. */
  hold(): void
  release(): void
  /** I3. */
  onFlood(): void
  /** I4. Absent = none begins anything that later ones wait for. */
  readonly earlier?: Earlier | undefined
  /** Runs a callback in a later turn. */
  readonly soon?: (run: () => void) => unknown
}

export function createMessagePace(options: MessagePaceOptions): MessagePace {
  const { limits, monotonic, deliver, hold, release, onFlood, earlier, soon = setImmediate } = options
  let waiting: Uint8Array[] = []
  let empty: (() => void)[] = []
  const turn = { messages: 0, bytes: 0, isOpen: false }
  const mayCome = createAllowance({ most: limits.inWindow, window: limits.window }, monotonic)
  let isOver = false

  /** Whether the turn has room for one more. */
  const hasRoom = () =>
    earlier?.isUnsettled() !== true && (turn.messages === 0 || (turn.messages < limits.inTurn && turn.bytes < limits.bytesInTurn))

  function begin(): void {
    if (turn.isOpen) return
    turn.isOpen = true
    soon(nextTurn)
  }

  function give(message: Uint8Array): void {
    begin()
    turn.messages++
    turn.bytes += message.byteLength
    deliver(message)
  }

  function nextTurn(): void {
    Object.assign(turn, { messages: 0, bytes: 0, isOpen: false })
    if (waiting.length === 0) return
    if (earlier?.isUnsettled() === true) return untilSettled(earlier)
    let done = 0
    while (done < waiting.length && !isOver && hasRoom()) {
      const next = waiting[done++]
      if (next !== undefined) give(next)
    }
    waiting = waiting.slice(done)
    if (waiting.length === 0) settle()
  }

  /** I4 */
  function untilSettled({ settled }: Earlier): void {
    turn.isOpen = true
    const goOn = () => void soon(nextTurn)
    void settled().then(goOn, goOn)
  }

  function settle(): void {
    const told = empty
    empty = []
    release()
    for (const each of told) each()
  }

  function end(): void {
    isOver = true
    if (waiting.length === 0) return
    waiting = []
    settle()
  }

  return {
    push(message) {
      if (isOver) return
      if (!mayCome()) {
        end()
        onFlood()
      } else if (waiting.length === 0 && hasRoom()) give(message)
      else {
        if (waiting.length === 0) hold()
        waiting.push(message.slice())
        begin()
      }
    },
    drained: () => (waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => empty.push(resolve))),
    end,
  }
}

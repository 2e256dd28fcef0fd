/**
 * Events for a plugin process (plugin-protocol §5.4).
 *
 * I1 Events are sent in order. While the child has more than `UNREAD` bytes to read they wait, at most
 *    `LIMITS.plugins.eventQueue`; then the oldest is dropped and counted. A slow plugin loses events, not its life.
 */
import { LIMITS } from '../../../protocol/limits.js'
import type { PluginEvent } from '../../../protocol/plugin-services.js'
import type { Clock } from '../../effects.js'
import type { Link } from './link.js'

const UNREAD = 256 * 1024
const RETRY = 100

export interface EventSender {
  deliver(event: PluginEvent): void
  /** Forgets what waits. */
  stop(): void
  readonly dropped: number
}

export function createEventSender(link: Pick<Link, 'notify' | 'counters'>, clock: Clock): EventSender {
  const queue: PluginEvent[] = []
  let timer: unknown
  let dropped = 0
  let isStopped = false

  const flush = (): void => {
    timer = undefined
    while (!isStopped && link.counters.waitingBytes <= UNREAD) {
      const event = queue.shift()
      if (event === undefined) return
      if (!link.notify('event', event)) dropped++
    }
    if (!isStopped && queue.length > 0) timer = clock.setTimeout(flush, RETRY)
  }

  return {
    deliver(event) {
      if (isStopped) return
      queue.push(event)
      if (queue.length > LIMITS.plugins.eventQueue) {
        queue.shift()
        dropped++
      }
      if (timer === undefined) flush()
    },
    stop() {
      isStopped = true
      queue.length = 0
      if (timer !== undefined) clock.clearTimeout(timer)
    },
    get dropped() {
      return dropped
    },
  }
}

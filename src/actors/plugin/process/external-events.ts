/**
 * Events for a plugin process (plugin-protocol §5.4).
 *
 * I1 Events are sent in order. While the child has more than `UNREAD` bytes to read they wait, at most
 *    `LIMITS.plugins.eventQueue`; then the oldest is dropped, which is told once. A slow plugin loses events, not its life.
 */
import { createAlarm } from '../../../kernel/alarm.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { PluginEvent } from '../../../protocol/plugin/plugin-requests.js'
import type { Clock } from '../../../ports/effects.js'
import type { InstanceProblem } from '../generation/instance.js'
import type { ContributionLink } from './contribution-link.js'

const UNREAD = 256 * 1024
const RETRY = 100
const LOST = 'The plugin does not get every event: they come faster than it reads them, or do not fit in a frame.'

export interface EventSender {
  deliver(event: PluginEvent): void
  /** Forgets what waits. */
  stop(): void
}

export interface EventSenderOptions {
  readonly link: Pick<ContributionLink, 'notify' | 'counters'>
  readonly clock: Clock
  onProblem(problem: InstanceProblem): void
}

export function createEventSender({ link, clock, onProblem }: EventSenderOptions): EventSender {
  const queue: PluginEvent[] = []
  const retry = createAlarm(clock, flush)
  let isLossy = false

  const lose = (): void => {
    if (!isLossy) onProblem({ code: 'flood', message: LOST })
    isLossy = true
  }
  function flush(): void {
    while (!retry.isOver && link.counters.waitingBytes <= UNREAD) {
      const event = queue.shift()
      if (event === undefined) return
      if (!link.notify('event', event)) lose()
    }
    if (queue.length > 0) retry.set(RETRY)
  }

  return {
    deliver(event) {
      if (retry.isOver) return
      queue.push(event)
      if (queue.length > LIMITS.plugins.eventQueue) {
        queue.shift()
        lose()
      }
      if (!retry.isSet) flush()
    },
    stop() {
      retry.end()
      queue.length = 0
    },
  }
}

/**
 * One socket over a stream of a plugin process (plugin-protocol §8.3).
 *
 * I1 The plugin hears of the end of the client as a message, once, and has `socketClose` to end the stream before that is
 *    cancelled. What it says meanwhile is dropped.
 * I2 A socket that the plugin closed or broke is cancelled at once.
 */
import { type Alarm, createAlarm } from '../../../kernel/alarm.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { SocketMessage } from '../../../protocol/plugin/plugin-services.js'
import type { Clock } from '../../../ports/effects.js'
import type { PluginSocket } from '../../../ports/contributions.js'
import { isEmptyTable, isFields } from '../link/initialize.js'
import type { ContributionLink } from './contribution-link.js'
import type { PluginStream } from '../link/streams.js'

export function socketOver(stream: PluginStream, link: ContributionLink, clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): PluginSocket {
  const items = stream.items[Symbol.asyncIterator]()
  let closing: Alarm | undefined

  function receive(message: SocketMessage): void {
    if (!stream.live || closing !== undefined) return
    if (message.kind === 'close') closing = createAlarm(clock, () => stream.cancel())
    const isRead = link.counters.waitingBytes <= LIMITS.plugins.frameBytes
    if (isRead && link.notify('route.websocket.message', { streamId: stream.streamId, message }))
      return closing?.set(LIMITS.plugins.socketClose) // I1
    const reason = isRead ? 'A message for the plugin does not fit in one frame.' : 'The plugin does not read the messages of this socket.'
    stream.fail(new SvcError('plugin.failed', reason))
  }

  const close = (): void => receive({ kind: 'close' })

  /** The next item that somebody still wants; the end of a stream that is closing ends the wait for it. */
  async function next(): Promise<IteratorResult<SocketMessage, undefined>> {
    try {
      for (;;) {
        const step = await items.next()
        if (step.done !== true && closing !== undefined) continue
        return step.done === true ? { done: true, value: undefined } : { done: false, value: messageOf(step.value) }
      }
    } finally {
      if (!stream.live) closing?.end()
    }
  }

  function messageOf(item: unknown): SocketMessage {
    const whole = isFields(item) && item['kind'] !== 'text' && isEmptyTable(item['data']) ? { ...item, data: [] } : item
    const parsed = SocketMessage.safeParse(whole)
    if (parsed.success) {
      if (parsed.data.kind === 'close') stream.cancel() // I2
      return parsed.data
    }
    const message = 'The plugin sent something through a socket that is no socket message.'
    link.complain(message)
    stream.cancel() // I2
    throw new SvcError('plugin.failed', message)
  }

  /** The reader is gone: the rest is read for nobody. */
  async function leave(): Promise<IteratorResult<SocketMessage, undefined>> {
    close()
    void next().catch(() => undefined)
    return { done: true, value: undefined }
  }

  return { outbound: { [Symbol.asyncIterator]: () => ({ next, return: leave }) }, receive, close }
}

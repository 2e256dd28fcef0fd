/** The streams the host has opened, and the frames the results of callbacks become (plugin-protocol §4.9, §6.7). */
import { LIMITS } from '../../protocol/limits.js'
import { streamFrame, type StreamName, type StreamPart } from './frames.js'
import type { Pacer } from './pacer.js'
import type { CallResult } from './thread-messages.js'

interface SocketStream extends StreamName {
  readonly routeId: string
}
type Items = Extract<CallResult, { type: 'items' }>

export interface Streams {
  /** Opens a stream with these items; one of a provider ends after them. */
  open(name: StreamName, routeId: string | undefined, items: Items): void
  /** Route of an open socket stream. */
  routeOf(streamId: string): string | undefined
  /** Further items of a socket stream; `end`: they are the last. */
  send(streamId: string, result: CallResult, end: boolean): void
  /** The host wants nothing more of it. */
  forget(streamId: string): void
}

/** `owner`: JSON of the owner of the instance. */
export function createStreams(owner: () => string, pacer: Pacer): Streams {
  const open = new Map<string, SocketStream>()

  function send(name: StreamName, parts: readonly StreamPart[]): void {
    const text = owner()
    pacer.add(
      name.streamId,
      parts.map((part) => streamFrame(text, name, part)),
    )
  }

  const partsOf = (items: Items): StreamPart[] => items.items.map((value) => ({ kind: 'item', value }))

  return {
    open(name, routeId, items) {
      const failed: StreamPart[] = items.problem === undefined ? [] : [{ kind: 'error', error: items.problem }]
      const stays = routeId !== undefined && failed.length === 0
      const last: StreamPart[] = stays ? [] : failed.length > 0 ? failed : [{ kind: 'end' }]
      if (stays && open.size >= LIMITS.plugins.streams)
        last.push({ kind: 'error', error: `more than ${LIMITS.plugins.streams} streams are open` })
      else if (stays) open.set(name.streamId, { ...name, routeId })
      send(name, [{ kind: 'open' }, ...partsOf(items), ...last])
    },
    routeOf: (streamId) => open.get(streamId)?.routeId,
    send(streamId, result, end) {
      const name = open.get(streamId)
      if (name === undefined) return
      const error = result.type === 'error' ? result.error : result.type === 'items' ? result.problem : undefined
      const last: StreamPart[] = error !== undefined ? [{ kind: 'error', error }] : end ? [{ kind: 'end' }] : []
      if (last.length > 0) open.delete(streamId)
      send(name, [...(result.type === 'items' ? partsOf(result) : []), ...last])
    },
    forget(streamId) {
      open.delete(streamId)
      pacer.drop(streamId)
    },
  }
}

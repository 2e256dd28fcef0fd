import type { FrameSink } from '../../src/ports/facades.js'
import { InspectorFrame, type InspectorRecord } from '../../src/protocol/system/inspector.js'
import { LIMITS } from '../../src/protocol/limits.js'
import type { TestService } from './service.js'

/** Looks on from now; answers the states that actors go through from their start to their end, of those whose id begins so. */
export function lives(service: TestService): (idPrefix: string) => string[][] {
  const records: InspectorRecord[] = []
  const sink: FrameSink = {
    write(frame) {
      const data = /^data: (.*)$/m.exec(new TextDecoder().decode(frame))?.[1] ?? ''
      records.push(...InspectorFrame.parse(JSON.parse(data)).records)
    },
    room: () => LIMITS.events.replayPageBytes,
    pending: () => 0,
    drained: () => Promise.resolve(),
    end: () => undefined,
  }
  service.runtime.inspector.subscribe(undefined, sink)
  return (idPrefix) => {
    service.effects.clock.advance(LIMITS.inspector.batch)
    const seen = new Map<string, string[]>()
    for (const { actorId, type, after = [], end, actor } of records) {
      if (!actorId.startsWith(idPrefix)) continue
      if (type === 'start' && actor?.machine !== undefined) seen.set(actorId, [])
      seen.get(actorId)?.push(...after, ...(end === undefined ? [] : [`(${end})`]))
    }
    return [...seen.values()]
  }
}

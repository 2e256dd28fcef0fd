/**
 * The events of an answer on their way to the SDK, as the bytes of its `fetch`: each is looked at, and what is left of it written anew.
 * The SDK costs by the event, so what it need not see never reaches it.
 */
import { createParser } from 'eventsource-parser'
import { foreignExcess } from '../../../protocol/text/foreign-json.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { createAlike, type Saying } from './alike.js'
import { parseJson } from './json.js'

/** Takes what was read; answers what the SDK gets of it, or undefined when that is nothing yet. */
export type Rewrite = (piece: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | undefined

interface EventReader {
  /** Answers what the SDK gets of an event. */
  read(event: JsonRecord): JsonRecord | undefined
  /** An event is not worth parsing; the SDK does not get it either. */
  refuse(excess: string): void
}

/**
 * The events of some bytes after others: `on` gets the records among them, `onOther` the data of those that are none. What events in the same
 * bytes say one after the other, by `saying`, comes as one event.
 */
export function eventsOf({
  on,
  onOther,
  refuse,
  saying = () => undefined,
}: {
  readonly on: (event: JsonRecord, data: string) => void
  readonly onOther: (data: string) => void
  readonly refuse: (excess: string) => void
  readonly saying?: Saying
}): (piece: Uint8Array) => void {
  const decoder = new TextDecoder()
  const alike = createAlike(saying)
  const take = (data: string, isJoined = false) => {
    const excess = foreignExcess(data)
    if (excess !== undefined) return refuse(excess)
    const event = data === '[DONE]' ? undefined : parseJson(data)
    if (!isRecord(event)) return onOther(data)
    if (!isJoined) alike.learn(event, data)
    on(event, data)
  }
  const takeJoined = () => {
    const data = alike.joined()
    if (data !== undefined) take(data, true)
  }
  const parser = createParser({
    onEvent({ data }) {
      if (alike.keep(data)) return
      takeJoined()
      take(data)
    },
  })
  return (piece) => {
    parser.feed(decoder.decode(piece, { stream: true }))
    takeJoined()
  }
}

/** What is no JSON object passes as it came: the SDK refuses it. */
export function rewriteEvents({ read, refuse }: EventReader): Rewrite {
  const encoder = new TextEncoder()
  let passed: string[] = []
  const feed = eventsOf({
    on(event, data) {
      const rest = read(event)
      if (rest === event) passed.push(data)
      else if (rest !== undefined) passed.push(JSON.stringify(rest))
    },
    onOther: (data) => void passed.push(data),
    refuse,
  })
  return (piece) => {
    passed = []
    feed(piece)
    return passed.length === 0 ? undefined : encoder.encode(passed.map(eventOf).join(''))
  }
}

/** An event whose data may have lines. */
function eventOf(data: string): string {
  return `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`
}

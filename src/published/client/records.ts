/**
 * The records of one event stream (sessions-events §11.2).
 *
 * I1 A connection that breaks, or is silent for longer than the server ever is, ends like one that is closed.
 * I2 The connection is given up when nobody reads on.
 */
import { createParser } from 'eventsource-parser'
import { CONTRACT } from './contract.js'
import { invalidAnswer } from './error.js'
import type { Platform } from './platform.js'

/** The server says something every heartbeat; some of them may come late. */
const SILENCE = 2.5 * CONTRACT.heartbeat
/** Characters; snapshots of messages can be larger than the records of one event. */
const LONGEST_RECORD = 32 * CONTRACT.recordBytes

export interface StreamRecord {
  /** The sequence; undefined for records that move no cursor. */
  readonly id: number | undefined
  readonly value: unknown
}

/** `onAlive` runs whenever something came, heartbeats included. */
export async function* readRecords(
  response: Response,
  platform: Pick<Platform, 'after'>,
  onAlive: () => void = () => undefined,
): AsyncGenerator<StreamRecord> {
  const complete: StreamRecord[] = []
  const parser = createParser({
    maxBufferSize: LONGEST_RECORD,
    onEvent: ({ id, data }) => complete.push({ id: sequenceOf(id), value: parse(data) }),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw invalidAnswer('A record of the event stream has no end.', 200, error)
    },
  })
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      const chunk = await withinSilence(reader, platform)
      if (chunk === undefined) return
      onAlive()
      parser.feed(decoder.decode(chunk, { stream: true }))
      yield* complete.splice(0)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

async function withinSilence(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  platform: Pick<Platform, 'after'>,
): Promise<Uint8Array | undefined> {
  const cancel = platform.after(SILENCE, () => void reader.cancel().catch(() => undefined))
  try {
    return (await reader.read()).value
  } catch {
    return undefined
  } finally {
    cancel()
  }
}

function sequenceOf(id: string | undefined): number | undefined {
  const sequence = Number(id)
  return id === undefined || !Number.isSafeInteger(sequence) ? undefined : sequence
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (error) {
    throw invalidAnswer('A record of the event stream is not JSON.', 200, error)
  }
}

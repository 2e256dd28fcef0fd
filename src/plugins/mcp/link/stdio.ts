/**
 * Messages of a server over the standard streams of a program: one line of JSON each (subsystems f.3; threat-model §4.12).
 *
 * I1 The program runs in a process group of its own, in a clean environment, and all of it is gone when `close` resolves.
 * I2 What a line may have is bounded, its bytes and its values; one with more ends the connection, since nobody knows whose answer it was.
 * I3 It is read at the pace of everybody else; one that sends without end loses the connection. That a list has changed is read once in the
 *    time after which the list is read anyway: the same bytes again say nothing new.
 * I4 What is no message is ignored; what it writes to its error stream is told at debug, bounded.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { ChildPipe, PipeOptions } from '../../../ports/effects.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { foreignExcess, MESSAGE_BOUNDS } from '../../../protocol/text/foreign-json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLineSplitter } from '../../../protocol/plugin/frame-lines.js'
import { createMessagePace } from '../../../kernel/message-pace.js'
import { isMessage } from './message.js'
import { createRepeats } from './repeats.js'

const { messageBytes, inputBacklog } = LIMITS.mcp
const STDERR_LINE = 4096
const STDERR_TOLD = 400

export interface StdioOptions {
  readonly effects: Pick<NativeHost['effects'], 'log' | 'clock'>
  readonly server: string
  /** Starts the program. */
  open(streams: Pick<PipeOptions, 'inputBacklog' | 'onStdout' | 'onStderr'>): Promise<ChildPipe>
  /** Log lines of the program are told while this allows it. */
  mayTell(): boolean
}

/** A connection that was not closed by us is reported by `onclose`, after `onerror` has said why. */
export function createStdioTransport({ effects: { log, clock }, server, open, mayTell }: StdioOptions): Transport {
  let child: ChildPipe | undefined
  const over = new AbortController()
  const pace = createMessagePace({
    limits: LIMITS.mcp.pace,
    monotonic: clock.monotonic,
    deliver: take,
    hold: () => child?.pause(),
    release: () => child?.resume(),
    onFlood: () => end('it sends without end'),
  })
  const isRepeated = createRepeats(clock.monotonic)

  const transport: Transport = {
    async start() {
      const output = createLineSplitter(messageBytes, {
        onLine: pace.push,
        onOversized: () => end(`it sent a message of more than ${messageBytes} bytes`),
      })
      const errors = createLineSplitter(STDERR_LINE, {
        onLine: (line) => {
          if (mayTell()) log.debug('a server says', { server, text: new TextDecoder().decode(line).slice(0, STDERR_TOLD) })
        },
        onOversized: () => undefined,
      })
      const opened = await open({
        inputBacklog,
        onStdout: (chunk) => output.push(chunk),
        onStderr: (chunk) => errors.push(chunk),
      })
      child = opened
      if (over.signal.aborted) opened.kill()
      void opened.ended.then(async ({ exitCode, signal }) => {
        await pace.drained()
        end(exitCode === null ? `its program was ended by ${signal ?? 'a signal'}` : `its program has ended with code ${exitCode}`)
      })
    },
    send(message: JSONRPCMessage) {
      if (child === undefined || over.signal.aborted) return Promise.reject(new Error('the program of the server has ended'))
      if (child.write(`${JSON.stringify(message)}\n`)) return Promise.resolve()
      return Promise.reject(new Error('the program of the server does not read its input'))
    },
    async close() {
      over.abort()
      pace.end()
      child?.closeInput()
      child?.kill() // Some servers ignore the end of their input, and the group is ours.
      await child?.gone
      transport.onclose?.()
    },
  }

  function take(line: Uint8Array): void {
    if (over.signal.aborted || isRepeated(line)) return
    const excess = foreignExcess(line, MESSAGE_BOUNDS)
    if (excess !== undefined) return end(`it sent a message that ${excess}`)
    let message: unknown
    try {
      message = JSON.parse(new TextDecoder().decode(line))
    } catch {
      return // I4
    }
    if (isMessage(message)) transport.onmessage?.(message)
  }

  function end(reason: string): void {
    if (over.signal.aborted) return
    over.abort()
    pace.end()
    child?.kill()
    transport.onerror?.(new Error(reason))
    transport.onclose?.()
  }

  return transport
}

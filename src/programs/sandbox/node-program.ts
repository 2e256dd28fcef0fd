/**
 * The sandbox program: `lua-sandbox.js --manifest <svc-plugin.json>` runs one Lua package as a plugin that speaks `svc-plugin/2`
 * on its standard streams (plugin-protocol §6.1). This thread moves frames and keeps time; the script has a thread of its own.
 */
import { MessageChannel, Worker } from 'node:worker_threads'
import { LIMITS } from '../../protocol/limits.js'
import { createLineSplitter } from '../../protocol/plugin/frame-lines.js'
import { createConductor } from './conductor.js'
import { readPackage } from './node-package.js'
import { createPacer } from './pacer.js'
import { createSignals } from './signals.js'
import { createStreams } from './streams.js'
import type { ThreadData, ThreadMessage } from './thread-messages.js'
import { readTimes } from './times.js'

/** Megabytes of the script's thread: the backstop behind its own count of memory. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4, stackSizeMb: 4 }
/** Milliseconds the host gets to read the last words. */
const LAST_WORDS = 100
/** Between two portions of stream items. */
const PAUSE = 1

const { stdin, stdout, stderr } = process
const pack = readPackage(process.argv.slice(2))
if (typeof pack === 'string') {
  stderr.write(`${pack}\n`)
  process.exit(1)
}

const times = readTimes(process.argv.slice(2))
const signals = createSignals()
const { port1: answers, port2: script } = new MessageChannel()
const data: ThreadData = { signals: signals.buffer, answers: script, root: pack.root, entrypoint: pack.entrypoint, times }
const thread = new Worker(new URL('./lua-sandbox-thread.cjs', import.meta.url), {
  workerData: data,
  transferList: [script],
  resourceLimits: THREAD_LIMITS,
  env: {},
  stdin: false,
  stdout: true,
  stderr: true,
})

const pacer = createPacer({
  write,
  pause: (resume) => setTimeout(() => (stdout.writableNeedDrain ? stdout.once('drain', resume) : resume()), PAUSE),
  onProgress: () => conductor.proceed(),
})
const conductor = createConductor({
  pluginId: pack.pluginId,
  callback: times.callback,
  streams: createStreams(() => conductor.owner(), pacer),
  pacer,
  write,
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  post: (call) => thread.postMessage(call),
  answer(answer) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, no window
    answers.postMessage(answer)
    signals.ring()
  },
  stop: (stop) => signals.setStop(stop),
  after(ms, act) {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
  flowing: () => !stdout.writableNeedDrain,
  leave,
})

thread.on('message', (message: ThreadMessage) => {
  switch (message.type) {
    case 'ready':
      write('{"method":"runner.ready"}\n')
      return conductor.ready()
    case 'print':
      return log(message.line)
    case 'request':
      conductor.asked(message.id)
      return write(message.frame)
    case 'done':
      return conductor.done(message.result, message.fatal)
  }
})
thread.on('error', (error: NodeJS.ErrnoException) => {
  const reason =
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'the script used more memory than its thread has' : `the sandbox failed: ${error.message}`
  conductor.broken(reason)
})
thread.on('exit', () => conductor.broken('the thread of the script has ended'))

const input = createLineSplitter(LIMITS.plugins.frameBytes + 1, {
  onLine: (line) => conductor.receive(Buffer.from(line.buffer, line.byteOffset, line.length).toString()),
  onOversized: () => undefined,
})
stdin.on('data', (chunk: Buffer) => input.push(chunk))
stdin.on('end', () => {
  input.end()
  leave()
})
stdin.on('error', () => leave())
stdout.on('drain', () => conductor.proceed())
for (const output of [stdout, stderr]) output.on('error', () => process.exit(1)) // nobody listens any more

function write(frame: string): void {
  stdout.write(frame)
}

/** One line for the log of the host, unless it does not read what it has. */
function log(line: string): void {
  if (stderr.writableLength < LIMITS.plugins.frameBytes) stderr.write(`${line}\n`)
}

function leave(reason?: string): void {
  const code = reason === undefined ? 0 : 1
  if (reason !== undefined) log(reason.replaceAll(/\s+/g, ' '))
  setTimeout(() => process.exit(code), LAST_WORDS)
  stdout.write('', () => stderr.write('', () => process.exit(code)))
}

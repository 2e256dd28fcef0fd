/**
 * The thread of the script.
 *
 * I1 One message in, one `done` out, in order; what the script prints and asks for comes in between.
 * I2 A run that was ended at a check leaves a VM that serves on. After memory ran out, or the engine's own stack, the process ends.
 */
import { receiveMessageOnPort, parentPort, workerData } from 'node:worker_threads'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createBudget } from './lua/budget.js'
import { ownerOf, parseFrame } from './frames.js'
import { createHostCalls } from './lua/host-calls.js'
import { chargeBytesTo } from './lua/lua-bytes.js'
import { createSourceReader } from './node-sources.js'
import { createPrinter } from './lua/print.js'
import type { Outcome } from './lua/run.js'
import { sealCode } from './sealed-code.js'
import { createSignals } from './signals.js'
import type { AnswerMessage, CallMessage, CallResult, ThreadData, ThreadMessage } from './thread-messages.js'
import { createVm } from './lua/vm.js'

const port = parentPort
if (port === null) throw new Error('This file is a thread of the sandbox program.')
const { signals: buffer, answers, root, entrypoint, times } = workerData as ThreadData
const send = (message: ThreadMessage): void => port.postMessage(message)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void
sealCode()

const memory = {
  used() {
    const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
    return heap + external
  },
  // The first one frees what owns the buffers, the second one the buffers.
  collect() {
    collect()
    collect()
  },
}

const signals = createSignals(buffer)
let owner = '{}'
collect({ type: 'minor' })
const budget = createBudget(signals, memory, { baseline: memory.used(), callback: times.callback })
chargeBytesTo(budget.charge)
const printer = createPrinter((line) => send({ type: 'print', line }))
const callHost = createHostCalls({
  signals,
  budget,
  patience: times.hostCall,
  now: () => performance.now(),
  send: (id, frame) => send({ type: 'request', id, frame }),
  take: () => receiveMessageOnPort(answers)?.message as AnswerMessage | undefined,
  owner: () => owner,
})
const vm = createVm({ budget, readSource: createSourceReader(root), callHost, print: printer.print })
vm.warmUp()

port.on('message', (message: CallMessage) => {
  printer.begin()
  const outcome = serve(message)
  if (outcome.type === 'value') send({ type: 'done', result: outcome.value })
  else {
    if (outcome.trace !== undefined)
      for (const line of [outcome.text, ...outcome.trace.map((place) => `  at ${place}`)]) send({ type: 'print', line })
    const result: CallResult = { type: 'error', error: outcome.text }
    const broken = outcome.excess === 'memory' || outcome.excess === 'fault'
    send({ type: 'done', result, ...(broken ? { fatal: outcome.text } : {}) }) // I2
  }
})
send({ type: 'ready' })

function serve({ line, routeId }: CallMessage): Outcome<CallResult> {
  const frame = parseFrame(line)
  if (frame?.type !== 'call') return { type: 'error', text: 'this is no call' }
  const { method, params } = frame
  if (method !== 'initialize') return vm.call({ method, params, routeId })
  owner = ownerOf(params)
  return vm.load(entrypoint)
}

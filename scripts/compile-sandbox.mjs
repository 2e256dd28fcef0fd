/**
 * `node scripts/compile-sandbox.mjs DIST`: the thread of a Lua plugin as the sandbox program starts it, with a script of its own; what V8 made of
 * the VM until the script was loaded is kept beside what is kept of the program.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'
import vm from 'node:vm'
import { isMainThread, MessageChannel, parentPort, Worker, workerData } from 'node:worker_threads'
import { noteScripts } from './noted-scripts.mjs'

const SCRIPT = `return { tools = { { id = "t", description = "d", execute = function() return { output = "" } end } } }`
const TIMES = { callback: 10_000, hostCall: 10_000 }

if (isMainThread) await inThread(process.argv[2])
else keepAfterFirstAnswer(workerData.dist)

async function inThread(dist) {
  const root = mkdtempSync(join(tmpdir(), 'svc-build-'))
  writeFileSync(join(root, 'main.lua'), SCRIPT)
  const { port1, port2: answers } = new MessageChannel()
  const data = { dist, signals: new SharedArrayBuffer(64), answers, root, entrypoint: 'main.lua', times: TIMES }
  const thread = new Worker(fileURLToPath(import.meta.url), { workerData: data, transferList: [answers] })
  const ended = new Promise((resolve) => thread.once('exit', resolve))
  const line = JSON.stringify({ id: 1, method: 'initialize', params: {} })
  thread.on('message', ({ type }) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    if (type === 'ready') thread.postMessage({ line })
  })
  process.exitCode = await ended
  port1.close()
  rmSync(root, { recursive: true, force: true })
}

function keepAfterFirstAnswer(dist) {
  const folder = join(dist, 'compiled', String(v8.cachedDataVersionTag()))
  mkdirSync(folder, { recursive: true })
  const scripts = noteScripts(vm)
  const { postMessage } = parentPort
  parentPort.postMessage = (message) => {
    postMessage.call(parentPort, message)
    if (message.type !== 'done') return
    v8.setFlagsFromString('--no-expose-gc') // flags are part of what V8 compares
    for (const [file, script] of scripts) writeFileSync(join(folder, basename(file)), script.createCachedData())
    process.exit(message.result.type === 'error' ? 1 : 0)
  }
  createRequire(import.meta.url)(join(dist, 'lua-sandbox-thread.cjs'))
}

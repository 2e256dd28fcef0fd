// Holds threat-model L1.
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const WAYS = [
  'eval("7")',
  'globalThis.eval("7")',
  '(0, eval)("7")',
  'Function("return 7")()',
  'new Function("return 7")()',
  'globalThis.Function("return 7")()',
  '(() => {}).constructor("return 7")()',
  '(function () {}).constructor("return 7")()',
  'Object.getPrototypeOf(() => {}).constructor("return 7")()',
  '({}).constructor.constructor("return 7")()',
  '[].map.constructor("return 7")()',
  'Reflect.construct((class {}).constructor, ["return 7"])()',
  '(function* () {}).constructor("yield 7")().next().value',
  '(async () => {}).constructor("return 7")() && 7',
  '(async function* () {}).constructor("yield 7")() && 7',
]

/** What each way comes to in a thread of its own. */
async function inThread(sealed: boolean): Promise<unknown[]> {
  const entry = fileURLToPath(new URL('../../../src/programs/sandbox/sealed-code.ts', import.meta.url))
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: 'iife', globalName: 'sealing' })
  const attempts = WAYS.map((way) => `() => ${way}`).join(',')
  const text = `${outputFiles[0]?.text}
    ${sealed ? 'sealing.sealCode()' : ''}
    const tried = [${attempts}].map((way) => { try { return way() } catch (error) { return error.name } })
    require('node:worker_threads').parentPort.postMessage(tried)`
  return new Promise((resolve, reject) => {
    const thread = new Worker(text, { eval: true })
    thread.once('message', resolve).once('error', reject)
  })
}

it('makes code of no text, which each way would', async () => {
  expect(await inThread(false)).toEqual(WAYS.map(() => 7))
  expect(await inThread(true)).toEqual(WAYS.map(() => 'EvalError'))
})

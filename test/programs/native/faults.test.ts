// Holds decision 45, threat-model C7.
import { expect, test } from 'vitest'
import { faultText, traceOf } from '../../../src/programs/native/faults.js'

const FOLDER = '/state/plugins/aa/content'
const OTHER = '/state/plugins/b b/content'
const OWN = '/svc/dist/native.cjs'

function thrown(...frames: readonly string[]): Error {
  const error = new TypeError('boom\nmore')
  error.stack = ['TypeError: boom', 'more', ...frames.map((frame) => `    at ${frame}`)].join('\n')
  return error
}
const trace = (...frames: readonly string[]) => traceOf(thrown(...frames), [FOLDER, OTHER], [OWN])

const TIMER = 'listOnTimeout (node:internal/timers:581:17)'
const SERVER = 'Object.receive (/svc/dist/serve.cjs:12:90)'

test.each([
  [`poll (file://${FOLDER}/lib/poll.js:12:9)`, 'lib/poll.js:12'],
  [`file://${FOLDER}/plugin.js:3:1`, 'plugin.js:3'],
  [`Object.<anonymous> (${FOLDER}/plugin.cjs:7:2)`, 'plugin.cjs:7'],
  [`async poll (file:///state/plugins/b%20b/content/poll.js:1:2)`, 'poll.js:1'],
])('the place is that of a file of a folder: %s', (frame, at) => {
  expect(trace(frame, TIMER)).toEqual({ place: { folder: at.startsWith('poll') ? OTHER : FOLDER, at }, isThroughServer: false })
})

test('an error has passed through the server when a file that is of nobody else was unwound', () => {
  const own = `poll (file://${FOLDER}/plugin.js:1:1)`
  expect(trace(own, TIMER, 'new Promise (<anonymous>)', `accept (${OWN}:1:2)`).isThroughServer).toBe(false)
  expect(trace(own, `async ${SERVER}`).isThroughServer).toBe(false)
  expect(trace(own, SERVER, TIMER).isThroughServer).toBe(true)
  expect(trace(own, 'file:///svc/dist/other.js:1:1').isThroughServer).toBe(true)
})

test('what has no stack is of no place, and has words all the same', () => {
  expect(traceOf('words', [FOLDER], [])).toEqual({ place: undefined, isThroughServer: false })
  expect(trace(SERVER).place).toBeUndefined()
  expect(faultText('words', undefined)).toBe('a value that is no error: words')
  const silent = { toString: () => { throw new Error('no') } } // biome-ignore format: one line
  expect(faultText(silent, undefined)).toBe('a value that is no error: object')
  expect(faultText(thrown(), { folder: FOLDER, at: 'plugin.js:3' })).toBe('TypeError: boom (plugin.js:3)')
})

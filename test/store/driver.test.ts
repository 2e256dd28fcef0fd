/** The native part of the driver belongs to one version of Node: people are told that, not where it was looked for. */
import { expect, test } from 'vitest'
import { SvcError } from '../../src/protocol/errors.js'
import { storeFault } from '../../src/store/disk/faults.js'

test.each([
  ['none was compiled', new Error('Could not locate the bindings file. Tried:\n → /somewhere/better_sqlite3.node')],
  [
    'it was compiled for another Node',
    Object.assign(new Error('The module was compiled against a different Node.js version'), { code: 'ERR_DLOPEN_FAILED' }),
  ],
])('a driver that does not load, because %s, is told with what to do', (_, cause) => {
  const fault = storeFault(cause)
  expect(fault).toBeInstanceOf(SvcError)
  expect(fault).toMatchObject({ code: 'store.unavailable', cause, message: expect.stringContaining('npm run postinstall') as string })
})

test('any other error stays what it is', () => {
  const error = new Error('something else')
  expect(storeFault(error)).toBe(error)
})

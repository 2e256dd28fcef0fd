import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readProcess, readProcesses } from '../../../src/platform/node/process/process-table.js'

const KERNEL = '/proc/2/comm'

it.skipIf(!existsSync(KERNEL) || readFileSync(KERNEL, 'utf8') !== 'kthreadd\n')('threads of the kernel are nobody’s processes', () => {
  expect(readProcess(2)).toMatchObject({ isKernel: true })
  const all = readProcesses()
  expect([all?.has(2), all?.has(process.pid)]).toEqual([false, true])
  expect(readProcess(process.pid)).toMatchObject({ isKernel: false })
})

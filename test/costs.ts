/**
 * With `SVC_TEST_COSTS=<file>` one line of JSON is added to it for each test file: the milliseconds of processor time it took in the process
 * of its tests, and in the programs that these started and that have ended, and those of the clock. Nothing is asserted of them.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'

const report = process.env['SVC_TEST_COSTS']
/** The kernel counts in ticks of 10 ms. */
const TICK = 10

if (report !== undefined) {
  const before = spent()
  afterAll(() => {
    const after = spent()
    const [own, programs, clock] = [after.own - before.own, after.programs - before.programs, after.clock - before.clock]
    appendFileSync(report, `${JSON.stringify({ file: expect.getState().testPath, own, programs, clock })}\n`)
  })
}

function spent() {
  const { user, system } = process.cpuUsage()
  return { own: Math.round((user + system) / 1000), programs: ofPrograms(), clock: Date.now() }
}

/** Of all that has been waited for; 0 where there is no /proc. */
function ofPrograms(): number {
  if (!existsSync('/proc/self/stat')) return 0
  const line = readFileSync('/proc/self/stat', 'latin1')
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return TICK * (Number(fields[13]) + Number(fields[14]))
}

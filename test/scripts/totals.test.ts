import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../scripts/totals.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-totals-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Status = 'passed' | 'failed' | 'skipped' | 'todo'

/** What is printed for a run with these tests, each in a file of its own; `broken` files did not load. */
function totals(tests: readonly Status[], { broken = 0, ci = 'true' } = {}) {
  const count = (wanted: Status) => tests.filter((status) => status === wanted).length
  const loaded = tests.map((status, index) => ({ status: 'passed', assertionResults: [{ status, fullName: `test ${index}` }] }))
  const testResults = [...loaded, ...Array.from({ length: broken }, () => ({ status: 'failed', assertionResults: [] }))]
  const report = { numPassedTests: count('passed'), numFailedTests: count('failed'), testResults }
  writeFileSync(join(folder, 'report.json'), JSON.stringify(report))
  const env = { ...process.env, CI: ci }
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, join(folder, 'report.json')], { encoding: 'utf8', env })
  return [status, stdout]
}

test('a run in which everything passed is good', () => {
  expect(totals(['passed', 'passed'])).toEqual([0, '2 passed, 0 failed, 0 skipped\n'])
})

test('a skipped test is told by its name, and is a failure in CI alone', () => {
  const said = 'skipped: test 1\nskipped: test 2\n1 passed, 0 failed, 2 skipped\n'
  expect(totals(['passed', 'skipped', 'todo'])).toEqual([1, said])
  expect(totals(['passed', 'skipped', 'todo'], { ci: '' })).toEqual([0, said])
})

test.each<[what: string, tests: readonly Status[], broken: number, line: string]>([
  ['a test that failed', ['passed', 'failed'], 0, '1 passed, 1 failed, 0 skipped\n'],
  ['a file that does not load', ['passed'], 1, '1 passed, 1 failed, 0 skipped\n'],
  ['a run without tests', [], 0, '0 passed, 0 failed, 0 skipped\n'],
])('%s is a failure', (_what, tests, broken, line) => {
  expect(totals(tests, { broken })).toEqual([1, line])
})

test('a report that is not there is a failure', () => {
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, join(folder, 'none.json')], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([1, '0 passed, 1 failed, 0 skipped\n'])
})

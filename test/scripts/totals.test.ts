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
/** Each test is in a file of its own; `broken` is a file that does not load. */
type Run = readonly (Status | 'broken')[]

function print({
  args = [],
  runs,
  ci = 'true',
}: {
  readonly args?: readonly string[]
  readonly runs: readonly Run[]
  readonly ci?: string
}) {
  const paths = runs.map((run, at) => {
    const testResults = run.map((status, index) => ({
      name: `/project/${index}.test.ts`,
      status: status === 'broken' ? 'failed' : status,
      assertionResults: status === 'broken' ? [] : [{ status, fullName: `test ${index}` }],
    }))
    const path = join(folder, `${at}.json`)
    writeFileSync(path, JSON.stringify({ testResults }))
    return path
  })
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, ...args, ...paths], {
    encoding: 'utf8',
    env: { ...process.env, CI: ci },
  })
  return [status, stdout]
}

const totals = (run: Run, { ci = 'true' } = {}) => print({ runs: [run], ci })

test('a run in which everything passed is good', () => {
  expect(totals(['passed', 'passed'])).toEqual([0, '2 passed, 0 failed, 0 skipped\n'])
})

test('a skipped test is told by its name, and is a failure in CI alone', () => {
  const said = 'skipped: test 1\nskipped: test 2\n1 passed, 0 failed, 2 skipped\n'
  expect(totals(['passed', 'skipped', 'todo'])).toEqual([1, said])
  expect(totals(['passed', 'skipped', 'todo'], { ci: '' })).toEqual([0, said])
})

test.each<[what: string, run: Run, line: string]>([
  ['a test that failed', ['passed', 'failed'], '1 passed, 1 failed, 0 skipped\n'],
  ['a file that does not load', ['passed', 'broken'], '1 passed, 1 failed, 0 skipped\n'],
  ['a run without tests', [], '0 passed, 1 failed, 0 skipped\n'],
])('%s is a failure', (_what, run, line) => {
  expect(totals(run)).toEqual([1, line])
})

test('a report that is not there is a failure', () => {
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, join(folder, 'none.json')], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([1, '0 passed, 1 failed, 0 skipped\n'])
})

test('files that failed are named for a second try, unless there are many', () => {
  expect(print({ args: ['--failed'], runs: [['passed', 'failed', 'broken']] })).toEqual([0, '/project/1.test.ts\n/project/2.test.ts\n'])
  expect(print({ args: ['--failed'], runs: [Array.from({ length: 6 }, () => 'failed')] })).toEqual([0, ''])
})

test('what passes at the second try is told, and counts as passed', () => {
  const said = 'passed at the second try: test 0\n2 passed, 0 failed, 0 skipped\n'
  expect(print({ runs: [['failed', 'passed'], ['passed']] })).toEqual([0, said])
})

test('what fails twice, or is broken at the second try, is a failure', () => {
  expect(print({ runs: [['failed', 'passed'], ['failed']] })).toEqual([1, '1 passed, 1 failed, 0 skipped\n'])
  expect(print({ runs: [['failed', 'passed'], ['broken']] })).toEqual([1, '1 passed, 1 failed, 0 skipped\n'])
})

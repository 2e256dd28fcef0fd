/**
 * Reads vitest's JSON reports of a CI run: the first of all tests and, where files failed, the second of those files alone.
 *
 * `totals.mjs FIRST [SECOND]` prints the last line, `N passed, N failed, N skipped`. What passed at the second try alone is
 * named first and counts as passed. Exit code 1 without a report, when no test ran, when one failed twice, and in CI when
 * one was skipped: their names come first.
 *
 * `totals.mjs --failed FIRST` prints the files to try again, one a line: none where so many failed that no chance did it.
 */
import { readFileSync } from 'node:fs'

const MOST = 5

if (process.argv[2] === '--failed') printFailed(filesOf(process.argv[3]))
else printTotals(filesOf(process.argv[2]), filesOf(process.argv[3]))

function printFailed(files) {
  const failed = files.filter(({ status, tests }) => status === 'failed' || tests.some((test) => test.status === 'failed'))
  if (failed.length <= MOST) for (const { name } of failed) process.stdout.write(`${name}\n`)
}

function printTotals(first, second) {
  const again = new Map(second.map((file) => [file.name, file]))
  const files = first.map((file) => again.get(file.name) ?? file)
  const tests = files.flatMap(({ tests }) => tests)
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed')
  const passed = tests.filter(({ status }) => status === 'passed').length
  // A file that does not load counts as one failure: none of its tests are in the totals.
  const broken = files.filter(({ status, tests }) => status === 'failed' && tests.length === 0).length
  const failed = tests.filter(({ status }) => status === 'failed').length + broken + (first.length === 0 ? 1 : 0)

  for (const { fullName } of secondTries(first, again)) process.stdout.write(`passed at the second try: ${fullName}\n`)
  for (const { fullName } of skipped) process.stdout.write(`skipped: ${fullName}\n`)
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped.length} skipped\n`)
  if (passed === 0 || failed > 0 || (process.env['CI'] === 'true' && skipped.length > 0)) process.exitCode = 1
}

function secondTries(first, again) {
  return first.flatMap(({ name, tests }) => {
    const passed = new Set(again.get(name)?.tests.flatMap(({ fullName, status }) => (status === 'passed' ? [fullName] : [])))
    return tests.filter(({ fullName, status }) => status === 'failed' && passed.has(fullName))
  })
}

/** The files of a report with their tests; none without a report. */
function filesOf(path) {
  try {
    const { testResults } = JSON.parse(readFileSync(path, 'utf8'))
    return testResults.map(({ name, status, assertionResults }) => ({ name, status, tests: assertionResults }))
  } catch {
    return []
  }
}

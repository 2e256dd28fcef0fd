/**
 * Prints the last line of a CI run from vitest's JSON report: `N passed, N failed, N skipped`. Exit code 1 without a report, when no
 * test ran, when one failed, and in CI when one was skipped: their names come first.
 */
import { readFileSync } from 'node:fs'

const report = read(process.argv[2])
const files = report?.testResults ?? []
const passed = report?.numPassedTests ?? 0
// A file that does not load counts as one failure: none of its tests are in the totals.
const failed =
  (report?.numFailedTests ?? 1) +
  files.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0).length
const skipped = files.flatMap(({ assertionResults }) => assertionResults.filter(({ status }) => status !== 'passed' && status !== 'failed'))
for (const { fullName } of skipped) process.stdout.write(`skipped: ${fullName}\n`)
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped.length} skipped\n`)
if (passed === 0 || failed > 0 || (process.env['CI'] === 'true' && skipped.length > 0)) process.exitCode = 1

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Prints the last line of a CI run from vitest's JSON report: `N passed, N failed`. Exit code 1 without a report or when no test ran. */
import { readFileSync } from 'node:fs'

const report = read(process.argv[2])
const passed = report?.numPassedTests ?? 0
// A file that does not load counts as one failure: none of its tests are in the totals.
const failed =
  (report?.numFailedTests ?? 1) +
  (report?.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length ?? 0)
process.stdout.write(`${passed} passed, ${failed} failed\n`)
if (passed === 0 || failed > 0) process.exitCode = 1

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

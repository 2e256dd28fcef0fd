/**
 * Breaks the handler of every operation in turn and makes the contract test's valid call of it, with a server that is a copy
 * of the built one. Prints the mutants nobody noticed; the last line is `survivors: N`. Exit code 1 unless it is 0.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-mutate-'))
const report = join(folder, 'report.json')
const TESTS = ['test/e2e/contract.test.ts', 'test/e2e/operation-mutants.test.ts']
const LIMIT_MS = 600_000

const args = ['--no-install', 'vitest', 'run', '--project', 'program', ...TESTS, '--reporter=json', `--outputFile=${report}`]
spawnSync('npx', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], timeout: LIMIT_MS })
const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
rmSync(folder, { recursive: true, force: true })

const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
const isMutant = ({ title }) => title.includes('does not pass when')
const [mutants, sound] = [tests.filter(isMutant), tests.filter((each) => !isMutant(each))]
const unfit = sound.filter(({ status }) => status !== 'passed')
const survivors = mutants.filter(({ status }) => status !== 'passed')
for (const { message } of testResults) if (message) process.stdout.write(`${message}\n`)
for (const { title } of unfit) process.stdout.write(`fails without a mutant: ${title}\n`)
for (const { title } of survivors) process.stdout.write(`survived: ${title}\n`)
process.stdout.write(`${sound.length} tests without a mutant, ${mutants.length} mutants\nsurvivors: ${survivors.length}\n`)
if (mutants.length === 0 || unfit.length > 0 || survivors.length > 0) process.exitCode = 1

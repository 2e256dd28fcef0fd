/**
 * `npm run simulate -- --seed N --hours H`: plays histories of that seed and those after it, until their clocks have gone so many hours. The
 * first that fails is cut down and printed as a test. What a seed plays is the same on every machine: compare `trace`.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compare } from '../../src/kernel/sort.js'
import { createRandom } from '../../src/simulation/random.js'
import { allTransitions, coveredOf, noteTransitions } from './coverage.js'
import { DEFECTS } from './defects.js'
import { widened } from './draw-wide.js'
import { draw } from './history.js'
import { traceOf } from './recorded.js'
import { show, type Shown } from './search.js'
import { play } from './simulate.js'
import { shrink, testOf } from './shrink.js'

const HOUR = 3_600_000
/** Seconds in which a defect has to be found and shrunk, and to fewer than so many steps. */
const MINUTE = 60
const SHORT = 30

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    hours: { type: 'string', default: '24' },
    steps: { type: 'string', default: '120' },
    // One of the planted defects, to see that it is found.
    defect: { type: 'string' },
    // Searches each of them, from the seed on, and shrinks what it finds; prints a table.
    defects: { type: 'boolean', default: false },
    // Tells which transitions of machines were taken.
    coverage: { type: 'boolean', default: false },
  },
})

const write = (line: string) => void process.stdout.write(`${line}\n`)
const steps = Number(values.steps)
if (values.defects) await searchAll(Number(values.seed), values.defect)
else await playAll()

async function playAll(): Promise<void> {
  const coverage = values.coverage ? noteTransitions() : undefined
  const plant = DEFECTS[values.defect ?? ''] ?? (() => ({}))
  const floods = values.defect === 'a queue without a bound'
  const all = createHash('sha256')
  const outcomes = new Map<string, number>()
  let passed = 0
  let seed = Number(values.seed)
  for (; passed < Number(values.hours) * HOUR; seed++) {
    const history = widened(seed, draw(createRandom(seed), steps, { floods, hours: true }))
    const { trace, lasted, met, fault } = await play(seed, history, plant())
    all.update(trace)
    passed += lasted
    for (const [kind, count] of met) outcomes.set(kind, (outcomes.get(kind) ?? 0) + count)
    write(`seed ${seed}: ${history.length} steps, ${(lasted / HOUR).toFixed(1)} h, trace ${trace}`)
    if (fault === undefined) continue
    write(`after step ${fault.after}: ${fault.says}`)
    const shrunk = await shrink(seed, history, plant)
    write(`${shrunk.history.length} steps are enough (${shrunk.tries} histories were tried):\n\n${testOf(seed, shrunk)}`)
    const file = join(tmpdir(), `svc-simulated-${seed}.json`)
    writeFileSync(file, JSON.stringify(await traceOf(seed, shrunk.history, plant())))
    write(`its last life, for the inspector: svc inspect --trace ${file}`)
    process.exitCode = 1
    break
  }
  for (const [kind, count] of [...outcomes].toSorted(([one], [other]) => compare(one, other))) write(`${kind} × ${count}`)
  if (coverage !== undefined) {
    for (const { machine, taken, total, never } of coveredOf(await allTransitions(), coverage.taken)) {
      write(`${machine}: ${taken} of ${total} transitions${taken === 0 ? '' : never.map((name) => `\n  never ${name}`).join('')}`)
    }
  }
  write(`seed ${values.seed}, ${(passed / HOUR).toFixed(1)} h, trace ${all.digest('hex')}`)
  // What it cost differs from machine to machine: it is no part of what is compared.
  const { user, system } = process.cpuUsage()
  const seconds = (user + system) / 1e6
  const days = passed / (24 * HOUR)
  process.stderr.write(`${seconds.toFixed(1)} s of processor time: ${Math.round((days / seconds) * 600)} days in ten minutes of it\n`)
}

/** Each with a minute of processor time. Exit code 1: one was not found, or not shrunk. */
async function searchAll(first: number, only: string | undefined): Promise<void> {
  write('defect | seed | seconds | histories | steps | shrunk to | seconds | what does not hold')
  for (const [name, plantIt] of Object.entries(DEFECTS)) {
    if (only !== undefined && only !== name) continue
    const shown = await show(plantIt, first, MINUTE)
    if (shown === undefined || shown.shrunk.history.length >= SHORT) process.exitCode = 1
    write([name, ...(shown === undefined ? ['not found'] : cellsOf(shown))].join(' | '))
  }
}

function cellsOf({ seed, played, history, shrunk, took: [found, all] }: Shown): readonly unknown[] {
  const { says, history: short } = shrunk
  return [seed, found.toFixed(1), played, history.length, short.length, (all - found).toFixed(1), says.slice(0, says.indexOf(':'))]
}

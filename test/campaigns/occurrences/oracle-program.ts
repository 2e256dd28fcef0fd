/** `node oracle-program.mjs <seed> <count>` in some zone of the machine: prints what it compared and where the two disagree. */
import { cases, disagreement } from './oracle-cases.js'

const [seed = 1, count = 1] = process.argv.slice(2).map(Number)
const wrong: string[] = []
const zones = new Set<string>()
let compared = 0
for (const each of cases(seed, count)) {
  zones.add(each.schedule.timezone)
  compared += 1
  const found = disagreement(each)
  if (found !== undefined && wrong.length < 5) wrong.push(found)
}
const host = new Intl.DateTimeFormat().resolvedOptions().timeZone
process.stdout.write(
  JSON.stringify({ host, offset: new Date(Date.UTC(2026, 6, 1)).getTimezoneOffset(), compared, zones: zones.size, wrong }),
)

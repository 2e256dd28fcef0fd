import { DEFECTS } from './defects.js'
import { processorSeconds, searchFor } from './search.js'
import { shrink } from './shrink.js'
const budget = Number(process.argv[3] ?? 60)
const steps = Number(process.argv[4] ?? 60)
const only = process.argv[5]
for (const [name, plant] of Object.entries(DEFECTS)) {
  if (only !== undefined && !name.includes(only)) continue
  const from = processorSeconds()
  const found = await searchFor(plant, { seed: Number(process.argv[2] ?? 1), steps, isOver: () => processorSeconds() - from > budget })
  const took = processorSeconds() - from
  if (!found) { console.log(`${name} | NOT FOUND in ${took.toFixed(1)}`); continue }
  const before = processorSeconds()
  const shrunk = await shrink(found.seed, found.history, plant)
  console.log(`${name} | seed ${found.seed} | ${took.toFixed(1)} s, ${found.played} played | ${found.history.length} -> ${shrunk.history.length} in ${(processorSeconds() - before).toFixed(1)} s, ${shrunk.tries} tries | ${shrunk.says.slice(0, shrunk.says.indexOf(':'))}`)
}

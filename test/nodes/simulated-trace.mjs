/** Prints the trace of a simulated story; its argument is the path of `svc/testing`. */
import { pathToFileURL } from 'node:url'

const WORKFLOW = `---
id: nightly
name: Nightly
active: true
schedule: { frequency: daily, time: "02:30", timezone: Europe/Berlin }
---

Write the report.
`
const echo = { id: 'echo', description: 'Echoes.', parameters: { type: 'object' }, execute: () => 'echoed' }
const model = ({ messages }) => (messages.at(-1).role === 'tool' ? 'said' : { calls: [{ tool: 'echo', input: {} }], takes: 100 })
const { simulate } = await import(pathToFileURL(process.argv[2]).href)
const options = {
  seed: 1,
  at: '2026-03-28T12:00:00Z',
  workflows: { nightly: WORKFLOW },
  plugins: [{ id: 'dev.example.echo', plugin: { tools: [echo] } }],
  model,
  faults: { hostDies: { every: { hours: 20 } } },
}
const told = await simulate(options, async (world) => {
  const session = await world.sessions.create()
  for (let prompt = 0; prompt < 4; prompt++) {
    await world.sessions.ask(session, `prompt ${prompt}`)
    await world.clock.advance({ hours: 11 })
  }
  return `${world.trace} after ${world.lives} lives`
})
process.stdout.write(`${told}\n`)

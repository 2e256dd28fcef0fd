// Search over many messages: what indexing costs, how soon a message is found, how long a search takes. `node bench/search.mjs [messages]`
// Runs the store alone, in memory of this process and a directory of its own; figures of a loaded machine are upper bounds.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { build } from 'esbuild'

const COUNT = Number(process.argv[2] ?? 100_000)
const WORDS = 60
const directory = mkdtempSync(join(tmpdir(), 'svc-search-'))
const bundle = join(import.meta.dirname, '..', 'node_modules', `.search-bench-${process.pid}.mjs`)
await build({
  stdin: {
    contents: "export { openStore } from './src/store/open.ts'",
    resolveDir: join(import.meta.dirname, '..'),
    loader: 'ts',
  },
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  outfile: bundle,
  logLevel: 'error',
})
const { openStore } = await import(bundle)
const store = openStore({ directory, now: Date.now })

let state = 7
const roll = () => {
  state = (Math.imul(state, 1664525) + 1013904223) | 0
  return (state >>> 0) / 2 ** 32
}
const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru pla ste tri'.split(' ')
const word = () => Array.from({ length: 2 + Math.floor(roll() * 3) }, () => SYLLABLES[Math.floor(roll() * SYLLABLES.length)]).join('')
const vocabulary = [...new Set(Array.from({ length: 60_000 }, word))]
const pick = () => vocabulary[Math.floor(vocabulary.length * roll() ** 3)]
const sentence = () => Array.from({ length: WORDS }, pick).join(' ')

let sequence = 0
const session = (id) => ({
  id,
  slug: id,
  projectId: 'global',
  directory: '/srv',
  title: id,
  version: '0',
  time: { created: 1, updated: 1 },
})
const model = { providerId: 'svc', modelId: 'offline' }
function say(id, sessionId, text) {
  store.messages.append({ role: 'user', id, sessionId, time: { created: 1 }, agent: 'build', model }, [
    { id: `prt_${id}`, sessionId, messageId: id, type: 'text', text },
  ])
}
function tell(id, sessionId) {
  sequence += 1
  const json = JSON.stringify({ sequence, type: 'message.updated', data: { sessionID: sessionId, info: { id } } })
  store.events.insert({ sequence, type: 'message.updated', sessionId, json, created: Date.now() })
}

const texts = Array.from({ length: COUNT }, sentence)
for (let from = 0; from < COUNT; from += 1000)
  store.transact('process', () => {
    const sessionId = `ses_${from}`
    store.sessions.insert(session(sessionId))
    for (let at = from; at < Math.min(COUNT, from + 1000); at++) say(`msg_${at}`, sessionId, texts[at])
  })

const quantile = (times, q) => times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * q))]
const shown = (times) =>
  `p50 ${quantile(times, 0.5).toFixed(2)}  p95 ${quantile(times, 0.95).toFixed(2)}  max ${quantile(times, 1).toFixed(2)} ms`
const cpu = () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000

store.search.open()
function find(...asked) {
  const parts = store.search.parts(...asked)
  for (;;) {
    const part = parts.next()
    if (part.done) return part.value
  }
}
/** Steps as the indexer makes them, others between them; answers how long each held the main thread. */
async function catchUp() {
  const held = []
  for (let step = 'more'; step === 'more'; ) {
    await new Promise(setImmediate)
    const began = performance.now()
    step = store.search.step()
    held.push(performance.now() - began)
  }
  return held
}
const before = cpu()
const steps = await catchUp()
console.log(`build of ${COUNT}: ${((cpu() - before) / COUNT).toFixed(3)} ms CPU a message; steps: ${shown(steps)}`)
console.log(
  `index: ${(statSync(join(directory, 'search.sqlite3')).size / 1e6).toFixed(0)} MB of ${(texts.join('').length / 1e6).toFixed(0)} MB text`,
)

const sum = (times) => times.reduce((total, time) => total + time, 0)
const turns = []
const floors = []
const turnSteps = []
for (let at = 0; at < 300; at++) {
  const ids = [`msg_p${at}`, `msg_a${at}`]
  const said = performance.now()
  store.transact('process', () => {
    for (const id of ids) {
      say(id, 'ses_0', `${sentence()} needle${at}`)
      tell(id, 'ses_0')
    }
  })
  floors.push(performance.now() - said)
  const held = await catchUp()
  turns.push(sum(held))
  turnSteps.push(...held)
  if (find(`needle${at}`, 10).length !== 2) throw new Error('a turn was not found')
}
const mean = (times) => sum(times) / times.length
console.log(`one turn of two messages, on the main thread: mean ${mean(turns).toFixed(2)}  ${shown(turns)}`)
console.log(`  the commit that says them: ${shown(floors)}; indexing is ${(mean(turns) / mean(floors)).toFixed(1)} times that`)
console.log(`  each step of it: ${shown(turnSteps)}`)
const longest = []
for (let at = 0; at < 20; at++) {
  store.transact('process', () => {
    say(`msg_l${at}`, 'ses_0', Array.from({ length: 900 }, pick).join(' '))
    tell(`msg_l${at}`, 'ses_0')
  })
  longest.push(Math.max(...(await catchUp())))
}
console.log(`the longest step of a message as long as any is indexed: ${shown(longest)}`)
console.log(`longest step on the main thread: ${[...steps, ...turnSteps].reduce((most, time) => Math.max(most, time), 0).toFixed(1)} ms`)

const some = (make) => Array.from({ length: 200 }, make)
const chosen = () => texts[Math.floor(roll() * COUNT)].split(' ')
const rare = () => vocabulary[Math.floor(vocabulary.length * (0.5 + roll() / 2))]
const typo = (text) => text.slice(0, 3) + text.slice(4)
const QUERIES = {
  'usual word': some(() => vocabulary[Math.floor(roll() * 20)]),
  'rare word': some(rare),
  phrase: some(() => chosen().slice(10, 14).join(' ')),
  'three words': some(() => [3, 20, 40].map((at) => chosen()[at]).join(' ')),
  'inside of words': some(() => rare().slice(1, 6)),
  'mistyped word': some(() => typo(rare())),
  sentence: some(() => [...chosen().slice(0, 12), rare()].join(' ')),
  'no such word': some(() => `qq${rare()}vv`),
}
const all = []
for (const [name, queries] of Object.entries(QUERIES)) {
  const times = queries.map((query) => {
    const began = performance.now()
    find(query, 20)
    return performance.now() - began
  })
  all.push(...times)
  console.log(`${name.padEnd(16)} ${shown(times)}`)
}
console.log(`${'all'.padEnd(16)} ${shown(all)}`)

const LENGTH = 256
const vector = () => Float32Array.from({ length: LENGTH }, () => roll() - 0.5)
const refused = store.search.useVectors('bench/model')
if (refused === undefined) {
  for (let batch = store.search.unembedded(32); batch.length > 0; batch = store.search.unembedded(32))
    store.search.putVectors(batch.map(({ key }) => ({ key, vector: vector() })))
  const times = (near) =>
    some(rare).map((query) => {
      const began = performance.now()
      find(query, 20, undefined, near?.())
      return performance.now() - began
    })
  const words = times()
  const meant = times(vector)
  const ratio = quantile(meant, 0.95) / quantile(words, 0.95)
  console.log(`with vectors of ${LENGTH} numbers ${shown(meant)}; p95 is ${ratio.toFixed(1)} times that of the words alone`)
} else console.log(`no vectors: ${refused}`)
store.close()
rmSync(directory, { recursive: true })
rmSync(bundle)

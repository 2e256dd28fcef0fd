/**
 * Nothing stalls the server: its health is asked from another process while the model, its tools and clients do what none of them means, as much
 * of it as the limits let through. `SVC_CAMPAIGN=whole` makes the whole run (`npm run campaigns`), `SVC_FLOOD` names one flood. Of each it tells how fast health
 * was answered, and the longest time that the main thread took for itself: on a busy machine the second is the one to go by.
 */
import { describe, expect, test } from 'vitest'
import { longestStall, quantile, startProbe } from '../../e2e/server/probe.js'
import { ANSWERS, SAMPLED_ANSWERS } from './answers.js'
import { COMMANDS, OUTPUTS, SAMPLED_COMMANDS } from './commands.js'
import { PATCHES, PROMPTS, SAMPLED_PATCHES, SAMPLED_PROMPTS } from './documents.js'
import { FILES, makeFiles, SAMPLED_FILES } from './files.js'
import { PEERS } from './peers.js'
import { REPOSITORIES, SAMPLED_REPOSITORIES } from './repositories.js'
import { REQUESTS, SAMPLED_REQUESTS } from './requests.js'
import { type Flood, type Flooded, openFlooded, type Size } from './scene.js'

const size: Size = process.env['SVC_CAMPAIGN'] === 'whole' ? 'whole' : 'sample'
const only = process.env['SVC_FLOOD']
const of = (whole: readonly Flood[], sample: readonly Flood[]) =>
  (size === 'whole' ? whole : sample).filter(
    ({ name }) => only === undefined || name === only || name.startsWith('read a file of one line'),
  )

const allowed = { permission: { '*': 'allow' } }
const CLASSES: Readonly<Record<string, { readonly floods: readonly Flood[]; readonly open: () => Promise<Flooded> }>> = {
  commands: { floods: of(COMMANDS, SAMPLED_COMMANDS), open: () => openFlooded(size, { permission: { '*': 'allow', bash: 'ask' } }) },
  outputs: { floods: of(OUTPUTS, []), open: () => openFlooded(size, allowed, 'once') },
  answers: { floods: of(ANSWERS, SAMPLED_ANSWERS), open: () => openFlooded(size, allowed) },
  files: { floods: of(FILES, SAMPLED_FILES), open: openWithFiles },
  repositories: { floods: of(REPOSITORIES, SAMPLED_REPOSITORIES), open: () => openFlooded(size, allowed) },
  requests: { floods: of(REQUESTS, SAMPLED_REQUESTS), open: () => openFlooded(size) },
  patches: { floods: of(PATCHES, SAMPLED_PATCHES), open: () => openFlooded(size) },
  peers: { floods: of(PEERS, PEERS), open: () => openFlooded(size) },
  prompts: { floods: of(PROMPTS, SAMPLED_PROMPTS), open: () => openFlooded(size, allowed) },
}

async function openWithFiles(): Promise<Flooded> {
  const flooded = await openFlooded(size, allowed)
  makeFiles(flooded)
  return flooded
}

describe.each(Object.entries(CLASSES).filter(([, { floods }]) => floods.length > 0))('floods of %s', (name, { floods, open }) => {
  test('the server answers others meanwhile', { timeout: 3_600_000 }, async () => {
    const flooded = await open()
    const slow: object[] = []
    const all: number[] = []
    let worst = 0
    try {
      await flooded.callTool('glob', [{ pattern: '*' }])
      for (const flood of floods) {
        const prepared = await flood.prepare?.(flooded)
        await longestStall(flooded.server)
        const probe = await startProbe(flooded.server, '/v2/health', size === 'whole' ? 20 : 100)
        await flood.run(flooded, prepared)
        const times = await probe.stop()
        const stall = await longestStall(flooded.server)
        const figures = { p50: quantile(times, 0.5), p99: quantile(times, 0.99), max: times.at(-1) ?? 0, stall, answers: times.length }
        if (size === 'whole') tell(`  ${flood.name}`, figures)
        // Beside other tests health is late for reasons of theirs; there the main thread alone is looked at.
        const isSlow = size === 'whole' ? figures.p99 > 200 || figures.max > 500 : stall > 500
        if (isSlow) slow.push({ flood: flood.name, ...figures })
        all.push(...times)
        worst = Math.max(worst, stall)
      }
    } finally {
      await flooded.close()
    }
    const times = all.toSorted((a, b) => a - b)
    tell(`${floods.length} floods of ${name}`, {
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      max: times.at(-1) ?? 0,
      stall: worst,
      answers: times.length,
    })
    expect(slow).toEqual([])
  })
})

function tell(what: string, figures: Readonly<Record<'p50' | 'p99' | 'max' | 'stall' | 'answers', number>>): void {
  const { p50, p99, max, stall, answers } = figures
  const [a, b, c, d] = [p50, p99, max, stall].map((ms) => ms.toFixed(0))
  process.stdout.write(`${what}: health p50 ${a} ms, p99 ${b} ms, max ${c} ms of ${answers} answers; longest stall ${d} ms\n`)
}

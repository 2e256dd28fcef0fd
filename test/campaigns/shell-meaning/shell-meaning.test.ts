/**
 * Lines of shell that need no answer do nothing that would need one: real bash runs them among bait. `SVC_CAMPAIGN=whole`
 * makes the whole run (`npm run campaigns`), `SVC_CAMPAIGN_SEED` another one.
 */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SEED, WHOLE } from '../scale.js'
import { campaign, effectsUnder, type Outcome } from './campaign.js'

const LINES = Number(process.env['SVC_CAMPAIGN_LINES'] ?? (WHOLE ? 250_000 : 1500))
const HOUR = 3_600_000
const bash = ['bash', 'timeout'].every((name) => ['/usr/bin', '/bin'].some((directory) => existsSync(`${directory}/${name}`)))

function report(name: string, { generated, allowed, run, endless, escapes }: Outcome): void {
  console.info(
    `${name}: seed ${SEED}, generated ${generated}, judged allow ${allowed}, run ${run}, without end ${endless}, escapes ${escapes.length}`,
  )
  for (const { index, line, short, effects } of escapes) console.info(JSON.stringify({ index, short, effects, line }))
}

test.skipIf(!bash)(
  'no line that needs no answer leaves a mark, changes a file or shows a secret',
  { timeout: WHOLE ? HOUR : 60_000 },
  async () => {
    const outcome = await campaign({ seed: SEED, lines: LINES })
    report('shell-meaning', outcome)
    expect(outcome.escapes.map(({ short }) => short)).toEqual([])
    expect(outcome.allowed).toBeGreaterThan(outcome.generated / 10)
  },
)

test.skipIf(!bash)('the campaign finds what a judge lets through that ignores its reasons', async () => {
  const effects = await effectsUnder((scan) => ({ ...scan, reasons: [] }), 1, 800)
  expect(effects.some((effect) => effect.startsWith('marks/'))).toBe(true)
})

test.skipIf(!bash)('and what one shows that ignores what is read', async () => {
  const effects = await effectsUnder((scan) => ({ ...scan, reads: [], unknownReads: [], outside: [] }), 1, 800)
  expect(effects.some((effect) => effect.startsWith('secret-'))).toBe(true)
})

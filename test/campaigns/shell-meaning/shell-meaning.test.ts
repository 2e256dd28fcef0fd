/**
 * Lines of shell that need no answer do nothing that would need one: real bash runs them among bait. `SVC_CAMPAIGN=whole`
 * makes the whole run (`npm run campaigns`), `SVC_CAMPAIGN_SEED` another one.
 */
import { expect, test } from 'vitest'
import { lacking } from '../../fakes/machine.js'
import { PATIENCE } from '../../fakes/patience.js'
import { SEED, WHOLE } from '../scale.js'
import { campaign, effectsUnder, type Outcome } from './campaign.js'

const LINES = Number(process.env['SVC_CAMPAIGN_LINES'] ?? (WHOLE ? 250_000 : 600))
const HOUR = 3_600_000
const NO_BASH = lacking('bash', 'timeout')

function report(name: string, { generated, allowed, run, endless, escapes }: Outcome): void {
  console.info(
    `${name}: seed ${SEED}, generated ${generated}, judged allow ${allowed}, run ${run}, without end ${endless}, escapes ${escapes.length}`,
  )
  for (const { index, line, short, effects } of escapes) console.info(JSON.stringify({ index, short, effects, line }))
}

test.skipIf(NO_BASH !== '')(
  `no line that needs no answer leaves a mark, changes a file or shows a secret${NO_BASH}`,
  { timeout: WHOLE ? HOUR : 3 * PATIENCE },
  async () => {
    const outcome = await campaign({ seed: SEED, lines: LINES })
    report('shell-meaning', outcome)
    expect(outcome.escapes.map(({ short }) => short)).toEqual([])
    expect(outcome.allowed).toBeGreaterThan(outcome.generated / 10)
  },
)

test.skipIf(NO_BASH !== '')(`the campaign finds what a judge lets through that ignores its reasons${NO_BASH}`, async () => {
  const effects = await effectsUnder((scan) => ({ ...scan, reasons: [] }), 1, 800)
  expect(effects.some((effect) => effect.startsWith('marks/'))).toBe(true)
})

test.skipIf(NO_BASH !== '')(`and what one shows that ignores what is read${NO_BASH}`, async () => {
  const effects = await effectsUnder((scan) => ({ ...scan, reads: [], unknownReads: [], outside: [] }), 1, 800)
  expect(effects.some((effect) => effect.startsWith('secret-'))).toBe(true)
})

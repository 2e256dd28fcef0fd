/** Lines are judged the same on a machine that is busy elsewhere: only the time that the judgement itself takes is bounded. */
import { expect, it } from 'vitest'
import { createShellScanner } from '../../../src/plugins/shell/judge/scan.js'
import { createShellParser } from '../../../src/plugins/shell/parse/syntax.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { grammar } from './fixture.js'

const LINE = 'sleep 300 >/dev/null 2>&1 & sleep 0.3; echo done'

/** Why a line needs an answer, by a scanner with this clock. */
async function reasonsOf(monotonic: () => number, core = grammar.core, line = LINE): Promise<readonly string[]> {
  const { files, paths } = createFakeEffects()
  const place = { session: paths.cwd, directory: paths.cwd, home: paths.home, environment: new Set<string>() }
  const view = { ...files, list: async () => [], named: async () => [] }
  return (await createShellScanner({ ...grammar, core }, monotonic).scan(line, { ...place, files: view as never })).reasons
}

it('the grammar may take its time to load', async () => {
  let now = 0
  const core = async () => {
    now += 60_000
    return grammar.core()
  }
  expect(await reasonsOf(() => now, core)).toEqual([])
})

it('a line may be interrupted while it is judged', async () => {
  let looks = 0
  let now = 0
  expect(await reasonsOf(() => (now += ++looks % 5 === 0 ? 10_000 : 0))).toEqual([])
  expect(looks).toBeGreaterThan(20)
})

it('a line that takes long to judge by itself needs an answer', async () => {
  let now = 0
  expect(await reasonsOf(() => (now += 90), grammar.core, `${LINE}; `.repeat(8))).toEqual(['it takes too long to judge'])
})

it('a parser may be interrupted for long', async () => {
  const line = 'a; '.repeat(2000)
  let looks = 0
  let now = 0
  const parser = createShellParser(
    grammar,
    () => (now += ++looks % 50 === 0 ? 10_000 : 0.01),
    () => Promise.resolve(),
  )
  expect(await parser.parse(line)).toHaveProperty('root')
  expect(now).toBeGreaterThan(20_000)
})

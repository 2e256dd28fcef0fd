import { expect, it } from 'vitest'
import { createShellParser } from '../../../src/plugins/shell/parse/syntax.js'
import { grammar } from './fixture.js'

const LINES = {
  'a pipe': `${'a|'.repeat(2000)}a`,
  'a list': 'a; '.repeat(2000),
  'quotes and substitutions': `echo ${`"a $(b 'c' \${d:-e}) f" `.repeat(150)}`,
  'here-documents': "cat <<'A'\nline $(a)\nA\n".repeat(200),
  'loops in conditions': 'if [[ -f a ]]; then for i in {a,b}; do echo "$i" >>c; done; fi\n'.repeat(60),
}

it.each(Object.entries(LINES))('%s is read in slices as it is at once', async (_, line) => {
  const atOnce = await createShellParser(
    grammar,
    () => 0,
    () => Promise.resolve(),
  ).parse(line)
  let now = 0
  let pauses = 0
  const slowly = createShellParser(
    grammar,
    () => (now += 0.5),
    async () => void pauses++,
  )
  expect(await slowly.parse(line)).toEqual(atOnce)
  expect(atOnce).toHaveProperty('root')
  expect(pauses).toBeGreaterThan(1)
})

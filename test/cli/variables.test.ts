import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { GIVEN, READ, unreadVariables } from '../../src/cli/serve/variables.js'

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url))

test('variables of svc without effect are named; those that are read, given to children or of tests are not', () => {
  expect(
    unreadVariables({
      PATH: '/bin',
      SVC_LOG: 'info',
      SVC_TERMINAL: '1',
      SVC_TEST_SEED: '1',
      SVC_URL: 'http://x.test',
      SVC_AGENT_MODELS_URL: 'http://x.test',
      SVC_AGENT_MY_VENDOR_2_BASE_URL: 'http://x.test',
      SVC_AGENT_BASEURL: 'http://x.test',
      SVC_AGENT_MODLE: 'slip',
      SVC_AGENT_AUTO_COMPACT: '',
    }),
  ).toEqual(['SVC_AGENT_BASEURL', 'SVC_AGENT_MODLE'])
})

test('the list of variables that are read is what the sources name', () => {
  const named = new Set<string>()
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name === 'cli/variables.ts') continue
    for (const [, quoted = ''] of readFileSync(join(SOURCES, name), 'utf8').matchAll(/'(SVC_[A-Z_]+)'/g)) named.add(quoted)
  }
  for (const name of GIVEN) named.delete(name)
  expect([...named].toSorted()).toEqual([...READ].toSorted())
})

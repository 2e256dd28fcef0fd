// Holds sessions-events §6.2; subsystems b.1; choice 23.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { compactionOverrides } from '../../../src/machines/session/compaction/window.js'
import { retryPolicyOf } from '../../../src/machines/session/retry.js'
import { ExternalProvider } from '../../../src/protocol/session/external-provider.js'
import { GIVEN, unreadValues, unreadVariables, VARIABLES } from '../../../src/protocol/system/variables.js'

const SOURCES = fileURLToPath(new URL('../../../src', import.meta.url))

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
      ...Object.fromEntries(ExternalProvider.options.map((id) => [`SVC_EXTERNAL_${id.toUpperCase()}_COMMAND`, '["agent"]'])),
      SVC_EXTERNAL_NOBODY_COMMAND: '["nobody"]',
      SVC_AGENT_BASEURL: 'http://x.test',
      SVC_AGENT_MODLE: 'slip',
      SVC_AGENT_AUTO_COMPACT: '',
    }),
  ).toEqual(['SVC_AGENT_BASEURL', 'SVC_AGENT_MODLE', 'SVC_EXTERNAL_NOBODY_COMMAND'])
})

test('the list of variables that are read is what the sources name', () => {
  const named = new Set<string>()
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name === 'protocol/system/variables.ts') continue
    for (const [, quoted = ''] of readFileSync(join(SOURCES, name), 'utf8').matchAll(/'(SVC_[A-Z_]+)'/g)) named.add(quoted)
  }
  for (const name of GIVEN) named.delete(name)
  expect([...named].toSorted()).toEqual(VARIABLES.toSorted())
})

/** What can be read, for each variable whose value is more than text. */
const READABLE: Readonly<Record<string, readonly string[]>> = {
  SVC_AGENT_ALLOW_UNAUTHENTICATED_REMOTE: ['1', '0'],
  SVC_AGENT_DISABLE_PROJECT_CONFIG: ['1', 'true', 'YES', '0'],
  SVC_AGENT_PLUGIN_SANDBOX: ['required', 'off', 'AUTO'],
  SVC_AGENT_PROVIDER_MAX_RETRIES: ['0', '3'],
  SVC_AGENT_PROVIDER_RETRY_INITIAL_MS: ['0', '10'],
  SVC_AGENT_PROVIDER_RETRY_MAX_MS: ['10'],
  SVC_AGENT_PROVIDER_STREAM_IDLE_TIMEOUT_MS: ['1'],
  SVC_SERVER: ['https://svc.example'],
  SVC_LOG: ['debug', 'WARN'],
  SVC_LOG_MIB: ['1', '64'],
  SVC_AGENT_AUTO_COMPACT: ['0', 'off', 'yes'],
  SVC_AGENT_AUTO_COMPACT_TOKENS: ['1000'],
  SVC_AGENT_COMPACTION_RESERVED_TOKENS: ['0'],
  SVC_AGENT_OUTPUT_TOKEN_MAX: ['32000'],
  SVC_AGENT_MODEL_COMPACTION: ['false'],
  SVC_AGENT_MODEL_COMPACTION_TIMEOUT_SECS: ['240'],
  SVC_AGENT_MANAGEMENT_API: ['0', 'no'],
  SVC_AGENT_METRICS: ['1', '0'],
  SVC_AGENT_PERF_LOG: ['1', '0'],
  SVC_AGENT_MODELS_URL: ['https://models.example'],
  SVC_AGENT_MODELS_FETCH: ['0', '1'],
  SVC_AGENT_WEBFETCH_HOSTS: ['wiki.intern:8080, 10.0.0.1', '[fd00::1]:80'],
  SVC_AGENT_WEBSEARCH_ENDPOINT: ['http://127.0.0.1:8888/search?format=json'],
  SVC_AGENT_EMBEDDINGS_MODEL: ['openai/text-embedding-3-small'],
  SVC_AGENT_EMBEDDINGS_URL: ['https://api.example/v1'],
  SVC_AGENT_DISABLE_EMBEDDINGS: ['1', '0'],
  SVC_AGENT_OPENAI_BASE_URL: ['http://127.0.0.1:1/v1'],
  SVC_EXTERNAL_CODEX_COMMAND: ['["codex-acp"]'],
}
const TEXTS =
  `TOKEN AUTH_CONFIG STATE_DIR CACHE_DIR CONFIG CONFIG_DIR CONFIG_CONTENT MODEL PROVIDER MODELS_PATH AUTH_PATH AUTH_CONTENT WEBSEARCH_KEY`
    .split(' ')
    .map((name) => `SVC_AGENT_${name}`)

test('every variable is text, or has values that cannot be read', () => {
  const known = [...Object.keys(READABLE), ...TEXTS, 'SVC_DISPLAY_NAME', 'SVC_DAEMON_TOKEN'].filter(
    (name) => !/_(?:BASE_URL|COMMAND)$/.test(name),
  )
  expect(known.toSorted()).toEqual(VARIABLES.toSorted())
})

test.each(Object.entries(READABLE))('a value of %s that cannot be read is told, without the value', (name, readable) => {
  for (const value of [...readable, '', ' ']) expect(unreadValues({ [name]: value })).toEqual([])
  const told = unreadValues({ [name]: 'no such ~ value' })
  expect(told).toEqual([{ name, problem: expect.stringMatching(/^its value is not /) as string }])
  expect(JSON.stringify(told)).not.toContain('no such')
})

test('what is told is what does not count', () => {
  for (const value of ['abc', '-1', '1.5', '12345678901']) {
    expect(unreadValues({ SVC_AGENT_PROVIDER_MAX_RETRIES: value, SVC_AGENT_OUTPUT_TOKEN_MAX: value })).toHaveLength(2)
    expect(retryPolicyOf({ SVC_AGENT_PROVIDER_MAX_RETRIES: value })).toEqual(retryPolicyOf({}))
    expect(compactionOverrides({ SVC_AGENT_OUTPUT_TOKEN_MAX: value })).toEqual(compactionOverrides({}))
  }
  expect(retryPolicyOf({ SVC_AGENT_PROVIDER_MAX_RETRIES: '7' })).toMatchObject({ tries: 7 })
})

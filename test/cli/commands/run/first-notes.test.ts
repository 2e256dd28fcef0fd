import { expect, test } from 'vitest'
import { keyInEnvironment, unseenKey } from '../../../../src/cli/first-steps.js'
import { firstWords, tellFirst, tellLast } from '../../../../src/cli/commands/run/first-notes.js'
import { createClient } from '../../../../src/published/client/client.js'
import type { ConfigDiagnostic } from '../../../../src/protocol/resource/config.js'
import { fakeTerminal } from './fake-terminal.js'

/** A server of a directory with sessions, whose configuration has these mistakes. */
function serverWith(diagnostics: readonly ConfigDiagnostic[], packages: readonly object[] = []) {
  const answers: Readonly<Record<string, unknown>> = {
    '/v2/sessions': { items: [{ id: 'ses_1' }], nextCursor: null },
    '/v2/plugins/lifecycle': packages,
    '/v2/config/validate': { ok: diagnostics.length === 0, diagnostics },
  }
  const answer = (url: string) => Response.json(answers[new URL(url).pathname])
  return createClient({ baseUrl: 'http://127.0.0.1:1', fetch: (url) => Promise.resolve(answer(url)) })
}

const of = (level: 'error' | 'warning', path: string, code?: string): ConfigDiagnostic => ({
  level,
  path,
  message: `/w/svc.json:1:2: ${path} is odd`,
  ...(code === undefined ? {} : { code }),
})

test('mistakes that change what runs unasked are told before the first prompt, and not many', async () => {
  const terminal = fakeTerminal({})
  const mistakes = [
    of('warning', 'mcp.x'),
    of('warning', 'agent.build.permission.bash'),
    of('error', 'agent'),
    of('error', 'share', 'unsupported'),
  ]
  await tellFirst(serverWith(mistakes), '/w', terminal, new Set())
  expect(terminal.said).toEqual([
    'note configuration: agent.build.permission.bash: /w/svc.json:1:2: agent.build.permission.bash is odd -> svc config validate',
    'note configuration: agent: /w/svc.json:1:2: agent is odd -> svc config validate',
  ])
  const many = fakeTerminal({})
  await tellFirst(serverWith(Array.from({ length: 9 }, (_, n) => of('error', `k${n}`))), '/w', many, new Set())
  expect(many.said).toHaveLength(3)
  const none = fakeTerminal({})
  await tellFirst(serverWith([]), '/w', none, new Set())
  expect(none.said).toEqual([])
})

test('packages that do not serve are told once, and those that turn out so after the prompt', async () => {
  const lives = (packageId: string, state: string, diagnostics: object[] = []) => ({ packageId, state, diagnostics })
  const terminal = fakeTerminal({})
  const told = new Set<string>()
  await tellFirst(serverWith([], [lives('a.b', 'permission-required'), lives('c.d', 'loading')]), '/w', terminal, told)
  const failed = lives('c.d', 'failed', [{ code: 'failed', message: 'it does not start.' }])
  await tellLast(serverWith([], [lives('a.b', 'permission-required'), failed, lives('e.f', 'update-available')]), '/w', terminal, told)
  expect(terminal.said).toEqual([
    'note plugin a.b waits for your approval, and nothing of it runs -> look at it, then: svc plugin trust a.b',
    'note plugin c.d does not run: it does not start -> svc logs --plugin c.d',
    expect.stringMatching(/^note plugin e\.f serves with what was approved; .* svc plugin trust e\.f$/),
  ])
})

test.each([
  [['everything'], [], 'files are read and changed and commands run without asking, and nothing is asked about'],
  [['everything but what is named here'], ['files outside of the directory'], 'files are read and changed and commands run without asking'],
  [
    ['everything but what is named here'],
    ['bash', 'files outside of the directory'],
    'bash is asked about, and everything else that is not denied runs without asking',
  ],
  [['read', 'grep'], ['everything but what is named here'], 'unasked: read, grep'],
  [[], ['everything'], 'unasked: nothing'],
])('what runs unasked at the first use: %j but %j', (unasked, asks, words) => {
  expect(firstWords(unasked, asks)).toBe(words)
})

test('a key that only this shell has is named', () => {
  expect(keyInEnvironment({ HOME: '/h', ANTHROPIC_API_KEY: '', GROQ_API_KEY: 'k' })).toBe('GROQ_API_KEY')
  expect(keyInEnvironment({ MY_API_KEY: 'k' })).toBeUndefined()
  expect(unseenKey('GROQ_API_KEY')).toContain('GROQ_API_KEY is set here')
})

import { expect, test } from 'vitest'
import { keyInEnvironment, unseenKey } from '../../../src/cli/first-steps.js'
import { tellFirst } from '../../../src/cli/run/first-notes.js'
import { createClient } from '../../../src/client/client.js'
import type { ConfigDiagnostic } from '../../../src/protocol/resource/config.js'
import { fakeTerminal } from './fake-terminal.js'

/** A server of a directory with sessions, whose configuration has these mistakes. */
function serverWith(diagnostics: readonly ConfigDiagnostic[]) {
  const answers: Readonly<Record<string, unknown>> = {
    '/v2/sessions': { items: [{ id: 'ses_1' }], nextCursor: null },
    '/v2/plugins/lifecycle': [],
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
  await tellFirst(serverWith(mistakes), '/w', terminal)
  expect(terminal.said).toEqual([
    'note configuration: agent.build.permission.bash: /w/svc.json:1:2: agent.build.permission.bash is odd -> svc config validate',
    'note configuration: agent: /w/svc.json:1:2: agent is odd -> svc config validate',
  ])
  const many = fakeTerminal({})
  await tellFirst(serverWith(Array.from({ length: 9 }, (_, n) => of('error', `k${n}`))), '/w', many)
  expect(many.said).toHaveLength(3)
  const none = fakeTerminal({})
  await tellFirst(serverWith([]), '/w', none)
  expect(none.said).toEqual([])
})

test('a key that only this shell has is named', () => {
  expect(keyInEnvironment({ HOME: '/h', ANTHROPIC_API_KEY: '', GROQ_API_KEY: 'k' })).toBe('GROQ_API_KEY')
  expect(keyInEnvironment({ MY_API_KEY: 'k' })).toBeUndefined()
  expect(unseenKey('GROQ_API_KEY')).toContain('GROQ_API_KEY is set here')
})

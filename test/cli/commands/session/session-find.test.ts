import { expect, test } from 'vitest'
import { chooseAgent, modelsText } from '../../../../src/cli/commands/chat/chat-choices.js'
import { missingFiles } from '../../../../src/cli/commands/run/attachments.js'
import { findSession } from '../../../../src/cli/commands/session/session-find.js'
import { createClient } from '../../../../src/published/client/client.js'

const SESSIONS = [
  { id: 'ses_aaa111', slug: 'calm-otter', title: 'First' },
  { id: 'ses_aab222', slug: 'calm-heron', title: 'Second' },
]

const client = createClient({
  baseUrl: 'http://127.0.0.1:1',
  fetch(url) {
    const { pathname } = new URL(url)
    const answers: Readonly<Record<string, unknown>> = {
      '/v2/sessions': { items: SESSIONS, nextCursor: null },
      '/v2/agents': [
        { name: 'build', mode: 'primary' },
        { name: 'plan', mode: 'primary' },
        { name: 'explore', mode: 'subagent' },
      ],
      '/v2/providers/configured': { providers: [{ id: 'local', models: { one: {}, two: {} } }] },
    }
    const named = SESSIONS.find(({ id }) => pathname === `/v2/sessions/${id}`)
    const found = named ?? answers[pathname]
    const missing = { code: 'resource.not_found', message: 'no', retryable: false, requestId: 'req_1', details: {} }
    return Promise.resolve(found === undefined ? Response.json(missing, { status: 404 }) : Response.json(found))
  },
})
const found = async (named: string) => (await findSession(client, named)).id
const problem = (asked: Promise<unknown>) => asked.then(String, (error: unknown) => (error instanceof Error ? error.message : ''))

test('a session is named by its id, its slug, or how one of them begins', async () => {
  expect(await found('ses_aaa111')).toBe('ses_aaa111')
  expect(await found('calm-heron')).toBe('ses_aab222')
  expect(await found('ses_aab')).toBe('ses_aab222')
  expect(await found('calm-o')).toBe('ses_aaa111')
})

test('what names none or several is refused, with those that may be meant', async () => {
  expect(await problem(found('calm-'))).toBe('calm- may be one of 2 sessions: ses_aaa111 (First), ses_aab222 (Second).')
  expect(await problem(found('ses_'))).toContain('There is no session ses_')
  expect(await problem(found('calm-oter'))).toBe('There is no session calm-oter; did you mean calm-otter?')
})

test('a chat goes on with an agent that is there, and tells which models are', async () => {
  expect(await chooseAgent(client, '/w', 'plan')).toBe('plan')
  expect(await problem(chooseAgent(client, '/w', 'plam'))).toContain('did you mean plan')
  expect(await problem(chooseAgent(client, '/w', 'explore'))).toBe('There is no agent "explore"; there are build, plan')
  expect(await modelsText(client, '/w', { providerId: 'local', modelId: 'two' })).toBe('now local/two; there are local/one, local/two')
})

test('a mention that looks like a path and leads to no file is told', () => {
  const text = 'see @nope.md, @src/none.ts and @build, but not @Injectable() or a@b.example'
  expect(missingFiles(text, '/nonexistent')).toEqual(['nope.md', 'src/none.ts'])
})

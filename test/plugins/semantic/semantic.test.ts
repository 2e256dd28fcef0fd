import { expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { SemanticSearchResponse } from '../../../src/protocol/session/search.js'
import { semanticPlugin } from '../../../src/plugins/semantic/semantic.plugin.js'
import { TRUSTED_CALLER, type Caller } from '../../../src/protocol/caller.js'
import { calls, says, startTestService, type TestService } from '../../fakes/service.js'

const start = (steps: Parameters<typeof startTestService>[0] = {}) => startTestService({ ...steps, plugins: [semanticPlugin()] })

async function search(
  service: TestService,
  query: Record<string, unknown>,
  caller: Caller = TRUSTED_CALLER,
): Promise<SemanticSearchResponse> {
  const call = { caller, directory: '', params: {}, query, headers: {}, body: undefined, signal: new AbortController().signal }
  return (await service.runtime.plugins.call('v2.plugins.semantic.search', call)) as SemanticSearchResponse
}

const excerpts = ({ hits }: SemanticSearchResponse) => hits.map(({ excerpt }) => excerpt)

it('finds what was said a moment ago, by both sides, with the best first', async () => {
  const service = await start({ steps: [says('The giraffe is in parseZooConfig')] })
  const id = await service.session()
  await service.prompt(id, 'where is the giraffe of the zoo?')
  await service.idle(id)
  const found = await search(service, { q: 'zoo giraffe' })
  expect(found).toMatchObject({ available: true, hits: [{ sessionId: id, distance: 0 }, { sessionId: id }] })
  expect(found.hits.map(({ role }) => role).toSorted()).toEqual(['assistant', 'user'])
  expect(excerpts(await search(service, { q: 'zooconfig' }))).toEqual(['The giraffe is in parseZooConfig'])
  expect((await search(service, { q: 'girafe', limit: 1 })).hits).toHaveLength(1)
  expect(await search(service, { q: '  ' })).toEqual({ available: true, hits: [] })
})

it('shows nobody what he may not see', async () => {
  const service = await start({ steps: [says('noted')] })
  const id = await service.session()
  await service.prompt(id, 'the secret of the okapi')
  await service.idle(id)
  const elsewhere = { ...TRUSTED_CALLER, directoryPrefixes: ['/elsewhere'] }
  const stranger = { ...TRUSTED_CALLER, tenantId: 'acme' }
  expect((await search(service, { q: 'okapi' })).hits).toHaveLength(1)
  expect((await search(service, { q: 'okapi' }, { ...TRUSTED_CALLER, directoryPrefixes: [service.directory] })).hits).toHaveLength(1)
  for (const caller of [elsewhere, stranger]) expect((await search(service, { q: 'okapi' }, caller)).hits).toEqual([])
  await expect(search(service, { q: 'okapi', sessionId: id }, elsewhere)).rejects.toMatchObject({ code: 'auth.directory_forbidden' })
  await expect(search(service, { q: 'okapi', sessionId: id }, stranger)).rejects.toMatchObject({ code: 'auth.session_forbidden' })
  await expect(search(service, { q: 'okapi', sessionId: 'ses_none' })).rejects.toMatchObject({ code: 'resource.not_found' })
})

it('forgets what is undone and deleted, finds again what is redone, and a copy with its original', async () => {
  const service = await start({ steps: [says('fine'), says('well')] })
  const { sessions } = service.runtime
  const id = await service.session()
  await service.prompt(id, 'first the tapir')
  await service.idle(id)
  await service.prompt(id, 'then the wombat')
  await service.idle(id)
  const hits = async (q: string) => (await search(service, { q })).hits.map(({ sessionId }) => sessionId)
  expect(await hits('wombat')).toEqual([id])
  await sessions.undo(id, {})
  expect([await hits('wombat'), await hits('tapir')]).toEqual([[], [id]])
  await sessions.redo(id, {})
  expect(await hits('wombat')).toEqual([id])
  const copy = await sessions.fork(id, {})
  expect((await hits('tapir')).toSorted()).toEqual([copy.id, id].toSorted())
  await sessions.delete(TRUSTED_CALLER, id)
  expect(await hits('tapir')).toEqual([])
})

it('refuses more searches at once than may wait for each other', async () => {
  const service = await start({ steps: [says('noted')] })
  const id = await service.session()
  await service.prompt(id, 'the okapi sleeps')
  await service.idle(id)
  const { waitingEach: waiting } = LIMITS.search
  const ends = await Promise.allSettled(Array.from({ length: waiting + 5 }, () => search(service, { q: 'okapi' })))
  const codes = ends.map((end) => (end.status === 'fulfilled' ? end.value.hits.length : (end.reason as { code: string }).code))
  expect(codes).toEqual([...Array.from({ length: waiting }, () => 1), ...Array.from({ length: 5 }, () => 'quota.exceeded')])
  expect((await search(service, { q: 'okapi' })).hits).toHaveLength(1)
})

it('is a tool that finds what was said in the directory', async () => {
  const query = { query: 'okapi' }
  const service = await start({ steps: [says('noted'), calls({ callId: 'call_1', tool: 'session_search', input: query }), says('there')] })
  const other = await service.session()
  await service.prompt(other, 'the okapi sleeps')
  await service.idle(other)
  const id = await service.session()
  await service.prompt(id, 'what did I tell you of that animal?')
  await service.idle(id)
  const [part] = service.messages(id).flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool'))
  expect(part).toMatchObject({ state: { status: 'completed', output: expect.stringContaining('the okapi sleeps') } })
})

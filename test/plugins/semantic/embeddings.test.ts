import { expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { SemanticSearchResponse } from '../../../src/protocol/session/search.js'
import { embeddingService } from '../../../src/plugins/semantic/embeddings.js'
import { semanticPlugin } from '../../../src/plugins/semantic/semantic.plugin.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { says, startTestService, type TestService } from '../../fakes/service.js'

const ENV = { SVC_AGENT_EMBEDDINGS_MODEL: 'acme/meaning-1', SVC_AGENT_EMBEDDINGS_URL: 'http://127.0.0.1:9/v1/', ACME_API_KEY: 'secret' }

interface Asked {
  readonly url: string
  readonly authorization: string | null
  readonly redirect: string | undefined
  readonly body: { readonly model: string; readonly input: readonly string[] }
}

/** What words mean: those of a line mean the same. */
const MEANINGS = ['car automobile vehicle', 'okapi giraffe animal', 'database table row']

function meaningOf(text: string): number[] {
  const words = text.toLowerCase().split(/\W+/)
  return [...MEANINGS.map((line) => words.filter((word) => line.split(' ').includes(word)).length), 0.001]
}

async function serve(env: Record<string, string>, answer: (asked: Asked) => Response = embed) {
  const asked: Asked[] = []
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const url = input instanceof Request ? input.url : new URL(input).href
    const body = JSON.parse(typeof init.body === 'string' ? init.body : '{}') as Asked['body']
    const one = { url, authorization: new Headers(init.headers).get('authorization'), redirect: init.redirect, body }
    asked.push(one)
    return answer(one)
  }
  const effects = { ...createFakeEffects(), fetch }
  const service = await startTestService({ effects, plugins: [semanticPlugin({ env })], steps: [says('noted'), says('noted')] })
  return { service, asked, effects }
}

function embed({ body }: Asked): Response {
  return Response.json({
    object: 'list',
    data: body.input.map((text, index) => ({ object: 'embedding', index, embedding: meaningOf(text) })),
  })
}

async function search(service: TestService, q: string): Promise<SemanticSearchResponse> {
  const call = {
    caller: TRUSTED_CALLER,
    directory: '',
    params: {},
    query: { q },
    headers: {},
    body: undefined,
    signal: new AbortController().signal,
  }
  return (await service.runtime.plugins.call('v2.plugins.semantic.search', call)) as SemanticSearchResponse
}

async function said(service: TestService, ...prompts: string[]): Promise<string> {
  const id = await service.session()
  for (const prompt of prompts) {
    await service.prompt(id, prompt)
    await service.idle(id)
  }
  return id
}

/** Searches until all has a vector. */
async function ready(service: TestService): Promise<void> {
  await expect.poll(async () => (await search(service, 'zebra')).embeddings).toBe('ready')
}

const users = ({ hits }: SemanticSearchResponse) => hits.filter(({ role }) => role === 'user').map(({ excerpt }) => excerpt)

it('sends nothing to anybody unless a model is named', async () => {
  const { service, asked } = await serve({ OPENAI_API_KEY: 'secret', ACME_API_KEY: 'secret' })
  await said(service, 'the automobile is red')
  expect(await search(service, 'red')).toMatchObject({ available: true, hits: [{ excerpt: 'the automobile is red' }] })
  expect(await search(service, 'vehicle')).toEqual({ available: true, hits: [] })
  expect(asked).toEqual([])
})

it('finds what is meant, ranks it together with words, and forgets what is undone and deleted', async () => {
  const { service, asked } = await serve(ENV)
  const id = await said(service, 'the automobile is red', 'an okapi sleeps')
  await ready(service)
  expect(users(await search(service, 'vehicle'))).toEqual(['the automobile is red'])
  expect(users(await search(service, 'red animal'))).toEqual(['the automobile is red', 'an okapi sleeps'])
  expect(asked[0]).toMatchObject({
    url: 'http://127.0.0.1:9/v1/embeddings',
    authorization: 'Bearer secret',
    redirect: 'manual',
    body: { model: 'meaning-1', encoding_format: 'float' },
  })
  const texts = asked.flatMap(({ body }) => body.input)
  expect(texts.filter((text) => text === 'the automobile is red')).toHaveLength(1)
  await service.runtime.sessions.undo(id, {})
  expect(users(await search(service, 'animal'))).toEqual([])
  await service.runtime.sessions.delete(TRUSTED_CALLER, id)
  expect((await search(service, 'vehicle')).hits).toEqual([])
})

it('goes by words alone while the service fails, says so, and is asked again later', async () => {
  let isDown = true
  const { service, effects } = await serve(ENV, (one) => (isDown ? new Response('no', { status: 500 }) : embed(one)))
  await said(service, 'the automobile is red')
  await expect.poll(async () => (await search(service, 'automobile')).embeddings).toBe('failing')
  expect(users(await search(service, 'automobile'))).toEqual(['the automobile is red'])
  expect(users(await search(service, 'vehicle'))).toEqual([])
  isDown = false
  await effects.clock.advanceAsync(LIMITS.embeddings.retry.first)
  await ready(service)
  expect(users(await search(service, 'vehicle'))).toEqual(['the automobile is red'])
})

it.each<[Record<string, string>, unknown]>([
  [{}, undefined],
  [{ ...ENV, SVC_AGENT_DISABLE_EMBEDDINGS: '1' }, undefined],
  [{ SVC_AGENT_EMBEDDINGS_MODEL: 'meaning-1' }, expect.stringContaining('provider/model')],
  [{ SVC_AGENT_EMBEDDINGS_MODEL: 'acme/meaning-1' }, expect.stringContaining('no address')],
  [{ ...ENV, SVC_AGENT_EMBEDDINGS_URL: 'file:///etc' }, expect.stringContaining('no address')],
  [
    { SVC_AGENT_EMBEDDINGS_MODEL: 'openai/text-embedding-3-small' },
    expect.objectContaining({ endpoint: 'https://api.openai.com/v1/embeddings', dimensions: 256 }),
  ],
  [ENV, expect.objectContaining({ spec: 'acme/meaning-1', model: 'meaning-1', key: 'secret', dimensions: undefined })],
])('%j names the service', (env, expected) => {
  expect(embeddingService(env)).toEqual(expected)
})

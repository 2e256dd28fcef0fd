// Holds subsystems o.3.
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { webPlugin } from '../../../src/plugins/web/web.plugin.js'
import { toolsOf } from './fixture.js'

const ENDPOINT = 'https://search.example/search?format=json'

function scene(answer: () => Response, env: Record<string, string> = { SVC_AGENT_WEBSEARCH_ENDPOINT: ENDPOINT }) {
  const asked: { url: string; headers: Record<string, string>; redirect: string | undefined }[] = []
  const tools = toolsOf(() => webPlugin({ program: { node: '/node', reader: '/reader' }, version: '1', env }), {
    fetch: async (input, init) => {
      asked.push({
        url: input instanceof Request ? input.url : new URL(input).href,
        headers: Object.fromEntries(new Headers(init?.headers)),
        redirect: init?.redirect,
      })
      return answer()
    },
  })
  return { ...tools, asked }
}
const json = (value: unknown) => () => Response.json(value)

describe('websearch', () => {
  it.each<[Record<string, string>, string]>([
    [{}, 'names no search service'],
    [{ SVC_AGENT_WEBSEARCH_ENDPOINT: '' }, 'names no search service'],
    [{ SVC_AGENT_WEBSEARCH_ENDPOINT: 'search.example' }, 'is no address'],
    [{ SVC_AGENT_WEBSEARCH_ENDPOINT: 'file:///x' }, 'is no address'],
  ])('is not offered with %j, and the log says how', (env, said) => {
    const { ids, effects } = scene(json({}), env)
    expect(ids).toEqual(['webfetch'])
    expect(effects.logs.map(({ message }) => message)).toEqual([expect.stringContaining(said)])
  })

  it('is judged by its query, and has a closed schema', async () => {
    const { needs, schema } = scene(json({}))
    expect(await needs('websearch', { query: ' actors ' })).toMatchObject([{ permission: 'websearch', patterns: ['actors'] }])
    expect(schema('websearch')).toMatchObject({ additionalProperties: false, required: ['query'] })
  })

  it.each([
    ['SearXNG', { results: [{ title: 'A <b>b</b>', url: 'https://a.example', content: 'x &amp; y' }] }],
    ['Brave', { web: { results: [{ title: 'A <b>b</b>', url: 'https://a.example', description: 'x &amp; y' }] } }],
    ['others', { items: [{ title: 'A <b>b</b>', link: 'https://a.example', snippet: 'x &amp; y', pages: 1 }] }],
  ])('shows what services like %s answer', async (_name, answer) => {
    const { run, asked } = scene(json(answer))
    expect(await run('websearch', { query: 'a b&c' })).toMatchObject({
      title: 'a b&c',
      output: '1. A b\n   https://a.example\n   x & y',
      metadata: { results: 1 },
    })
    expect(asked).toMatchObject([{ url: 'https://search.example/search?format=json&q=a+b%26c', redirect: 'manual' }])
  })

  it('shows the words of any other answer', async () => {
    const page = () => new Response('<style>x</style><p>one <a href=y>two</a><p>three', { headers: { 'content-type': 'text/html' } })
    expect((await scene(page).run('websearch', { query: 'q' })).output).toBe('one two\nthree')
    expect((await scene(json({ results: [] })).run('websearch', { query: 'q' })).output).toBe('Nothing was found.')
  })

  it.each([
    ['https://search.example', 'authorization', 'Bearer secret'],
    ['https://api.search.brave.com/res/v1/web/search', 'x-subscription-token', 'secret'],
  ])('sends its key to %s as %s', async (endpoint, name, value) => {
    const { run, asked } = scene(json({ results: [] }), { SVC_AGENT_WEBSEARCH_ENDPOINT: endpoint, SVC_AGENT_WEBSEARCH_KEY: 'secret' })
    await run('websearch', { query: 'q' })
    expect(asked[0]?.headers[name]).toBe(value)
  })

  it.each<[string, () => Response, RegExp]>([
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1' } }), /status 302/],
    ['an error', () => new Response('secret', { status: 500 }), /status 500/],
    ['too much', () => new Response('a'.repeat(LIMITS.websearch.answer + 1)), /larger than/],
    ['nothing', () => Response.error(), /status 0/],
  ])('refuses %s', async (_what, answer, message) => {
    const { run, asked } = scene(answer)
    await expect(run('websearch', { query: 'q' })).rejects.toThrow(message)
    expect(asked).toHaveLength(1)
  })
})

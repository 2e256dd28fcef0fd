// Holds sessions-events §10.11; threat-model §4.7, G4.
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { PermissionAction } from '../../../src/protocol/interaction/interaction.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { readPage } from '../../../src/programs/reader/page.js'
import { PageRequest } from '../../../src/protocol/web/page.js'
import { webPlugin } from '../../../src/plugins/web/web.plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { fakeWeb, toolsOf } from './fixture.js'

const HTML = { headers: { 'content-type': 'text/html; charset=utf-8' } }
const html = (text: string) => () => new Response(text, HTML)
const bytes = (content: Uint8Array<ArrayBuffer>, headers: Record<string, string>) => () => new Response(content, { headers })

function scene(
  pages: Readonly<Record<string, () => Response>>,
  env: Record<string, string> = {},
  serverUrl?: string,
  slow: readonly ('article' | 'text')[] = [],
) {
  const { asked, guardedFetch } = fakeWeb(pages)
  const base = createFakeEffects()
  const runs: string[][] = []
  const tools = toolsOf(() => webPlugin({ program: { node: '/node', reader: '/reader' }, version: '1', env }), {
    network: { ...base.network, guardedFetch },
    host: { serverUrl: () => serverUrl },
    processes: {
      ...base.processes,
      async run({ command, args, stdin = '', timeoutMs }) {
        const [line = '', ...page] = stdin.split('\n')
        const request = PageRequest.parse(JSON.parse(line))
        runs.push([command, ...args, request.as, String(timeoutMs)])
        const timedOut = slow.includes(request.as)
        const stdout = timedOut ? '' : JSON.stringify(readPage(request, page.join('\n')))
        const ended = { signal: null, timedOut, aborted: false, stderr: '', captureTruncated: false, left: [], durationMs: 1 }
        return { ...ended, exitCode: timedOut ? null : 0, stdout }
      },
    },
  })
  return { ...tools, asked, runs }
}

const A = 'https://a.example/'

describe('webfetch', () => {
  it('has a closed schema with a description for every parameter', () => {
    const schema = scene({}).schema('webfetch')
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false, required: ['url'] })
    expect(Object.keys(schema.properties ?? {})).toEqual(['url', 'format', 'timeout'])
    for (const property of Object.values(schema.properties ?? {})) expect(property).toHaveProperty('description')
  })

  it.each([
    ['https://A.example', 'https://a.example/'],
    ['HTTPS://a.example:443/x#part', 'https://a.example/x'],
    ['https://a.example./x', 'https://a.example/x'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['https://ａ.example/%41', 'https://a.example/%41'],
    ['https://a.example/b/../c?q=1', 'https://a.example/c?q=1'],
    [' https://a.example/\n', 'https://a.example/'],
  ])('is judged for %s as %s, and offers the site', async (url, pattern) => {
    const [need] = await scene({}).needs('webfetch', { url })
    expect(need).toMatchObject({ permission: 'webfetch', patterns: [pattern] })
    expect(need?.widen?.(pattern)).toBe(`${new URL(pattern).origin}/*`)
  })

  it.each(['file:///etc/passwd', 'ftp://a.example', 'data:text/html,x', 'https://u:p@a.example/', 'a.example', 'javascript:alert(1)'])(
    'refuses %s before anybody is asked',
    async (url) => {
      const { needs, asked } = scene({})
      await expect(needs('webfetch', { url })).rejects.toThrow(/address|http/)
      expect(asked).toEqual([])
    },
  )

  it('shows a page as Markdown, as text, as its source', async () => {
    const { run, runs } = scene({ [A]: html('<title>T</title><h1>Big</h1><p>small <b>word</b></p>') })
    expect(await run('webfetch', { url: 'https://a.example' })).toEqual({
      title: `T (${A})`,
      output: '# Big\n\nsmall **word**',
      metadata: { url: A, status: 200, contentType: 'text/html', bytes: 52, truncated: false, format: 'markdown', kind: 'page' },
    })
    expect((await run('webfetch', { url: A, format: 'text' })).output).toBe('Big\nsmall word')
    expect((await run('webfetch', { url: A, format: 'html' })).output).toBe('<title>T</title><h1>Big</h1><p>small <b>word</b></p>')
    const memory = `--max-old-space-size=${LIMITS.web.readerMemory}`
    expect(runs).toEqual([
      ['/node', memory, '/reader', 'article', '10000'],
      ['/node', memory, '/reader', 'text', '5000'],
    ])
  })

  it('shows the text alone of a page that cannot be read in time, and says so when that cannot be either', async () => {
    const pages = { [A]: html('<p>words</p>') }
    expect(await scene(pages, {}, undefined, ['article']).run('webfetch', { url: A })).toMatchObject({
      output: 'words',
      metadata: { kind: 'text' },
    })
    await expect(scene(pages, {}, undefined, ['article', 'text']).run('webfetch', { url: A })).rejects.toThrow('could not be read in time')
  })

  it.each([
    ['application/json', '{"a":1}'],
    ['application/ld+json; charset=utf-8', '{}'],
    ['text/plain', 'plain'],
    ['application/javascript', 'x'],
  ])('shows %s as it is', async (type, text) => {
    const { run } = scene({ [A]: () => new Response(text, { headers: { 'content-type': type } }) })
    expect((await run('webfetch', { url: A })).output).toBe(text)
  })

  it.each(['image/png', 'image/svg+xml', 'application/pdf', 'application/octet-stream', 'video/mp4', 'application/zip'])(
    'refuses %s',
    async (type) => {
      const { run } = scene({ [A]: bytes(new Uint8Array(8), { 'content-type': type }) })
      await expect(run('webfetch', { url: A })).rejects.toThrow(`is ${type}, and only text is fetched`)
    },
  )

  it.each([404, 500, 403])('says that the status was %i', async (status) => {
    await expect(scene({ [A]: () => new Response('no', { status }) }).run('webfetch', { url: A })).rejects.toThrow(`with status ${status}`)
  })

  it.each<[string, Record<string, string>, Uint8Array<ArrayBuffer>, string]>([
    ['a header', { 'content-type': 'text/plain; charset=windows-1252' }, Uint8Array.of(0x63, 0x61, 0x66, 0xe9), 'café'],
    ['quotes', { 'content-type': 'text/plain; charset="shift_jis"' }, Uint8Array.of(0x93, 0xfa, 0x96, 0x7b), '日本'],
    ['a mark', { 'content-type': 'text/plain; charset=latin1' }, Uint8Array.of(0xff, 0xfe, 0xe9, 0x00), 'é'],
    ['an encoding nobody knows', { 'content-type': 'text/plain; charset=nonsense' }, new TextEncoder().encode('é'), 'é'],
    ['broken UTF-8', { 'content-type': 'text/plain' }, Uint8Array.of(0x61, 0xc3, 0x28, 0xff, 0x62, 0xe2, 0x82), 'a\ufffd(\ufffdb\ufffd'],
    ['gzip nobody asked for', { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, new Uint8Array(gzipSync('packed')), 'packed'],
  ])('reads an answer with %s', async (_what, headers, content, text) => {
    expect((await scene({ [A]: bytes(content, headers) }).run('webfetch', { url: A })).output).toBe(text)
  })

  it('reads the encoding a page names itself, wherever its pieces are cut', async () => {
    const page = Uint8Array.from(`<meta charset=iso-8859-2><title>t</title><p>${'x'.repeat(2000)}`, (letter) => letter.charCodeAt(0))
    const whole = new Uint8Array([...page, 0xb9])
    const pieces = () =>
      new ReadableStream({
        start(body) {
          for (let at = 0; at < whole.length; at += 7) body.enqueue(whole.subarray(at, at + 7))
          body.close()
        },
      })
    const { run } = scene({ [A]: () => new Response(pieces(), { headers: { 'content-type': 'text/html' } }) })
    expect((await run('webfetch', { url: A, format: 'text' })).output).toBe(`${'x'.repeat(2000)}š`)
  })

  it('bounds an answer by what it says of itself, by what comes, and by what it unpacks to', async () => {
    let pulled = 0
    const endless = () =>
      new ReadableStream({
        pull(body) {
          pulled++
          body.enqueue(new Uint8Array(65_536).fill(97))
        },
      })
    const type = { 'content-type': 'text/plain' }
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(50_000_000, 97)))
    const { run } = scene({
      [`${A}said`]: () => new Response(endless(), { headers: { ...type, 'content-length': '50000000' } }),
      [`${A}endless`]: () => new Response(endless(), { headers: type }),
      [`${A}bomb`]: bytes(bomb, { ...type, 'content-encoding': 'gzip' }),
      [`${A}packed`]: bytes(bomb, { ...type, 'content-encoding': 'br' }),
      [`${A}most`]: () => new Response('a'.repeat(LIMITS.web.page), { headers: type }),
    })
    await expect(run('webfetch', { url: `${A}said` })).rejects.toThrow(`larger than ${LIMITS.web.page} bytes`)
    expect(pulled).toBeLessThan(4)
    await expect(run('webfetch', { url: `${A}endless` })).rejects.toThrow('larger than')
    expect(pulled).toBeLessThan(100)
    await expect(run('webfetch', { url: `${A}bomb` })).rejects.toThrow('larger than')
    await expect(run('webfetch', { url: `${A}packed` })).rejects.toThrow('packed as br')
    const { output, metadata } = await run('webfetch', { url: `${A}most` })
    expect([output.length < LIMITS.web.rendered + 100, metadata?.['truncated'], metadata?.['bytes']]).toEqual([true, true, LIMITS.web.page])
  })

  it('ends when the time is over, in the middle of an answer, and when it is aborted', async () => {
    const never = () => new ReadableStream({ start: (body) => body.enqueue(Uint8Array.of(97)) })
    const { run, effects } = scene({ [A]: () => new Response(never(), { headers: { 'content-type': 'text/plain' } }) })
    const late = run('webfetch', { url: A, timeout: 2 }).catch(String)
    await expect.poll(() => effects.clock.pendingTimers).toBe(1)
    await effects.clock.advanceAsync(2000)
    expect(await late).toContain('no whole answer within 2 s')
    const gone = new AbortController()
    const aborted = run('webfetch', { url: A }, { signal: gone.signal })
    gone.abort(new Error('stopped'))
    await expect(aborted).rejects.toThrow('stopped')
  })

  describe('redirects', () => {
    const to = (location: string) => () => new Response(null, { status: 302, headers: { location } })
    const rules = (table: Readonly<Record<string, PermissionAction>>) => ({
      decisions: (_: string, patterns: readonly string[]) => patterns.map((each) => table[each] ?? 'ask'),
    })
    const pages = { [A]: to('https://b.example/'), 'https://b.example/': html('b'), [`${A}own`]: to('/next'), [`${A}next`]: html('next') }

    it.each<[PermissionAction, string]>([
      ['deny', 'a permission rule denies it'],
      ['ask', 'Fetch https://b.example/ if you want'],
    ])('are not followed to another host where the rules say %s', async (action, message) => {
      const { run, asked } = scene(pages)
      await expect(run('webfetch', { url: A }, rules({ 'https://b.example/': action }))).rejects.toThrow(message)
      expect(asked).toEqual([A])
    })

    it('are followed where the rules allow it, and on the host that was asked unless they deny it', async () => {
      const { run } = scene(pages)
      expect((await run('webfetch', { url: A }, rules({ 'https://b.example/': 'allow' }))).metadata?.['url']).toBe('https://b.example/')
      expect((await run('webfetch', { url: `${A}own` }, rules({}))).output).toBe('next')
      await expect(run('webfetch', { url: `${A}own` }, rules({ [`${A}next`]: 'deny' }))).rejects.toThrow('denies it')
    })
  })

  it('does not reach this server, whatever the installation lists, and by no redirect', async () => {
    const env = { SVC_AGENT_WEBFETCH_HOSTS: '127.0.0.1, localhost' }
    const pages = {
      'http://127.0.0.1:4000/': html('other'),
      'http://localhost:4000/': () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:4096/v2/meta' } }),
    }
    const { run, asked } = scene(pages, env, 'http://127.0.0.1:4096')
    for (const host of ['127.0.0.1', 'localhost', '0x7f.1', 'LOCALHOST', 'localhost.'])
      await expect(run('webfetch', { url: `http://${host}:4096/v2/meta` })).rejects.toThrow('is this server')
    await expect(run('webfetch', { url: 'http://localhost:4000/' })).rejects.toThrow('is this server')
    expect((await run('webfetch', { url: 'http://127.0.0.1:4000/' })).output).toBe('other')
    expect(asked).toEqual(['http://localhost:4000/', 'http://127.0.0.1:4000/'])
  })
})

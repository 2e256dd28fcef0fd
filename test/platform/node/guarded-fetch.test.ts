import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../../src/platform/node/network/addresses.js'
import { createGuardedFetch } from '../../../src/platform/node/network/guarded-fetch.js'
import { createWayOut } from '../../../src/platform/node/network/way-out.js'
import { PATIENCE } from '../../fakes/patience.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A public address of this machine. */
const OWN = '203.0.114.7'

interface Dial {
  readonly host: string
  readonly addresses: readonly string[]
}

/** A guard whose names are a table, and whose connections all end at `port`, so that no request leaves this machine. */
function guard(names: Readonly<Record<string, readonly (readonly string[])[]>>, port = 0, env: Record<string, string> = {}) {
  const dials: Dial[] = []
  const asked = new Map<string, number>()
  const wayOut = createWayOut({ env, log: { debug: () => undefined }, now: () => 0 })
  const fetch = createGuardedFetch(
    {
      isProxied: wayOut.isProxied,
      fetchPinned(url, init, lookup) {
        let addresses: string[] = []
        lookup(url.hostname, { all: true }, (_error, found) => {
          addresses = Array.isArray(found) ? found.map(({ address }) => address) : []
        })
        dials.push({ host: url.hostname, addresses })
        const here = new URL(url)
        here.protocol = 'http:'
        here.host = `127.0.0.1:${port}`
        return wayOut.fetch(here, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), 'x-host': url.hostname } })
      },
    },
    {
      isOwn: (address) => address === OWN,
      resolveName: async (host) => {
        const round = asked.get(host) ?? 0
        asked.set(host, round + 1)
        const answers = names[host]
        if (answers === undefined) throw new Error(`ENOTFOUND ${host}`)
        return (answers[Math.min(round, answers.length - 1)] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      },
    },
  )
  const get = (address: string, rest: object = {}) => fetch(address, { signal: AbortSignal.timeout(PATIENCE), ...rest })
  return { get, dials, asked }
}

const PUBLIC = '93.184.216.34'
const REFUSED = { code: 'request.forbidden' }

describe('an address of the public network', () => {
  it.each([PUBLIC, '1.1.1.1', '2606:4700::1111', '2a00:1450:4001::200e', `::ffff:${PUBLIC}`.replace('::ffff:', '')])('is %s', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  )

  it.each(
    `127.0.0.1 127.8.9.1 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 100.100.100.200 192.0.0.192
    192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 168.63.129.16
    :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:a9fe:a9fe 64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1:: 2001:0:7f00:1:: fe80::1 fec0::1 fc00::1 fd00:ec2::254
    ff02::1 100::1 2001:db8::1 3fff::1 4000::1 nonsense 1.2.3 01.02.03.04`
      .split(/\s+/)
      .filter((address) => address !== ''),
  )('is not %s', (address) => expect(isPublicAddress(address)).toBe(false))
})

describe('a request to an address somebody else chose', () => {
  it('goes out to a public address, and answers where it ended', async () => {
    const port = await serve((_request, response) => response.end('hello'))
    const { get, dials } = guard({ 'a.example': [[PUBLIC, '2606:4700::1111']] }, port)
    const { response, url } = await get('https://a.example/path?x=1')
    expect([await response.text(), url]).toEqual(['hello', 'https://a.example/path?x=1'])
    expect(dials).toEqual([{ host: 'a.example', addresses: [PUBLIC, '2606:4700::1111'] }])
  })

  it.each(
    `http://127.0.0.1 http://127.1 http://0x7f.1 http://0x7f000001 http://2130706433 http://0177.0.0.1 http://017700000001 http://0/ http://0.0.0.0
    http://[::1] http://[::] http://[0:0:0:0:0:0:0:1] http://[::ffff:127.0.0.1] http://[::ffff:7f00:1] http://[::127.0.0.1] http://[64:ff9b::7f00:1]
    http://169.254.169.254/latest/meta-data http://0xa9fea9fe http://[fd00:ec2::254] http://100.100.100.200 http://168.63.129.16 http://10.0.0.1
    http://192.168.0.1:8080 http://１２７.0.0.1 http://①②⑦.0.0.1 http://127.0.0.1.`
      .split(/\s+/)
      .filter((address) => address !== ''),
  )('is refused as %s', async (address) => {
    const { get, dials } = guard({ '127.0.0.1.': [['127.0.0.1']] })
    await expect(get(address)).rejects.toMatchObject(REFUSED)
    expect(dials).toEqual([])
  })

  it.each(['localhost', 'localhost.', 'LOCALHOST', 'metadata.google.internal', 'inner.example'])(
    'is refused when any address of %s is not public',
    async (name) => {
      const addresses = [[PUBLIC, '10.0.0.7']]
      const { get, dials } = guard({
        localhost: addresses,
        'localhost.': addresses,
        'metadata.google.internal': addresses,
        'inner.example': addresses,
      })
      await expect(get(`http://${name}/`)).rejects.toMatchObject(REFUSED)
      expect(dials).toEqual([])
    },
  )

  it.each(['file:///etc/passwd', 'ftp://a.example', 'gopher://a.example', 'data:text/plain,x', 'http://user:secret@a.example', 'nonsense'])(
    'is refused as %s, and the refusal tells no login',
    async (address) => {
      const { get } = guard({ 'a.example': [[PUBLIC]] })
      const refusal = await get(address).then(
        () => '',
        (error: Error) => error.message,
      )
      expect(refusal).not.toBe('')
      expect(refusal).not.toContain('secret')
    },
  )

  it('dials what was checked, though the name leads elsewhere a moment later', async () => {
    const port = await serve((_request, response) => response.end('hello'))
    const { get, dials, asked } = guard({ 'rebind.example': [[PUBLIC], ['127.0.0.1']] }, port)
    await get('http://rebind.example/')
    expect([dials, asked.get('rebind.example')]).toEqual([[{ host: 'rebind.example', addresses: [PUBLIC] }], 1])
    await expect(get('http://rebind.example/')).rejects.toMatchObject(REFUSED)
  })

  it('reaches this machine under no public address either, by name or by number, unless the installation lists it', async () => {
    const port = await serve((_request, response) => response.end('here'))
    const { get, dials } = guard(
      { 'here.example': [[OWN]], 'both.example': [['93.184.216.34', OWN]], 'away.example': [['93.184.216.34']] },
      port,
    )
    await expect(get('http://here.example/')).rejects.toMatchObject(REFUSED)
    await expect(get(`http://${OWN}:4096/`)).rejects.toMatchObject(REFUSED)
    await expect(get('http://both.example/')).rejects.toMatchObject(REFUSED)
    expect(dials).toEqual([])
    expect((await get('http://away.example/')).response.status).toBe(200)
    expect((await get('http://here.example/', { allowHosts: ['here.example'] })).response.status).toBe(200)
  })

  it('really dials the address it is given, and not the name', async () => {
    const port = await serve((request, response) => response.end(request.headers.host))
    const wayOut = createWayOut({ env: {}, log: { debug: () => undefined }, now: () => 0 })
    const fetch = createGuardedFetch(wayOut, { resolveName: async () => [{ address: '127.0.0.1', family: 4 }] })
    const { response } = await fetch(`http://no.such.name.invalid:${port}/`, {
      signal: AbortSignal.timeout(PATIENCE),
      allowHosts: [`no.such.name.invalid:${port}`],
    })
    expect(await response.text()).toBe(`no.such.name.invalid:${port}`)
  })

  it('reaches a private host that the installation lists, and no other port when it lists one', async () => {
    const port = await serve((_request, response) => response.end('inside'))
    const { get } = guard({ 'inner.example': [['10.0.0.7']] }, port)
    expect(await (await get('http://inner.example/', { allowHosts: ['inner.example'] })).response.text()).toBe('inside')
    expect(await (await get('http://inner.example:81/', { allowHosts: ['inner.example:81'] })).response.text()).toBe('inside')
    await expect(get('http://inner.example:82/', { allowHosts: ['inner.example:81'] })).rejects.toMatchObject(REFUSED)
    await expect(get('http://x.inner.example/', { allowHosts: ['inner.example'] })).rejects.toThrow('not known')
  })

  it.each([
    'http://127.0.0.1/',
    'http://0x7f.1/',
    '//169.254.169.254/latest',
    'http://inner.example/',
    'file:///etc/passwd',
    'http://u:p@a.example/',
  ])('is refused when a redirect leads to %s', async (location) => {
    const port = await serve((_request, response) => response.writeHead(302, { location }).end())
    const { get, dials } = guard({ 'a.example': [[PUBLIC]], 'inner.example': [['192.168.0.1']] }, port)
    await expect(get('http://a.example/')).rejects.toMatchObject(REFUSED)
    expect(dials).toHaveLength(1)
  })

  it('is followed to other public addresses, where nothing arrives that was for one origin', async () => {
    const seen: (readonly [string | undefined, string | undefined, string | undefined, string | undefined])[] = []
    const port = await serve((request, response) => {
      const { authorization, cookie, accept } = request.headers
      seen.push([request.method, authorization, cookie, accept])
      if (request.url === '/same') return response.writeHead(307, { location: '/next' }).end()
      if (request.url === '/next') return response.writeHead(303, { location: 'https://b.example/end' }).end()
      return response.end('end')
    })
    const { get, dials } = guard({ 'a.example': [[PUBLIC]], 'b.example': [['1.1.1.1']] }, port)
    const headers = { authorization: 'Bearer s', cookie: 'c=1', accept: 'text/html' }
    const { response, url } = await get('https://a.example/same', { method: 'POST', body: 'x', headers })
    expect([await response.text(), url]).toEqual(['end', 'https://b.example/end'])
    expect(seen).toEqual([
      ['POST', 'Bearer s', 'c=1', 'text/html'],
      ['POST', 'Bearer s', 'c=1', 'text/html'],
      ['GET', undefined, undefined, 'text/html'],
    ])
    expect(dials.map(({ host }) => host)).toEqual(['a.example', 'a.example', 'b.example'])
  })

  it('gives up no encryption, and does not go round for ever', async () => {
    const port = await serve((request, response) =>
      response.writeHead(302, { location: request.url === '/down' ? 'http://a.example/' : '/again' }).end(),
    )
    const { get, dials } = guard({ 'a.example': [[PUBLIC]] }, port)
    await expect(get('https://a.example/down')).rejects.toThrow('gives up the encryption')
    await expect(get('https://a.example/again', { maxRedirects: 3 })).rejects.toThrow('redirects more than 3 times')
    expect(dials).toHaveLength(5)
  })

  it('asks before each redirect, and dials nothing that is refused', async () => {
    const port = await serve((request, response) => response.writeHead(302, { location: `${request.url ?? ''}x` }).end())
    const { get, dials } = guard({ 'a.example': [[PUBLIC]] }, port)
    const seen: string[] = []
    const refusesRedirect = (to: URL) => (seen.push(to.pathname) === 3 ? 'is not wanted' : undefined)
    await expect(get('https://a.example/', { refusesRedirect })).rejects.toThrow('https://a.example is not wanted.')
    expect([seen, dials.length]).toEqual([['/x', '/xx', '/xxx'], 3])
  })

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://127.1/',
    'http://[::ffff:169.254.169.254]/',
    'http://inner.example/',
  ])('is refused as %s by every way to it, and goes out from the same ones to a public address', async (target) => {
    const port = await serve((request, response) => {
      if (request.url === '/in') return response.writeHead(307, { location: target }).end()
      return request.url === '/out' ? response.writeHead(307, { location: 'http://b.example/' }).end() : response.end('there')
    })
    const names = { 'a.example': [[PUBLIC]], 'b.example': [['1.1.1.1']], 'inner.example': [['10.0.0.7']] }
    for (const env of [{}, { HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'a.example,b.example' }] as Record<string, string>[]) {
      const { get, dials } = guard(names, port, env)
      await expect(get(target)).rejects.toMatchObject(REFUSED)
      await expect(get(target, { method: 'POST', body: 'x' })).rejects.toMatchObject(REFUSED)
      expect(dials).toEqual([])
      await expect(get('http://a.example/in')).rejects.toMatchObject(REFUSED)
      expect(dials.map(({ host }) => host)).toEqual(['a.example'])
      expect(await (await get('http://a.example/out')).response.text()).toBe('there')
      expect(await (await get(target, { allowHosts: [new URL(target).host] })).response.text()).toBe('there')
    }
  })

  it('is refused behind a proxy too, where the address can be told', async () => {
    const { get, dials } = guard({ 'inner.example': [['10.0.0.7']] }, 0, { HTTPS_PROXY: 'http://127.0.0.1:9' })
    await expect(get('https://10.0.0.7/')).rejects.toMatchObject(REFUSED)
    await expect(get('https://inner.example/')).rejects.toMatchObject(REFUSED)
    expect(dials).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { readProxyRules } from '../../../src/platform/node/network/proxy-rules.js'

const PROXY = { HTTP_PROXY: 'http://plain.proxy:1', HTTPS_PROXY: 'secure.proxy:2' }
const proxyFor = (url: string, env: Record<string, string>) => readProxyRules(env).proxyFor(new URL(url))?.host

describe('the proxy of a request', () => {
  it('is that of its scheme, in lower case first, and ALL_PROXY for the rest', () => {
    expect(proxyFor('http://a.example', PROXY)).toBe('plain.proxy:1')
    expect(proxyFor('https://a.example', PROXY)).toBe('secure.proxy:2')
    expect(proxyFor('https://a.example', { ...PROXY, https_proxy: 'http://lower:3' })).toBe('lower:3')
    expect(proxyFor('https://a.example', { HTTP_PROXY: 'http://plain.proxy:1' })).toBeUndefined()
    expect(proxyFor('https://a.example', { ALL_PROXY: 'http://all:4', HTTPS_PROXY: ' ' })).toBe('all:4')
  })

  it.each(['http://localhost:1', 'http://127.0.0.1', 'https://127.1.2.3:4', 'http://[::1]:5', 'http://0x7f.1'])('is none for %s', (url) => {
    expect(proxyFor(url, PROXY)).toBeUndefined()
  })

  it.each([
    ['*', 'http://a.example'],
    ['a.example', 'http://a.example'],
    ['a.example', 'http://x.a.example'],
    ['.a.example', 'http://x.a.example'],
    ['*.a.example', 'https://x.a.example:8443'],
    ['A.EXAMPLE', 'http://a.example.'],
    ['b.example, a.example', 'http://a.example'],
    ['b.example a.example', 'http://a.example'],
    ['a.example:80', 'http://a.example'],
    ['a.example:443', 'https://a.example'],
    ['10.0.0.0/8', 'http://10.1.2.3'],
    ['10.1.2.3', 'http://10.1.2.3'],
    ['10.1.2.3:8080', 'http://10.1.2.3:8080'],
    ['fd00::/8', 'http://[fd12::1]'],
    ['fd12::1', 'http://[fd12::1]:8'],
    ['[fd12::1]:8', 'http://[fd12::1]:8'],
  ])('is none for NO_PROXY=%s and %s', (NO_PROXY, url) => {
    expect(proxyFor(url, { ...PROXY, NO_PROXY })).toBeUndefined()
    expect(proxyFor(url, { ...PROXY, no_proxy: NO_PROXY })).toBeUndefined()
  })

  it.each([
    ['', 'http://a.example'],
    ['example.org', 'http://a.example'],
    ['a.example', 'http://nota.example'],
    ['a.example:81', 'http://a.example'],
    ['10.0.0.0/8', 'http://11.1.2.3'],
    ['10.0.0.0/99', 'http://10.1.2.3'],
    ['fd00::/8', 'http://10.1.2.3'],
    ['fd12::1', 'http://[fd12::2]'],
  ])('is there for NO_PROXY=%j and %s', (NO_PROXY, url) => {
    expect(proxyFor(url, { ...PROXY, NO_PROXY })).toBe('plain.proxy:1')
  })

  it.each(['socks5://s.proxy:1', 'http://', 'ftp://f.proxy'])('is an error, not a way past it, when it is %s', (HTTPS_PROXY) => {
    expect(() => proxyFor('https://a.example', { HTTPS_PROXY })).toThrow(/proxy of the environment/)
  })
})

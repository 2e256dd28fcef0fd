// Holds plugin-protocol §9.3.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { createNodeEffects } from '../../../src/platform/node/node-effects.js'
import { createNpmCache, parseNpmSpec } from '../../../src/actors/plugin/entry/npm-cache.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakeProcesses } from '../../../src/simulation/processes.js'

interface Outcome {
  readonly spec: string
  readonly reason?: string
}

/** A cache whose npm is played: it writes the package, or does what `play` does. */
function setup(play?: (staged: string) => Promise<{ exitCode?: number; stderr?: string; timedOut?: boolean } | undefined>) {
  const processes = createFakeProcesses()
  processes.programs.set('npm', '/usr/bin/npm')
  const effects = createFakeEffects({
    processes,
    env: { npm_config_registry: 'http://127.0.0.1:9/', NPM_CONFIG_PROXY: 'http://u:p@proxy/', NPM_TOKEN: 't' },
  })
  const outcomes: Outcome[] = []
  const listeners: (() => void)[] = []
  const tell = (outcome: Outcome) => {
    outcomes.push(outcome)
    listeners.splice(0).forEach((listener) => listener())
  }
  processes.script(async ({ args, cwd }) => {
    const played = await play?.(cwd)
    if (played !== undefined) return played
    const name = parseNpmSpec(args.at(-1) ?? '')?.name ?? ''
    mkdirSync(join(cwd, 'node_modules', name), { recursive: true })
    writeFileSync(join(cwd, 'node_modules', name, 'index.mjs'), '')
    return {}
  })
  const cache = createNpmCache({ effects, onInstalled: (spec) => tell({ spec }), onFailed: (spec, reason) => tell({ spec, reason }) })
  const settled = async (count: number) => {
    while (outcomes.length < count) await new Promise<void>((resolve) => listeners.push(resolve))
    return outcomes
  }
  return { cache, effects, processes, settled, root: join(effects.paths.cache, 'plugin-cache') }
}

describe('specs', () => {
  it.each([
    ['left-pad', 'left-pad'],
    ['left-pad@1.2.3', 'left-pad'],
    ['@scope/name', '@scope/name'],
    ['@scope/name@^1.0', '@scope/name'],
    ['name@latest', 'name'],
  ])('%s names the package %s', (spec, name) => {
    expect(parseNpmSpec(spec)?.name).toBe(name)
  })

  it.each([
    '',
    '.',
    '..',
    './x',
    '/x',
    '-g',
    '--global',
    'a b',
    'a@',
    'git+ssh://h/x',
    'a@file:../x',
    'a@npm:b',
    'https://h/x.tgz',
    'u/repo',
    '@s/../x',
    'A',
    'a@1;x',
    'x'.repeat(401),
  ])('"%s" is refused and starts nothing', async (spec) => {
    const { cache, processes } = setup()
    expect(parseNpmSpec(spec)).toBeUndefined()
    expect(await cache.resolve(spec)).toEqual({ unavailable: expect.stringContaining('is not an npm package') as string })
    expect(await cache.isInstalled(spec)).toBe(false)
    expect(processes.calls).toEqual([])
  })
})

describe('installing', () => {
  it('happens once, in the background, without scripts, and appears whole', async () => {
    const { cache, effects, processes, settled, root } = setup(async (staged) => {
      expect(readdirSync(root)).toEqual([staged.slice(root.length + 1)])
      return undefined
    })
    const first = await Promise.all([cache.resolve('n@1'), cache.resolve('n@1')])
    expect(first).toEqual([{ unavailable: 'installing npm package n@1' }, { unavailable: 'installing npm package n@1' }])
    expect(await settled(1)).toEqual([{ spec: 'n@1' }])
    const [call] = processes.calls
    expect(processes.calls).toHaveLength(1)
    expect(call?.args).toEqual(
      expect.arrayContaining(['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--', 'n@1']),
    )
    expect(call).toMatchObject({ command: '/usr/bin/npm', timeoutMs: LIMITS.plugins.installTimeout })
    expect(call?.env).toEqual({ ...effects.childEnv, npm_config_registry: 'http://127.0.0.1:9/', npm_config_update_notifier: 'false' })
    expect(readdirSync(root)).toEqual(['n_1'])
    const file = join(root, 'n_1/node_modules/n/index.mjs')
    expect(await cache.resolve('n@1')).toEqual({ file, root: join(root, 'n_1/node_modules/n'), slot: join(root, 'n_1') })
  })

  it('does one package at a time', async () => {
    let running = 0
    const { cache, settled } = setup(async () => {
      running++
      await new Promise((resolve) => setImmediate(resolve))
      expect(running).toBe(1)
      running--
      return undefined
    })
    await Promise.all(['a', 'b', 'c'].map(cache.resolve))
    expect((await settled(3)).map(({ spec }) => spec)).toEqual(['a', 'b', 'c'])
  })

  it('gives specs that look alike slots of their own', async () => {
    const { cache, settled, root } = setup()
    await Promise.all(['a@^1', 'a@~1', 'a_1', 'a@1'].map(cache.resolve))
    await settled(4)
    expect(new Set(readdirSync(root)).size).toBe(4)
    expect(readdirSync(root)).toContain('a_1')
  })

  it.each([
    [
      { exitCode: 1, stderr: 'npm error 404\n  see https://me:secret@registry/x' },
      'npm ended with 1: npm error 404 see https://***@registry/x',
    ],
    [{ exitCode: 1 }, 'npm ended with 1: it said nothing'],
    [{ timedOut: true }, 'npm did not finish within 300 s'],
    [{}, 'no file to run'],
  ])('reports %j and tries again later', async (played, reason) => {
    const { cache, effects, processes, settled, root } = setup(async () => played)
    await cache.resolve('n')
    const [outcome] = await settled(1)
    expect(outcome?.reason).toContain(`npm package n could not be installed: `)
    expect(outcome?.reason).toContain(reason)
    expect(await cache.resolve('n')).toEqual({ unavailable: outcome?.reason })
    expect(readdirSync(root).filter((name) => name.includes('installing'))).toEqual([])
    expect(processes.calls).toHaveLength(1)
    effects.clock.advance(LIMITS.plugins.installRetry.first)
    expect(await cache.resolve('n')).toEqual({ unavailable: 'installing npm package n' })
    await settled(2)
    expect(processes.calls).toHaveLength(2)
  })

  it('needs npm', async () => {
    const { cache, processes, settled } = setup()
    processes.programs.delete('npm')
    await cache.resolve('n')
    expect((await settled(1))[0]?.reason).toContain('"npm" was not found on the search path')
  })

  it('removes what servers that died have left, and nothing younger', async () => {
    const { cache, effects, settled, root } = setup()
    for (const name of ['x.installing-1', 'y.installing-2']) mkdirSync(join(root, name), { recursive: true })
    const now = effects.clock.now() / 1000
    utimesSync(join(root, 'x.installing-1'), now - 3600, now - 3600)
    utimesSync(join(root, 'y.installing-2'), now - 1, now - 1)
    await cache.resolve('n')
    await settled(1)
    expect(readdirSync(root).toSorted()).toEqual(['n', 'y.installing-2'])
  })

  it('ends with the server', async () => {
    const { cache, processes } = setup(async () => new Promise(() => undefined))
    await Promise.all(['a', 'b'].map(cache.resolve))
    while (processes.calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await cache.stop()
    expect(processes.calls).toHaveLength(1)
    expect(processes.alive).toBe(0)
    await cache.resolve('c')
    await cache.stop()
    expect(processes.calls).toHaveLength(1)
  })
})

describe('with the real npm', () => {
  const real = createNodeEffects({ logWrite: () => undefined })
  const server = createServer((request, response) => {
    const tarball = tarOf({
      'package/package.json': JSON.stringify({ name: 'tiny', version: '1.0.0', main: 'run.mjs', scripts: { postinstall: 'touch ran' } }),
      'package/run.mjs': 'console.log("hello")\n',
    })
    if (request.url === '/tiny.tgz') return void response.end(tarball)
    if (request.url !== '/tiny') return void response.writeHead(404).end('{}')
    const dist = { tarball: `${address()}/tiny.tgz`, shasum: createHash('sha1').update(tarball).digest('hex') }
    const versions = {
      '1.0.0': { name: 'tiny', version: '1.0.0', main: 'run.mjs', hasInstallScript: true, scripts: { postinstall: 'touch ran' }, dist },
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions }))
  })
  const address = () => {
    const bound = server.address()
    return `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`
  }
  afterAll(async () => {
    await real.processes.killAll()
    server.close()
  })

  it('installs a package from the configured registry and runs none of its scripts', async ({ skip }) => {
    if ((await real.processes.find('npm')) === undefined) skip('npm is not installed')
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const fake = createFakeEffects()
    const env = { npm_config_registry: address(), npm_config_cache: join(fake.root, 'npm'), npm_config_userconfig: join(fake.root, 'none') }
    const effects = { ...fake, clock: real.clock, processes: real.processes, childEnv: { ...real.childEnv, HOME: fake.paths.home }, env }
    const outcome = new Promise((resolve) => {
      const cache = createNpmCache({ effects, onInstalled: resolve, onFailed: (_spec, reason) => resolve(reason) })
      void cache.resolve('tiny@1.0.0')
    })
    expect(await outcome).toBe('tiny@1.0.0')
    const root = join(fake.paths.cache, 'plugin-cache/tiny_1.0.0/node_modules/tiny')
    expect(readFileSync(join(root, 'run.mjs'), 'utf8')).toContain('hello')
    expect(existsSync(join(root, 'ran'))).toBe(false)
  })
})

/** A gzipped tar archive of small files. */
function tarOf(files: Record<string, string>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = Buffer.alloc(512)
    const octal = (value: number, size: number) => `${value.toString(8).padStart(size - 1, '0')}\0`
    header.write(name, 0)
    header.write(octal(0o644, 8) + octal(0, 8) + octal(0, 8) + octal(Buffer.byteLength(text), 12) + octal(0, 12), 100)
    header.write('        0', 148)
    header.write('ustar\x0000', 257)
    header.write(
      octal(
        header.reduce((sum, byte) => sum + byte, 0),
        8,
      ),
      148,
    )
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512)
    body.write(text)
    return [header, body]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

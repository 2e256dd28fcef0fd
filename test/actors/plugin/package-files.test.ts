// Holds plugin-protocol §1.4.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { discoverPackages, type PackageSource } from '../../../src/actors/plugin/package/package-files.js'
import { findPackages } from '../../../src/actors/plugin/package/tool-directory.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { asOrdinaryUser } from '../../fakes/ordinary-user.js'
import { writePackage } from '../../fakes/packages.js'

const effects = createFakeEffects()
let root: string
let count = 0
beforeEach(() => {
  root = join(effects.root, `plugins-${count++}`)
  mkdirSync(root)
})

const GOOD = { id: 'dev.example.good', agent: { entrypoint: 'agent.lua' } }
const CODE = { 'agent.lua': 'return {}' }

function put(name: string, manifest: object, contents: Readonly<Record<string, string>> = CODE): string {
  return writePackage(join(root, name), contents, manifest)
}

/** Problems of the one package written with this manifest, as `code: message`. */
async function problemsOf(manifest: object | string, source: PackageSource = 'user'): Promise<string[]> {
  const directory = writePackage(join(root, 'each'), CODE)
  writeFileSync(join(directory, 'svc-plugin.json'), typeof manifest === 'string' ? manifest : JSON.stringify(manifest))
  const [found] = await discoverPackages(effects, root, source)
  return found === undefined ? ['nothing found'] : found.problems.map(({ code, message }) => `${code}: ${message}`)
}

const agent = (fields: object) => ({ id: 'dev.example.each', agent: { entrypoint: 'agent.lua', ...fields } })

describe('discovery', () => {
  it('finds child directories with a manifest in the order of their names', async () => {
    put('b', { ...GOOD, id: 'dev.example.two' })
    put('a', GOOD)
    put('.hidden', { ...GOOD, id: 'dev.example.hidden' })
    mkdirSync(join(root, 'empty'))
    put('deep/inner', { ...GOOD, id: 'dev.example.deep' })
    writeFileSync(join(root, 'svc-plugin.json'), '{}')
    const found = await discoverPackages(effects, root, 'user')
    expect(found.map(({ id, root: place, source, problems }) => [id, place, source, problems])).toEqual([
      ['dev.example.hidden', join(root, '.hidden'), 'user', []],
      ['dev.example.good', join(root, 'a'), 'user', []],
      ['dev.example.two', join(root, 'b'), 'user', []],
    ])
    expect(found[1]?.manifest).toMatchObject({
      apiVersion: 1,
      agent: { runtime: 'lua', scope: 'workspace', command: [], capabilities: [] },
    })
  })

  it('finds nothing where there is nothing to read', async () => {
    expect(await discoverPackages(effects, join(root, 'none'), 'user')).toEqual([])
    writeFileSync(join(root, 'plain'), '')
    expect(await discoverPackages(effects, join(root, 'plain'), 'user')).toEqual([])
  })

  it('follows a linked child to its canonical directory', async () => {
    const elsewhere = writePackage(join(effects.root, `elsewhere-${count}`), CODE, GOOD)
    symlinkSync(elsewhere, join(root, 'linked'))
    symlinkSync('nowhere', join(root, 'dangling'))
    expect(await discoverPackages(effects, root, 'workspace')).toMatchObject([{ id: 'dev.example.good', root: elsewhere, problems: [] }])
  })

  it('is not held up by special files, whatever they are called', async () => {
    mkdirSync(join(root, 'pipe'))
    execFileSync('mkfifo', [join(root, 'pipe/svc-plugin.json'), join(root, 'fifo')])
    put('entry', GOOD, {})
    execFileSync('mkfifo', [join(root, 'entry/agent.lua')])
    expect(await discoverPackages(effects, root, 'user')).toMatchObject([
      { id: 'dev.example.good', problems: [{ code: 'invalid-manifest', message: 'agent.entrypoint: "agent.lua" is not a regular file.' }] },
    ])
  })

  it('reads no manifest through a link', async () => {
    writeFileSync(join(effects.root, `secret-${count}`), JSON.stringify(GOOD))
    mkdirSync(join(root, 'each'))
    symlinkSync(join(effects.root, `secret-${count}`), join(root, 'each/svc-plugin.json'))
    const [found] = await discoverPackages(effects, root, 'user')
    expect(found).toMatchObject({ id: 'each', problems: [{ code: 'invalid-manifest' }] })
    expect(found?.manifest).toBeUndefined()
  })

  it('leaves out valid packages for editors only, and shows invalid ones', async () => {
    put('editor', { id: 'dev.example.editor', editor: { entrypoint: 'main.js' } })
    put('legacy', { id: 'dev.example.legacy', entrypoint: 'main.js', agent: null })
    put('wrong', { id: 'Wrong', editor: { entrypoint: 'main.js' } })
    expect((await discoverPackages(effects, root, 'user')).map(({ id }) => id)).toEqual(['wrong'])
  })

  it('gives an id to the first package that claims it, and tells the others', async () => {
    put('a', GOOD)
    put('b', GOOD)
    const found = await discoverPackages(effects, root, 'user')
    expect(found.map(({ id, problems }) => [id, problems.map(({ message }) => message)])).toEqual([
      ['dev.example.good', []],
      ['b', ['The id "dev.example.good" belongs to the package in "a" already.']],
    ])
  })

  it('finds directories of tools where a file of them holds tools, under ids that no package may have', async () => {
    const project = join(root, 'project')
    put('taken', { ...GOOD, id: 'workspace.tools' })
    const config = join(root, 'config')
    for (const [directory, names] of [
      [join(config, 'tools'), ['b.ts', 'notes.md']],
      [join(project, '.svc/tools'), ['a.d.ts', '.a.js', 'lib/a.js']],
    ] as const)
      for (const name of names) {
        mkdirSync(dirname(join(directory, name)), { recursive: true })
        writeFileSync(join(directory, name), '')
      }
    const found = () => findPackages(effects, config, project)
    expect((await found()).map(({ id, source, problems }) => [id, source, problems])).toEqual([['user.tools', 'user', []]])
    writeFileSync(join(project, '.svc/tools/a.js'), '')
    expect((await found()).map(({ id, manifest }) => [id, manifest?.agent?.scope])).toEqual([
      ['user.tools', 'user'],
      ['workspace.tools', 'workspace'],
    ])
    chmodSync(join(project, '.svc/tools'), 0o777)
    expect((await found())[1]?.problems).toMatchObject([
      { code: 'exposed', message: expect.stringContaining('.svc/tools is not read') as string },
    ])
    const [taken] = await discoverPackages(effects, root, 'user')
    expect(taken?.problems[0]?.message).toContain('the id "workspace.tools" is that of a directory of tools')
  })

  it('finds at most 512 packages in one directory', async () => {
    for (let index = 0; index < 513; index++) put(`p${String(index).padStart(3, '0')}`, { ...GOOD, id: `dev.example.p${index}` })
    const found = await discoverPackages(effects, root, 'user')
    expect([found.length, found.at(-1)?.id]).toEqual([512, 'dev.example.p511'])
  })

  it('shows a package that others can write, or is reached through what they can, and does not read its manifest', async () => {
    const manifest = join(put('each', GOOD), 'svc-plugin.json')
    const problems = async () => (await discoverPackages(effects, root, 'user')).map((found) => [found.id, found.manifest, found.problems])
    const refused = (reason: string) => {
      const action = 'Take write access away from others, or install the package where only you can write.'
      return [['each', undefined, [{ code: 'exposed', message: `${manifest} is not read: it ${reason}.`, action }]]]
    }
    chmodSync(manifest, 0o666)
    expect(await problems()).toEqual(refused('can be written by everybody'))
    chmodSync(manifest, 0o644)
    chmodSync(root, 0o777)
    expect(await problems()).toEqual(refused(`is reached through ${root}, which can be written by everybody`))
    chmodSync(root, 0o755)
    expect(await discoverPackages(effects, root, 'user')).toMatchObject([{ id: GOOD.id, problems: [] }])
  })

  it('shows a manifest that may not be read', async () => {
    const manifest = join(put('each', GOOD), 'svc-plugin.json')
    const found = () => asOrdinaryUser(effects.root, () => discoverPackages(effects, root, 'user'))
    expect(await found()).toMatchObject([{ id: GOOD.id, problems: [] }])
    chmodSync(manifest, 0)
    expect(await found()).toMatchObject([{ id: 'each', problems: [{ code: 'invalid-manifest' }] }])
  })
})

describe('a manifest', () => {
  it('may hold unknown keys, and the older spelling of apiVersion', async () => {
    expect(await problemsOf({ ...agent({ color: 'red' }), entrypoints: {}, api_version: 1 })).toEqual([])
    expect(await problemsOf({ ...agent({}), api_version: 2 })).toEqual([
      'incompatible: The package is written for plugin API 2; this server offers 1.',
    ])
  })

  it('is refused as a whole for one wrong value', async () => {
    const wrong: readonly (readonly [manifest: object | string, reason: string])[] = [
      ['', 'not valid JSON'],
      ['[]', 'it holds no JSON object'],
      ['\u{feff}{}', 'not valid JSON'],
      ['{"id":"dev.example.each",}', 'not valid JSON'],
      [`{"id":"dev.example.each","metadata":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`, 'deeper than 64 levels'],
      ['{"id":"dev.example.each",\n "id":"dev.example.other"}', 'the key "id" appears twice (line 2, column 2)'],
      [
        '{"id":"dev.example.each","agent":{"capabilities":[],"capabilit\\u0069es":["network"]}}',
        'the key "agent.capabilities" appears twice (line 1, column 53)',
      ],
      ['{"id":"dev.example.each","triggers":[1,{"a":{"b":1,"b":2}}]}', 'the key "triggers.1.a.b" appears twice'],
      [{}, 'id:'],
      [{ ...agent({}), id: 'todo' }, 'id: must be two or more parts'],
      [{ ...agent({}), id: 'dev.example-' }, 'id: must be two or more parts'],
      [{ ...agent({}), apiVersion: '1' }, 'apiVersion:'],
      [{ ...agent({}), apiVersion: 1, api_version: 1 }, 'both "apiVersion" and "api_version"'],
      [{ ...agent({}), platforms: 'linux' }, 'platforms:'],
      [agent({ runtime: 'wasm' }), 'agent.runtime:'],
      [agent({ scope: 'galaxy' }), 'agent.scope:'],
      [agent({ capabilities: ['network', 'everything'] }), 'agent.capabilities.1:'],
      [`{"metadata":{"x":"${'x'.repeat(256 * 1024)}"}}`, 'is larger than 262144 bytes'],
    ]
    for (const [manifest, reason] of wrong) {
      const [problem = '', ...more] = await problemsOf(manifest)
      expect([problem, more]).toEqual([expect.stringContaining(reason), []])
      expect(problem).toMatch(/^invalid-manifest: svc-plugin\.json cannot be used: /)
    }
  })

  it('that is not UTF-8 is refused', async () => {
    const directory = writePackage(join(root, 'each'), {})
    writeFileSync(join(directory, 'svc-plugin.json'), Buffer.from([0x7b, 0xff, 0x7d]))
    expect(await discoverPackages(effects, root, 'user')).toMatchObject([
      { problems: [{ message: expect.stringContaining('not valid UTF-8') }] },
    ])
  })
})

describe('a package', () => {
  it('must be for this plugin API and this system', async () => {
    expect(await problemsOf({ ...agent({}), apiVersion: 2, platforms: ['windows', 'macos'] })).toEqual([
      'incompatible: The package is written for plugin API 2; this server offers 1.',
      'incompatible: The package is for windows, macos; this server runs on linux.',
    ])
    expect(await problemsOf({ ...agent({}), platforms: ['windows', 'linux'] })).toEqual([])
    const mac = { ...effects, platform: { ...effects.platform, os: 'darwin' } }
    writePackage(join(root, 'each'), CODE, { ...agent({}), platforms: ['macos'] })
    expect((await discoverPackages(mac, root, 'user'))[0]?.problems).toEqual([])
    writePackage(join(root, 'each'), CODE, { ...agent({}), platforms: ['linux'] })
    expect((await discoverPackages(mac, root, 'user'))[0]?.problems).toMatchObject([{ code: 'incompatible' }])
  })

  it('of a workspace has the scope workspace or session', async () => {
    for (const scope of ['global', 'user']) {
      expect(await problemsOf(agent({ scope }), 'workspace')).toEqual([
        `invalid-manifest: agent.scope: a package of a workspace may have the scope "workspace" or "session", not "${scope}".`,
      ])
      expect(await problemsOf(agent({ scope }), 'user')).toEqual([])
    }
    expect(await problemsOf(agent({ scope: 'session' }), 'workspace')).toEqual([])
  })

  it('has a native part that is a file inside it, or none', async () => {
    expect(await problemsOf(agent({ native: { entrypoint: 'agent.lua', apiVersion: 2 } }))).toEqual([])
    expect(await problemsOf(agent({ native: { entrypoint: 'agent.lua', apiVersion: 7 } }))).toEqual([])
    const messages = await Promise.all(
      ['../out.js', 'missing.js', ''].map(async (entrypoint) => problemsOf(agent({ native: { entrypoint, apiVersion: 2 } }))),
    )
    expect(messages.flat()).toEqual(Array(3).fill(expect.stringContaining('agent.native.entrypoint: ')))
    expect(await problemsOf(agent({ native: 'agent.lua' }))).toEqual([expect.stringContaining('agent.native')])
  })

  it('has an entrypoint that is a file inside it', async () => {
    const directory = writePackage(join(root, 'each'), { 'lua/main.lua': '' })
    writeFileSync(join(root, 'outside.lua'), '')
    symlinkSync('../outside.lua', join(directory, 'escape.lua'))
    symlinkSync('agent.lua', join(directory, 'inside.lua'))
    const reasons: Readonly<Record<string, string>> = {
      '': 'a path inside the package is required',
      '/etc/passwd': 'is absolute',
      'C:agent.lua': 'is absolute',
      './agent.lua': 'must be plain names',
      'lua/../agent.lua': 'must be plain names',
      'lua//main.lua': 'must be plain names',
      '../outside.lua': 'must be plain names',
      'none.lua': 'does not exist',
      'agent.lua/x': 'does not exist',
      'agent\0.lua': 'does not exist',
      lua: 'is not a regular file',
      'escape.lua': 'leads out of the package',
    }
    for (const [entrypoint, reason] of Object.entries(reasons)) {
      expect(await problemsOf(agent({ entrypoint }))).toEqual([expect.stringContaining(reason)])
      expect(await problemsOf(agent({ entrypoint, runtime: 'process' }))).toEqual([expect.stringContaining(reason)])
      expect(await problemsOf(agent({ entrypoint, runtime: 'process', command: ['node', 'main.js'] }))).toEqual([])
      expect(await problemsOf(agent({ entrypoint, command: ['node'] }))).toEqual([expect.stringContaining(reason)])
    }
    expect(await problemsOf(agent({ entrypoint: 'lua/main.lua' }))).toEqual([])
    expect(await problemsOf(agent({ entrypoint: 'inside.lua' }))).toEqual([])
    expect(await problemsOf(agent({ runtime: 'process', command: [''] }))).toEqual([
      'invalid-manifest: agent.command: the program has no name.',
    ])
  })
})

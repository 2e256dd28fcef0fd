/** `svc plugin pack`, `add`, `update` and `remove` of the built program: from folders, archives, repositories and a registry. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Home, makeHome } from './program.js'

const ID = 'dev.example.hello'
let home: Home
let source: string
beforeEach(() => {
  home = makeHome()
  source = join(home.workspace, 'mine')
  writePackage('0.1.0')
})
afterEach(() => home.close())

const installed = () => join(home.path, '.config/svc/plugins', ID)
const records = () => JSON.parse(readFileSync(join(home.path, '.config/svc/installed-plugins.json'), 'utf8')) as Record<string, unknown>

function writePackage(version: string, capabilities: readonly string[] = []): void {
  mkdirSync(join(source, 'lua'), { recursive: true })
  const agent = { runtime: 'lua', entrypoint: 'agent.lua', capabilities }
  writeFileSync(join(source, 'svc-plugin.json'), JSON.stringify({ id: ID, name: 'hello', version, apiVersion: 1, agent }))
  writeFileSync(join(source, 'lua/say.lua'), `return "hello ${version}"\n`)
  writeFileSync(
    join(source, 'agent.lua'),
    'return { tools = { { id = "hello", description = "Says hello.", parameters = { type = "object" }, execute = function() return { output = require("say") } end } } }\n',
  )
  writeFileSync(join(source, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
}

/** `svc plugin test`, and the revision it says has answered. */
async function greeting() {
  const { stdout, stderr } = await home.run(['plugin', 'test', ID, 'hello'])
  return [stdout, stderr.includes('not by what is in the folder')]
}

describe('a package in a folder', () => {
  test('is added from no source that is none: that is a sentence, and no fault of svc', async () => {
    for (const source of ['ssh://-oProxyCommand=x/y', 'ext::sh -c id', 'npm:--registry=http://x', 'https://example.org/x.tgz'])
      expect(await home.run(['plugin', 'add', '--', source])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^svc: (?!Error)[^\n]+\n$/) as string,
      })
  })

  test('whose manifest has no agent, and an archive that is damaged or not there, are told to be so', async () => {
    writeFileSync(join(source, 'svc-plugin.json'), JSON.stringify({ id: ID, runtime: 'lua', capabilities: ['network'] }))
    expect((await home.run(['plugin', 'add', './mine'])).stderr).toMatch(
      /there is no "agent" in svc-plugin\.json, .*"runtime", "capabilities" belong/,
    )
    writeFileSync(join(home.workspace, 'cut.tgz'), Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]))
    expect((await home.run(['plugin', 'add', './cut.tgz'])).stderr).toMatch(/cut\.tgz cannot be taken: it is damaged \(/)
    expect((await home.run(['plugin', 'add', './nothere.tgz'])).stderr).toMatch(/^svc: \S+\/nothere\.tgz does not exist\n$/)
  })

  test('that needs something of its user says so when it is approved, and until it is there', async () => {
    const agent = {
      runtime: 'lua',
      entrypoint: 'agent.lua',
      capabilities: ['secret-use'],
      secrets: [{ alias: 'token', purpose: 'to sign' }],
      settings: { type: 'object', required: ['team'], properties: { team: { type: 'string' } } },
    }
    writeFileSync(join(source, 'svc-plugin.json'), JSON.stringify({ id: ID, name: 'hello', version: '1.0.0', apiVersion: 1, agent }))
    const { stderr } = await home.run(['plugin', 'add', './mine', '--trust', '--yes'])
    expect(stderr).toContain(`still needs the secret token (to sign) -> svc plugin configure ${ID}\n`)
    expect(stderr).toMatch(/still needs settings: .*"team" -> svc plugin configure/)
    const asked = await home.run(['plugin', 'configure', ID])
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining(`svc plugin configure ${ID} --set token < file`) as string })
    expect(asked.stderr).toContain(`-> svc config set --global plugins.${ID}.options.config.team <value>`)
    expect((await home.run(['plugin', 'doctor', ID])).stdout).toContain('it still needs the secret token (to sign)')
    expect(await home.run(['plugin', 'configure', ID, '--set', 'token'], { stdin: 'a-long-secret' })).toMatchObject({ code: 1 })
    expect(await home.run(['config', 'set', `plugins.${ID}.options.config.team`, 'core', '--global'])).toMatchObject({ code: 0 })
    expect((await home.run(['plugin', 'doctor', ID])).stdout).not.toContain('still needs')
  })

  test('that names hosts of this machine or its networks is told of the line that it needs, until that is there', async () => {
    const network = { hosts: ['127.0.0.1:8080', 'localhost:8080', '*.example.com', 'api.example.com', '8.8.8.8', '[::1]:8080'] }
    const agent = { runtime: 'lua', entrypoint: 'agent.lua', capabilities: ['network', 'event-publish'], network }
    writeFileSync(join(source, 'svc-plugin.json'), JSON.stringify({ id: ID, name: 'hello', version: '1.0.0', apiVersion: 1, agent }))
    const { stderr } = await home.run(['plugin', 'add', './mine', '--trust', '--yes'])
    expect(stderr).toContain('event-publish: publish events in its namespaces: none, for its manifest names none\n')
    const hosts = '["127.0.0.1:8080","localhost:8080","[::1]:8080"]'
    expect(stderr).toContain(
      `still needs a line of the installation for 127.0.0.1:8080, localhost:8080, [::1]:8080, which is of this machine or its networks -> svc config set --global plugins.${ID}.options.hosts '${hosts}'\n`,
    )
    expect(await home.run(['plugin', 'configure', ID])).toMatchObject({ code: 0, stderr: expect.stringContaining(hosts) as string })
    expect((await home.run(['plugin', 'doctor', ID])).stdout).toContain(hosts)
    expect((await home.run(['config', 'set', '--global', `plugins.${ID}.options.hosts`, hosts])).code).toBe(0)
    expect((await home.run(['plugin', 'doctor', ID])).stdout).not.toContain('still needs')
  })

  test('is taken up where a killed command left it: back in its place, or in its place without a record', async () => {
    await home.run(['plugin', 'add', './mine'])
    const file = join(home.path, '.config/svc/installed-plugins.json')
    const before = readFileSync(file, 'utf8')
    const room = join(home.path, '.config/svc', `.adding-${spawnSync(process.execPath, ['--version']).pid}-abcdef`)
    mkdirSync(join(room, 'replaced'), { recursive: true })
    renameSync(installed(), join(room, 'replaced', ID))
    expect((await home.run(['plugin', 'list'])).stdout).toContain(ID)
    expect([existsSync(installed()), existsSync(room)]).toEqual([true, false])

    writePackage('0.2.0')
    expect((await home.run(['plugin', 'update', ID])).code).toBe(0)
    writeFileSync(file, before)
    expect((await home.run(['plugin', 'update', ID])).stdout).toContain(`${ID} is up to date`)
    expect(readFileSync(file, 'utf8')).not.toBe(before)
    writePackage('0.3.0')
    expect((await home.run(['plugin', 'update', ID])).code).toBe(0)

    writeFileSync(file, '{}')
    expect((await home.run(['plugin', 'add', './mine'])).code).toBe(0)
    expect(Object.keys(records())).toEqual([ID])
  })

  test('is packed to the same bytes, added from there, approved, updated while it serves, and removed with its record', async () => {
    const packed = await home.run(['plugin', 'pack', './mine', '--json'])
    expect([packed.code, packed.stderr]).toEqual([0, ''])
    const { file, revision } = JSON.parse(packed.stdout) as { file: string; revision: string }
    expect(file).toBe(join(home.workspace, 'dev.example.hello-0.1.0.tgz'))
    const first = readFileSync(file)
    await home.run(['plugin', 'pack', source])
    expect(Buffer.compare(readFileSync(file), first)).toBe(0)

    const added = await home.run(['plugin', 'add', file])
    expect(added).toMatchObject({
      code: 0,
      stdout: `added ${ID} ${revision}\nnothing of it runs before you approve it: svc plugin trust ${ID}\n`,
    })
    expect(added.stderr).toMatch(
      /from +\S+dev\.example\.hello-0\.1\.0\.tgz\n[^]*4 files[^]*Lua agent\.lua[^]*asks for +nothing of the host/,
    )
    expect(statSync(join(installed(), 'run.sh')).mode & 0o111).not.toBe(0)
    expect(records()).toMatchObject({ [ID]: { source: { type: 'tarball', path: file }, revision } })
    expect(readdirSync(join(home.path, '.config/svc')).filter((name) => name.startsWith('.'))).toEqual([])
    expect(await home.run(['plugin', 'add', './mine'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${ID} is there already, with the same content, from ${file}\n`) as string,
    })
    writePackage('0.1.1')
    expect((await home.run(['plugin', 'add', './mine'])).stderr).toContain(
      `${ID} is there already, in ${installed()}; svc plugin update ${ID} ${source} takes this in its place`,
    )
    writePackage('0.1.0')

    expect((await home.run(['plugin', 'trust', ID, '--yes'])).stderr).toContain(revision)
    expect(await greeting()).toEqual(['hello 0.1.0\n', false])
    expect((await home.run(['plugin', 'update', ID])).stdout).toContain(`${ID} is up to date`)

    writePackage('0.2.0', ['workspace-read'])
    expect((await home.run(['plugin', 'pack', './mine', '--output', file])).stderr).toContain(
      'is there already, with other content; --force',
    )
    await home.run(['plugin', 'pack', './mine', '--output', file, '--force'])
    const updated = await home.run(['plugin', 'update', ID])
    expect(updated).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^updated dev\.example\.hello sha256:\w{64}\nwhat was approved goes on serving/) as string,
    })
    expect(updated.stderr).toMatch(
      /0\.1\.0 -> 0\.2\.0[^]*~ lua\/say\.lua {2}\+1 -1[^]*~ svc-plugin\.json[^]*\+ workspace-read: read and list/,
    )
    expect(await greeting()).toEqual(['hello 0.1.0\n', true])
    await home.run(['plugin', 'trust', ID, '--yes'])
    expect(await greeting()).toEqual(['hello 0.2.0\n', false])

    writePackage('0.3.0', ['workspace-read'])
    await home.run(['plugin', 'pack', './mine'])
    const next = './dev.example.hello-0.3.0.tgz'
    expect((await home.run(['plugin', 'update', ID])).stdout).toMatch(
      / is up to date: .*; svc plugin update \S+ <source> takes it from elsewhere\n/,
    )
    expect((await home.run(['plugin', 'update', ID, next, '--trust', '--yes'])).stderr).toMatch(
      /0\.2\.0 -> 0\.3\.0[^]*asks for what it asked for before/,
    )
    expect(records()).toMatchObject({ [ID]: { source: { type: 'tarball', path: join(home.workspace, next) } } })
    expect(await greeting()).toEqual(['hello 0.3.0\n', false])
    expect((await home.run(['plugin', 'update', ID, '--path', 'lua'])).stderr).toContain('svc-plugin.json')
    expect((await home.run(['plugin', 'update', ID, file, '--trust', '--yes'])).code).toBe(0)

    writeFileSync(join(installed(), 'agent.lua'), 'return {}')
    expect((await home.run(['plugin', 'update', ID])).stderr).toContain('it was changed here; --force takes what is new in its place')
    expect((await home.run(['plugin', 'update', ID, '--force', '--diff', '--trust', '--yes'])).stderr).toContain('-return {}')
    expect(await greeting()).toEqual(['hello 0.2.0\n', false])

    const secrets = join(home.state, 'plugin-auth.json')
    const given = { key: { value: 'a-long-secret', hosts: [], givenAt: 1 } }
    writeFileSync(secrets, JSON.stringify({ [ID]: given, 'dev.example.other': given }), { mode: 0o600 })
    const removed = await home.run(['plugin', 'remove', ID, '--yes'])
    expect([removed.code, removed.stderr]).toEqual([0, 'its approvals, settings and secrets are gone as well\n'])
    expect([existsSync(installed()), records()]).toEqual([false, {}])
    expect(JSON.parse(readFileSync(secrets, 'utf8'))).toEqual({ 'dev.example.other': given })
    expect((await home.run(['config', 'get', 'plugins'])).stdout).not.toContain(ID)
  })

  test.each([
    ['a link', () => symlinkSync('/etc/passwd', join(source, 'link')), 'is a link, and links are not allowed'],
    ['no manifest', () => writeFileSync(join(source, 'svc-plugin.json'), '{'), 'svc-plugin.json cannot be used'],
    [
      'an entrypoint that is not there',
      () => writeFileSync(join(source, 'svc-plugin.json'), JSON.stringify({ id: ID, agent: { entrypoint: 'no.lua' } })),
      'no.lua',
    ],
    [
      'the id of a built-in',
      () => writeFileSync(join(source, 'svc-plugin.json'), JSON.stringify({ id: 'dev.svc.files', agent: { entrypoint: 'agent.lua' } })),
      'built-in',
    ],
  ])('with %s is neither packed nor added, and nothing of it stays', async (_, spoil, problem) => {
    spoil()
    for (const args of [
      ['pack', './mine'],
      ['add', './mine'],
    ]) {
      const { code, stderr } = await home.run(['plugin', ...args])
      expect([code, stderr]).toEqual([1, expect.stringContaining(problem)])
    }
    expect(readdirSync(join(home.path, '.config/svc/plugins'))).toEqual([])
  })
})

test('a package of a repository is added by a tag, from a folder of it, without its history', async () => {
  const repository = join(home.path, 'repository')
  const git = (...args: string[]) => {
    const { status, stderr } = spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: repository,
      encoding: 'utf8',
    })
    expect([status, args[0] === 'init' ? '' : stderr]).toEqual([0, expect.anything()])
  }
  mkdirSync(join(repository, 'plugins'), { recursive: true })
  git('init', '-q')
  spawnSync('cp', ['-R', source, join(repository, 'plugins/hello')])
  git('add', '.')
  git('commit', '-qm', 'one')
  git('tag', 'v1')
  const url = `file://${repository}`
  const added = await home.run(['plugin', 'add', `git+${url}#v1`, '--path', 'plugins/hello', '--trust', '--yes'])
  expect([added.code, added.stdout]).toEqual([0, expect.stringMatching(/^added [^]*^approved /m)])
  expect(readdirSync(installed()).toSorted()).toEqual(['agent.lua', 'lua', 'run.sh', 'svc-plugin.json'])
  expect(records()).toMatchObject({
    [ID]: { source: { type: 'git', url, ref: 'v1', below: 'plugins/hello' }, resolved: expect.stringMatching(/^[0-9a-f]{40}$/) as string },
  })
  expect(await greeting()).toEqual(['hello 0.1.0\n', false])
  expect((await home.run(['plugin', 'add', 'ssh://a/b'])).stderr).toContain('begins with https://, http:// or file://')
})

test('a package of the registry is fetched by npm, checked and unpacked; none of its scripts runs', async () => {
  writeFileSync(
    join(source, 'package.json'),
    JSON.stringify({
      name: 'svc-hello',
      version: '1.0.0',
      scripts: { preinstall: 'exit 1', prepare: 'exit 1' },
      dependencies: { left: '1' },
    }),
  )
  const { stdout } = await home.run(['plugin', 'pack', './mine', '--json'])
  const archive = readFileSync((JSON.parse(stdout) as { file: string }).file)
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  const registry = createServer((request, response) => {
    const { port } = registry.address() as AddressInfo
    if (request.url?.endsWith('.tgz') === true) return void response.end(archive)
    const dist = { tarball: `http://127.0.0.1:${port}/svc-hello/-/svc-hello-1.0.0.tgz`, integrity }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        name: 'svc-hello',
        'dist-tags': { latest: '1.0.0' },
        versions: { '1.0.0': { name: 'svc-hello', version: '1.0.0', dist } },
      }),
    )
  })
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = registry.address() as AddressInfo
    const env = { npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: join(home.path, 'npm') }
    const added = await home.run(['plugin', 'add', 'svc-hello', '--json'], { env })
    expect([added.code, added.stderr]).toEqual([0, 'npm fetches svc-hello\n'])
    expect(JSON.parse(added.stdout)).toMatchObject({ id: ID, source: { type: 'npm', spec: 'svc-hello' } })
    expect(records()).toMatchObject({ [ID]: { resolved: `svc-hello@1.0.0 ${integrity}` } })
    expect(await home.run(['plugin', 'update', ID], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('up to date: npm:svc-hello') as string,
    })
  } finally {
    registry.close()
  }
})

test('a registry that does not answer is named while somebody waits for it, and asked twice at most', async () => {
  const asked = join(home.path, 'asked')
  const bin = join(home.path, 'bin')
  mkdirSync(bin)
  // It packs nothing until it was asked which registry it waits for.
  const npm = `#!/bin/sh
if [ "$1" = config ]; then echo http://user:word@registry.example/x/; echo yes > ${asked}.config; exit 0; fi
echo "$@" > ${asked}
while [ ! -e ${asked}.config ]; do sleep 0.1; done
echo 'npm error it is not there' >&2
exit 1
`
  writeFileSync(join(bin, 'npm'), npm, { mode: 0o755 })
  const { code, stderr } = await home.run(['plugin', 'add', 'svc-hello'], { env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` } })
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^npm fetches svc-hello\nnpm still waits for its registry, http:\/\/registry\.example\nsvc: npm could not fetch svc-hello/,
    ),
  ])
  expect(existsSync(`${asked}.config`)).toBe(true)
  expect(readFileSync(asked, 'utf8')).toMatch(/--fetch-retries=1 .*--fetch-timeout=\d+ -- svc-hello/)
})

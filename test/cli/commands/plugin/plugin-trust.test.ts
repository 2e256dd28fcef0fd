// Holds plugin-protocol §2.1.
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makePluginHome, type PluginHome } from './plugin-place.js'

let home: PluginHome
beforeEach(() => {
  home = makePluginHome()
})
afterEach(() => home.close())

const ID = 'dev.example.hello'
const file = (name: string) => join(home.workspace, '.svc/plugins', ID, name)
const manifest = (agent: object, rest: object = {}) => JSON.stringify({ id: ID, name: 'Hello', version: '2', agent, ...rest })
const trustOf = () => {
  const document = JSON.parse(home.read(home.configFile)) as { plugins: Record<string, { options: { trust: Record<string, unknown>[] } }> }
  return document.plugins[ID]?.options.trust ?? []
}

describe('svc plugin trust', () => {
  test('shows content, program, scope and capabilities, and writes exactly that to the installation', async () => {
    home.write(
      file('svc-plugin.json'),
      manifest({ runtime: 'process', command: ['node', 'main.js', '--x'], capabilities: ['workspace-read'] }),
    )
    const { code, stdout, stderr } = await home.run('trust', ID, '--yes')
    const revision = /sha256:[0-9a-f]{64}/.exec(stderr)?.[0]
    expect([code, stdout]).toEqual([0, `approved ${ID} ${revision}\n`])
    const root = join(home.workspace, '.svc/plugins', ID)
    for (const shown of [`${ID}  Hello 2`, `${root} (workspace)`, '1 file,', `workspace ${home.workspace}`]) {
      expect(stderr).toContain(shown)
    }
    expect(stderr).toContain('workspace-read: read and list every file of the workspace')
    expect(stderr).toMatch(/main\.js --x, (with your rights|contained by bubblewrap: it sees its own folder)/)
    expect(trustOf()).toEqual([
      {
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
        workspaceId: home.workspace,
        packageId: ID,
        revision,
        scope: 'workspace',
        capabilities: ['workspace-read'],
        executableApproved: true,
        luaApproved: false,
        nativeApproved: false,
      },
    ])
  })

  test('says why nothing contains a program where bubblewrap cannot be had', async () => {
    vi.stubEnv('PATH', join(home.home, 'bin'))
    home.write(file('svc-plugin.json'), manifest({ runtime: 'process', command: ['node', 'main.js'] }))
    const { stderr } = await home.run('trust', ID, '--yes')
    const why =
      /main\.js, with your rights, since nothing contains it: (?:bubblewrap \(bwrap\) is not installed|there is none on this system)/
    expect(stderr).toMatch(why)
  })

  test('approves native code where that is said, in the place of its runtime, and says what it may', async () => {
    home.write(file('main.js'), '')
    const agent = { runtime: 'process', command: ['node', 'main.js'], native: { entrypoint: 'main.js', apiVersion: 2 } }
    home.write(file('svc-plugin.json'), manifest(agent))
    const plain = await home.run('trust', ID, '--yes')
    expect(plain.stderr).toContain('not approved: it has a part that would run inside of the server')
    expect(trustOf()).toEqual([expect.objectContaining({ executableApproved: true, nativeApproved: false })])
    const { code, stderr } = await home.run('trust', ID, '--native', '--yes')
    expect(code).toBe(0)
    expect(stderr).toMatch(/runs +main\.js inside of the server\n/)
    expect(stderr).toContain('may      everything that svc itself may, for nothing contains it')
    expect(trustOf()).toEqual([
      expect.objectContaining({ digest: expect.stringContaining('sha256:') as string, executableApproved: false, nativeApproved: true }),
    ])
    home.write(file('svc-plugin.json'), manifest({ ...agent, native: { entrypoint: 'main.js', apiVersion: 3 } }))
    expect((await home.run('trust', ID, '--native', '--yes')).stderr).toContain('is for the native API 3; this server has 2')
    home.write(file('svc-plugin.json'), manifest({ ...agent, native: undefined }))
    expect((await home.run('trust', ID, '--native', '--yes')).stderr).toContain('has no native part')
  })

  test('shows each capability in words, with the hosts and the secrets that the manifest names', async () => {
    home.write(file('agent.lua'), 'return {}')
    const asked = { entrypoint: 'agent.lua', capabilities: ['network', 'secret-use', 'config-write'] }
    const secrets = [{ alias: 'token', purpose: 'to read issues', hosts: ['api.example.com'] }]
    home.write(file('svc-plugin.json'), manifest({ ...asked, network: { hosts: ['api.example.com', '*.example.org'] }, secrets }))
    const { stderr } = await home.run('trust', ID, '--yes')
    for (const shown of [
      'network: use the network: only api.example.com, *.example.org',
      'secret-use: have the host use secrets without seeing them: "token" (to read issues; sent to api.example.com)',
      'config-write: change its own settings',
    ])
      expect(stderr).toContain(shown)
    home.write(file('svc-plugin.json'), manifest(asked))
    expect((await home.run('trust', ID, '--yes')).stderr).toContain('network: use the network: any public host')
    for (const network of [{ hosts: [] }, { hosts: ['https://api.example.com'] }, { hosts: ['*'] }, true]) {
      home.write(file('svc-plugin.json'), manifest({ ...asked, network }))
      expect((await home.run('trust', ID, '--yes')).stderr).toContain('agent.network')
    }
  })

  test('writes nothing when nobody can confirm', async () => {
    await home.run('init', ID)
    const { code, stdout, stderr } = await home.run('trust', ID)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('nobody is here to approve it')
    expect(() => home.read(home.configFile)).toThrow(/ENOENT/)
  })

  test('keeps comments, other settings and approvals of other places, and replaces its own', async () => {
    const other = { workspaceId: '/elsewhere', packageId: ID, revision: 'sha256:0', capabilities: [] }
    const text = `{\n  // mine\n  "model": "svc/offline",\n  "plugins": { "${ID}": { "options": { "config": { "a": 1 }, "trust": ${JSON.stringify(other)} } } }\n}\n`
    home.write(home.configFile, text)
    await home.run('init', ID)
    expect((await home.run('trust', ID, '--yes')).code).toBe(0)
    home.write(file('agent.lua'), 'return {}')
    expect((await home.run('trust', ID, '--yes')).code).toBe(0)
    const written = home.read(home.configFile)
    expect(written).toContain('// mine')
    expect(written).toContain('"config": { "a": 1 }')
    const { plugins } = JSON.parse(written.replace('// mine', '')) as {
      plugins: Record<string, { options: { trust: { workspaceId: string }[] } }>
    }
    expect(plugins[ID]?.options.trust.map(({ workspaceId }) => workspaceId)).toEqual(['/elsewhere', home.workspace])
  })

  test('does not approve less than a package asks for, unknown capabilities, and packages that cannot run', async () => {
    home.write(file('svc-plugin.json'), manifest({ entrypoint: 'agent.lua', capabilities: ['workspace-read', 'config-read'] }))
    home.write(file('agent.lua'), 'return {}')
    expect((await home.run('trust', ID, '--yes', '--capabilities', 'config-read')).stderr).toContain('leaves out workspace-read')
    expect((await home.run('trust', ID, '--yes', '--capabilities', 'root')).stderr).toContain('"root" is not a capability')
    expect((await home.run('trust', 'dev.example.none', '--yes')).stderr).toContain('there is no package dev.example.none')
    home.write(file('svc-plugin.json'), manifest({ entrypoint: 'gone.lua' }))
    expect((await home.run('trust', ID, '--yes')).stderr).toContain('"gone.lua" does not exist in the package')
  })

  test('refuses a capability that no broker provides here, and writes nothing', async () => {
    home.write(file('agent.lua'), 'return {}')
    for (const capability of ['workspace-read', 'workspace-write']) {
      home.write(
        file('svc-plugin.json'),
        manifest({ entrypoint: 'agent.lua', capabilities: ['config-read', capability], scope: 'session' }),
      )
      const { code, stderr } = await home.run('trust', ID, '--yes', '--session', 'ses_1')
      expect([code, stderr]).toEqual([1, expect.stringContaining(`no broker here for ${capability} in the scope session`)])
    }
    expect(() => trustOf()).toThrow('ENOENT')
  })

  test('cannot be fooled by control characters in a manifest', async () => {
    home.write(file('svc-plugin.json'), manifest({ entrypoint: 'agent.lua' }, { name: 'a\u001b[2Kb' }))
    home.write(file('agent.lua'), 'return {}')
    const { stderr } = await home.run('trust', ID, '--yes')
    expect(stderr).toContain('a')
    expect(stderr).not.toContain('\u001b')
  })

  test('asks which package is meant when the user and the workspace have one, and for the session of a session package', async () => {
    home.write(file('svc-plugin.json'), manifest({ entrypoint: 'agent.lua', scope: 'session' }))
    home.write(file('agent.lua'), 'return {}')
    expect((await home.run('trust', ID, '--yes')).stderr).toContain('name it with --session <id>')
    expect((await home.run('trust', ID, '--yes', '--session', 'ses_1')).code).toBe(0)
    expect(trustOf()).toMatchObject([{ scope: 'session', scopeId: 'ses_1', luaApproved: true }])
    const mine = join(home.home, '.config/svc/plugins/hello')
    home.write(join(mine, 'svc-plugin.json'), manifest({ entrypoint: 'agent.lua', scope: 'user' }))
    home.write(join(mine, 'agent.lua'), 'return {}')
    expect((await home.run('trust', ID, '--yes', '--session', 'ses_1')).stderr).toContain('--source user')
    expect((await home.run('trust', ID, '--yes', '--source', 'user', '--user', 'ada')).code).toBe(0)
    expect(trustOf()).toMatchObject([{ scope: 'session' }, { scope: 'user', scopeId: 'ada', workspaceId: '' }])
  })
})

describe('svc plugin disable and enable', () => {
  test('switch a plugin off and on, whatever else is written about it', async () => {
    await home.run('init', ID)
    await home.run('trust', ID, '--yes')
    expect(await home.run('disable', ID)).toEqual({ code: 0, stdout: `${ID} is disabled\n`, stderr: '' })
    expect((await home.run('list')).stdout).toMatch(/approved +disabled/)
    expect(await home.run('enable', ID, '--json')).toEqual({ code: 0, stdout: `{"id":"${ID}","enabled":true}\n`, stderr: '' })
    expect((await home.run('list')).stdout).toMatch(/approved +trusted/)
  })

  test('say when something else decides', async () => {
    home.write(join(home.workspace, 'svc.json'), JSON.stringify({ plugins: { [ID]: { enabled: false } } }))
    const { code, stderr } = await home.run('enable', ID)
    expect([code, stderr]).toEqual([1, expect.stringContaining('switched off elsewhere too')])
    expect((await home.run('disable', 'nodot')).stderr).toContain('is not the id of a plugin')
  })
})

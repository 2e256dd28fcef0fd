import { chmodSync, symlinkSync } from 'node:fs'
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
const manifest = (agent: object) => JSON.stringify({ id: ID, agent })

async function findings(): Promise<{ level: string; check: string; detail: string }[]> {
  const { stdout } = await home.run('doctor', '--json')
  return (JSON.parse(stdout) as { findings: { level: string; check: string; detail: string }[] }).findings
}

describe('svc plugin doctor', () => {
  test('says so for a place without packages, and is not content with one nobody approved', async () => {
    expect(await home.run('doctor')).toEqual({ code: 0, stdout: 'no packages\n', stderr: '' })
    await home.run('init', ID)
    expect((await home.run('doctor')).code).toBe(1)
  })

  test('tells both revisions of a package that changed since it was approved, and the command that approves it', async () => {
    await home.run('init', ID)
    const old = /sha256:[0-9a-f]{64}/.exec((await home.run('trust', ID, '--yes')).stdout)?.[0]
    home.write(file('agent.lua'), 'return { tools = {} }')
    const [changed] = await findings()
    expect(changed).toMatchObject({ level: 'error', check: ID })
    expect(changed?.detail).toMatch(
      new RegExp(`^its content changed since it was approved: ${old} then, sha256:[0-9a-f]{64} now -> .*svc plugin trust ${ID}`),
    )
  })

  test.each([
    ['{', 'is not valid JSON'],
    ['{"id":"hello","agent":{}}', 'id: must be two or more parts'],
    [manifest({ runtime: 'lua', entrypoint: '../x.lua' }), 'agent.entrypoint'],
    [manifest({ runtime: 'lua', entrypoint: 'a.lua', scope: 'global' }), 'agent.scope'],
    [manifest({ capabilities: ['root'] }), 'agent.capabilities.0'],
  ])('names what is wrong with the manifest %s', async (text, problem) => {
    home.write(file('svc-plugin.json'), text)
    expect((await findings()).map(({ level, detail }) => `${level} ${detail}`).join('\n')).toContain(problem)
    expect((await findings()).every(({ level }) => level === 'error')).toBe(true)
  })

  test('finds missing programs, capabilities without a broker, and a sandbox that cannot be', async () => {
    const agent = {
      runtime: 'process',
      command: ['no-such-program'],
      capabilities: ['workspace-read', 'workspace-write'],
      scope: 'session',
    }
    home.write(file('svc-plugin.json'), manifest(agent))
    expect((await home.run('trust', ID, '--yes', '--session', 'ses_1')).stderr).toContain(
      'no broker here for workspace-read, workspace-write',
    )
    const details = (await findings()).map(({ level, detail }) => `${level}: ${detail}`)
    expect(details).toEqual([
      expect.stringMatching(/^error: content: nobody has approved it \(external trust is required\) -> /),
      expect.stringMatching(
        /^error: no broker here for workspace-read, workspace-write in the scope session -> take it out of agent.capabilities/,
      ),
      expect.stringMatching(/^error: there is no program "no-such-program" on the search path -> /),
    ])
    vi.stubEnv('SVC_AGENT_PLUGIN_SANDBOX', 'required')
    vi.stubEnv('PATH', join(home.home, 'bin'))
    home.write(join(home.home, 'bin/own'), '#!/bin/sh\n')
    chmodSync(join(home.home, 'bin/own'), 0o755)
    home.write(file('svc-plugin.json'), manifest({ runtime: 'process', command: ['own'] }))
    await home.run('trust', ID, '--yes')
    expect((await findings()).map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^sandbox required but .* -> install bubblewrap/),
    ])
    vi.stubEnv('SVC_AGENT_PLUGIN_SANDBOX', 'auto')
    expect(await findings()).toContainEqual({
      level: 'warning',
      check: ID,
      detail: expect.stringMatching(/^it runs without a sandbox: (?:bubblewrap \(bwrap\) is not installed|there is none)/) as string,
    })
  })

  test('finds an entrypoint that cannot be executed, and content that cannot be hashed', async () => {
    home.write(file('svc-plugin.json'), manifest({ runtime: 'process', entrypoint: 'run' }))
    home.write(file('run'), '#!/bin/sh\n')
    await home.run('trust', ID, '--yes')
    expect((await findings()).map(({ detail }) => detail)).toEqual(['run cannot be executed -> chmod +x run, in the package'])
    symlinkSync('/etc/hostname', file('link'))
    expect((await findings()).map(({ detail }) => detail)).toEqual([expect.stringContaining('"link" is a link, and links are not allowed')])
  })

  test('fails for an id nobody has', async () => {
    expect((await home.run('doctor', 'dev.example.none')).stderr).toContain('there is no package dev.example.none')
  })
})

describe('svc plugin list', () => {
  test('shows packages of the user and of the workspace, also those that cannot be read', async () => {
    await home.run('init', ID)
    await home.run('init', 'dev.example.mine', '--scope', 'global')
    home.write(join(home.workspace, '.svc/plugins/broken/svc-plugin.json'), '{')
    const rows = JSON.parse((await home.run('list', '--json')).stdout) as object[]
    expect(rows).toMatchObject([
      { id: 'dev.example.mine', source: 'user', scope: 'global', approved: false, state: 'permission-required' },
      { id: 'broken', source: 'workspace', state: 'failed', problem: expect.stringContaining('not valid JSON') as string },
      { id: ID, source: 'workspace', scope: 'workspace', approved: false },
    ])
    expect((await home.run('list')).stdout.split('\n')).toHaveLength(5)
  })
})

describe('svc plugin init', () => {
  test('never writes over what is there, and refuses ids that are none', async () => {
    home.write(file('agent.lua'), 'mine')
    const { code, stderr } = await home.run('init', ID)
    expect([code, stderr, home.read(file('agent.lua'))]).toEqual([1, expect.stringContaining('exists already'), 'mine'])
    expect((await home.run('init', 'Hello')).stderr).toContain('"Hello" is not the id of a package')
    expect((await home.run('init', 'dev.svc.hello')).stderr).toContain('built-in')
  })
})

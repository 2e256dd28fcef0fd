import { describe, expect, it } from 'vitest'
import type { NativeHost } from '../../../src/ports/plugin.js'
import type { SandboxedCommand } from '../../../src/ports/doors.js'
import { createShellWorkspace } from './fixture.js'

interface Options {
  readonly on?: boolean
  readonly network?: boolean
  readonly unavailable?: string
}

/** A workspace whose commands are sandboxed; what was wrapped is kept. */
function setup({ on = true, network = false, unavailable }: Options = {}) {
  const wrapped: SandboxedCommand[] = []
  const state = { on }
  const sandbox: NativeHost['sandbox'] = {
    isOn: async () => state.on,
    whyMissing: async () => unavailable,
    placeOf: (path) => (/^\/(etc|usr)(\/|$)/.test(path) ? 'read-only' : /^\/private(\/|$)/.test(path) ? 'private' : undefined),
    async wrap(command) {
      wrapped.push(command)
      return unavailable === undefined ? { program: '/usr/bin/bwrap', args: ['--', command.program] } : { unavailable }
    },
  }
  const workspace = createShellWorkspace({}, undefined, sandbox)
  workspace.effects.processes.script(() => ({ stdout: 'ran' }))
  const context = {
    decisions: (_: string, patterns: readonly string[]) => patterns.map(() => (network ? ('allow' as const) : ('ask' as const))),
  }
  const needs = async (command: string, more: object = {}) =>
    (await workspace.needs({ command, ...more }, context)).map(({ permission, patterns, explicit, harmless }) => ({
      permission,
      patterns,
      ...(explicit !== undefined && { explicit }),
      ...(harmless !== undefined && { harmless }),
    }))
  return { workspace, wrapped, needs, context, state }
}

const of = (all: readonly { permission: string }[], permission: string) => all.filter((need) => need.permission === permission)

describe('in the sandbox', () => {
  it('nobody is asked about reading what every command sees', async () => {
    const { needs } = setup()
    expect(of(await needs('cat /etc/hostname'), 'external_directory')).toEqual([
      { permission: 'external_directory', patterns: ['/etc/*'], harmless: true },
    ])
  })

  it('is asked about writing there, and about places that are not there by themselves', async () => {
    const { needs } = setup()
    expect(of(await needs('cat /etc/hostname > /etc/other; cat /srv/x/y'), 'external_directory')).toEqual([
      { permission: 'external_directory', patterns: ['/etc/*', '/srv/x/*'] },
    ])
  })

  it('is not asked about writing what is gone with the command, but rules on the file stay', async () => {
    const needs = await setup().needs('echo x > /private/y')
    expect(needs).toEqual([
      { permission: 'bash', patterns: ['echo x'] },
      { permission: 'external_directory', patterns: ['/private/*'], harmless: true },
      { permission: 'edit', patterns: ['/private/y'] },
    ])
  })

  it('is not asked where an operand may lead outside, but whether it may be a secret of the workspace', async () => {
    const needs = await setup().needs('cat $x')
    expect(of(needs, 'external_directory')).toEqual([{ permission: 'external_directory', patterns: ['/*'], harmless: true }])
    expect(of(needs, 'read')).toEqual([{ permission: 'read', patterns: ['.env'] }])
  })

  it('a connection opened by the shell needs no explicit answer while the network is closed', async () => {
    const line = 'true > /dev/tcp/127.0.0.1/80'
    expect(of(await setup().needs(line), 'bash')).toEqual([{ permission: 'bash', patterns: ['true'] }])
    const explicit = 'it opens a network connection'
    expect(of(await setup({ network: true }).needs(line), 'bash')).toEqual([{ permission: 'bash', patterns: ['true'], explicit }])
    expect(of(await setup({ on: false }).needs(line), 'bash')).toEqual([{ permission: 'bash', patterns: ['true'], explicit }])
  })

  it.each(['eval "$x"', '$program', 'echo x > .git/config', 'LD_PRELOAD=x ls', 'cd $x; ls', 'echo x > $y'])(
    'an explicit answer stays explicit: %s',
    async (line) => {
      const explicit = (each: readonly { explicit?: string }[]) => each.flatMap((need) => need.explicit ?? [])
      const inside = explicit(await setup().needs(line))
      expect(inside).not.toEqual([])
      expect(inside).toEqual(explicit(await setup({ on: false }).needs(line)))
    },
  )

  it('the network is a need of its own when a line asks for it', async () => {
    const input = { network: true }
    expect(of(await setup().needs('npm install; ls', input), 'network')).toEqual([
      { permission: 'network', patterns: ['npm install', 'ls'] },
    ])
    expect(of(await setup().needs('npm install'), 'network')).toEqual([])
    expect(of(await setup({ on: false }).needs('npm install', input), 'network')).toEqual([])
  })
})

describe('a command that runs in the sandbox', () => {
  it('gets what was allowed and nothing else', async () => {
    const { workspace, wrapped, context } = setup()
    const result = await workspace.run({ command: 'cat /etc/hostname /srv/x/y > .git/config' }, context)
    expect(result).toMatchObject({ output: 'ran', metadata: { sandbox: { network: false } } })
    expect(wrapped).toMatchObject([
      {
        args: ['-c', 'cat /etc/hostname /srv/x/y > .git/config'],
        workspace: workspace.directory,
        network: false,
        directories: ['/srv/x'],
        writes: [`${workspace.directory}/.git/config`],
      },
    ])
    expect(workspace.effects.processes.calls.at(-1)).toMatchObject({ command: '/usr/bin/bwrap' })
  })

  it.each([
    [{}, { network: true }, true],
    [{ network: true }, {}, true],
    [{}, {}, false],
  ])('has the network by rule or by request: %j %j', async (options, more, network) => {
    const { workspace, wrapped, context } = setup(options)
    await workspace.run({ command: 'make', ...more }, context)
    expect(wrapped).toMatchObject([{ network }])
  })

  it('does not run where there is none', async () => {
    const { workspace, context } = setup({ unavailable: 'it is not installed' })
    await expect(workspace.run({ command: 'make' }, context)).rejects.toThrow(/nothing was run: it is not installed/)
    expect(workspace.effects.processes.calls.filter(({ args }) => args[0] === '-c')).toEqual([])
  })

  it('does not run when the sandbox was switched off after it was judged', async () => {
    const { workspace, context, state } = setup()
    await workspace.needs({ command: 'make' }, context)
    state.on = false
    await expect(workspace.invoke({ command: 'make' }, context)).rejects.toThrow(/was not checked for this call, or has changed/)
  })

  it('says what may be why it failed', async () => {
    const { workspace, context } = setup()
    workspace.effects.processes.script(() => ({ exitCode: 1, stderr: 'no such host' }))
    await expect(workspace.run({ command: 'make' }, context)).rejects.toThrow(
      /no such host\n\n\(It ran in a sandbox: .* The network was closed/,
    )
  })
})

// Holds threat-model C1, C3, C5, K1; choice 34.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { processBroker, type ProcessBrokerDeps } from '../../../src/actors/plugin/brokers/process-spawn.broker.js'
import type { PlayedChild } from '../../../src/simulation/child.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { PermissionAction } from '../../../src/protocol/interaction/interaction.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { callOf, leaseOf, serve, storeWith } from './fake-lease.js'

interface Options {
  readonly sandbox?: Partial<ProcessBrokerDeps['sandbox']>
  readonly standing?: PermissionAction
  readonly find?: ProcessBrokerDeps['find']
}

function setUp({ sandbox, standing = 'allow', find = async (name) => (name === 'echo' ? '/usr/bin/env' : undefined) }: Options = {}) {
  const effects = createFakeEffects()
  const children: PlayedChild[] = []
  effects.processes.pipe(() => (child) => void children.push(child))
  const asked: unknown[] = []
  const store = storeWith(effects, ['ses_1', 'ses_2'])
  const broker = processBroker({
    effects,
    store,
    sandbox: {
      isOn: async () => false,
      whyMissing: async () => undefined,
      wrap: async ({ program, args, network }) => ({ program: '/usr/bin/bwrap', args: [network ? 'net' : 'no-net', program, ...args] }),
      ...sandbox,
    },
    rules: {
      async decisions(of, permission, patterns) {
        asked.push([of, permission, patterns])
        return patterns.map(() => standing)
      },
    },
    find,
  })
  const lease = leaseOf(effects, ['process-spawn', broker])
  const spawn = async (input: object = {}) => {
    const { opaqueId } = (await lease.call('spawn', { command: ['echo', 'a b'], ...input })) as { opaqueId: string }
    return opaqueId
  }
  return { effects, lease, spawn, children, asked, last: () => children.at(-1) as PlayedChild }
}

const GOING = { ended: false, exitCode: null, signal: null, stopped: null }

describe('a program', () => {
  test('is started with the clean environment of every child, in its directory, without input', async () => {
    const { effects, lease, children } = setUp()
    mkdirSync(join(effects.paths.cwd, 'sub'))
    const answer = await lease.call('spawn', { command: ['echo', 'a b'], cwd: 'sub', env: { MODE: 'x' } })
    expect(answer).toEqual({ opaqueId: expect.stringMatching(/^pr_[0-9a-f]{32}$/) as string, program: '/usr/bin/env', sandboxed: false })
    const { options, inputClosed } = children[0] as PlayedChild
    expect([options.command, options.args, options.cwd, inputClosed]).toEqual([
      '/usr/bin/env',
      ['a b'],
      join(effects.paths.cwd, 'sub'),
      true,
    ])
    expect(options.env).toEqual({ ...effects.childEnv, MODE: 'x' })
  })

  test('is read as it writes, waited for, and remembered when it has ended', async () => {
    const { lease, spawn, last } = setUp()
    const opaqueId = await spawn()
    last().stdout('one ')
    last().stderr('two')
    expect(await lease.call('read', { opaqueId })).toEqual({
      output: [
        { stream: 'stdout', text: 'one ' },
        { stream: 'stderr', text: 'two' },
      ],
      cursor: 7,
      skipped: 0,
      more: false,
      ...GOING,
    })
    const waiting = lease.call('read', { opaqueId, cursor: 7, waitMs: 1000 })
    last().stdout('é')
    expect(await waiting).toMatchObject({ output: [{ stream: 'stdout', text: 'é' }], cursor: 9, ended: false })
    const ending = lease.call('wait', { opaqueId, waitMs: 1000 })
    last().end({ exitCode: 3 })
    const ended = { ended: true, exitCode: 3, signal: null, stopped: null }
    expect(await ending).toEqual(ended)
    expect(await lease.call('list')).toEqual({
      processes: [{ opaqueId, command: ['echo', 'a b'], startedAt: expect.any(Number) as number, ...ended }],
    })
    expect(await lease.call('close', { opaqueId })).toEqual({ closed: true })
    expect(await lease.call('close', { opaqueId })).toEqual({ closed: false })
    await expect(lease.call('read', { opaqueId })).rejects.toThrow('nothing of the id')
  })

  test('that says nothing is waited for so long and no longer', async () => {
    const { effects, lease, spawn } = setUp()
    const opaqueId = await spawn()
    const waiting = lease.call('wait', { opaqueId, waitMs: 1000 })
    await Promise.resolve()
    effects.clock.advance(1000)
    expect(await waiting).toEqual(GOING)
  })

  test('takes input while it is open', async () => {
    const { lease, spawn, last } = setUp()
    const opaqueId = await spawn({ stdin: true })
    await lease.call('write', { opaqueId, text: 'hello ' })
    expect(await lease.call('write', { opaqueId, text: 'you', end: true })).toMatchObject({ waiting: expect.any(Number) as number })
    await Promise.resolve()
    expect([last().input, last().inputClosed]).toEqual(['hello you', true])
    await expect(lease.call('write', { opaqueId, text: 'x' })).rejects.toThrow('closed')
    const silent = await spawn()
    await expect(lease.call('write', { opaqueId: silent, text: 'x' })).rejects.toThrow('without an open input')
  })

  test('gets signals, and none once it has ended', async () => {
    const { lease, spawn, last } = setUp()
    const opaqueId = await spawn()
    expect(await lease.call('signal', { opaqueId, signal: 'SIGUSR1' })).toEqual({ sent: true })
    expect(last().signals).toEqual(['SIGUSR1'])
    await lease.call('wait', { opaqueId, waitMs: 1000 })
    expect(await lease.call('signal', { opaqueId, signal: 'SIGTERM' })).toEqual({ sent: false })
  })

  test('ends when its time is over, when it is cancelled, and with its lease', async () => {
    const { effects, lease, spawn, children } = setUp()
    const [late, cancelled, revoked] = [await spawn({ timeoutMs: 1000 }), await spawn(), await spawn()]
    effects.clock.advance(1000)
    expect(await lease.call('wait', { opaqueId: late, waitMs: 1000 })).toEqual({
      ended: true,
      exitCode: null,
      signal: 'SIGTERM',
      stopped: 'time',
    })
    await lease.cancel(cancelled)
    expect(children.map(({ ended }) => ended)).toEqual([true, true, false])
    expect(await lease.call('wait', { opaqueId: revoked })).toEqual(GOING)
    await lease.revoke()
    expect(children.map(({ ended }) => ended)).toEqual([true, true, true])
  })

  test('is one of so many at a time, and one that has ended makes room', async () => {
    const { lease, spawn, last } = setUp()
    for (let left = LIMITS.pluginProcesses.running; left > 0; left--) await spawn()
    await expect(spawn()).rejects.toThrow(`at most ${LIMITS.pluginProcesses.running} programs`)
    last().end()
    const { processes } = (await lease.call('list')) as { processes: readonly { opaqueId: string }[] }
    await lease.call('wait', { opaqueId: processes.at(-1)?.opaqueId, waitMs: 1000 })
    await spawn()
  })

  test('that cannot be started is told, and is not there', async () => {
    const { effects, lease } = setUp()
    effects.processes.pipe(() => {
      throw new Error('EACCES')
    })
    await expect(lease.call('spawn', { command: ['echo'] })).rejects.toThrow('cannot be started: EACCES')
  })
})

describe('what is started', () => {
  test.each([
    [['./script.sh'], 'is a relative path'],
    [['bin/tool'], 'is a relative path'],
    [[''], 'names no program'],
    [['unknown'], 'is not found outside of the workspace'],
  ])('is never %j: it %s', async (command, reason) => {
    await expect(setUp().lease.call('spawn', { command })).rejects.toThrow(reason)
  })

  test('is nothing of the workspace, by a link neither', async () => {
    const here = createFakeEffects().paths.cwd
    const { effects, lease } = setUp({ find: async (name) => (name === 'own' ? join(here, 'own') : name) })
    symlinkSync('/usr/bin/env', join(effects.paths.cwd, 'own'))
    await expect(lease.call('spawn', { command: [join(effects.paths.cwd, 'own')] })).rejects.toThrow('is in the workspace')
    await expect(lease.call('spawn', { command: ['own'] })).rejects.toThrow('not found')
  })

  test.each([
    ['..', 'leads out of the workspace'],
    ['/tmp', 'is not relative'],
    ['missing', 'is not there'],
  ])('runs in no directory %j, which %s', async (cwd, reason) => {
    await expect(setUp().spawn({ cwd })).rejects.toThrow(reason)
  })

  test.each(['LD_PRELOAD', 'SVC_AGENT_TOKEN', 'NODE_OPTIONS', 'HOME', 'a-b'])('is given no variable %s', async (name) => {
    await expect(setUp().spawn({ env: { [name]: 'x' } })).rejects.toThrow(name)
  })

  test('has a workspace', async () => {
    const effects = createFakeEffects()
    const { lease } = setUp()
    expect(lease).toBeDefined()
    const broker = processBroker({
      effects,
      store: storeWith(effects, []),
      sandbox: { isOn: async () => false, whyMissing: async () => undefined, wrap: async () => ({ unavailable: '' }) },
      rules: { decisions: async () => [] },
      find: async (name) => name,
    })
    const everywhere = leaseOf(effects, ['process-spawn', broker], { place: { scope: 'global' } })
    await expect(everywhere.call('spawn', { command: ['echo'] })).rejects.toThrow('there is no workspace here')
  })
})

describe('where the sandbox is on', () => {
  test('it is wrapped, with the network only of a plugin that has it', async () => {
    const { lease, last } = setUp({ sandbox: { isOn: async () => true } })
    expect(await lease.call('spawn', { command: ['echo', 'x'] })).toMatchObject({ program: '/usr/bin/env', sandboxed: true })
    expect([last().options.command, last().options.args]).toEqual(['/usr/bin/bwrap', ['no-net', '/usr/bin/env', 'x']])
  })

  test('and cannot be had, nothing runs', async () => {
    const { spawn, children } = setUp({ sandbox: { isOn: async () => true, whyMissing: async () => 'there is no bubblewrap' } })
    await expect(spawn()).rejects.toThrow('there is no bubblewrap')
    expect(children).toEqual([])
  })
})

describe('a rule that denies the line', () => {
  test('to the agent whose call the plugin serves holds, under every name of the program', async () => {
    const { effects, lease, spawn, children } = setUp()
    for (const line of ["echo 'a b'", "/usr/bin/env 'a b'", "env 'a b'", 'echo a b']) {
      const end = serve(lease.served, callOf(effects, { denied: [line] }))
      await expect(spawn()).rejects.toThrow('a permission rule of the agent denies')
      end()
    }
    expect(children).toEqual([])
  })

  test.each([
    [['sh', '-c', 'ls; rm -rf x']],
    [['/usr/bin/bash', '-lc', 'true && (rm -rf x)']],
    [['env', '-i', 'A=b', 'rm', '-rf', 'x']],
    [['timeout', '5', '/bin/rm', '-rf', 'x']],
    [['nice', 'sh', '-c', 'rm -rf x']],
  ])('holds for what %j hands on', async (command) => {
    const { effects, lease, spawn, children } = setUp({ find: async () => '/usr/bin/env' })
    const end = serve(lease.served, callOf(effects, { denied: ['rm -rf x'] }))
    await expect(spawn({ command })).rejects.toThrow('denies')
    end()
    expect(children).toEqual([])
  })

  test('is one that denies: what a rule asks about is answered by the grant', async () => {
    const { effects, lease, spawn, asked } = setUp()
    serve(lease.served, callOf(effects, { otherwise: 'ask' }))
    await spawn()
    expect(asked).toEqual([])
  })

  test('to one of several agents holds while it is not said which of them asks', async () => {
    const { effects, lease, spawn } = setUp()
    serve(lease.served, callOf(effects, { denied: ["echo 'a b'"] }))
    serve(lease.served, callOf(effects, { sessionId: 'ses_2' }))
    await expect(spawn()).rejects.toThrow('denies')
    await spawn({ sessionId: 'ses_2' })
  })

  test('to the default agent holds where no session is served', async () => {
    const { effects, spawn, asked } = setUp({ standing: 'deny' })
    await expect(spawn()).rejects.toThrow('denies')
    expect(asked).toEqual([[{ directory: effects.paths.cwd }, 'bash', expect.arrayContaining(["echo 'a b'"]) as unknown]])
  })
})

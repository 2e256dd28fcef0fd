// Holds sessions-events §10.5.
import { describe, expect, it } from 'vitest'
import type { ProcessResult } from '../../../src/ports/effects.js'
import { createShellEnvironment, type Variables } from '../../../src/plugins/shell/run/environment.js'
import { createFakeEffects } from '../../fakes/effects.js'

const TERMINAL = { TERM: 'xterm-256color', SVC_TERMINAL: '1' }
const allow = (variables: Variables) => Object.fromEntries(Object.entries(variables).filter(([name]) => !/KEY|PS4/.test(name)))

type Answer = Partial<ProcessResult> | (() => Promise<Partial<ProcessResult>>)

function setup(childEnv: Variables, answers: readonly Answer[]) {
  const effects = createFakeEffects({ childEnv })
  let asked = 0
  effects.processes.script(() => {
    const answer = answers[asked++] ?? {}
    return typeof answer === 'function' ? answer() : answer
  })
  return { effects, environment: createShellEnvironment({ effects, allow }) }
}

const captured = (path: string): Partial<ProcessResult> => ({ stdout: `hello\0svc-login-environment\0PATH=${path}\0API_KEY=x\0A=b=c\nd\0` })

describe('the environment of commands', () => {
  it('is that of the login shell, without what children may not have, behind whatever login files print', async () => {
    const { effects, environment } = setup({ PATH: '/bin', SHELL: '/usr/bin/zsh', LANG: 'C' }, [captured('/login')])
    expect(await environment.variables()).toEqual({ PATH: '/login', SHELL: '/usr/bin/zsh', LANG: 'C', A: 'b=c\nd', ...TERMINAL })
    const [call] = effects.processes.calls
    expect(call).toMatchObject({ command: '/usr/bin/zsh', cwd: effects.paths.home, timeoutMs: 5000 })
    expect(call?.args.slice(0, 2)).toEqual(['-l', '-c'])
    expect(effects.clock.pendingTimers).toBe(0)
  })

  it('is asked for once, and again in the background after five minutes', async () => {
    const { effects, environment } = setup({ PATH: '/bin' }, [captured('/one'), captured('/two')])
    await Promise.all([environment.variables(), environment.variables()])
    effects.clock.advance(299_999)
    expect((await environment.variables())['PATH']).toBe('/one')
    expect(effects.processes.calls).toHaveLength(1)
    effects.clock.advance(1)
    expect((await environment.variables())['PATH']).toBe('/one')
    await effects.clock.advanceAsync(0)
    expect((await environment.variables())['PATH']).toBe('/two')
    expect(effects.processes.calls).toHaveLength(2)
  })

  it.each([
    ['fails', { exitCode: 1, stdout: '' }],
    ['prints something else', { stdout: 'PATH=/x' }],
    ['prints too much', { ...captured('/x'), captureTruncated: true }],
    ['cannot be started', () => Promise.reject(new Error('ENOENT'))],
  ])('is the plain one when the login shell %s', async (_, answer) => {
    const { environment } = setup({ PATH: '/bin' }, [answer])
    expect(await environment.variables()).toEqual({ PATH: '/bin', ...TERMINAL })
  })

  it('is the plain one while the login shell takes longer than a second', async () => {
    let finish: (result: Partial<ProcessResult>) => void = () => undefined
    const slow = new Promise<Partial<ProcessResult>>((resolve) => {
      finish = resolve
    })
    const { effects, environment } = setup({ PATH: '/bin' }, [() => slow])
    const first = environment.variables()
    await effects.clock.advanceAsync(1000)
    expect(await first).toEqual({ PATH: '/bin', ...TERMINAL })
    finish(captured('/late'))
    await effects.clock.advanceAsync(0)
    expect((await environment.variables())['PATH']).toBe('/late')
  })
})

describe('the shell', () => {
  it.each([
    ['/usr/bin/zsh', '/opt/bash', '/opt/bash'],
    ['/usr/bin/zsh', undefined, '/bin/sh'],
    ['/usr/bin/dash', undefined, '/usr/bin/dash'],
    ['dash', undefined, '/bin/sh'],
    ['/w/evil', undefined, '/bin/sh'],
  ])('is bash where it exists: SHELL=%s, bash at %s', async (shell, bash, expected) => {
    const { effects, environment } = setup({ PATH: '/bin', SHELL: shell }, [])
    if (bash !== undefined) effects.processes.programs.set('bash', bash)
    expect(await environment.shell()).toBe(expected)
  })
})

import { uptime } from 'node:os'
import { expect, it, vi } from 'vitest'
import { createNodeClock, createNodeEffects } from '../../../src/platform/node/node-effects.js'
import { nodePaths } from '../../../src/platform/node/paths.js'

it('puts its directories where the environment says, else in the usual places', () => {
  const cwd = process.cwd()
  expect(nodePaths({ HOME: '/home/me', TMPDIR: '/var/tmp' })).toEqual({
    home: '/home/me',
    temp: '/var/tmp',
    config: '/home/me/.config/svc',
    state: '/home/me/.local/state/svc',
    cache: '/home/me/.cache/svc',
    cwd,
  })
  expect(nodePaths({ HOME: '/home/me', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_CACHE_HOME: 'relative' })).toMatchObject({
    config: '/c/svc',
    state: '/s/svc',
    cache: '/home/me/.cache/svc',
  })
  expect(nodePaths({ HOME: '/h', SVC_AGENT_STATE_DIR: '/data', SVC_AGENT_CACHE_DIR: 'cache', XDG_STATE_HOME: '/s' })).toMatchObject({
    state: '/data',
    cache: `${cwd}/cache`,
  })
})

it('makes distinct ids and random bytes, and standard hashes', () => {
  const { ids, random, sha256 } = createNodeEffects()
  const made = new Set(Array.from({ length: 2000 }, () => ids.next('msg').slice(-14)))
  expect(made.size).toBe(2000)
  const [first, second] = [random.bytes(32), random.bytes(32)]
  expect([first.length, Buffer.from(first).equals(second)]).toEqual([32, false])
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(sha256(new TextEncoder().encode('abc'))).toBe(sha256('abc'))
})

it('reads the environment it is given and logs where it is told', () => {
  const lines: string[] = []
  const effects = createNodeEffects({ env: { PATH: '/bin', SVC_LOG: 'warn', A_TOKEN: 't' }, logWrite: (line) => lines.push(line) })
  effects.log.info('unseen')
  effects.log.warn('seen')
  expect([effects.env['A_TOKEN'], effects.childEnv, lines.length]).toEqual(['t', { PATH: '/bin' }, 1])
})

it('waits for delays longer than a platform timer holds', () => {
  vi.useFakeTimers()
  try {
    const DAY = 24 * 60 * 60 * 1000
    const clock = createNodeClock()
    const run = vi.fn<() => void>()
    const cancelled = vi.fn<() => void>()
    clock.setTimeout(run, 40 * DAY)
    const handle = clock.setTimeout(cancelled, 40 * DAY)
    vi.advanceTimersByTime(40 * DAY - 1)
    expect(run).not.toHaveBeenCalled()
    clock.clearTimeout(handle)
    vi.advanceTimersByTime(1)
    expect([run.mock.calls.length, cancelled.mock.calls.length]).toEqual([1, 0])
  } finally {
    vi.useRealTimers()
  }
})

it('knows how long the machine has been on, by no clock that can be set', () => {
  const clock = createNodeClock()
  expect(Math.abs(clock.elapsed() - uptime() * 1000)).toBeLessThan(1000)
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(0)
  try {
    expect(Math.abs(clock.elapsed() - uptime() * 1000)).toBeLessThan(1000)
  } finally {
    vi.useRealTimers()
  }
})

// Holds threat-model T5.
import { expect, test, vi } from 'vitest'
import { createStanding } from '../../src/http/admission/standing.js'
import { type Caller, TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { LIMITS } from '../../src/protocol/limits.js'
import { createFakeClock } from '../../src/simulation/clock.js'

const hosted: Caller = { ...TRUSTED_CALLER, authenticated: true, hosted: true }

test('what is open ends once, soon after the credential has ended; nobody is asked while nobody is connected', () => {
  const clock = createFakeClock()
  const good = new Set<Caller>([hosted])
  const standing = createStanding(clock, { stands: (caller) => good.has(caller) })
  const [end, left, closed] = [vi.fn<() => void>(), vi.fn<() => void>(), vi.fn<(code: number, reason: string) => void>()]
  standing.follow(hosted, end)
  standing.follow(hosted, left)()
  standing.followSocket(hosted, { close: closed, once: () => undefined })
  clock.advance(10 * LIMITS.tenants.recheck)
  expect(end).not.toHaveBeenCalled()
  good.clear()
  clock.advance(LIMITS.tenants.recheck)
  clock.advance(10 * LIMITS.tenants.recheck)
  expect([end.mock.calls, left.mock.calls, closed.mock.calls]).toEqual([[[]], [], [[1008, 'The credential has ended.']]])
  expect(clock.pendingTimers).toBe(0)
})

test('the operator and whoever needs no credential are never asked', () => {
  const clock = createFakeClock()
  const standing = createStanding(clock, { stands: () => false })
  for (const caller of [TRUSTED_CALLER, { ...TRUSTED_CALLER, authenticated: true, operator: true }])
    standing.follow(caller, () => expect.fail())
  expect(clock.pendingTimers).toBe(0)
})

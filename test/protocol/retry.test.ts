import { expect, it } from 'vitest'
import { LIMITS } from '../../src/protocol/limits.js'
import { delayOf, type RetryPolicy } from '../../src/protocol/retry.js'

const delays = (policy: RetryPolicy, count: number) => Array.from({ length: count }, (_, index) => delayOf(policy, index + 1))

it.each<[string, RetryPolicy, readonly number[]]>([
  ['is always the same without a factor', { first: 7 }, [7, 7, 7]],
  ['grows by its factor', { first: 250, factor: 2 }, [250, 500, 1000, 2000]],
  ['grows until it is as long as any may be', { first: 2, factor: 2, most: 50 }, [2, 4, 8, 16, 32, 50, 50]],
  ['is no longer than that from the first on', { first: 2000, factor: 2, most: 5 }, [5, 5]],
  ['is none where the first is none', { first: 0, factor: 2 }, [0, 0, 0]],
])('a pause %s', (_, policy, expected) => {
  expect(delays(policy, expected.length)).toEqual(expected)
})

it('a pause is a number, however often something has failed, and however early it is asked for', () => {
  const endless = { first: 1, factor: 2 }
  expect([41, 42, 5000].map((attempt) => delayOf(endless, attempt))).toEqual([2 ** 40, 2 ** 40, 2 ** 40])
  expect([delayOf({ ...endless, first: 0 }, 5000), delayOf(endless, 0), delayOf(endless)]).toEqual([0, 1, 1])
})

it('a share of a pause is left to chance, also of the longest', () => {
  const policy = { first: 100, factor: 2, most: 300, jitter: 0.5 }
  expect([0, 0.5].map((chance) => delayOf(policy, 1, () => chance))).toEqual([50, 75])
  expect([0, 0.5].map((chance) => delayOf(policy, 3, () => chance))).toEqual([150, 225])
  expect(delayOf(policy, 1)).toBe(100)
})

it('the policies are what they were before they were policies', () => {
  const { run, sessions, plugins, workflows, mcp, undo, terminals } = LIMITS
  expect(delays(run.retry, 6)).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000])
  expect(delays(sessions.fault, 8)).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000])
  expect(delays(plugins.restart, 3)).toEqual([250, 500, 1000])
  expect(delays(workflows.recheck, 10)).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  expect(delays(mcp.retry, 2)).toEqual([30_000, 30_000])
  expect(delays(undo.retry, 2)).toEqual([250, 250])
  expect(delays(terminals.inputRetry, 7)).toEqual([2, 4, 8, 16, 32, 50, 50])
  expect([run.retry.tries, plugins.restart.tries, mcp.retry.tries, undo.retry.tries]).toEqual([3, 3, 3, 4])
})

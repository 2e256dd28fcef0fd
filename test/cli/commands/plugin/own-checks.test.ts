/** What `svc plugin test` says of a check that fails, and of one whose input no call could have. */
import { expect, test } from 'vitest'
import type { Check } from '../../../../src/cli/commands/plugin/check-file.js'
import type { Harness } from '../../../../src/cli/commands/plugin/test/harness.js'
import { runCheck } from '../../../../src/cli/commands/plugin/test/own-checks.js'

const TOOLS = [{ id: 'greet', parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } }]

/** A package that fails as a program does that was not asked for this. */
function harness() {
  const called: unknown[] = []
  const fake = {
    log: [],
    asked: [],
    answers: {},
    until: async () => true,
    async call(method: string, params: unknown) {
      if (method === 'tool.invoke') called.push(params)
      return { error: "KeyError: 'name'" }
    },
  }
  return { called, harness: fake as unknown as Harness }
}

test('tells what a package writes to its log after its answer, and nothing of the check before', async () => {
  const log: string[] = []
  const late = ['of the check before']
  const fake = {
    log,
    asked: [],
    answers: {},
    async call(method: string) {
      log.push(...late.splice(0))
      if (method === 'tool.invoke') late.push('of this check')
      return method === 'tool.invoke' ? { error: 'no' } : { result: null }
    },
    until: async (isThere: () => boolean) => isThere(),
  }
  const check = { name: 'greets', tool: 'greet', input: { name: 'Ada' } }
  expect(await runCheck(fake as unknown as Harness, check, { host: {}, tools: TOOLS })).toEqual({
    name: 'greets',
    problem: 'it answered the error "no"',
    log: ['of this check'],
  })
})

const run = async (check: Check) => {
  const { called, harness: given } = harness()
  const { problem } = await runCheck(given, check, { host: {}, tools: TOOLS })
  return { problem, calls: called.length }
}

test('an input that does not fit the parameters of the tool is told as that, and the package is not called', async () => {
  for (const input of [{}, { name: 1 }]) {
    const { problem, calls } = await run({ tool: 'greet', input })
    expect(problem).toMatch(/^the input does not fit the parameters of the tool "greet": .*name/)
    expect([problem?.includes('KeyError'), calls]).toEqual([false, 0])
  }
})

test('where an error is expected the package is asked, and the input is told beside an error that is another', async () => {
  expect(await run({ tool: 'greet', input: {}, error: 'KeyError' })).toEqual({ problem: undefined, calls: 1 })
  const { problem, calls } = await run({ tool: 'greet', input: {}, error: 'give a name' })
  expect(problem).toMatch(/^the error is "KeyError: 'name'", without "give a name"; the input does not fit/)
  expect(calls).toBe(1)
})

test('an input that fits, and a tool the package has not, are left to the package', async () => {
  for (const check of [
    { tool: 'greet', input: { name: 'Ada' } },
    { tool: 'other', input: {} },
  ])
    expect(await run(check as Check)).toEqual({ problem: `it answered the error "KeyError: 'name'"`, calls: 1 })
})

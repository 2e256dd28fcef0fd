/** What `svc plugin test` says of a check whose input no call could have. */
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
    async call(_method: string, params: unknown) {
      called.push(params)
      return { error: "KeyError: 'name'" }
    },
  }
  return { called, harness: fake as unknown as Harness }
}

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

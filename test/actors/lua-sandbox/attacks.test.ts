/**
 * Hostile scripts, each in a process of its own. The first line of each says what it tries, the second what has to come of it:
 * `harmless: <json>` the callback returns this and the process lives; `error: <text>` it fails and the process lives;
 * `trip: <text>` it fails and the process ends itself; `load: <text>` the same for the entrypoint; `any` whatever is bounded.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { endSandboxes, luaPackage, removeSandboxFiles, startSandbox } from '../../fixtures/lua-sandbox.js'

const folder = new URL('../../fixtures/lua-attacks/', import.meta.url)
const names = readdirSync(folder).toSorted()
/** What a busy machine adds to every wait, ms. */
const SLACK = 5000

afterEach(endSandboxes)
afterAll(removeSandboxFiles)

function attack(name: string) {
  const text = readFileSync(new URL(name, folder), 'utf8')
  const [, tries, verdict, detail] = /^-- Tries to (.+)\.\n-- Expected: (\w+)(?:: ?(.*))?\n/.exec(text) ?? []
  if (tries === undefined || verdict === undefined) throw new Error(`${name} does not say what it tries`)
  return { text, tries, verdict, detail: detail ?? '' }
}

describe('a script that tries to', () => {
  it.each(names.map((name) => ({ name, ...attack(name) })))(
    '$tries ($name)',
    { timeout: 60_000 },
    async ({ name, text, verdict, detail }) => {
      const sandbox = await startSandbox(luaPackage({ 'main.lua': text }), { onRequest: () => 'answer' })
      await sandbox.frame(({ method }) => method === 'runner.ready')
      const start = performance.now()
      const loaded = await sandbox.initialize()
      const { error, result } = verdict === 'load' ? loaded : await sandbox.tool('attack')
      const elapsed = performance.now() - start
      const dies = verdict === 'load' || verdict === 'trip'
      const alive = verdict === 'any' ? undefined : !dies
      if (dies) expect((await sandbox.ended).code).toBe(1)
      if (process.env['SHOW'] !== undefined)
        console.log(
          name.padEnd(32),
          elapsed.toFixed(0).padStart(6),
          (sandbox.peak() / 1048576).toFixed(0).padStart(5),
          error ?? JSON.stringify(result)?.slice(0, 80),
          '|',
          sandbox.stderr().slice(-100).trim(),
        )

      if (verdict === 'harmless') expect(result).toEqual(JSON.parse(detail))
      if (verdict === 'error' || dies) expect(error).toContain(detail)
      if (dies) expect(sandbox.stderr().trim().split('\n').at(-1)).toMatch(/\S/)
      if (alive === true) expect((await sandbox.call('no.such.method')).error).toContain('unknown method')
      const budget = verdict === 'load' ? LIMITS.lua.load : LIMITS.lua.callback
      expect(elapsed).toBeLessThan(budget + LIMITS.lua.watchdogGrace + SLACK)
      expect(sandbox.peak()).toBeGreaterThan(0)
      expect(sandbox.peak()).toBeLessThan(LIMITS.lua.processBytes)
    },
  )
})

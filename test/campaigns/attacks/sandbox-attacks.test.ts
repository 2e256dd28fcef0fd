// Holds plugin-protocol §6.1.
/**
 * Hostile scripts, each in a process of its own: some, others each time, or all (`npm run campaigns`). The first line of each says what it tries, the second what has to come of it:
 * `harmless: <json>` the callback returns this and the process lives; `error: <text>` it fails and the process lives;
 * `trip: <text>` it fails and the process ends itself; `load: <text>` the same for the entrypoint; `any` whatever is bounded.
 * A process lives when its VM takes the next call; a tool `after` has to answer as if nothing had happened.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { endSandboxes, luaPackage, type Reply, removeSandboxFiles, startSandbox } from '../../fixtures/lua-sandbox.js'
import { sample } from '../scale.js'

const folder = new URL('../../fixtures/lua-attacks/', import.meta.url)
const names = sample(readdirSync(folder).toSorted(), 32)

afterEach(endSandboxes)
afterAll(removeSandboxFiles)

function attack(name: string) {
  const text = readFileSync(new URL(name, folder), 'utf8')
  const [, tries, verdict, detail] = /^-- Tries to (.+)\.\n-- Expected: (\w+)(?:: ?(.*))?\n/.exec(text) ?? []
  if (tries === undefined || verdict === undefined) throw new Error(`${name} does not say what it tries`)
  return { text, tries, verdict, detail: detail ?? '' }
}

/** What a verdict means for the reply, and for the process after it. */
function expected({ verdict, detail }: ReturnType<typeof attack>) {
  if (verdict === 'any') return {}
  if (verdict === 'harmless') return { reply: { result: JSON.parse(detail) }, process: 'lives' }
  const reply = { error: expect.stringContaining(detail) }
  return verdict === 'error' ? { reply, process: 'lives' } : { reply, process: 'ended with 1' }
}

const isServed = ({ result, error }: Reply): boolean =>
  error === undefined ? result.output === 'true1' : error.includes('unknown tool "after"')

describe('a script that tries to', () => {
  it.each(names.map((name) => ({ name, ...attack(name) })))('$tries ($name)', async (script) => {
    const sandbox = await startSandbox(luaPackage({ 'main.lua': script.text }), { onRequest: () => 'answer', watched: true })
    await sandbox.frame(({ method }) => method === 'runner.ready')
    const loaded = await sandbox.initialize()
    const reply = script.verdict === 'load' ? loaded : await sandbox.tool('attack')
    const next = await sandbox.tool('after')
    const process = isServed(next) ? 'lives' : `ended with ${(await sandbox.ended).code}`

    expect({ reply, process }).toMatchObject(expected(script))
    const [reason = ''] = sandbox.stderr().trimEnd().split('\n').slice(-1)
    expect(process === 'lives' || reason !== '').toBe(true)
    expect(sandbox.peak()).toBeGreaterThan(0)
    expect(sandbox.peak()).toBeLessThan(LIMITS.lua.processBytes)
  })
})

// Holds threat-model L2.
/** Budgets of time. Those that are waited for are shorter, as the command line of the program says; without it they are those of the limits. */
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { readTimes } from '../../../src/programs/sandbox/times.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { endSandboxes, loadedSandbox, removeSandboxFiles } from '../../fixtures/lua-sandbox.js'

afterEach(endSandboxes)
afterAll(removeSandboxFiles)

const ASK = `return { tools = {
  { id = "ask", execute = function(p) local ok, e = pcall(svc.host.config_get, { key = "k" }); return { ok, e } end },
} }`

describe('a callback', () => {
  it('may last thirty seconds and wait ten for its host, unless the command line says less', () => {
    const { callback, hostCall } = LIMITS.lua
    expect({ callback, hostCall }).toEqual({ callback: 30_000, hostCall: 10_000 })
    const usual = ['--manifest', '/a/svc-plugin.json']
    expect(readTimes(usual)).toEqual({ callback, hostCall })
    expect(readTimes([...usual, '--callback-ms', '2000', '--host-call-ms', '500'])).toEqual({ callback: 2000, hostCall: 500 })
    for (const odd of ['60000', '0', '-1', 'x']) expect(readTimes([...usual, '--callback-ms', odd])).toEqual({ callback, hostCall })
    expect(readTimes([...usual, '--host-call-ms'])).toEqual({ callback, hostCall })
  })

  it('ends when its time is over, and the VM serves on', async () => {
    const script = `return { tools = {
      { id = "t", execute = function() while true do pcall(coroutine.wrap(function() svc.host.config_get({ key = "k" }) end)) end end },
      { id = "u", execute = function() return coroutine.wrap(function() return "well" end)() end },
    } }`
    const sandbox = await loadedSandbox(script, { args: ['--callback-ms', '3000', '--host-call-ms', '1000'] })
    expect(await sandbox.tool('t')).toMatchObject({ error: 'the callback used its time budget of 3000 ms' })
    expect(await sandbox.tool('u')).toMatchObject({ result: 'well' })
  })

  it('that waited long enough for its host gets an error the script can catch, and a late answer is dropped', async () => {
    const sandbox = await loadedSandbox(ASK, { args: ['--host-call-ms', '2000'] })
    const call = sandbox.tool('ask')
    const { id } = await sandbox.frame(({ method }) => method === 'host.config.get')
    expect(await call).toMatchObject({ result: [false, 'host request timed out'] })
    sandbox.send({ id, result: 'late' })
    const again = sandbox.tool('ask')
    const { id: second } = await sandbox.frame((frame) => frame.method === 'host.config.get' && frame.id !== id)
    sandbox.send({ id: second, result: 'fresh' })
    expect(await again).toMatchObject({ result: [true, 'fresh'] })
  })
})

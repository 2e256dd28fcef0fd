// Holds threat-model L2.
/** Budgets of time that are as long as they are: both tests wait side by side. */
import { afterAll, describe, expect, it } from 'vitest'
import { endSandboxes, loadedSandbox, removeSandboxFiles } from '../../fixtures/lua-sandbox.js'

afterAll(endSandboxes)
afterAll(removeSandboxFiles)

const ASK = `return { tools = {
  { id = "ask", execute = function(p) local ok, e = pcall(svc.host.config_get, { key = "k" }); return { ok, e } end },
} }`

describe.concurrent('a callback', () => {
  it('may last thirty seconds, and the VM serves on', async () => {
    const sandbox = await loadedSandbox(`return { tools = {
      { id = "t", execute = function() while true do pcall(coroutine.wrap(function() svc.host.config_get({ key = "k" }) end)) end end },
      { id = "u", execute = function() return coroutine.wrap(function() return "well" end)() end },
    } }`)
    expect(await sandbox.tool('t')).toMatchObject({ error: 'the callback used its time budget of 30000 ms' })
    expect(await sandbox.tool('u')).toMatchObject({ result: 'well' })
  })

  it('waits ten seconds for its host: then it gets an error the script can catch, and a late answer is dropped', async () => {
    const sandbox = await loadedSandbox(ASK)
    const call = sandbox.tool('ask')
    const { id } = await sandbox.frame(({ method }) => method === 'host.config.get')
    const start = performance.now()
    expect(await call).toMatchObject({ result: [false, 'host request timed out'] })
    expect(performance.now() - start).toBeGreaterThan(9500)
    sandbox.send({ id, result: 'late' })
    const again = sandbox.tool('ask')
    const { id: second } = await sandbox.frame((frame) => frame.method === 'host.config.get' && frame.id !== id)
    sandbox.send({ id: second, result: 'fresh' })
    expect(await again).toMatchObject({ result: [true, 'fresh'] })
  })
})

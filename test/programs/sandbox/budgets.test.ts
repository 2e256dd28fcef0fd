// Holds plugin-protocol §6.6; threat-model L3.
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { endSandboxes, loadedSandbox, luaPackage, removeSandboxFiles, startSandbox } from '../../fixtures/lua-sandbox.js'

afterEach(endSandboxes)
afterAll(removeSandboxFiles)

const LOOPS = `return { tools = {
  { id = "loop", execute = function() print("looping"); local n = 0; while n < 3000 do for i = 1, 3000 do end n = n + 1 end end },
  { id = "stuck", execute = function() print("stuck"); return ("a"):rep(40):find(("a?"):rep(40) .. ("a"):rep(40)) end },
  { id = "ask", execute = function(p) print("asking"); local ok, e = pcall(svc.host.config_get, { key = "k" }); return { ok, e } end },
  { id = "echo", execute = function(p) return p.input end },
} }`

describe('cancelling', () => {
  it('stops the running callback at its next check; the VM serves on', async () => {
    const sandbox = await loadedSandbox(
      `local kept = 0; local t = ${LOOPS.slice('return '.length)}; t.tools[4].execute = function() kept = kept + 1; return kept end; return t`,
    )
    await sandbox.tool('echo')
    const id = sandbox.nextId
    const call = sandbox.tool('loop')
    await sandbox.line('looping')
    sandbox.send({ method: '$/cancel', params: { id } })
    expect(await call).toMatchObject({ error: 'callback cancelled' })
    expect(await sandbox.tool('echo')).toMatchObject({ result: 2 })
  })

  it('wakes a callback that waits for its host, past its pcall', async () => {
    const sandbox = await loadedSandbox(LOOPS)
    const id = sandbox.nextId
    const call = sandbox.tool('ask')
    const { id: asked } = await sandbox.frame(({ method }) => method === 'host.config.get')
    sandbox.send({ method: '$/cancel', params: { id } })
    expect(await call).toMatchObject({ error: 'callback cancelled' })
    sandbox.send({ id: asked, result: 'too late' })
    expect(await sandbox.tool('echo', 1)).toMatchObject({ result: 1 })
  })

  it('takes a call that waits for its turn out of the queue, and leaves the running one alone', async () => {
    const sandbox = await loadedSandbox(LOOPS)
    const first = sandbox.tool('ask')
    const id = sandbox.nextId
    const second = sandbox.tool('echo', 2)
    const third = sandbox.tool('echo', 3)
    const { id: asked } = await sandbox.frame(({ method }) => method === 'host.config.get')
    sandbox.send({ method: '$/cancel', params: { id } })
    sandbox.send({ method: '$/cancel', params: { id: 9999 } })
    expect(await second).toMatchObject({ error: 'callback cancelled' })
    sandbox.send({ id: asked, result: 'answer' })
    expect(await first).toMatchObject({ result: [true, 'answer'] })
    expect(await third).toMatchObject({ result: 3 })
  })

  it('ends the process, with a reply and a reason, when the script does not stop', async () => {
    const sandbox = await loadedSandbox(LOOPS)
    const id = sandbox.nextId
    const call = sandbox.tool('stuck')
    await sandbox.line('stuck')
    sandbox.send({ method: '$/cancel', params: { id } })
    expect(await call).toMatchObject({ error: 'the callback was cancelled and could not be stopped' })
    expect(await sandbox.ended).toEqual({ code: 1, signal: null })
    expect(sandbox.stderr().trim().split('\n')).toEqual(['stuck', 'the callback was cancelled and could not be stopped'])
  })
})

describe('a run beyond its budget', () => {
  it('gets its error, and the VM serves on', async () => {
    const sandbox = await loadedSandbox(
      'local n = 0; return { tools = { { id = "t", execute = function() while true do end end }, { id = "u", execute = function() n = n + 1; return n end } } }',
    )
    for (const round of [1, 2]) {
      expect(await sandbox.tool('t')).toMatchObject({ error: 'the callback used its budget of 10000000 instructions' })
      expect(await sandbox.tool('u')).toMatchObject({ result: round })
    }
    expect(sandbox.stderr()).toBe('')
  })

  it('of memory ends the process with the reason', async () => {
    const sandbox = await loadedSandbox(
      'return { tools = { { id = "t", execute = function() print("start"); local t = {}; while true do t[#t + 1] = ("x"):rep(100000) .. #t end end } } }',
    )
    expect(await sandbox.tool('t')).toMatchObject({ error: 'the script used its 16777216 bytes of memory' })
    expect(await sandbox.ended).toEqual({ code: 1, signal: null })
    expect(sandbox.stderr()).toBe('start\nthe script used its 16777216 bytes of memory\n')
  })

  it('has the whole budget again in every callback', async () => {
    const sandbox = await loadedSandbox(
      'return { tools = { { id = "t", execute = function() local n = 0; for i = 1, 2000000 do n = n + 1 end return n end } } }',
    )
    for (let round = 0; round < 4; round++) expect(await sandbox.tool('t')).toMatchObject({ result: 2_000_000 })
  })

  it('counts what coroutines do, and lets them work within it', async () => {
    const sandbox = await loadedSandbox(`return { tools = { { id = "t", execute = function()
      local total = 0
      for i = 1, 300 do
        local co = coroutine.wrap(function() for j = 1, 100 do coroutine.yield(j) end end)
        for j = 1, 100 do total = total + co() end
      end
      return total
    end } } }`)
    expect(await sandbox.tool('t')).toMatchObject({ result: 300 * 5050 })
  })

  it('does not count garbage as memory', async () => {
    const sandbox = await loadedSandbox(`return { tools = { { id = "t", execute = function()
      local n = 0
      for i = 1, 100000 do local t = { i, { i } }; n = n + #t end
      for i = 1, 60 do n = n + #("x"):rep(2000000) end
      return n
    end } } }`)
    expect(await sandbox.tool('t')).toMatchObject({ result: 200_000 + 60 * 2_000_000 })
    expect(await sandbox.tool('t')).toHaveProperty('result')
  })

  it('keeps what the script keeps between callbacks in its account', async () => {
    const sandbox = await loadedSandbox(
      'local kept = {}; return { tools = { { id = "t", execute = function() kept[#kept + 1] = ("x"):rep(3000000); return #kept end } } }',
    )
    const replies = []
    for (let round = 0; round < 8; round++) replies.push(await sandbox.tool('t'))
    expect(replies.slice(0, 4).map(({ result }) => result)).toEqual([1, 2, 3, 4])
    expect(replies.map(({ error }) => error)).toContain('the script used its 16777216 bytes of memory')
  })
})

describe('host calls', () => {
  it('count for the time of the entrypoint', async () => {
    const sandbox = await startSandbox(luaPackage({ 'main.lua': 'svc.host.config_get({ key = "k" }); return {}' }))
    expect(await sandbox.initialize()).toMatchObject({ error: 'the entrypoint used its time budget of 250 ms' })
    expect(await sandbox.ended).toEqual({ code: 1, signal: null })
  })
})

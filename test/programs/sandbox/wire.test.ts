import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { endSandboxes, loadedSandbox, luaPackage, PLUGIN_ID, removeSandboxFiles, startSandbox } from '../../fixtures/lua-sandbox.js'

afterEach(endSandboxes)
afterAll(removeSandboxFiles)

const ECHO = `return { tools = {
  { id = "echo", execute = function(p) return { output = p.input } end },
  { id = "length", execute = function(p) return #p.input end },
  { id = "ask", execute = function() return svc.host.config_get({ key = "k" }) end },
  { id = "large", execute = function(p) return ("x"):rep(p.input) end },
} }`

describe('the program on the wire', () => {
  it('says that it is ready before it answers anything', async () => {
    const sandbox = await loadedSandbox(ECHO)
    expect(sandbox.frames[0]).toEqual({ method: 'runner.ready' })
    expect(sandbox.frames[1]).toMatchObject({ id: 1, result: { protocol: 'svc-plugin/2' } })
  })

  it.each([
    ['another protocol', { protocol: 'svc-plugin/1' }, 'the protocol must be svc-plugin/2'],
    ['another plugin', { pluginId: 'dev.example.other' }, `the package is ${PLUGIN_ID}, not the plugin that is asked for`],
  ])('refuses to be initialized for %s, and can be for the right one', async (_, params, error) => {
    const sandbox = await startSandbox(luaPackage({ 'main.lua': ECHO }))
    expect(await sandbox.initialize(params)).toMatchObject({ error })
    expect(await sandbox.tool('echo')).toMatchObject({ error: 'the plugin is not initialized' })
    expect(await sandbox.initialize()).toHaveProperty('result')
  })

  it('tells a failure in short, and notes the way to it for the author', async () => {
    const sandbox = await loadedSandbox(`local function inner(t) return t.a.b end
local function outer(t)
  local value = inner(t)
  return value
end
return { tools = { { id = "broken", execute = function() local x = outer({}); return x end } } }`)
    const { error } = await sandbox.tool('broken')
    expect(error).toBe("main.lua:1: attempt to index a nil value (field 'a')")
    await sandbox.line('at main.lua:6')
    expect(sandbox.stderr().trim().split('\n')).toEqual([
      "main.lua:1: attempt to index a nil value (field 'a')",
      expect.stringMatching(/^ {2}at main\.lua:1: in .*inner/),
      expect.stringMatching(/^ {2}at main\.lua:3: in .*outer/),
      expect.stringMatching(/^ {2}at main\.lua:6: in/),
    ])
  })

  it('reads lines however they are cut, with or without a return, and skips what is no frame', async () => {
    const sandbox = await loadedSandbox(ECHO)
    const frame = JSON.stringify({ id: 50, method: 'tool.invoke', params: { tool: 'echo', input: 'ä€😀' } })
    const bytes = Buffer.from(
      `\n   \nnot json\n[1]\n"text"\n{"id":"text","method":"x"}\n{"id":1.5,"method":"x"}\n{"method":5,"id":1}\n${frame}\r\n`,
    )
    for (const byte of bytes) sandbox.sendText(String.fromCharCode(byte))
    sandbox.sendText(`${frame.replace('50', '51')}\n${frame.replace('50', '52')}\n`)
    await sandbox.frame(({ id }) => id === 52)
    expect(sandbox.frames.slice(2).map(({ id, result }) => [id, result?.output])).toEqual([
      [50, Buffer.from('ä€😀').toString('latin1')],
      [51, 'ä€😀'],
      [52, 'ä€😀'],
    ])
  })

  it('takes a line of exactly a megabyte, and skips one of a byte more', async () => {
    const sandbox = await loadedSandbox(ECHO)
    const line = (id: number, size: number) => {
      const [before = '', after = ''] = JSON.stringify({ id, method: 'tool.invoke', params: { tool: 'length', input: '|' } }).split('|')
      return `${before}${'x'.repeat(size - (before + after).length)}${after}\n`
    }
    sandbox.sendText(line(60, 1_048_576))
    sandbox.sendText(line(61, 1_048_577))
    sandbox.sendText(line(62, 5_000_000))
    sandbox.sendText(line(63, 500))
    await sandbox.frame(({ id }) => id === 63)
    expect(sandbox.frames.filter(({ id }) => (id ?? 0) >= 60).map(({ id }) => id)).toEqual([60, 63])
    expect(sandbox.frames.at(-2)?.result).toBeGreaterThan(1_048_000)
  })

  it('answers with an error in place of a result beyond a frame, and with the result up to it', async () => {
    const sandbox = await loadedSandbox(ECHO)
    expect((await sandbox.tool('large', 1_048_400)).result).toHaveLength(1_048_400)
    expect(await sandbox.tool('large', 1_048_570)).toMatchObject({ error: 'the value takes more room as JSON than a frame has' })
    expect(await sandbox.tool('large', 1)).toMatchObject({ result: 'x' })
  })

  it('serves calls in the order they came in, and lets at most 64 wait', async () => {
    const sandbox = await loadedSandbox(ECHO)
    const first = sandbox.tool('ask')
    const { id } = await sandbox.frame(({ method }) => method === 'host.config.get')
    const waiting = Array.from({ length: 70 }, async (_, index) => sandbox.tool('echo', index))
    expect(await waiting[69]).toMatchObject({ error: 'more than 64 calls are waiting for the script' })
    sandbox.send({ id, result: 1 })
    expect(await first).toMatchObject({ result: 1 })
    const replies = await Promise.all(waiting)
    expect(replies.slice(0, 64).map(({ result }) => result.output)).toEqual(Array.from({ length: 64 }, (_, index) => index))
    expect(replies.slice(64).every(({ error }) => error !== undefined)).toBe(true)
    expect(await sandbox.tool('echo', 'on')).toMatchObject({ result: { output: 'on' } })
  })

  it.each([
    ['a shutdown without an id', (send: (frame: object) => void) => send({ method: 'shutdown', params: {} }), []],
    ['a shutdown with an id', (send: (frame: object) => void) => send({ id: 80, method: 'shutdown' }), [{ id: 80, result: {} }]],
  ])('ends at once on %s, also while a callback runs', async (_, shutDown, last) => {
    const sandbox = await loadedSandbox(
      'return { tools = { { id = "loop", execute = function() print("looping"); for i = 1, 3000 do for j = 1, 3000 do end end end } } }',
    )
    void sandbox.tool('loop')
    await sandbox.line('looping')
    shutDown(sandbox.send)
    expect(await sandbox.ended).toEqual({ code: 0, signal: null })
    expect(sandbox.frames.slice(2)).toEqual(last)
  })
})

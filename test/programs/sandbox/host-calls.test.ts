// Holds plugin-protocol §6.3.
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSignals, STOP } from '../../../src/programs/sandbox/signals.js'
import { endSandboxes, loadedSandbox, luaPackage, OWNER, PLUGIN_ID, removeSandboxFiles, startSandbox } from '../../fixtures/lua-sandbox.js'

afterEach(endSandboxes)
afterAll(removeSandboxFiles)

const tool = (body: string) => `return { tools = { { id = "t", execute = function(p) ${body} end } } }`

describe('svc.host', () => {
  it('asks for the method of each function as the owner of the instance, and waits for the answer', async () => {
    const methods = {
      config_get: 'host.config.get',
      config_set: 'host.config.set',
      workspace_read: 'host.workspace.read',
      workspace_write: 'host.workspace.write',
      workspace_list: 'host.workspace.list',
      event_publish: 'host.event.publish',
      network_request: 'host.network.request',
      process_spawn: 'host.process.spawn',
      process_cancel: 'host.process.cancel',
      task_spawn: 'host.task.spawn',
      task_cancel: 'host.task.cancel',
      secret_use: 'host.secret.use',
      secret_read: 'host.secret.read',
      prompt_read: 'host.prompt.read',
      message_read: 'host.message.read',
      response_transform: 'host.response.transform',
      provider_call: 'host.provider.call',
      policy_call: 'host.policy.call',
    }
    const sandbox = await loadedSandbox(tool('return svc.host[p.input.name](p.input)'), {
      onRequest: ({ params }) => ({ output: [params, null, 1.5] }),
    })
    for (const [index, [name, method]] of Object.entries(methods).entries()) {
      expect(await sandbox.tool('t', { name, key: 'théme' })).toMatchObject({ result: { output: [{ name, key: 'théme' }, null, 1.5] } })
      expect(sandbox.frames.find((frame) => frame.method === method)).toEqual({
        id: index + 1,
        method,
        params: { name, key: 'théme' },
        owner: OWNER,
      })
    }
  })

  it('answers nil for null itself, and the null value inside tables', async () => {
    const sandbox = await loadedSandbox(
      tool('local v = svc.host.config_get({ key = "x" }); return { v or "default", type(svc.host.config_get({ key = "y" }).deep) }'),
      {
        onRequest: ({ params }) => (params.key === 'x' ? null : { deep: null }),
      },
    )
    // `onRequest` cannot answer undefined, so null is what the wire carries.
    expect(await sandbox.tool('t')).toMatchObject({ result: ['default', 'userdata'] })
  })

  it('raises the text of the host, which the script can catch', async () => {
    const sandbox = await loadedSandbox(
      tool('local ok, e = pcall(svc.host.config_set, { key = "k", value = 1 }); return { ok, e, svc.host.config_get({ key = "k" }) }'),
      {
        onRequest: ({ method }) => (method === 'host.config.set' ? { error: 'ConfigWrite is not granted' } : 'still here'),
      },
    )
    expect(await sandbox.tool('t')).toMatchObject({ result: [false, 'ConfigWrite is not granted', 'still here'] })
  })

  it('fails the callback with that text when it is not caught', async () => {
    const sandbox = await loadedSandbox(tool('svc.host.config_get({ key = "k" })'), { onRequest: () => ({ error: 'not available' }) })
    expect(await sandbox.tool('t')).toMatchObject({ error: 'not available' })
  })

  it('works while the entrypoint loads, in coroutines, in comparators and in callbacks of gsub', async () => {
    const sandbox = await loadedSandbox(
      `local loaded = svc.host.config_get({ key = "a" })
       return { tools = { { id = "t", execute = function()
         local inside = coroutine.wrap(function() return svc.host.config_get({ key = "b" }) end)()
         local replaced = ("x"):gsub("x", function() return svc.host.config_get({ key = "c" }) end)
         local list = { 1, 2 }
         table.sort(list, function(a, b) svc.host.config_get({ key = "d" }); return a > b end)
         return { loaded, inside, replaced, list[1] }
       end } } }`,
      { onRequest: ({ params }) => `${params.key}!` },
    )
    expect(await sandbox.tool('t')).toMatchObject({ result: ['a!', 'b!', 'c!', 2] })
  })

  it('uses the plugin and instance as owner when the host named none', async () => {
    const sandbox = await startSandbox(luaPackage({ 'main.lua': tool('return svc.host.config_get({ key = "k" })') }), {
      onRequest: () => 1,
    })
    await sandbox.initialize({ owner: undefined })
    await sandbox.tool('t')
    const asked = await sandbox.frame(({ method }) => method === 'host.config.get')
    expect(asked.owner).toEqual({ pluginId: PLUGIN_ID, instanceId: OWNER.instanceId })
  })

  it('sends an empty list of bytes as a list', async () => {
    const sandbox = await loadedSandbox(tool('return svc.host.workspace_write({ path = "a", contents = {} })'), { onRequest: () => ({}) })
    expect(await sandbox.tool('t')).toMatchObject({ result: {} })
    expect(sandbox.frames.find(({ method }) => method === 'host.workspace.write')?.params).toEqual({ path: 'a', contents: [] })
  })

  it.each([
    ['without an argument', 'svc.host.config_get()', 'bad argument #1'],
    ['with a function', 'svc.host.config_get({ key = print })', 'a function cannot become JSON (at key)'],
    ['with more than a frame', 'svc.host.config_set({ key = "k", value = ("x"):rep(1048576) })', 'the value takes more room'],
    [
      'with more than a frame once escaped',
      'svc.host.config_set({ key = "k", value = ("\\0"):rep(400000) })',
      'the request takes more than the 1048576 bytes of a frame',
    ],
  ])('raises before it sends anything when called %s', async (_, call, error) => {
    const sandbox = await loadedSandbox(tool(`local ok, e = pcall(function() ${call} end); return e`), { onRequest: () => 1 })
    expect((await sandbox.tool('t')).result).toContain(error)
    expect(sandbox.frames.some(({ method }) => method?.startsWith('host.'))).toBe(false)
  })

  it('drops answers nobody waits for, and answers to other ids', async () => {
    const sandbox = await loadedSandbox(tool('return svc.host.config_get({ key = p.input })'), {})
    sandbox.send({ id: 7, result: 'stray' })
    const call = sandbox.tool('t', 'k')
    const { id } = await sandbox.frame(({ method }) => method === 'host.config.get')
    sandbox.send({ id: 99, result: 'of another' })
    sandbox.send({ id, result: 'mine' })
    sandbox.send({ id, result: 'twice' })
    expect(await call).toMatchObject({ result: 'mine' })
    expect((await sandbox.call('tool.invoke', { tool: 'none' })).error).toContain('unknown tool')
  })

  it('reads a file as bytes, up to what fits into the memory of the VM', async () => {
    let size = 40_000
    const sandbox = await loadedSandbox(tool('local ok, b = pcall(svc.host.workspace_read, { path = "f" }); return ok and #b or b'), {
      onRequest: () => Array.from({ length: size }, (_, index) => index % 256),
    })
    expect(await sandbox.tool('t')).toMatchObject({ result: 40_000 })
    size = 200_000
    expect((await sandbox.tool('t')).result).toContain('parts; tables of the sandbox hold that many')
    size = 1
    expect(await sandbox.tool('t')).toMatchObject({ result: 1 })
  })
})

it('a stop that comes just before the script begins to wait for its host ends the wait', () => {
  const signals = createSignals()
  const { rung } = signals
  signals.setStop(STOP.cancelled)
  const wait = vi.spyOn(Atomics, 'wait')
  onTestFinished(() => wait.mockRestore())
  signals.wait(rung, 2000)
  signals.wait(signals.rung, 1)
  expect(wait.mock.results.map(({ value }) => value)).toEqual(['not-equal', 'timed-out'])
})

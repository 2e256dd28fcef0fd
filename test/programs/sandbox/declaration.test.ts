import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endSandboxes, loadedSandbox, luaPackage, removeSandboxFiles, startSandbox, type Sandbox } from '../../fixtures/lua-sandbox.js'

afterAll(async () => {
  await endSandboxes()
  removeSandboxFiles()
})

async function replyTo(main: string) {
  const sandbox = await startSandbox(luaPackage({ 'main.lua': main }))
  return sandbox.initialize()
}

describe('the table an entrypoint returns', () => {
  it('hands on by its name what is of a kind that it has no place for', async () => {
    const { result } = await replyTo(`return {
      lsp = { { id = "l" } }, agents = { { id = "a", list = function() end } }, nonsense = 1,
      services = { agents = {}, pty = function() end },
    }`)
    expect(result).toMatchObject({ lsp: true, agents: true, services: { agents: [], pty: true } })
    expect(result).not.toHaveProperty('nonsense')
  })

  it('becomes the initialize reply, with a default for everything that is left out', async () => {
    const { result } = await replyTo(`return {
      name = "Example", version = "1.2.3",
      tools = {
        { id = "bare", execute = function() end },
        { id = "full", description = "does it", execute = function() end, outputSchema = { type = "string" },
          parameters = { type = "object", properties = {}, required = {} }, permission = { permission = "edit", argument = "path" } },
      },
      hooks = { ["tool.before"] = function() end },
      events = { namespaces = { "session", "message" }, handler = function() end },
      services = {
        agents = { { id = "a", priority = 7, list = function() end } },
        systemContext = { { id = "s", priority = 1.5, sections = function() end } },
        prompts = { { id = "p", render = function() end } },
        config = { { id = "c", load = function() end } },
        commands = {}, skills = "not a table",
        providers = { { descriptor = { id = "llm", name = "LLM", models = {} }, media = function() end, stream = function() end },
                      { descriptor = { id = "quiet" }, route = function() end } },
      },
      routes = { { descriptor = { id = "r", method = "GET", path = "/r", scope = "workspace" }, handle = function() end } },
      websocketRoutes = { { descriptor = { id = "w", method = "GET", path = "/w", scope = "workspace" }, priority = -2, open = function() end } },
      messageParts = { { id = "card", version = 1, schema = {} } },
      mcp = { { id = "m", authentication = {} } },
    }`)
    const none = { type: 'object' }
    expect(result).toEqual({
      protocol: 'svc-plugin/2',
      name: 'Example',
      version: '1.2.3',
      tools: [
        { id: 'bare', description: '', parameters: none, outputSchema: null },
        {
          id: 'full',
          description: 'does it',
          parameters: { type: 'object', properties: {}, required: [] },
          outputSchema: { type: 'string' },
        },
      ],
      hooks: ['tool.before'],
      eventNamespaces: ['session', 'message'],
      services: {
        agents: [{ id: 'a', priority: 7 }],
        commands: [],
        skills: [],
        systemContext: [{ id: 's', priority: 0 }],
        prompts: [{ id: 'p', priority: 0 }],
        config: [{ id: 'c', priority: 0 }],
        providers: [
          { descriptor: { id: 'llm', name: 'LLM', models: [] }, priority: 0, media: true, administration: false },
          { descriptor: { id: 'quiet' }, priority: 0, media: false, administration: true },
        ],
      },
      routes: [{ descriptor: { id: 'r', method: 'GET', path: '/r', scope: 'workspace' }, priority: 0 }],
      websocketRoutes: [{ descriptor: { id: 'w', method: 'GET', path: '/w', scope: 'workspace' }, priority: -2 }],
      messageParts: [{ id: 'card', version: 1, schema: {} }],
      mcp: [{ id: 'm', authentication: [] }],
    })
  })

  it('may be empty, have empty lists, names that are no strings, and an events table without namespaces', async () => {
    const { result } = await replyTo('return { name = 5, version = {}, events = {}, messageParts = {}, mcp = {}, tools = {}, hooks = {} }')
    expect(result).toEqual({
      protocol: 'svc-plugin/2',
      tools: [],
      hooks: [],
      eventNamespaces: [],
      services: {},
      routes: [],
      websocketRoutes: [],
      messageParts: [],
      mcp: [],
    })
  })

  it('ends a sequence at its first hole', async () => {
    const { result } = await replyTo('local t = { execute = print, id = "a" }; return { tools = { t, nil, t } }')
    expect(result.tools).toHaveLength(1)
  })

  it.each([
    ['no table', 'return 5', 'the entrypoint must return one table'],
    ['nothing', 'local x = 1', 'the entrypoint must return one table'],
    ['a tool without an id', 'return { tools = { { execute = print } } }', 'tools[1] needs a string "id"'],
    ['a tool whose id is a number', 'return { tools = { { id = 5, execute = print } } }', 'tools[1] needs a string "id"'],
    ['a tool without execute', 'return { tools = { { id = "t" } } }', 'tools[1] needs a function "execute"'],
    ['a tool that is no table', 'return { tools = { 5 } }', 'tools[1] must be a table'],
    ['a service without its function', 'return { services = { skills = { { id = "s" } } } }', 'skills[1] needs a function "list"'],
    [
      'a route without a descriptor',
      'return { routes = { { handle = print } } }',
      'routes[1] needs a table "descriptor" with a string "id"',
    ],
    [
      'a socket route without open',
      'return { websocketRoutes = { { descriptor = { id = "w" } } } }',
      'websocketRoutes[1] needs a function "open"',
    ],
    ['a hook that is no function', 'return { hooks = { ["tool.after"] = 5 } }', 'hooks["tool.after"] must be a function'],
    ['message parts that cannot become JSON', 'return { messageParts = { print } }', 'a function cannot become JSON (at 1)'],
    ['a syntax error', 'return {', 'main.lua:1: unexpected symbol near <eof>'],
    ['an error', 'error("no luck")', 'main.lua:1: no luck'],
    ['an error that is a table', 'error({})', 'the script raised an error that is not a string'],
    ['Lua 5.4 syntax', 'local x <const> = 5', "main.lua:1: unexpected symbol near '<'"],
  ])('fails the load with a reply and the end of the process: %s', async (_, main, sentence) => {
    const sandbox = await startSandbox(luaPackage({ 'main.lua': main }))
    const { error } = await sandbox.initialize()
    expect(error).toBe(sentence)
    await expect(sandbox.ended).resolves.toEqual({ code: 1, signal: null })
    expect(sandbox.stderr()).toContain('the entrypoint failed')
  })

  it('is read without running metamethods of the script', async () => {
    const { result } = await replyTo(`
      local trap = setmetatable({}, { __index = function() error("ran") end, __len = function() error("ran") end, __pairs = function() error("ran") end })
      return setmetatable({ tools = trap, hooks = trap, services = trap }, { __index = function() error("ran") end })`)
    expect(result).toMatchObject({ tools: [], hooks: [] })
  })
})

describe('calls of what was declared', () => {
  const main = `
    local function show(p) return p end
    return {
      tools = { { id = "show", execute = show } },
      hooks = { ["chat.headers"] = function(p) p.value.seen = p.context.agent; return p.value end },
      services = {
        agents = { { id = "a", list = function(r) return { agents = {}, defaultAgent = r.workspaceId } end } },
        commands = { { id = "c", list = function() return {} end } },
        skills = { { id = "k", list = function() end } },
        systemContext = { { id = "s", sections = function(r) return { { id = "x", content = r.directory } } end } },
        prompts = { { id = "p", render = function(r) return { content = r.variables.name } end } },
        config = { { id = "f", load = function(r) return { values = r.options } end } },
        providers = { { descriptor = { id = "llm" }, metadata = function(p) return { authEnv = {}, model = p.model.modelId, own = p.serviceId } end, auth = function() end } },
      },
      routes = { { descriptor = { id = "r" }, handle = function(r) return { status = 200, body = r.query } end } },
    }`
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await loadedSandbox(main)
  })

  const request = { workspaceId: 'w1', directory: '/project/here', options: { deep: { list: [] } } }

  it.each([
    [
      'tool.invoke',
      { tool: 'show', directory: '/d', sessionId: 's', input: { a: 1 } },
      { tool: 'show', directory: '/d', sessionId: 's', input: { a: 1 } },
    ],
    ['hook.invoke', { hook: 'chat.headers', context: { agent: 'build' }, value: { accept: '*' } }, { accept: '*', seen: 'build' }],
    ['agent.list', { serviceId: 'a', request }, { agents: [], defaultAgent: 'w1' }],
    ['command.list', { serviceId: 'c', request }, []],
    ['skill.list', { serviceId: 'k', request }, []],
    ['systemContext.sections', { serviceId: 's', request }, [{ id: 'x', content: '/project/here' }]],
    ['prompt.render', { serviceId: 'p', request: { promptId: 'p', variables: { name: 'Ada' }, service: request } }, { content: 'Ada' }],
    ['config.load', { serviceId: 'f', request }, { values: { deep: { list: [] } } }],
    ['provider.metadata', { serviceId: 'llm', model: { modelId: 'm' } }, { authEnv: [], model: 'm', own: 'llm' }],
    ['provider.auth', { serviceId: 'llm', providerId: 'p' }, null],
    ['route.handle', { routeId: 'r', request: { query: { q: ['1'] } } }, { status: 200, body: { q: ['1'] } }],
  ])('%s hands over what the callback is due and answers with what it returns', async (method, params, result) => {
    expect(await sandbox.call(method, params)).toMatchObject({ result })
  })

  it.each([
    ['tool.invoke', { tool: 'other' }, 'unknown tool "other"'],
    ['hook.invoke', { hook: 'tool.before' }, 'unknown hook "tool.before"'],
    ['agent.list', { serviceId: 'zz' }, 'unknown agent service "zz"'],
    ['provider.media', { serviceId: 'llm' }, 'the provider "llm" is unknown or does not serve provider.media'],
    ['route.handle', {}, 'unknown route ""'],
    ['constructor', {}, 'unknown method "constructor"'],
    ['initialize', {}, 'the plugin is already initialized'],
  ])('%s of something unknown is an error, and the next call is served', async (method, params, error) => {
    expect(await sandbox.call(method, params)).toMatchObject({ error })
    expect(await sandbox.tool('show')).toHaveProperty('result')
  })

  it('hands events to the handler; an error in it disturbs nobody', async () => {
    const sandbox = await loadedSandbox(`
      local seen = {}
      return {
        events = { namespaces = { "session" }, handler = function(e) seen[#seen + 1] = e.type; if e.type == "bad" then error("no") end end },
        tools = { { id = "seen", execute = function() return { output = seen } end } },
      }`)
    sandbox.send({ method: 'event', params: { id: 'evt_1', type: 'bad', properties: {} } })
    sandbox.send({ id: null, method: 'event', params: { id: 'evt_2', type: 'session.idle', properties: {} } })
    expect((await sandbox.tool('seen')).result).toEqual({ output: ['bad', 'session.idle'] })
  })
})

/** A plugin that asks the host whatever its tool is told to, as a program and in Lua; the model has it called by what the prompt says. */
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import type { Message } from '../../../src/protocol/message/message.js'
import { HOST_METHODS } from '../../../src/protocol/plugin/host-methods.js'
import type { HostCapability } from '../../../src/protocol/plugin/plugin.js'
import type { Place } from '../server/place.js'
import { approve, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import type { Server } from '../server/server.js'
import { toolParts } from '../server/transcript.js'

/** One request to the host; `"$.opaqueId"` and `"$.partId"` in an input are those of the answer before that had one. */
export interface Ask {
  /** `process.spawn`, `policy.call`. */
  readonly method: string
  readonly operation?: string
  readonly input?: object
  readonly opaqueId?: string
  /** Of methods that are no brokers. */
  readonly [param: string]: unknown
}

const PROGRAM = `import { listen, send } from './wire.mjs'
const waiting = new Map()
let owner
let last = 0
function ask(method, params) {
  const id = ++last
  send({ id, method, params, owner })
  return new Promise((resolve) => waiting.set(id, resolve))
}
const filled = (value, known) =>
  Object.entries(known).reduce((text, [name, each]) => text.replaceAll('"$.' + name + '"', JSON.stringify(each)), JSON.stringify(value))
async function run({ asks }) {
  const answers = []
  const known = {}
  for (const { method, ...params } of asks) {
    const { result, error } = await ask('host.' + method, JSON.parse(filled(params, known)))
    const output = result !== null && typeof result === 'object' && 'output' in result ? result.output : result
    for (const name of ['opaqueId', 'partId']) if ((output?.open ?? output)?.[name]) known[name] = (output.open ?? output)[name]
    answers.push(error === undefined ? output : { error })
  }
  return { output: JSON.stringify(answers) }
}
listen((frame) => {
  const { id, method, params } = frame
  if (method === undefined) return void waiting.get(id)?.(frame)
  if (method === 'initialize') {
    owner = params.owner
    return { protocol: 'svc-plugin/2', tools: [{ id: 'host', description: 'Asks the host.', parameters: { type: 'object' } }], hooks: HOOKS }
  }
  if (method === 'shutdown') process.exit(0)
  if (method === 'hook.invoke') return HOOK(params)
  return method === 'tool.invoke' ? run(params.input) : undefined
})
`

const LUA = `local function fill(value, known)
  for key, each in pairs(value) do
    if each == "$.opaqueId" then value[key] = known elseif type(each) == "table" then fill(each, known) end
  end
end
return {
  tools = { {
    id = "host",
    description = "Asks the host.",
    execute = function(call)
      local answers, known = {}, nil
      for _, ask in ipairs(call.input.asks) do
        fill(ask, known)
        local name = ask.method:gsub("%.", "_")
        ask.method = nil
        local ok, result = pcall(svc.host[name], ask)
        if ok then
          local output = result
          if type(result) == "table" and result.output ~= nil then output = result.output end
          if output == nil then output = false end
          if type(output) == "table" and output.opaqueId then known = output.opaqueId end
          answers[#answers + 1] = output
        else
          answers[#answers + 1] = { error = tostring(result) }
        end
      end
      return { output = { answers = answers } }
    end,
  } },
}`

/** The same in the process of the server: it asks by the library, which has a function for each method. */
const NATIVE = `const METHODS = ${JSON.stringify(HOST_METHODS)}
const filled = (value, known) => JSON.parse(JSON.stringify(value).replaceAll('"$.opaqueId"', JSON.stringify(known ?? '$.opaqueId')))
async function ask(host, { method, ...given }) {
  const { node, kind, params } = METHODS.find((each) => each.method === 'host.' + method)
  const [group, name] = node.split('.')
  const call = host[group][name]
  if (kind === 'cancel') return call(given.opaqueId)
  if (kind === 'broker') return call(given.operation, given.input)
  return method === 'event.publish' ? call(given) : call(...Object.keys(params).map((each) => given[each]))
}
async function execute({ asks }, { host }) {
  const answers = []
  let known
  for (const each of asks) {
    try {
      const answer = await ask(host, filled(each, known))
      known = answer?.opaqueId ?? known
      answers.push(answer ?? {})
    } catch (error) {
      answers.push({ error: error.message })
    }
  }
  return { output: JSON.stringify(answers) }
}
export const plugin = { tools: [{ id: 'host', description: 'Asks the host.', parameters: { type: 'object' }, execute }] }
`

export const ID = 'test.host'

/** Writes, approves and starts the plugin. `hook` is the body of its hook, a function of the params. */
export async function serveHost(
  server: Server,
  place: Place,
  { capabilities, lua = false, scope = 'workspace', hooks = {} }: HostPlugin,
): Promise<void> {
  const { runtime, files } = hostFiles({ lua, hooks })
  writePackage(place, ID, { agent: { ...runtime, scope, capabilities }, files })
  const stream = await server.stream({ tail: true })
  await lifecycleOf(server, ID)
  await approve(server, place, ID)
  await lifecycleOf(server, ID)
  await untilState(stream, ID, 'active')
  stream.close()
}

/** What its package consists of, and what its manifest says of how it runs. */
export function hostFiles({ lua = false, native, hooks = {} }: Pick<HostPlugin, 'lua' | 'native' | 'hooks'>) {
  if (native === true)
    return {
      runtime: { runtime: 'process', command: ['node', 'plugin.js'], native: { entrypoint: 'plugin.js', apiVersion: 2 } },
      files: { 'plugin.js': NATIVE, 'package.json': '{"type":"module"}' },
    }
  const [[hook, body] = ['', '() => null']] = Object.entries(hooks)
  const program = PROGRAM.replace('HOOKS', JSON.stringify(hook === '' ? [] : [hook])).replace('HOOK(params)', `(${body})(params)`)
  return lua
    ? { runtime: { runtime: 'lua', entrypoint: 'main.lua', command: [] }, files: { 'main.lua': LUA } }
    : { runtime: {}, files: { 'plugin.mjs': program, 'wire.mjs': 'fixture:wire.mjs' } }
}

interface HostPlugin {
  readonly capabilities: readonly HostCapability[]
  readonly lua?: boolean
  readonly native?: boolean | undefined
  readonly scope?: string
  /** One hook and what it does. */
  readonly hooks?: Readonly<Record<string, string>>
}

/** Calls the tool as the last prompt says; everything else it answers with what `says` makes of it. */
export function startHostModel(says: (request: ModelServerRequest) => string = () => 'Done.'): Promise<ModelServer> {
  return startModelServer((request) => {
    const { messages = [] } = request.body ?? {}
    const prompt = contentOf(messages.findLast(({ role }) => role === 'user')?.['content'])
    if (messages.at(-1)?.role === 'tool' || !prompt.startsWith('asks ')) return reply(text(says(request)), finish('stop'))
    const asks: unknown = JSON.parse(prompt.slice('asks '.length))
    return reply(text('Let me see.'), toolCall({ id: `call_${request.index}`, name: 'host', input: { asks } }), finish('tool_calls'))
  })
}

export function contentOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : ''
}

/** Has the plugin ask these in one tool call of the session; answers what it was answered. */
export async function asking(server: Server, sessionId: string, asks: readonly Ask[], prompt: object = {}): Promise<unknown[]> {
  await server.prompt(sessionId, { prompt: `asks ${JSON.stringify(asks)}`, ...prompt })
  await server.call('POST', `/v2/sessions/${sessionId}/wait`)
  return answersIn(await server.messages(sessionId))
}

/** What the last call of the tool was answered. */
export function answersIn(messages: readonly Message[]): unknown[] {
  const state = toolParts(messages).at(-1)?.state
  if (state?.status !== 'completed') throw new Error(`the tool did not answer: ${JSON.stringify(state)}`)
  const output: unknown = JSON.parse(state.output)
  return Array.isArray(output) ? output : (output as { answers: unknown[] }).answers
}

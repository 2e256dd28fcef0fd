/** A package in Lua: one file, no build, no process of its own. Pure. */
import type { Scope } from '../plugin-arguments.js'
import type { Kind } from '../plugin-kinds.js'
import { codeOf, type Files, type Grammar, indented, manifestFile, type Names, namesOf, type Piece, tableOf, TEXTS } from './template.js'

export function luaPackage(id: string, scope: Scope, kinds: readonly Kind[]): Files {
  const names = namesOf(id)
  const pieces = kinds.map((kind) => PIECES[kind](names))
  return {
    ...manifestFile(id, { runtime: 'lua', entrypoint: 'agent.lua', scope }),
    'agent.lua': `-- ${id}: the table that this file returns is the whole plugin.

${codeOf(pieces)}return {
  name = "${names.short}",
  version = "0.1.0",
${tableOf(pieces, GRAMMAR, '  ')}}
`,
  }
}

/** One table takes the others: what is subscribed to is no list. */
const SINGLE = new Set(['events'])

const GRAMMAR: Grammar = {
  group: (name, entries, indent) =>
    SINGLE.has(name)
      ? `${indent}${name} = ${entries[0] ?? '{}'},\n`
      : `${indent}${name} = {\n${indented(entries.map((entry) => `${entry},\n`).join(''), `${indent}  `)}${indent}},\n`,
  services: (groups, indent) => `${indent}services = {\n${groups.join('')}${indent}},\n`,
}

const PIECES: Readonly<Record<Kind, (names: Names) => Piece>> = {
  tool: ({ word }) => ({
    code: `local function greet(call)
  local name = call.input.name
  return { title = "${word} " .. name, output = "Hello, " .. name .. "!" }
end`,
    group: 'tools',
    entry: `{
  id = "${word}",
  description = "${TEXTS.tool}",
  parameters = {
    type = "object",
    properties = { name = { type = "string", description = "Who is greeted" } },
    required = { "name" },
  },
  execute = greet,
}`,
  }),
  hook: ({ word }) => ({
    code: `-- What is answered takes the place of the value: here, the variables of a command.
local function environment(call)
  call.value.${word.toUpperCase()} = "1"
  return call.value
end`,
    group: 'hooks',
    entry: '["shell.env"] = environment',
  }),
  event: () => ({
    code: `local function heard(event)
  print("heard " .. event.type)
end`,
    group: 'events',
    entry: '{ namespaces = { "session." }, handler = heard }',
  }),
  command: ({ short }) => ({
    code: `local function commands()
  return { { name = "${short}", description = "${TEXTS.command}", template = "${TEXTS.template}" } }
end`,
    group: 'services.commands',
    entry: `{ id = "${short}-commands", list = commands }`,
  }),
  agent: ({ short }) => ({
    code: `local function agents()
  return {
    agents = { { name = "${short}", mode = "subagent", description = "${TEXTS.agent}", prompt = "${TEXTS.prompt}", permission = { edit = "deny", bash = "deny" } } },
  }
end`,
    group: 'services.agents',
    entry: `{ id = "${short}-agents", list = agents }`,
  }),
  context: ({ short }) => ({
    code: `local function sections()
  return { { id = "${short}", title = "${short}", content = "${TEXTS.context}" } }
end`,
    group: 'services.systemContext',
    entry: `{ id = "${short}-context", sections = sections }`,
  }),
  route: ({ id, short }) => ({
    code: `-- GET /v2/plugins/${id}/status
local function status(request)
  return { status = 200, body = { ok = true, workspace = request.workspace } }
end`,
    group: 'routes',
    entry: `{ descriptor = { id = "${short}-status", method = "GET", path = "/status", scope = "workspace" }, handle = status }`,
  }),
  socket: ({ short }) => ({
    code: `local function opened()
  return { { kind = "text", data = "ready" } }
end

local function echo(message)
  if message.kind == "text" then return { message } end
end`,
    group: 'websocketRoutes',
    entry: `{ descriptor = { id = "${short}-echo", method = "GET", path = "/echo", scope = "workspace" }, open = opened, message = echo }`,
  }),
  provider: ({ short }) => ({
    code: `-- A model that says the last message again.
local function stream(call)
  local messages = call.request.messages
  return {
    { type = "text-start", id = "1" },
    { type = "text-delta", id = "1", delta = messages[#messages].content },
    { type = "text-end", id = "1" },
    { type = "finish", finish = "stop", inputTokens = 0, outputTokens = 0 },
  }
end`,
    group: 'services.providers',
    entry: `{ descriptor = { id = "${short}", name = "${short}", models = { "echo" } }, stream = stream }`,
  }),
}

/** A package in Lua: one file, no build, no process of its own. */
import type { Scope } from './plugin-arguments.js'
import { manifestFile, shortName, TOOL_DESCRIPTION, toolName } from './plugin-template.js'

export function luaPackage(id: string, scope: Scope): Readonly<Record<string, string>> {
  return {
    ...manifestFile(id, { runtime: 'lua', entrypoint: 'agent.lua', scope }),
    'agent.lua': `-- ${id}: the table that this file returns is the whole plugin.

local function greet(call)
  local name = call.input.name
  return { title = "${toolName(id)} " .. name, output = "Hello, " .. name .. "!" }
end

return {
  name = "${shortName(id)}",
  version = "0.1.0",
  tools = {
    {
      id = "${toolName(id)}",
      description = "${TOOL_DESCRIPTION}",
      parameters = {
        type = "object",
        properties = { name = { type = "string", description = "Who is greeted" } },
        required = { "name" },
      },
      execute = greet,
    },
  },
}
`,
  }
}

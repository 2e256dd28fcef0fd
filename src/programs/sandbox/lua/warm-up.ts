/**
 * A small entrypoint that is loaded and thrown away before the first real one: the engine compiles the VM as it is first used,
 * and the budget of a package is for its own work.
 */
import type { Source } from './modules.js'
import { bytesOf } from '../values/text.js'

const TEXT = `
local M, count = { list = { 1, 2.5, "three" } }, 0
function M.first(a, b, ...)
  local t = { x = a, ["y z"] = b, n = select("#", ...) }
  if a == b or not (a > b) then t.z = a .. "-" .. b elseif a ~= 2 then t.z = #t / 2 - 1 * 3 else t.z = -a % 7 end
  for key, value in pairs(t) do t[key] = tostring(value):upper():gsub("%s+", " ") end
  return t, count
end
local function fold(list, f, start)
  local result = start
  for index = 1, #list do result = f(result, list[index]) end
  while count < 8 do count = count + 1 end
  repeat local done = count >= 8 until done
  return result
end
for i = 1, 8 do pcall(M.first, i, 8 - i, "a", nil) end
local text = fold({ "a", "b" }, function(a, b) return a .. b end, "") .. string.format("%d %s %q", 5, "x", "y") .. table.concat(M.list, ",")
local meta = setmetatable({}, { __index = function(_, key) return key end })
return {
  name = meta.warm, version = text:sub(1, 3),
  tools = { { id = "t", description = [[long]], parameters = { type = "object", properties = { a = { type = "string" } }, required = {} }, execute = function(p) return { output = p.input } end } },
  hooks = { ["tool.before"] = function(p) return p.value end },
  events = { namespaces = { "session" }, handler = function() end },
  services = { skills = { { id = "s", priority = 1, list = function() return {} end } }, providers = { { descriptor = { id = "p" }, stream = function() return {} end } } },
  routes = { { descriptor = { id = "r", method = "GET", path = "/r", scope = "workspace" }, handle = function() return { status = 200 } end } },
}
`

export const WARM_UP: Source = { path: 'warm-up.lua', bytes: bytesOf(TEXT) }

-- Counts the words of a text or of a file of the workspace, and keeps colours out of command output.

local count = require("count")

-- A file arrives as a list of bytes; string.char takes a limited number of them at a time.
local function read(path)
  local bytes = svc.host.workspace_read({ path = path })
  local parts = {}
  for first = 1, #bytes, 200 do
    parts[#parts + 1] = string.char(table.unpack(bytes, first, math.min(first + 199, #bytes)))
  end
  return table.concat(parts)
end

local function word_count(call)
  local path, text = call.input.path, call.input.text
  if path == nil and text == nil then error("give a path or a text") end
  local result = count.of(text or read(path))
  return {
    title = "count words of " .. (path or "a text"),
    output = string.format("%d words, %d lines, %d bytes", result.words, result.lines, result.bytes),
    metadata = result,
  }
end

return {
  name = "Word count",
  version = "1.0.0",
  tools = {
    {
      id = "word_count",
      description = "Counts words, lines and bytes of a file of the workspace (path) or of a text.",
      parameters = {
        type = "object",
        properties = {
          path = { type = "string", description = "Path relative to the workspace" },
          text = { type = "string", description = "Text to count instead of a file" },
        },
      },
      execute = word_count,
    },
  },
  hooks = {
    ["shell.env"] = function(call)
      local environment = call.value
      environment.NO_COLOR = "1"
      return environment
    end,
  },
}

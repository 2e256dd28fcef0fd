-- JSON: reads and writes values of any kind. `null` is read as nil.

local json = {}

local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }
local WORDS = { { "true", true }, { "false", false }, { "null", nil } }
-- Deeper than any answer of a tracker, and far from the end of the stack.
local DEEPEST = 64

local value

local function skip(text, at)
  return string.find(text, "[^ \t\r\n]", at) or #text + 1
end

local function fail(at)
  error("the answer is no JSON at " .. at, 0)
end

local function unicode(text, at)
  local code = tonumber(string.match(text, "^%x%x%x%x", at) or fail(at), 16)
  local low = code >= 0xD800 and code < 0xDC00 and string.match(text, "^\\u([dD][c-fC-F]%x%x)", at + 4)
  if low then return utf8.char(0x10000 + (code - 0xD800) * 0x400 + tonumber(low, 16) - 0xDC00), at + 10 end
  if code >= 0xD800 and code < 0xE000 then code = 0xFFFD end
  return utf8.char(code), at + 4
end

local function str(text, at)
  local parts = {}
  while true do
    local stop = string.find(text, '["\\]', at) or fail(#text)
    parts[#parts + 1] = string.sub(text, at, stop - 1)
    if string.sub(text, stop, stop) == '"' then return table.concat(parts), stop + 1 end
    local kind = string.sub(text, stop + 1, stop + 1)
    if kind == "u" then
      parts[#parts + 1], at = unicode(text, stop + 2)
    else
      parts[#parts + 1], at = ESCAPES[kind] or fail(stop), stop + 2
    end
  end
end

-- What stands between two brackets, `item` by item; each gets the place where it begins and answers the place behind it.
local function within(text, at, last, item)
  at = skip(text, at)
  if string.sub(text, at, at) == last then return at + 1 end
  while true do
    at = skip(text, item(at))
    local next = string.sub(text, at, at)
    if next == last then return at + 1 end
    if next ~= "," then fail(at) end
    at = skip(text, at + 1)
  end
end

local function object(text, at, depth)
  local result = {}
  local stop = within(text, at, "}", function(from)
    if string.sub(text, from, from) ~= '"' then fail(from) end
    local name, behind = str(text, from + 1)
    local colon = skip(text, behind)
    if string.sub(text, colon, colon) ~= ":" then fail(colon) end
    result[name], behind = value(text, skip(text, colon + 1), depth)
    return behind
  end)
  return result, stop
end

local function list(text, at, depth)
  local result, count = {}, 0
  local stop = within(text, at, "]", function(from)
    count = count + 1
    local behind
    result[count], behind = value(text, from, depth)
    return behind
  end)
  return result, stop
end

function value(text, at, depth)
  if depth > DEEPEST then error("the answer is nested too deeply", 0) end
  local first = string.sub(text, at, at)
  if first == "{" then return object(text, at + 1, depth + 1) end
  if first == "[" then return list(text, at + 1, depth + 1) end
  if first == '"' then return str(text, at + 1) end
  local number = string.match(text, "^-?%d+%.?%d*[eE]?[+-]?%d*", at)
  if number then return tonumber(number) or fail(at), at + #number end
  for _, word in ipairs(WORDS) do
    if string.sub(text, at, at + #word[1] - 1) == word[1] then return word[2], at + #word[1] end
  end
  return fail(at)
end

function json.decode(text)
  local result, at = value(text, skip(text, 1), 0)
  if skip(text, at) <= #text then fail(at) end
  return result
end

local function escaped(character)
  return string.format("\\u%04x", string.byte(character))
end

local function text(value)
  return '"' .. string.gsub(value, '[%c"\\]', escaped) .. '"'
end

local encoded

local function elements(values, depth)
  local parts = {}
  for index, each in ipairs(values) do parts[index] = encoded(each, depth) end
  return "[" .. table.concat(parts, ",") .. "]"
end

local function members(values, depth)
  local parts = {}
  for name, each in pairs(values) do parts[#parts + 1] = text(tostring(name)) .. ":" .. encoded(each, depth) end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

function encoded(value, depth)
  if depth > DEEPEST then error("the value is nested too deeply", 0) end
  if type(value) == "string" then return text(value) end
  if type(value) == "boolean" then return tostring(value) end
  if type(value) == "number" then
    if value ~= value or value == math.huge or value == -math.huge then error("JSON has no such number", 0) end
    return math.type(value) == "integer" and tostring(value) or string.format("%.14g", value)
  end
  if type(value) == "table" then return #value > 0 and elements(value, depth + 1) or members(value, depth + 1) end
  if value == nil or type(value) == "userdata" then return "null" end
  error("a " .. type(value) .. " is no JSON", 0)
end

-- A table with values at 1, 2, 3 … is a list, any other an object: so is an empty one.
function json.encode(value)
  return encoded(value, 0)
end

return json

/**
 * Hostile scripts, made of what they try and how they go about it: ten of one times eleven of the other. Each says that it has `escaped` when
 * what it tries worked: a loop that was to be ended ended by itself, memory beyond the limit was had, something forbidden was reached.
 */
import { type Choices, choicesOf } from './random.js'

export interface LuaScript {
  readonly name: string
  readonly source: string
  /** It does its worst while it is loaded, so there is nothing to call. */
  readonly atLoad: boolean
  /** It stays inside one call of a library, where only the end of the process helps. */
  readonly hangs: boolean
}

interface Attempt {
  /** The body of a function that answers 'escaped' when it has. */
  readonly body: (choices: Choices) => string
  readonly hangs?: true
}

const FORBIDDEN = [
  'io',
  'os',
  'debug',
  'load',
  'loadstring',
  'loadfile',
  'dofile',
  'collectgarbage',
  'js',
  'process',
  'newproxy',
  'ffi',
  'jit',
]

const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  loop: {
    body: ({ one, number }) =>
      one([
        `local n = 0; while n < 1e12 do n = n + ${number(1, 3)} end`,
        `for i = 1, math.maxinteger do end`,
        `::again:: if true then goto again end`,
        `local t = {}; repeat t[1] = (t[1] or 0) + 1 until t[1] > 1e12`,
      ]) + '; return "escaped"',
  },
  memory: {
    body: ({ one, number }) =>
      one([
        `local s = ("x"):rep(${number(1, 999)}); while #s < 2 ^ 27 do s = s .. s end`,
        `local t = {}; for i = 1, 2 ^ 23 do t[i] = { i } end`,
        `local t = {}; for i = 1, 2 ^ 22 do t["${'k'.repeat(20)}" .. i] = i end`,
        `local s = ("ab"):rep(2 ^ ${number(26, 29)} // 1 | 0)`,
        `local t = {}; for i = 1, 1e5 do t[i] = coroutine.create(function() coroutine.yield(t) end); coroutine.resume(t[i]) end`,
        `local s = table.concat(setmetatable({}, { __index = function() return ("y"):rep(1e5) end, __len = function() return 1e4 end }), "", 1, 10000)`,
      ]) + '; return "escaped"',
  },
  pattern: {
    hangs: true,
    body: ({ one, number }) =>
      one([
        `local n = ${number(28, 40)}; string.find(("a"):rep(n), ("a?"):rep(n) .. ("a"):rep(n))`,
        `string.match(("a"):rep(${number(60, 90)}), ("a*"):rep(${number(8, 12)}) .. "b")`,
        `string.gsub(("a"):rep(${number(40, 60)}), ("(a-)"):rep(${number(12, 20)}) .. "b", "")`,
        `for _ in string.gmatch(("ab"):rep(${number(40, 60)}), ("%w*"):rep(12) .. "%d") do end`,
      ]) + '; return "escaped"',
  },
  recursion: {
    body: ({ one }) =>
      one([
        `local function f(n) return 1 + f(n + 1) end; f(1)`,
        `local t = setmetatable({}, { __index = function(t, k) return t[k .. "x"] end }); local _ = t.a`,
        `local t = setmetatable({}, { __concat = function(a, b) return a .. b end }); local _ = t .. t`,
        `local function f(...) return select("#", f(1, ...)) end; f()`,
        `local t = setmetatable({}, { __tostring = function(t) return tostring(t) end }); tostring(t)`,
      ]) + '; return "escaped"',
  },
  libraries: {
    body: ({ one, word }) => {
      const name = one(FORBIDDEN)
      return one([
        `if _G[${JSON.stringify(name)}] ~= nil or pcall(require, ${JSON.stringify(name)}) then return "escaped" end`,
        `for _, name in ipairs({ ${FORBIDDEN.map((each) => JSON.stringify(each)).join(', ')} }) do if rawget(_G, name) ~= nil then return "escaped" end end`,
        `string.${word()} = function() return 1 end; return "escaped"`,
        `rawset(string, "${word()}", 1); return "escaped"`,
        `getmetatable("").__index = { rep = function() return "mine" end }; if ("a"):rep(2) == "mine" then return "escaped" end`,
        `if string.dump then return "escaped" end`,
        `local P = package or {}; if P.loadlib or P.searchers or P.searchpath then return "escaped" end`,
      ])
    },
  },
  files: {
    body: ({ one, word }) => {
      const path = one([
        '../../etc/passwd',
        '/etc/passwd',
        '..',
        '.',
        'lua/../../x',
        `a\\0b`,
        `${word()}.${word()}`,
        'main',
        'svc-plugin',
        '//x',
      ])
      return one([
        `if pcall(require, "${path}") then return "escaped" end`,
        `local ok, bytes = pcall(svc.host.workspace_read, { path = "${path}" }); if ok and bytes ~= nil and bytes ~= "held" then return "escaped" end`,
      ])
    },
  },
  host: {
    body: ({ one, number }) => {
      const call = one([
        'svc.host.config_get { key = "k" }',
        'svc.host.workspace_list { path = "." }',
        'svc.host.network_request { operation = "fetch", input = { url = "http://127.0.0.1:1" } }',
        'svc.host.event_publish { namespace = "n", name = "e", payload = {} }',
      ])
      return `for i = 1, 1e9 do pcall(function() return ${call} end); for j = 1, ${number(1000, 5000)} do end end; return "escaped"`
    },
  },
  hostValues: {
    body: ({ one }) => {
      const value = one([
        '(function() local t = {}; t.t = t; return t end)()',
        'function() end',
        '(function() local t = {}; local u = t; for i = 1, 5000 do u.u = {}; u = u.u end; return t end)()',
        '("x"):rep(2000000)',
        'coroutine.create(print)',
        'setmetatable({}, { __index = function() error("read") end, __pairs = function() error("pairs") end, __len = function() return 1e9 end })',
      ])
      return `local ok, got = pcall(svc.host.config_get, { key = ${value} }); if ok and got == "secret" then return "escaped" end; return ${value}`
    },
  },
  answers: {
    body: ({ one, number }) =>
      one([
        `local t = {}; for i = 1, ${number(300_000, 600_000)} do t[i] = i end; return t`,
        `local t = {}; local u = t; for i = 1, ${number(200, 5000)} do u[1] = {}; u = u[1] end; return t`,
        `local t = {}; for i = 1, 70000 do t["k" .. i] = i end; return t`,
        `return ("\\255\\254"):rep(${number(1, 1000)})`,
        `return { 0 / 0, 1 / 0, -1 / 0, function() end }`,
        `return setmetatable({}, { __tostring = function() while true do end end, __pairs = function() while true do end end, __len = function() while true do end end })`,
      ]),
  },
  prints: {
    body: ({ number }) => `for i = 1, 1e9 do print(("z"):rep(${number(1, 100_000)}), i, {}, print) end; return "escaped"`,
  },
}

interface Way {
  /** Statements that make `run` of `attack`. */
  readonly around: (choices: Choices) => string
  readonly atLoad?: true
}

const WAYS: Readonly<Record<string, Way>> = {
  plain: { around: () => 'local run = attack' },
  protected: {
    around: ({ number }) =>
      `local function run() local v; for i = 1, ${number(2, 9)} do local ok, got = pcall(attack); v = ok and got or v end; return v end`,
  },
  handler: { around: () => 'local function run() local _, v = xpcall(error, attack, 1); return v end' },
  coroutine: {
    around: ({ number }) => `local function run()
  local f = attack
  for i = 1, ${number(1, 40)} do local g = f; f = function() return coroutine.wrap(g)() end end
  return f()
end`,
  },
  resumed: {
    around: () => `local function run()
  local co = coroutine.create(function() while true do coroutine.yield(attack()) end end)
  local v
  for i = 1, 3 do local ok, got = coroutine.resume(co); v = ok and got or v end
  return v
end`,
  },
  index: { around: () => 'local function run() return setmetatable({}, { __index = attack }).x end' },
  operator: {
    around: ({ one }) => {
      const [name, use] = one([
        ['__add', 't + 1'],
        ['__concat', 't .. 1'],
        ['__unm', '-t'],
        ['__call', 't()'],
        ['__idiv', 't // 2'],
        ['__len', '#t'],
      ] as const)
      return `local function run() local t = setmetatable({}, { ${name} = attack }); return ${use} end`
    },
  },
  comparison: {
    around: () => 'local function run() local v; table.sort({ 3, 1, 2 }, function(a, b) v = attack(); return a < b end); return v end',
  },
  substitution: { around: () => 'local function run() local v; string.gsub("abc", ".", function() v = attack() end); return v end' },
  iterator: { around: () => 'local function run() for v in attack do return v end end' },
  load: {
    around: () => 'local run = function() end\nlocal v = attack()\nif v == "escaped" then run = function() return v end end',
    atLoad: true,
  },
}

/** All of them, in an order that stays: ten attempts in eleven ways. */
export function luaScripts(seed: number): readonly LuaScript[] {
  return Object.entries(ATTEMPTS).flatMap(([attempt, { body, hangs = false }], row) =>
    Object.entries(WAYS).map(([way, { around, atLoad = false }], column): LuaScript => {
      const choices = choicesOf(seed, row * 100 + column)
      return { name: `${attempt}-${way}`, source: sourceOf(body(choices), around(choices)), atLoad, hangs }
    }),
  )
}

/** The one that does nothing, and the one that has escaped: what is told apart. */
export const HARMLESS = sourceOf('return "held"', 'local run = attack')
export const ESCAPED = sourceOf('return "escaped"', 'local run = attack')

function sourceOf(body: string, around: string): string {
  return `local attempts = 0
local function attack()
  attempts = attempts + 1
  ${body}
end
${around}
local function answered()
  local v = run()
  if type(v) == "table" or type(v) == "function" then return { output = v } end
  return { output = v == "escaped" and "escaped" or "held" }
end
return {
  tools = {
    { id = "attack", description = "Attacks.", parameters = { type = "object" }, execute = answered },
    { id = "after", description = "Is asked after it.", parameters = { type = "object" }, execute = function() return { output = "true1" } end },
  },
}
`
}

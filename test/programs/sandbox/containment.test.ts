// Holds plugin-protocol §6.5; threat-model L1.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { builtSandbox, endSandboxes, loadedSandbox, removeSandboxFiles } from '../../fixtures/lua-sandbox.js'

afterEach(endSandboxes)
afterAll(removeSandboxFiles)

async function output(body: string) {
  const sandbox = await loadedSandbox(`return { tools = { { id = "t", execute = function(p) ${body} end } } }`)
  const { result, error } = await sandbox.tool('t')
  return error ?? result
}

const names = (table: string) => output(`local n = {}; for k in pairs(${table}) do n[#n + 1] = tostring(k) end; table.sort(n); return n`)

describe('what a script finds', () => {
  it('is exactly these globals', async () => {
    const functions =
      'assert error getmetatable ipairs next pairs pcall print rawequal rawget rawlen rawset require select setmetatable tonumber tostring type xpcall'
    const tables = '_G coroutine math package string svc table utf8'
    const expected = `${functions} ${tables} _VERSION`.split(' ')
    expect(new Set(await names('_G'))).toEqual(new Set(expected))
  })

  it('is no string.dump, and in package nothing that loads', async () => {
    expect(await names('string')).not.toContain('dump')
    expect(await names('package')).toEqual(['cpath', 'loaded', 'path', 'preload'])
    expect(await names('package.loaded')).toEqual(['_G', 'coroutine', 'math', 'string', 'svc', 'table', 'utf8'])
    expect(await output('return { package.path, package.cpath, _VERSION }')).toEqual(['', '', 'Lua 5.3'])
  })

  it('is the host table with every function, and nothing else', async () => {
    expect(await names('svc')).toEqual(['host'])
    expect(await output('return tostring(svc == require("svc"))')).toBe('true')
    expect(await names('svc.host')).toHaveLength(18)
  })
})

describe('libraries and shared metatables', () => {
  const attempts = [
    'string.rep = print',
    'string.extra = 1',
    'string.rep = nil',
    'rawset(string, "rep", print)',
    'rawset(table, "extra", 1)',
    'rawset(svc.host, "config_get", print)',
    'svc.host = {}',
    'svc.more = 1',
    'rawset(package, "path", "/tmp")',
    'table.insert(coroutine, 1)',
    'table.move({ 1 }, 1, 1, 1, math)',
    'setmetatable(utf8, { __index = {} })',
    'for k in pairs(math) do math[k] = nil end',
    'table.sort(string, print); string[1] = 1',
  ]

  it('cannot be changed', async () => {
    const tools = attempts.map((attempt, index) => `{ id = "t${index}", execute = function() ${attempt} end }`)
    const sandbox = await loadedSandbox(
      `return { tools = { ${tools.join(', ')}, { id = "check", execute = function()
         return { ("ab"):rep(2), string.format("%d", math.floor(2.5)), table.concat({ 1, 2 }, ","), utf8.char(65), type(svc.host.config_get), coroutine.isyieldable() }
       end } } }`,
    )
    for (const [index, attempt] of attempts.entries()) {
      expect({ attempt, ...(await sandbox.tool(`t${index}`)) }).toMatchObject({
        attempt,
        error: expect.stringContaining('attempt to change a read-only table'),
      })
      expect((await sandbox.tool('check')).result).toEqual(['abab', '2', '1,2', 'A', 'function', false])
    }
  })

  it('can tell the script with pcall that they refuse', async () => {
    expect(await output('local ok, e = pcall(rawset, string, "rep", print); return { ok, e }')).toEqual([
      false,
      'attempt to change a read-only table',
    ])
  })

  it('hide the metatable of strings', async () => {
    expect(await output('return { tostring(getmetatable("")), ("x"):upper() }')).toEqual(['false', 'X'])
  })
})

describe('the language', () => {
  it('prints to standard error, one line a call, and never to the protocol', async () => {
    const sandbox = await loadedSandbox(
      'print("loading", 1, nil); return { tools = { { id = "t", execute = function() print("two\\nlines") end } } }',
    )
    await sandbox.tool('t')
    await sandbox.line('loading\t1\tnil\n')
    await sandbox.line('two lines\n')
    expect(sandbox.frames.map(({ id, method }) => id ?? method)).toEqual(['runner.ready', 1, 2])
  })

  it('keeps coroutines, protected calls and error handlers working', async () => {
    expect(
      await output(`
        local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1); error("end " .. b, 0) end)
        local first = co(1)
        local ok, e = pcall(co, "x")
        local inside = coroutine.create(function() local r = { pcall(function() coroutine.yield("in pcall"); error({ code = 7 }) end) }; return r[2].code end)
        local _, y = coroutine.resume(inside)
        local _, code = coroutine.resume(inside)
        local dead = { coroutine.resume(inside) }
        local handled = { xpcall(function(...) return select("#", ...) end, print, 1, 2, nil) }
        local message = { xpcall(error, function(m) return "handled " .. m end, "this") }
        return { first, tostring(ok), e, y, code, dead[2], handled[2], message[2], coroutine.status(inside) }`),
    ).toEqual([2, 'false', 'end x', 'in pcall', 7, 'cannot resume dead coroutine', 3, 'handled this', 'dead'])
  })

  it('repeats strings, with and without a separator', async () => {
    expect(
      await output(
        'return { ("ab"):rep(3), ("ab"):rep(3, ", "), ("x"):rep(1, "-"), ("x"):rep(0), ("x"):rep(-5, "-"), (""):rep(3, "-"), #("abc"):rep(1000, "--") }',
      ),
    ).toEqual(['ababab', 'ab, ab, ab', 'x', '', '', '--', 4998])
    expect(await output('return { pcall(string.rep, "x", 2147483647, "y") }')).toEqual([false, 'resulting string too large'])
  })

  it('tells strings apart that differ in control characters only', async () => {
    expect(await output('local t = {}; t["\\1\\17"] = "a"; t["\\17\\1"] = "b"; return { t["\\1\\17"], t["\\17\\1"] }')).toEqual(['a', 'b'])
  })
})

describe('the built program', () => {
  it('asks for nothing but modules of Node, and its VM for none that reads a terminal or runs programs', async () => {
    const vm = readFileSync(join(dirname(await builtSandbox()), 'lua-sandbox-vm.cjs'), 'utf8')
    const asked = new Set([...vm.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name))
    expect(asked).toEqual(new Set(['node:fs', 'node:path', 'node:v8', 'node:vm', 'node:worker_threads']))
    expect(['child_process', 'readline-sync', 'tmp'].filter((name) => vm.includes(`"${name}"`))).toEqual([])
  })
})

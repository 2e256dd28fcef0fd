// Holds plugin-protocol §6.4, §12-12; threat-model L4.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endSandboxes, loadedSandbox, removeSandboxFiles, type Sandbox } from '../../fixtures/lua-sandbox.js'

afterAll(async () => {
  await endSandboxes()
  removeSandboxFiles()
})

const tool = (body: string) => `return { tools = { { id = "t", execute = function(p) local v = p.input; ${body} end } } }`

async function given(input: unknown, body: string) {
  const sandbox = await loadedSandbox(tool(body))
  return sandbox.tool('t', input)
}

describe('JSON into Lua and back', () => {
  let echo: Sandbox
  beforeAll(async () => {
    echo = await loadedSandbox(tool('return v'))
  })

  it.each([
    ['nested values', { a: [1, [2, []], {}], b: { c: { d: null } }, e: true, f: 'zwölf €' }],
    ['an empty array', []],
    ['an empty object', {}],
    ['a millisecond timestamp', 1_700_000_000_123],
    ['whole numbers around the 32 bits of the VM', [2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 53]],
    ['fractions', [0.5, -1e-7, 1e300]],
    ['null inside', [null, { a: null }]],
    ['keys that are special elsewhere', JSON.parse('{"__proto__":{"x":1},"constructor":2,"toJSON":"x","":3}')],
    ['control characters and every plane', 'a\u0000b\u001f"\\ é 漢 😀'],
  ])('keeps %s', async (_, value) => {
    expect((await echo.tool('t', value)).result).toEqual(value)
  })

  it('writes whole floats as integers and drops what is not finite', async () => {
    const { result } = await given(null, 'return { 1.0, 2.5, 1700000000000.0, 10 / 2, 0 / 0, 1 / 0, 3 // 1 }')
    expect(result).toEqual([1, 2.5, 1_700_000_000_000, 5, null, null, 3])
  })

  it('shows null as a value of its own: true, not nil, userdata, equal to itself', async () => {
    const { result } = await given(
      { n: null, m: null },
      'return { tostring(not not v.n), tostring(v.n == nil), type(v.n), tostring(v.n == v.m), type(tostring(v.n)) }',
    )
    expect(result).toEqual(['true', 'false', 'userdata', 'true', 'string'])
  })

  it('makes integers of whole numbers that fit and floats of others', async () => {
    const { result } = await given([1, 1.5, 2 ** 40], 'return { math.type(v[1]), math.type(v[2]), math.type(v[3]) }')
    expect(result).toEqual(['integer', 'float', 'float'])
  })

  it('takes a table with a sequence as an array, without its other fields, and any other as an object', async () => {
    const { result } = await given(null, 'return { seq = { 1, 2, x = 3 }, empty = {}, object = { a = 1 }, gone = nil }')
    expect(result).toEqual({ seq: [1, 2], empty: {}, object: { a: 1 } })
  })

  it('keeps an array from JSON an array when the script empties it, and hides how', async () => {
    const { result } = await given([1], 'table.remove(v); return { v, tostring(getmetatable(v)), tostring(pcall(setmetatable, v, {})) }')
    expect(result).toEqual([[], 'false', 'false'])
  })

  it('answers null when the callback returns nothing, and ignores all but the first value', async () => {
    expect(await given(null, '')).toMatchObject({ result: null })
    expect(await given(null, 'return 1, 2, 3')).toMatchObject({ result: 1 })
  })

  it.each([
    ['a function', 'return { output = { print } }', 'a function cannot become JSON (at output.1)'],
    ['a coroutine', 'return coroutine.create(print)', 'a thread or userdata cannot become JSON'],
    ['a table that contains itself', 'local t = {}; t.a = { t }; return t', 'a table that contains itself cannot become JSON (at a.1)'],
    [
      'numeric keys without a sequence',
      'return { [5] = 1 }',
      'a table with a key that is neither a string nor part of a sequence cannot become JSON',
    ],
    [
      'a key that is a table',
      'return { [{}] = 1 }',
      'a table with a key that is neither a string nor part of a sequence cannot become JSON',
    ],
    ['a string that is no UTF-8', 'return { s = "\\xff\\xfe" }', 'a string that is not UTF-8 cannot become JSON (at s)'],
    ['a surrogate in UTF-8', 'return "\\xed\\xa0\\x80"', 'a string that is not UTF-8 cannot become JSON'],
    [
      '201 levels',
      'local t = {}; for i = 1, 200 do t = { t } end; return t',
      expect.stringContaining('a value nested deeper than 200 levels'),
    ],
  ])('refuses %s, and goes on', async (_, body, error) => {
    const sandbox = await loadedSandbox(tool(body))
    expect((await sandbox.tool('t')).error).toEqual(error)
    expect((await sandbox.tool('t')).error).toEqual(error)
  })

  it('keeps 200 levels', async () => {
    const { result } = await given(null, 'local t = {}; for i = 1, 199 do t = { t } end; return t')
    expect(JSON.stringify(result)).toBe(`${'['.repeat(199)}{}${']'.repeat(199)}`)
  })

  it('refuses input that is nested too deeply or has too many parts, without harm to the VM', async () => {
    const sandbox = await loadedSandbox(tool('return 1'))
    sandbox.sendText(`{"id":900,"method":"tool.invoke","params":{"tool":"t","input":${'['.repeat(5000)}${']'.repeat(5000)}}}\n`)
    expect((await sandbox.frame(({ id }) => id === 900)).error).toBe('the value is nested deeper than 200 levels')
    expect(
      (
        await sandbox.tool(
          't',
          Array.from({ length: 200_000 }, () => 1),
        )
      ).error,
    ).toContain('tables of the sandbox hold that many')
    expect(await sandbox.tool('t')).toMatchObject({ result: 1 })
  })
})

import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { endSandboxes, luaPackage, removeSandboxFiles, startSandbox } from '../../fixtures/lua-sandbox.js'

afterEach(endSandboxes)
afterAll(removeSandboxFiles)

const main = (body: string) => `return { tools = { { id = "t", execute = function(p) ${body} end } } }`

async function output(body: string, files: Readonly<Record<string, string>>, prepare: (root: string) => void = () => {}) {
  const root = luaPackage({ 'main.lua': main(body), ...files })
  prepare(root)
  const sandbox = await startSandbox(root)
  await sandbox.initialize()
  const { result, error } = await sandbox.tool('t')
  return error ?? result
}

const tried = (name: string) => `local ok, e = pcall(require, ${JSON.stringify(name)}); return e`

describe('require', () => {
  it('finds a file before a directory, below lua/ of the package, and hands it its name and path', async () => {
    const files = {
      'lua/a/b.lua': 'return { ... }',
      'lua/a/b/init.lua': 'return "second"',
      'lua/pack/init.lua': 'local inner = require("pack.inner"); return inner .. "!"',
      'lua/pack/inner.lua': 'return "inner"',
    }
    expect(await output('return { require("a.b"), require("pack") }', files)).toEqual([['a.b', 'lua/a/b.lua'], 'inner!'])
  })

  it('loads once, keeps what was returned, and makes true of nothing', async () => {
    const files = {
      'lua/count.lua': 'total = (total or 0) + 1; return { total }',
      'lua/none.lua': 'ran = true',
      'lua/no.lua': 'return false',
    }
    expect(
      await output(
        'return { require("count")[1], require("count")[1], tostring(require("count") == package.loaded.count), require("none"), ran }',
        files,
      ),
    ).toEqual([1, 1, 'true', true, true])
  })

  it('takes preloaded modules, and loads again what the script forgot', async () => {
    const files = { 'lua/m.lua': 'n = (n or 0) + 1; return n' }
    expect(
      await output(
        'package.preload["x-y"] = function(name) return "pre " .. name end; local a = require("m"); package.loaded.m = nil; return { require("x-y"), a, require("m") }',
        files,
      ),
    ).toEqual(['pre x-y', 1, 2])
  })

  it('compiles text only', async () => {
    expect(await output(tried('m'), { 'lua/m.lua': '\x1bLua' })).toContain('attempt to load a')
  })

  it('reports the syntax error of a module with its file and line, and may try again', async () => {
    expect(await output('pcall(require, "m"); local ok, e = pcall(require, "m"); return e', { 'lua/m.lua': '\nreturn +' })).toContain(
      'lua/m.lua:2:',
    )
  })

  it('refuses a module that requires itself while it loads', async () => {
    const files = { 'lua/a.lua': 'return require("b")', 'lua/b.lua': 'return require("a")' }
    expect(await output(tried('a'), files)).toBe('module "a" is required while it is being loaded')
  })

  it('refuses names that are none', async () => {
    const names = ['', '.', 'a..b', '.a', 'a.', 'a-b', 'a/b', '../main', 'a b', 'é', 'a\n']
    const list = names.map((name) => JSON.stringify(name)).join(', ')
    const messages = await output(
      `local all = {}; for i, name in ipairs({ ${list} }) do all[i] = select(2, pcall(require, name)) end; return all`,
      {},
    )
    expect(messages).toEqual(names.map((name) => `"${name}" is not a module name: letters, digits and "_", in parts joined by "."`))
  })

  it('does not find what the package does not have', async () => {
    const names = ['io', 'os', 'debug', 'fs', 'main', 'js']
    const list = names.map((name) => `"${name}"`).join(', ')
    const messages = await output(
      `local all = {}; for i, name in ipairs({ ${list} }) do all[i] = select(2, pcall(require, name)) end; return all`,
      {},
    )
    expect(messages).toEqual(
      names.map((name) => `module "${name}" not found: the package has neither lua/${name}.lua nor lua/${name}/init.lua`),
    )
  })

  it('does not follow links, of files or of directories, nor take a directory for a file', async () => {
    const files = { 'lua/real/m.lua': 'return 1', 'lua/dir.lua/x': '' }
    const link = (root: string) => {
      symlinkSync(join(root, 'lua/real/m.lua'), join(root, 'lua/file.lua'))
      symlinkSync(join(root, 'lua/real'), join(root, 'lua/through'))
    }
    expect(await output(tried('file'), files, link)).toContain('lua/file.lua is a link')
    expect(await output(tried('through.m'), files, link)).toContain('is reached through a link')
    expect(await output(tried('dir'), files, link)).toContain('not found')
  })

  it('does not read a source beyond a megabyte', async () => {
    expect(await output(tried('big'), { 'lua/big.lua': `return 1 --${'x'.repeat(1024 * 1024)}` })).toContain('has more than 1048576 bytes')
  })
})

describe('the program', () => {
  const packageOf = (agent: object) => luaPackage({ 'main.lua': 'return {}', 'dir/x.lua': '' }, agent)

  it.each([
    ['another runtime', { runtime: 'process' }, 'is not a Lua package'],
    ['an absolute entrypoint', { entrypoint: '/etc/passwd' }, 'is not a path inside the package'],
    ['an entrypoint outside', { entrypoint: '../main.lua' }, 'is not a path inside the package'],
    ['no entrypoint', { entrypoint: '' }, 'is not a path inside the package'],
    ['an entrypoint that is a directory', { entrypoint: 'dir' }, 'is not a file of the package'],
    ['an entrypoint that is not there', { entrypoint: 'gone.lua' }, 'cannot be read'],
  ])('refuses a package with %s, in one line', async (_, agent, sentence) => {
    const sandbox = await startSandbox(packageOf(agent))
    expect(await sandbox.ended).toEqual({ code: 1, signal: null })
    expect(sandbox.stderr()).toContain(sentence)
    expect(sandbox.stderr().trim().split('\n')).toHaveLength(1)
  })

  it('refuses an entrypoint that is a link', async () => {
    const root = packageOf({ entrypoint: 'link.lua' })
    symlinkSync(join(root, 'main.lua'), join(root, 'link.lua'))
    const sandbox = await startSandbox(root)
    await sandbox.ended
    expect(sandbox.stderr()).toContain('is not a file of the package')
  })
})

describe('the JSON module of the example that others copy', () => {
  const module = readFileSync(new URL('../../../examples/plugins/issue-tracker/package/lua/json.lua', import.meta.url), 'utf8')
  const back = (value: string) => output(`local json = require("json"); return json.encode(${value})`, { 'lua/json.lua': module })

  it('writes values of every kind, and reads what it wrote', async () => {
    const value = '{ list = { 1, -2.5, "a\\n\\"", false, {} }, nested = { deep = { { 1 } } }, ["k\\"ey"] = true }'
    const text = '{"k\\u0022ey":true,"list":[1,-2.5,"a\\u000a\\u0022",false,{}],"nested":{"deep":[[1]]}}'
    expect(await back(value)).toBe(text)
    expect(await back(`json.decode(${JSON.stringify('[{"a":[1,"ü",true]},1.5]')})`)).toBe('[{"a":[1,"ü",true]},1.5]')
  })

  it.for(['{ f = print }', '1 / 0', '(function() local t = {}; t.t = t; return t end)()'])('refuses %s', async (value) => {
    expect(await back(value)).toMatch(/is no JSON|has no such number|nested too deeply/)
  })
})

import { describe, expect, it } from 'vitest'
import { type Exported } from '../../../src/programs/toolbox/exported-tools.js'
import { loadTools } from '../../../src/programs/toolbox/load-tools.js'

const TOOL = { description: 'Does it.', execute: () => 'done' }
const never = new Promise<never>(() => {})

/** Loads modules that are given by file name; an error is thrown by the load. */
function load(modules: Readonly<Record<string, Exported | Error | Promise<Exported>>>, overdue: Promise<void> = never) {
  return loadTools({
    directory: '/tools',
    names: Object.keys(modules),
    async load(url) {
      const module = modules[url.slice('file:///tools/'.length)] ?? {}
      if (module instanceof Error) throw module
      return module
    },
    lineOf: async () => '7',
    overdue,
  })
}

const idsOf = async (modules: Parameters<typeof load>[0]) => {
  const { tools, problems } = await load(modules)
  return { ids: tools.map(({ id }) => id), problems }
}

describe('the tools of a directory', () => {
  it.each<[string, Exported, readonly string[]]>([
    ['a default', { default: TOOL }, ['a']],
    ['a default and others, constants aside', { default: TOOL, more: TOOL, VERSION: 1, help: () => 1, texts: ['x'] }, ['a', 'a_more']],
    ['others alone', { one: TOOL, two: TOOL }, ['a_one', 'a_two']],
    ['CommonJS with one', { default: TOOL, ...TOOL, 'module.exports': TOOL }, ['a']],
    ['CommonJS with many', { default: { one: TOOL, two: TOOL }, one: TOOL, two: TOOL }, ['a_one', 'a_two']],
    ['CommonJS that was made of a module', { default: { __esModule: true, default: TOOL, one: TOOL }, __esModule: true }, ['a', 'a_one']],
    ['a default beside what is no part of it', { default: { one: TOOL }, two: TOOL }, ['a_two']],
  ])('%s', async (_what, module, ids) => {
    expect(await idsOf({ 'a.mjs': module })).toEqual({ ids, problems: [] })
  })

  it('are in files that are scripts, by name', async () => {
    const names = ['b.ts', 'a.js', 'c.mts', 'd.cjs', 'e.cts', 'f.mjs', '.g.js', '_h.js', 'i.d.ts', 'j.test.ts', 'k.json', 'l.tsx', '2.js']
    const { ids } = await idsOf(Object.fromEntries(names.map((name) => [name, { default: TOOL }])))
    expect(ids).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  it('keep the object their author wrote as "this"', async () => {
    class Counter {
      readonly description = 'Counts.'
      #count = 0
      execute() {
        return String(++this.#count)
      }
    }
    const { tools } = await load({ 'count.js': { default: new Counter() } })
    const call = () => tools[0]?.execute({}, {} as never)
    expect([call(), call()]).toEqual(['1', '2'])
  })
})

describe('what is wrong with a file', () => {
  const thrown = (error: Error, stack: string) => Object.assign(error, { stack })

  it.each<[string, Exported | Error, string]>([
    ['no tool', { default: 3 }, 'a.ts: it exports no tool, which is an object with description, parameters and execute'],
    ['no function', { default: { description: 'x' } }, 'a.ts: the tool "a" has no function execute'],
    [
      'no description',
      { default: { execute: TOOL.execute } },
      'a.ts: the tool "a" has no description, by which a model knows when to use it',
    ],
    ['no schema', { one: { ...TOOL, parameters: [] } }, 'a.ts: the parameters of "a_one" are no JSON Schema'],
    ['another id', { default: { ...TOOL, id: 'b' } }, 'a.ts: the tool says its id is "b"; by its file and export it is "a"'],
    ['no id', { $: TOOL }, 'a.ts: "a_$" is no tool id: a letter, then up to 63 letters, digits, "_" or "-"'],
    ['it throws', thrown(new RangeError('no'), 'RangeError: no\n    at file:///tools/a.ts:12:3'), 'a.ts:12: RangeError: no'],
    ['it throws elsewhere', thrown(new Error('no'), 'Error: no\n    at file:///tools/lib/b.ts:12:3'), 'a.ts: no'],
    ['Node cannot parse it', thrown(new SyntaxError('Unexpected token'), ''), 'a.ts:7: SyntaxError: Unexpected token'],
    [
      'its types cannot be taken out',
      thrown(new SyntaxError('Error transforming /tools/a.ts: Unexpected token, expected ";" (3:1)'), ''),
      'a.ts:3: SyntaxError: Unexpected token, expected ";"',
    ],
    [
      'a package is not there',
      Object.assign(new Error("Cannot find package 'zod' imported from /tools/a.ts"), { code: 'ERR_MODULE_NOT_FOUND', stack: '' }),
      "a.ts: Cannot find package 'zod' (tools import modules of Node and files of their own directory; what needs packages is a plugin)",
    ],
  ])('%s', async (_what, module, problem) => {
    expect(await idsOf({ 'a.ts': module, 'b.js': { default: TOOL } })).toEqual({ ids: ['b'], problems: [problem] })
  })

  it('a file that is never loaded, and one whose tool there is already', async () => {
    const stuck = { 'a.js': new Promise<Exported>(() => {}), 'b.js': { default: TOOL, c: TOOL }, 'b_c.js': { default: TOOL } }
    const { tools, problems } = await load(stuck, Promise.resolve())
    expect(tools.map(({ id }) => id)).toEqual(['b', 'b_c'])
    expect(problems).toEqual(['a.js: it was not loaded within 5 s', 'b_c.js: b.js has a tool "b_c" already'])
  })
})

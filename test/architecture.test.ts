import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { longCircles, twoWayPairs } from './architecture/pairs.js'
import { findings } from './architecture/rules.js'
import { sources } from './architecture/source.js'
import { climbs, deserted } from './architecture/storeys.js'

const root = fileURLToPath(new URL('..', import.meta.url))

describe('the source tree', () => {
  test('keeps the arrows between layers and the order of its storeys, has no cycle, no forbidden global, no long file and no vague name', () => {
    expect(findings(sources())).toEqual([])
  })

  test('has in no folder two neighbours that import each other, nor more of them in a circle', () => {
    expect(twoWayPairs(sources())).toEqual([])
    expect(longCircles(sources())).toEqual([])
  })

  test('has everything the order of its storeys names', () => {
    expect(deserted(sources())).toEqual([])
  })

  test('is made of small functions: none has more than 150 lines, few have more than 100', () => {
    const lengths = sources().flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:export )?(?:default )?(?:async )?function\*? (\w+)[^]*?\n\}$/gm)].map(([body, name = '']) => ({
        name: `${path} ${name}`,
        lines: body.split('\n').length - 1, // without its end
      })),
    )
    expect(lengths.length).toBeGreaterThan(3000)
    expect(lengths.filter(({ lines }) => lines > 150)).toEqual([])
    expect(lengths.filter(({ lines }) => lines > 100).length).toBeLessThanOrEqual(15)
  })

  test('is made of small files: half of them at most 100 lines, nine in ten at most 250', () => {
    const lengths = sources()
      .map(({ text }) => text.trimEnd().split('\n').length)
      .toSorted((a, b) => a - b)
    expect(lengths[Math.floor(lengths.length * 0.5)]).toBeLessThanOrEqual(100)
    expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(250)
  })
})

test('only one file of the command line writes to its streams', () => {
  const touches = /\bprocess\s*\??\.\s*(?:stdout|stderr)\b|\bprocess\[|\}\s*=\s*process\b|\bconsole\b|node:(?:console|process|tty)/
  const doors = sources().filter(({ path, text }) => path.startsWith('src/cli/') && touches.test(text))
  expect(doors.map(({ path }) => path)).toEqual(['src/cli/terminal/output.ts'])
})

test('git is started in one place, for its two users', () => {
  const starting = sources().filter(({ text }) => /\bfind\(\s*['"`]git['"`]/.test(text))
  expect(starting.map(({ path }) => path)).toEqual(['src/platform/git/program/git-process.ts'])
  const users = sources().filter(({ text }) => /import \{[^}]*\bcreateGitProcess\b/.test(text))
  expect(users.map(({ path }) => path).toSorted()).toEqual([
    'src/platform/git/program/cloner.ts',
    'src/platform/git/program/git-program.ts',
  ])
})

test('language servers, formatters and MCP servers start by the door to programs of workspaces, and by nothing else', () => {
  const starts = /\bprocesses\b|\bterminals\b/
  const within = sources().filter(({ path }) => /^src\/plugins\/(?:lsp|mcp|files\/format)\//.test(path))
  expect(within.filter(({ text }) => starts.test(text)).map(({ path }) => path)).toEqual([])
  const opening = /\bprograms\s*\.\s*(?:open|run)\(/
  expect(within.filter(({ text }) => opening.test(text)).map(({ path }) => path)).toEqual([
    'src/plugins/files/format/format.ts',
    'src/plugins/lsp/clients/clients.ts',
    'src/plugins/lsp/clients/running.ts',
    'src/plugins/mcp/link/session.ts',
  ])
})

test('no test asserts how long something took: a machine may be busy', () => {
  const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'))
  const measures = /\bperformance\.now\(|\bhrtime\(|\bcpuUsage\(/
  const measuring = tests.filter((name) => measures.test(readFileSync(join(root, 'test', name), 'utf8')))
  expect(measuring.toSorted()).toEqual([
    // Kills are spread over the time that a run takes.
    'campaigns/delegation-kills/delegation-kills.test.ts',
    'campaigns/editor-kills/editor-kills.test.ts',
    'campaigns/goal-kills/goal-kills.test.ts',
    // Asks until an answer is right.
    'e2e/plugin/contributions.test.ts',
  ])
})

describe('the rules', () => {
  const one = (path: string, text: string) => findings([{ path, text }])

  test('accept a tree that keeps them', () => {
    const tree = [
      { path: 'src/protocol/noun.ts', text: "import * as z from 'zod'\nexport const Noun = z.string()\n" },
      { path: 'src/machines/rule.ts', text: "export const isOpen = (snapshot) => snapshot.matches('open')\n" },
      { path: 'src/programs/page/x.ts', text: "const isHeld = (scope, element) => scope.matches(id) || element.matches(':active')\n" },
      { path: 'src/machines/verb.machine.ts', text: "import { setup } from 'xstate'\nimport { Noun } from '../protocol/noun.js'\n" },
      { path: 'src/store/rows.ts', text: "import { readFileSync } from 'node:fs'\nimport Database from 'better-sqlite3'\n" },
      { path: 'src/ports/plugin.ts', text: 'export class ToolError extends Error {}\n' },
      { path: 'src/plugins/tool.ts', text: "import { ToolError, type NativeHost } from '../ports/plugin.js'\n" },
      { path: 'src/published/kit/node-stdio.ts', text: "import { hrtime } from 'node:process'\nconst url = process.env['URL']\n" },
      { path: 'src/published/client/platform.ts', text: "import { createParser } from 'eventsource-parser'\nconst now = Date.now()\n" },
      { path: 'src/actors/yielder.ts', text: "import { setImmediate } from 'node:timers/promises'" },
      { path: 'src/actors/doer.ts', text: 'deps.clock.setTimeout(run, 5) // not Date.now()\nconst text = "process.env"\n' },
    ]
    expect(findings(tree)).toEqual([])
  })

  test.each([
    [
      'src/protocol/x.ts',
      "import { readFile } from 'node:fs/promises'",
      'src/protocol/x.ts: imports node:fs/promises; take Effects instead',
    ],
    ['src/protocol/x.ts', "import { setup } from 'xstate'", 'src/protocol/x.ts: imports the package xstate'],
    ['src/machines/x.ts', "import type { Store } from '../store/store.js'", 'src/machines/x.ts: imports src/store/store.ts'],
    ['src/store/x.ts', "import { bus } from '../actors/bus.js'", 'src/store/x.ts: imports src/actors/bus.ts'],
    ['src/plugins/x.ts', "import { join } from 'node:path'", 'src/plugins/x.ts: imports node:path'],
    ['src/published/kit/x.ts', "import { join } from 'node:path'", 'src/published/kit/x.ts: imports node:path'],
    ['src/published/kit/x.ts', "const url = process.env['URL']", 'src/published/kit/x.ts: uses process.env; take Effects instead'],
    [
      'src/plugins/x.ts',
      "import {\n  ToolError,\n  createHost,\n} from '../ports/plugin.js'",
      'src/plugins/x.ts: imports createHost of src/ports/plugin.ts as a value',
    ],
    [
      'src/http/x.ts',
      "import { createRuntime } from '../ports/facades.js'",
      'src/http/x.ts: imports createRuntime of src/ports/facades.ts as a value',
    ],
    ['src/http/x.ts', "export { bus } from '../actors/bus.js'", 'src/http/x.ts: imports src/actors/bus.ts'],
    ['src/http/x.ts', "const later = await import('../store/open.js')", 'src/http/x.ts: imports src/store/open.ts'],
    ['src/published/client/x.ts', "import { bind } from '../../http/bind.js'", 'src/published/client/x.ts: imports src/http/bind.ts'],
    ['src/http/x.ts', 'const told = `${text.slice(0, 5)}…`', 'src/http/x.ts: cuts a text by hand; use cut of src/kernel/cut.ts'],
    ['src/published/client/x.ts', "import fastify from 'fastify'", 'src/published/client/x.ts: imports the package fastify'],
    ['src/published/client/x.ts', "import { join } from 'node:path'", 'src/published/client/x.ts: imports node:path'],
    ['src/published/client/x.ts', 'const now = Date.now()', 'src/published/client/x.ts: uses Date.now; take Effects instead'],
    [
      'src/http/x.ts',
      "import { createClient } from '../published/client/client.js'",
      'src/http/x.ts: imports src/published/client/client.ts',
    ],
    ['src/actors/x.ts', "import { serve } from '../cli/serve.js'", 'src/actors/x.ts: imports src/cli/serve.ts'],
    ['src/actors/x.ts', "import { bus } from './bus'", 'src/actors/x.ts: imports ./bus without its .js suffix'],
    ['src/actors/x.ts', "import { spawn } from 'node:child_process'", 'src/actors/x.ts: imports node:child_process; take Effects instead'],
    [
      'src/actors/x.ts',
      "import { setImmediate, setTimeout } from 'node:timers/promises'",
      'src/actors/x.ts: imports node:timers/promises; take Effects instead',
    ],
    ['src/actors/x.ts', 'const now = Date.now()', 'src/actors/x.ts: uses Date.now; take Effects instead'],
    ['src/actors/x.ts', 'const at = new Date()', 'src/actors/x.ts: uses new Date(); take Effects instead'],
    ['src/machines/x.ts', 'const n = Math.random()', 'src/machines/x.ts: uses Math.random; take Effects instead'],
    ['src/store/x.ts', 'setTimeout(() => {}, 5)', 'src/store/x.ts: uses setTimeout; take Effects instead'],
    ['src/http/x.ts', 'const timer = setInterval(beat, 5)', 'src/http/x.ts: uses setInterval; take Effects instead'],
    ['src/http/x.ts', 'const text = `${process.env.HOME}`', 'src/http/x.ts: uses process.env; take Effects instead'],
    ['src/http/x.ts', 'const text = `a ${b} c`\nconst now = Date.now()', 'src/http/x.ts: uses Date.now; take Effects instead'],
    ['src/http/x.ts', 'const text = `a ${of({ c: `${Date.now()}` })} c`', 'src/http/x.ts: uses Date.now; take Effects instead'],
    ['src/store/utils.ts', '', 'src/store/utils.ts: is called "utils", which says nothing'],
    ['src/http/helpers/x.ts', '', 'src/http/helpers/x.ts: is called "helpers", which says nothing'],
    ['src/lib/x.ts', '', 'src/lib/x.ts: src/lib is not a layer'],
    ['src/published/x.ts', '', 'src/published/x.ts: src/published/x.ts is not a layer'],
    ['src/programs/new/x.ts', '', 'src/programs/new/x.ts: src/programs/new is not a layer'],
    ['src/protocol/x.ts', "import { parse } from 'yaml'", 'src/protocol/x.ts: imports the package yaml'],
    ['src/kernel/x.ts', "import { LIMITS } from '../protocol/limits.js'", 'src/kernel/x.ts: imports src/protocol/limits.ts'],
    [
      'src/ports/x.ts',
      "import type { Journal } from '../actors/events/journal.js'",
      'src/ports/x.ts: imports src/actors/events/journal.ts',
    ],
    ['src/platform/x.ts', "import { bus } from '../actors/bus.js'", 'src/platform/x.ts: imports src/actors/bus.ts'],
    ['src/ports/x.ts', "import { roots } from '../kernel/roots.js'", 'src/ports/x.ts: imports roots of src/kernel/roots.ts as a value'],
    ...[
      'const a = /^x$/m',
      'const a = (b: string) => /^x/gm.test(b)',
      'text.split(/^(?=diff )/m)',
      'f(/[\'"`]^x/im)',
      "const a = new RegExp(`^${b}$`, 'gm')",
      "const a = RegExp('^x, y', 'm')",
      'const a = `${b.replace(/^x/m, c)}`',
    ].map((text) => ['src/store/x.ts', text, 'src/store/x.ts: has a regular expression with the flag m; write (?<=^|\\n) and (?=\\n|$)']),
    [
      'src/actors/x.ts',
      "if (ref.getSnapshot().matches('open')) return",
      'src/actors/x.ts: asks for an inner state of a machine; ask its tags',
    ],
    [
      'src/plugins/x.ts',
      'const at = snapshot.matches({ open: inner })',
      'src/plugins/x.ts: asks for an inner state of a machine; ask its tags',
    ],
    ['src/http/x.ts', 'return actor.getSnapshot().value', 'src/http/x.ts: asks for an inner state of a machine; ask its tags'],
    ['src/store/x.ts', 'export default 1', 'src/store/x.ts: has a default export'],
    ['src/store/x.ts', "export * from './y.js'", 'src/store/x.ts: re-exports everything of another file'],
    [
      'src/actors/session/run/x.ts',
      'const xOf = (y) => {\n  return {\n    get z() {\n      return y.z\n    },\n  }\n}\n',
      'src/actors/session/run/x.ts: has an object of a literal that answers a field with a function; make it a function, or a class',
    ],
  ])('refuse %s with %j', (path, text, finding) => {
    expect(one(path, text)).toContain(finding)
  })

  test('refuse a file of more than 400 lines', () => {
    expect(one('src/store/x.ts', 'let a\n'.repeat(400))).toEqual([])
    expect(one('src/store/x.ts', 'let a\n'.repeat(401))).toEqual(['src/store/x.ts: has 401 lines, more than 400'])
  })

  test('find a class whose functions are handed on by themselves behind its interface', () => {
    const contract = {
      path: 'src/kernel/bell.ts',
      text: 'export interface Bell {\n  ring(times: number): void\n  readonly isRung: boolean\n}\n',
    }
    const fields = 'class Iron implements Bell {\n  readonly ring = (times: number) => {}\n  get isRung() {\n    return true\n  }\n}\n'
    const methods = 'class Iron implements Bell {\n  ring(times: number) {\n  }\n  own() {\n  }\n}\n'
    expect(findings([contract, { path: 'src/kernel/iron.ts', text: fields }])).toEqual([])
    expect(findings([contract, { path: 'src/kernel/iron.ts', text: methods }])).toEqual([
      'src/kernel/iron.ts: ring of Iron loses its object when it is handed on; make it a field',
    ])
  })

  test('find a cycle through three files, once', () => {
    const tree = [
      { path: 'src/store/a.ts', text: "import { b } from './b.js'" },
      { path: 'src/store/b.ts', text: "import type { C } from './c.js'" },
      { path: 'src/store/c.ts', text: "import { a } from './a.js'" },
    ]
    expect(findings(tree)).toEqual(['src/store/a.ts: imports itself through src/store/b.ts → src/store/c.ts → src/store/a.ts'])
  })
})

describe('the order of the storeys', () => {
  const storeys = { 'src/actors': 'ground | a b | top' }

  test('lets a part import itself, what stands below it, and what the order does not name', () => {
    const tree = [
      { path: 'src/actors/a/one.ts', text: "import { two } from './two.js'\nimport { g } from '../ground/g.js'" },
      { path: 'src/actors/top.ts', text: "import { one } from './a/one.js'\nimport { free } from './free.js'" },
      { path: 'src/actors/free.ts', text: "import { g } from './ground/g.js'" },
      { path: 'src/actors/ground/g.ts', text: "import type { R } from '../../ports/r.js'" },
    ]
    expect(climbs(tree, storeys)).toEqual([])
  })

  test('refuses an arrow to what stands above, and to what stands beside', () => {
    const tree = [
      { path: 'src/actors/ground/g.ts', text: "import type { Top } from '../top.js'" },
      { path: 'src/actors/a/one.ts', text: "const later = await import('../b/two.js')" },
    ]
    expect(climbs(tree, storeys)).toEqual([
      'src/actors/ground/g.ts: imports src/actors/top.ts, which stands above it in src/actors',
      'src/actors/a/one.ts: imports src/actors/b/two.ts, which stands beside it in src/actors',
    ])
  })

  test('refuses a folder without a place, once, and names a place without a folder', () => {
    const tree = ['src/actors/new/x.ts', 'src/actors/new/y.ts', 'src/actors/ground/g.ts', 'src/actors/a/a.ts', 'src/actors/top.ts']
    const files = tree.map((path) => ({ path, text: '' }))
    expect(climbs(files, storeys)).toEqual(['src/actors/new: has no place in the order of src/actors'])
    expect(deserted(files, storeys)).toEqual(['src/actors: names b, which is not there'])
  })
})

describe('neighbours that import each other', () => {
  test('are three in a circle, told once', () => {
    const tree = [
      { path: 'src/actors/a/one.ts', text: "import { b } from '../b/two.js'" },
      { path: 'src/actors/b/two.ts', text: '' },
      { path: 'src/actors/b/other.ts', text: "import { c } from '../c.js'" },
      { path: 'src/actors/c.ts', text: "import { a } from './a/two.js'" },
      { path: 'src/actors/a/two.ts', text: '' },
    ]
    expect(twoWayPairs(tree)).toEqual([])
    expect(longCircles(tree)).toEqual(['src/actors: a → b → c.ts → a'])
  })

  test('are two folders with arrows both ways, whichever files have them, in the deepest folder that has both', () => {
    const tree = [
      { path: 'src/actors/a/one.ts', text: "import type { B } from '../b/two.js'" },
      { path: 'src/actors/a/deep/three.ts', text: "import { c } from '../../c.js'" },
      { path: 'src/actors/b/two.ts', text: '' },
      { path: 'src/actors/b/four.ts', text: "const later = await import('../a/one.js')" },
      { path: 'src/actors/c.ts', text: "import { b } from './b/two.js'" },
    ]
    expect(twoWayPairs(tree)).toEqual(['src/actors: a and b import each other'])
  })

  test('are a file and a folder beside it', () => {
    const tree = [
      { path: 'src/http/errors.ts', text: "import { a } from './request/a.js'" },
      { path: 'src/http/request/a.ts', text: '' },
      { path: 'src/http/request/b.ts', text: "import { e } from '../errors.js'" },
    ]
    expect(twoWayPairs(tree)).toEqual(['src/http: errors.ts and request import each other'])
  })

  test('are not two that have their arrows one way, nor what names no file', () => {
    const tree = [
      { path: 'src/store/a/one.ts', text: "import { two } from '../b/two.js'\nimport { none } from '../c/none.js'" },
      { path: 'src/store/b/two.ts', text: "import { three } from './three.js'" },
      { path: 'src/store/b/three.ts', text: '' },
      { path: 'src/store/c/four.ts', text: "import { one } from '../a/one.js'" },
    ]
    expect(twoWayPairs(tree)).toEqual([])
  })
})

// Holds subsystems e.8.
/**
 * Real language servers in one repository of many languages, with emoji and CRLF: each is asked everything, and answers nothing to what it
 * cannot do.
 */
import { Buffer } from 'node:buffer'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacking } from '../../fakes/machine.js'
import { openLsp } from './fixture.js'

const require = createRequire(import.meta.url)
const node = (file: string, ...args: string[]) => ({ command: [process.execPath, require.resolve(file), ...args] })
const within = (manifest: string, path: string) => join(dirname(manifest), path)

const SERVERS = {
  typescript: {
    ...node(within(require.resolve('typescript/package.json'), 'bin/tsc'), '--lsp', '--stdio'),
    settings: { typescript: { inlayHints: { parameterNames: { enabled: 'all' } } } },
  },
  python: node(within(require.resolve('pyright/package.json'), 'langserver.index.js'), '--stdio'),
  c_cpp: {},
  bash: node(within(require.resolve('bash-language-server/package.json'), 'out/cli.js'), 'start'),
  json: {
    ...node(within(require.resolve('vscode-langservers-extracted/package.json'), 'bin/vscode-json-language-server'), '--stdio'),
    initializationOptions: { provideFormatter: true },
  },
  yaml: {
    ...node(within(require.resolve('yaml-language-server/package.json'), 'bin/yaml-language-server'), '--stdio'),
    settings: { yaml: { schemaStore: { enable: false }, schemas: { './schema.json': '*.yaml' } } },
  },
}

const FILES: Readonly<Record<string, string>> = {
  'tsconfig.json': '{ "compilerOptions": { "strict": true } }',
  'lib.ts':
    'export interface Shape { area(): number }\r\n/* 😀 */ export class Box implements Shape { area() { return 1 } }\r\n/** Adds 😀. */\r\nexport function add(a: number, b: number): number {\r\n  return a + b\r\n}\r\n',
  'main.ts':
    "import { add } from './lib.js'\r\nfunction twice(x: number) {\r\n  return /* 😀 */ add(x, 2)\r\n}\r\nexport const sum: string = /* 😀 */ twice(1)\r\n",
  'fix.ts': '/* 😀 */ add(1, 2)\r\nexport {}\r\n',
  'lib.py': 'def half(x: int) -> float:\r\n    """Halves 😀."""\r\n    return x / 2\r\n',
  'main.py':
    "from lib import half\r\n\r\ndef twice(x: int) -> float:\r\n    return ('😀' and half(x)) + half(x)\r\n\r\ny: str = '😀' and twice(3)\r\n",
  'lib.sh': '#!/bin/sh\n\n# Says 😀.\ngreet() { echo "😀 $1"; }\n',
  'main.sh': '#!/bin/sh\n. ./lib.sh\necho "😀"; greet you\nbye() { greet me; }\n',
  'a.yaml': '# 😀\r\nbase: { "😀": 1, c: &x 2 }\r\nb: 3\r\nb: [ "😀", *x ]\r\nport: "x"\r\n',
  'schema.json': '{ "type": "object", "properties": { "port": { "type": "number", "description": "Where it listens 😀" } } }',
  'a.json': '{ "$schema": "./schema.json", "😀": 1, "port": "x" , }\r\n',
  'lib.h': '#pragma once\r\n// Adds 😀.\r\nint add(int a, int b);\r\nstruct Shape { virtual int area() = 0; };\r\n',
  'lib.cpp':
    '#include "lib.h"\r\nint /* 😀 */ add(int a, int b) { return a + b; }\r\n/* 😀 */ struct Box : Shape { int area() override { return 1; } };\r\n',
  'main.cpp': '#include "lib.h"\r\nint twice(int x) {\r\n  return /* 😀 */ add(x, 2);\r\n}\r\nconst char *s = "😀"; int t = twice(3);\r\n',
  'fix.cpp': 'int half(int x) {\r\n  /* 😀 */ int y = x / 2\r\n  return y;\r\n}\r\n',
}

/** Where a word stands: line, and byte in it, from zero. */
function place(file: string, word: string, nth = 0) {
  const lines = (FILES[file] ?? '').split(/\r?\n/)
  const found = lines.flatMap((text, line) =>
    [...text.matchAll(new RegExp(String.raw`(?<!\w)${word}(?!\w)`, 'gu'))].map(({ index }) => ({
      file,
      line,
      character: Buffer.byteLength(text.slice(0, index)),
    })),
  )
  const at = found[nth]
  if (at === undefined) throw new Error(`no ${word} in ${file}`)
  return at
}

/** The same as an answer says it: from one. */
function span(file: string, word: string, nth = 0) {
  const { line, character } = place(file, word, nth)
  const end = character + 1 + Buffer.byteLength(word)
  return { start: { line: line + 1, character: character + 1 }, end: { line: line + 1, character: end } }
}

const found = (language: string) => (file: string, word: string, nth?: number) => ({ path: file, range: span(file, word, nth), language })
const behind = (at: ReturnType<typeof place>, bytes: number) => ({ ...at, character: at.character + bytes })

interface Places {
  /** A use of something. */
  readonly use: ReturnType<typeof place>
  readonly signature?: ReturnType<typeof place>
  /** What something else implements. */
  readonly abstract?: ReturnType<typeof place>
  /** A function that calls another one. */
  readonly caller?: ReturnType<typeof place>
  readonly wrong?: ReturnType<typeof place>
  readonly formatted?: string
}

const NOTHING = {
  definition: [],
  references: [],
  implementation: [],
  hover: [],
  documentHighlights: [],
  signatureHelp: [],
  prepareCallHierarchy: [],
  incomingCalls: [],
  outgoingCalls: [],
  codeActions: [],
  documentSymbols: [],
  formatting: [],
  inlayHints: [],
  diagnostics: [],
}

const NO_CLANGD = lacking('clangd')

const SLOW = 60_000
/** One for each server. */
const FIRST = ['lib.ts', 'lib.py', 'lib.sh', 'a.yaml', 'a.json', ...(NO_CLANGD === '' ? ['lib.cpp'] : [])]
let started: readonly unknown[]
let lsp: ReturnType<typeof openLsp>
const ends: (() => Promise<void>)[] = []

beforeAll(async () => {
  lsp = openLsp(SERVERS, { atEnd: (end) => void ends.push(end) })
  for (const [name, text] of Object.entries(FILES)) lsp.write(name, text)
  const commands = ['lib.cpp', 'main.cpp'].map((file) => ({ directory: lsp.directory, file, arguments: ['clang++', '-c', file] }))
  lsp.write('compile_commands.json', JSON.stringify(commands))
  started = await Promise.all(FIRST.map((file) => lsp.call('touch', {}, { file })))
}, SLOW)
afterAll(async () => {
  for (const end of ends) await end()
})

async function everything({ use, signature = use, abstract = use, caller = use, wrong = use, formatted = use.file }: Places) {
  const { file } = use
  const calls: Readonly<Record<keyof typeof NOTHING, object>> = {
    diagnostics: { file: wrong.file },
    definition: use,
    references: use,
    implementation: abstract,
    hover: use,
    documentHighlights: use,
    signatureHelp: signature,
    prepareCallHierarchy: use,
    incomingCalls: use,
    outgoingCalls: caller,
    codeActions: wrong,
    documentSymbols: { file },
    formatting: { file: formatted },
    inlayHints: { file, start_line: 0, end_line: 9 },
  }
  const answers: Record<string, unknown> = {}
  for (const [id, query] of Object.entries(calls)) answers[id] = await lsp.call(id, query)
  return answers
}

it('real language servers are started by a file of theirs, and told of it', () => {
  expect(started).toMatchObject(FIRST.map((path) => [{ path, notified: true }]))
})

describe('a real language server answers all it can', () => {
  it('of TypeScript', { timeout: SLOW }, async () => {
    const at = found('typescript')
    const use = place('main.ts', 'add', 1)
    const answers = await everything({
      use,
      signature: behind(use, 4),
      abstract: place('lib.ts', 'Shape'),
      caller: place('main.ts', 'twice'),
      wrong: place('fix.ts', 'add'),
    })
    expect(answers).toMatchObject({
      definition: [at('lib.ts', 'add')],
      references: expect.arrayContaining([at('main.ts', 'add', 0), at('main.ts', 'add', 1), at('lib.ts', 'add')]),
      implementation: [at('lib.ts', 'Box')],
      hover: [{ ...at('main.ts', 'add', 1), contents: expect.stringMatching(/add\(a: number, b: number\): number[^]*Adds 😀/) }],
      documentHighlights: [
        { ...at('main.ts', 'add', 0), kind: 'write' },
        { ...at('main.ts', 'add', 1), kind: 'read' },
      ],
      signatureHelp: [{ signatures: [{ label: 'add(a: number, b: number): number', documentation: 'Adds 😀.' }] }],
      prepareCallHierarchy: [{ name: 'add', path: 'lib.ts', selection_range: span('lib.ts', 'add') }],
      incomingCalls: [{ item: { name: 'twice', selection_range: span('main.ts', 'twice') }, ranges: [span('main.ts', 'add', 1)] }],
      outgoingCalls: [{ item: { name: 'add', path: 'lib.ts' }, ranges: [span('main.ts', 'add', 1)] }],
      codeActions: expect.arrayContaining([expect.objectContaining({ title: expect.stringContaining('import') })]),
      documentSymbols: [{ name: 'add' }, { name: 'twice', kind: 'function' }, { name: 'sum', selection_range: span('main.ts', 'sum') }],
      formatting: [{ newText: '    ', range: { start: { line: 2, character: 0 }, end: { line: 2, character: 2 } } }],
      inlayHints: expect.arrayContaining([expect.objectContaining({ line: 3, character: use.character + 5, kind: 'parameter' })]),
      diagnostics: [{ ...at('fix.ts', 'add'), severity: 'error', code: '2304' }],
    })
  })

  it('of Python', { timeout: SLOW }, async () => {
    const at = found('python')
    const use = place('main.py', 'half', 1)
    const caller = place('main.py', 'twice')
    const answers = await everything({ use, signature: behind(use, 5), caller, wrong: place('main.py', 'y') })
    expect(answers).toMatchObject({
      ...NOTHING,
      definition: [at('lib.py', 'half')],
      references: expect.arrayContaining([...[0, 1, 2].map((nth) => at('main.py', 'half', nth)), at('lib.py', 'half')]),
      hover: [{ ...at('main.py', 'half', 1), contents: expect.stringMatching(/half\(x: int\) -> float[^]*Halves 😀/) }],
      documentHighlights: [0, 1, 2].map((nth) => at('main.py', 'half', nth)),
      signatureHelp: [{ signatures: [{ label: '(x: int) -> float', documentation: 'Halves 😀.' }] }],
      prepareCallHierarchy: [{ name: 'half', path: 'lib.py', selection_range: span('lib.py', 'half') }],
      incomingCalls: [{ item: { name: 'twice' }, ranges: [span('main.py', 'half', 1), span('main.py', 'half', 2)] }],
      outgoingCalls: [{ item: { name: 'half', path: 'lib.py' }, ranges: [span('main.py', 'half', 1), span('main.py', 'half', 2)] }],
      documentSymbols: [
        { name: 'twice', kind: 'function', children: [{ name: 'x' }] },
        { name: 'y', range: span('main.py', 'y') },
      ],
      diagnostics: [{ severity: 'error', code: 'reportAssignmentType', language: 'python' }],
    })
  })

  it.skipIf(NO_CLANGD !== '')(`of C++, which is no program of Node${NO_CLANGD}`, { timeout: SLOW }, async () => {
    const at = found('cpp')
    const use = place('main.cpp', 'add')
    // What is in other files it knows some time after it was told of them.
    const indexed = () => Promise.all([lsp.call('definition', use), lsp.call('incomingCalls', use)])
    await expect.poll(indexed).toMatchObject([[at('lib.cpp', 'add')], [{}]])
    const answers = await everything({
      use,
      signature: behind(use, 4),
      abstract: place('lib.h', 'area'),
      caller: place('main.cpp', 'twice'),
      wrong: place('fix.cpp', 'return'),
    })
    const { file: _, ...start } = behind(place('fix.cpp', '2'), 1)
    const newer = expect.any(Array) // Newer ones can do more.
    expect(answers).toMatchObject({
      definition: [at('lib.cpp', 'add')],
      references: expect.arrayContaining([at('main.cpp', 'add'), at('lib.cpp', 'add'), at('lib.h', 'add')]),
      implementation: [at('lib.cpp', 'area')],
      hover: [{ ...at('main.cpp', 'add'), contents: expect.stringMatching(/Adds 😀[^]*int add\(int a, int b\)/) }],
      documentHighlights: [at('main.cpp', 'add')],
      signatureHelp: [{ signatures: [{ label: 'add(int a, int b) -> int', documentation: 'Adds 😀.' }] }],
      prepareCallHierarchy: [{ name: 'add', selection_range: span('lib.h', 'add') }],
      incomingCalls: [{ item: { name: 'twice', path: 'main.cpp' }, ranges: [span('main.cpp', 'add')] }],
      outgoingCalls: newer,
      codeActions: [{ edit: { changes: { [`file://${lsp.directory}/fix.cpp`]: [{ newText: ';', range: { start, end: start } }] } } }],
      documentSymbols: [{ name: 'twice', kind: 'function' }, { name: 's' }, { name: 't', selection_range: span('main.cpp', 't') }],
      formatting: newer,
      inlayHints: newer,
      diagnostics: [{ path: 'fix.cpp', message: expect.stringContaining("';'"), severity: 'error' }],
    })
  })

  it('of shells', { timeout: SLOW }, async () => {
    const at = found('shellscript')
    const use = place('main.sh', 'greet')
    await lsp.call('touch', {}, { file: 'main.sh' })
    // It looks at a file some time after it was told of it.
    await expect.poll(() => lsp.call('definition', use)).not.toEqual([])
    expect(await lsp.settled(everything({ use }))).toMatchObject({
      ...NOTHING,
      definition: [{ path: 'lib.sh', range: { start: span('lib.sh', 'greet').start } }],
      references: expect.arrayContaining([at('main.sh', 'greet', 0), at('main.sh', 'greet', 1), at('lib.sh', 'greet')]),
      hover: [{ path: 'main.sh', contents: expect.stringContaining('Says 😀.') }],
      documentHighlights: [at('main.sh', 'greet', 0), at('main.sh', 'greet', 1)],
      documentSymbols: [{ name: 'bye', kind: 'function' }],
    })
  })

  it('of JSON', { timeout: SLOW }, async () => {
    const use = behind(place('a.json', 'port'), 0)
    expect(await everything({ use })).toMatchObject({
      ...NOTHING,
      hover: [{ path: 'a.json', contents: 'Where it listens 😀', range: span('a.json', '"port"') }],
      codeActions: [{ title: 'Sort JSON' }],
      documentSymbols: [{ name: '$schema' }, { name: '😀', selection_range: span('a.json', '"😀"') }, { name: 'port' }],
      formatting: expect.arrayContaining([expect.objectContaining({ newText: expect.stringContaining('\n') })]),
      diagnostics: [
        { range: span('a.json', '"x"'), severity: 'warning' },
        { severity: 'error', message: 'Trailing comma' },
      ],
    })
  })

  it('of YAML', { timeout: SLOW }, async () => {
    expect(await everything({ use: place('a.yaml', 'port') })).toMatchObject({
      ...NOTHING,
      hover: [{ path: 'a.yaml', contents: expect.stringContaining('Where it listens 😀') }],
      documentSymbols: [{ name: 'base', children: [{ name: '😀' }, { name: 'c' }] }, { name: 'b' }, { name: 'b' }, { name: 'port' }],
      formatting: [{ newText: expect.stringContaining('"😀"') }],
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ range: span('a.yaml', '"x"'), message: 'Incorrect type. Expected "number".' }),
      ]),
    })
    expect(await lsp.call('definition', behind(place('a.yaml', '\\*x'), 1))).toEqual([
      { path: 'a.yaml', range: span('a.yaml', '2'), language: 'yaml' },
    ])
  })

  it('of names in whole projects, to a model', { timeout: SLOW }, async () => {
    await lsp.prepare()
    const ask = async (filePath: string) => JSON.parse(await lsp.ask({ operation: 'workspaceSymbol', query: 'twice', filePath }))
    const symbol = (path: string) => ({ name: 'twice', kind: 'function', path, language: expect.any(String) })
    expect(await ask('lib.ts')).toContainEqual(expect.objectContaining(symbol('main.ts')))
    expect(await ask('lib.py')).toContainEqual(expect.objectContaining(symbol('main.py')))
    expect(JSON.parse(await lsp.ask({ operation: 'workspaceSymbol', query: 'twice' }))).toEqual(
      expect.arrayContaining([expect.objectContaining(symbol('main.ts')), expect.objectContaining(symbol('main.py'))]),
    )
  })

  it('of what a model has changed, and of its repair', { timeout: SLOW }, async () => {
    const wrong = "import { add } from './lib.js'\r\n/* 😀 */ const sum: string = add(1, 2)\r\nexport { sum }\r\n"
    lsp.write('changed.ts', wrong)
    expect((await lsp.changed('changed.ts')).output).toMatch(
      "Errors in changed.ts:\n  line 2:18: Type 'number' is not assignable to type 'string'.",
    )
    lsp.write('changed.ts', wrong.replace('string', 'number'))
    expect((await lsp.changed('changed.ts')).output).toBe('Done.')
  })
})

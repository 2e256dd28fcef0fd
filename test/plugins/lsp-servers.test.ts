/** Real language servers, each in a project of its own kind: one of them is asked everything, the others what they differ in. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openLsp } from './lsp-fixture.js'

const require = createRequire(import.meta.url)
const node = (file: string, ...args: string[]) => ({ command: [process.execPath, require.resolve(file), ...args] })
const within = (manifest: string, path: string) => join(dirname(manifest), path)

const SERVERS = {
  typescript: node(within(require.resolve('typescript/package.json'), 'bin/tsc'), '--lsp', '--stdio'),
  python: node(within(require.resolve('pyright/package.json'), 'langserver.index.js'), '--stdio'),
  bash: node(within(require.resolve('bash-language-server/package.json'), 'out/cli.js'), 'start'),
  yaml: {
    ...node(within(require.resolve('yaml-language-server/package.json'), 'bin/yaml-language-server'), '--stdio'),
    settings: { yaml: { schemaStore: { enable: false } } },
  },
  json: node(within(require.resolve('vscode-langservers-extracted/package.json'), 'bin/vscode-json-language-server'), '--stdio'),
}
const SLOW = 60_000

describe('the server of TypeScript', () => {
  it('answers about lines with emoji and CRLF, about other files, and about what was changed', { timeout: SLOW }, async () => {
    const lsp = openLsp({ typescript: SERVERS.typescript })
    lsp.write('tsconfig.json', '{ "compilerOptions": { "strict": true } }')
    lsp.write(
      'lib.ts',
      "/** Adds 😀. */\r\nexport const s = '😀'; export function add(a: number, b: number): number {\r\n  return a + b\r\n}\r\n",
    )
    lsp.write('main.ts', "import { add } from './lib.js'\n\nconst sum = /* 😀 */ add(1, 2)\nexport { sum }\n")
    const column = 'const sum = /* 😀 */ '.length + 2 // The emoji has two more bytes than units.
    const at = { file: 'main.ts', line: 2, character: column }
    const name = "export const s = '😀'; export function ".length + 3
    const range = { start: { line: 2, character: name }, end: { line: 2, character: name + 3 } }
    expect(await lsp.call('definition', at)).toEqual([{ path: 'lib.ts', range, language: 'typescript' }])
    expect(await lsp.call('references', at)).toContainEqual({ path: 'lib.ts', range, language: 'typescript' })
    expect(await lsp.call('hover', at)).toMatchObject([
      { path: 'main.ts', contents: expect.stringContaining('add(a: number, b: number): number') },
    ])
    expect(await lsp.call('documentSymbols', { file: 'lib.ts' })).toMatchObject([{ name: 's' }, { name: 'add', kind: 'function' }])
    expect(await lsp.call('signatureHelp', { ...at, character: column + 4 })).toMatchObject([
      { signatures: [{ label: 'add(a: number, b: number): number', parameters: [{ label: 'a: number' }, { label: 'b: number' }] }] },
    ])
    expect(await lsp.call('documentHighlights', at)).toHaveLength(2)
    expect(await lsp.call('incomingCalls', { file: 'lib.ts', line: 1, character: name - 1 })).toMatchObject([{ direction: 'incoming' }])
    expect(await lsp.call('diagnostics', { file: 'main.ts' })).toEqual([])
    lsp.write('main.ts', "import { add } from './lib.js'\n\nconst sum: string = add(1, 2)\nexport { sum }\n")
    expect((await lsp.changed('main.ts')).output).toMatch(
      "Errors in main.ts:\n  line 3:7: Type 'number' is not assignable to type 'string'.",
    )
    lsp.write('main.ts', "import { add } from './lib.js'\n\nconst sum = add(1, 2)\nexport { sum }\n")
    expect((await lsp.changed('main.ts')).output).toBe('Done.')
  })
})

describe('other servers', () => {
  it('answer', { timeout: SLOW }, async () => {
    const { typescript: _, ...lsp } = SERVERS
    const servers = openLsp(lsp)
    servers.write('a.py', "def half(x: int) -> float:\n    return x / 2\n\ny: str = '😀' and half(3)\n")
    servers.write('a.sh', 'greet() { echo "😀 $1"; }\ngreet you\n')
    servers.write('a.yaml', 'a: 1\na: 2\n')
    servers.write('a.json', '{ "a": 1, }')
    const [definition, yaml, json] = await Promise.all([
      servers.call('definition', { file: 'a.py', line: 3, character: "y: str = '😀' and ".length + 2 }),
      servers.call('documentSymbols', { file: 'a.yaml' }),
      servers.call('diagnostics', { file: 'a.json' }),
    ])
    expect(definition).toMatchObject([{ path: 'a.py', range: { start: { line: 1, character: 5 } }, language: 'python' }])
    // It looks at a file some time after it was told of it.
    await expect
      .poll(() => servers.call('definition', { file: 'a.sh', line: 1, character: 1 }), { timeout: 20_000 })
      .toMatchObject([{ path: 'a.sh', range: { start: { line: 1, character: 1 } }, language: 'shellscript' }])
    expect(yaml).not.toEqual([])
    expect(json).toMatchObject([{ path: 'a.json', range: { start: { line: 1 } }, language: 'json' }])
  })
})

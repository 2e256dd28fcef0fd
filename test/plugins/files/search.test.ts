// Holds sessions-events §10.10.
import { mkdirSync, symlinkSync, utimesSync } from 'node:fs'
import { rgPath } from '@vscode/ripgrep'
import { afterAll, describe, expect, it } from 'vitest'
import type { Processes } from '../../../src/ports/effects.js'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import type { ToolResult } from '../../../src/ports/plugin.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createWorkspace, type Workspace } from './fixture.js'

const processes = createNodeProcesses('/usr/bin:/bin')
afterAll(() => processes.killAll())

/** Gives the files times one second apart, the last one newest. */
function age(workspace: Workspace, names: readonly string[]): void {
  for (const [index, name] of names.entries()) utimesSync(workspace.path(name), 1_700_000_000 + index, 1_700_000_000 + index)
}

function body(result: ToolResult): string {
  return result.output
}

it('many searches at once start few programs at a time', async () => {
  let [running, most] = [0, 0]
  const counted: Processes = {
    ...processes,
    async run(options) {
      most = Math.max(most, ++running)
      try {
        return await processes.run(options)
      } finally {
        running--
      }
    },
  }
  const workspace = createWorkspace({ ripgrepPath: rgPath, processes: counted })
  workspace.put('a.ts', 'foo\n')
  const found = await Promise.all(
    Array.from({ length: 60 }, (_, at) => workspace.tool(at % 2 === 0 ? 'grep' : 'glob').run({ pattern: at % 2 === 0 ? 'foo' : '*.ts' })),
  )
  expect(new Set(found.map(({ output }) => output.includes('a.ts')))).toEqual(new Set([true]))
  expect(most).toBe(LIMITS.tools.searches.atOnce)
})

describe.each([
  ['ripgrep', { ripgrepPath: rgPath, processes }],
  ['scan', {}],
] as const)('searching with %s', (engine, options) => {
  const project = () => {
    const workspace = createWorkspace(options)
    workspace.put('src/a.ts', 'import x\nconst Foo = 1\nexport { foo }\n')
    workspace.put('src/deep/b.ts', 'no\nfoo(1)\r\nfoo.bar\nlast foo')
    workspace.put('README.md', '# Foo\n')
    workspace.put('.hidden/c.ts', 'foo\n')
    workspace.put('.env', 'foo=1\n')
    workspace.put('node_modules/m/index.ts', 'foo\n')
    workspace.put('lib/node_modules/m/index.ts', 'foo\n')
    workspace.put('dist/out.ts', 'foo\n')
    workspace.put('.git/config', 'foo\n')
    workspace.put('data.bin', Buffer.concat([Buffer.from('foo\n'), Buffer.alloc(10), Buffer.from('\nfoo\n')]))
    workspace.put('.gitignore', 'src\n')
    symlinkSync(workspace.path('src/a.ts'), workspace.path('link.ts'))
    age(workspace, ['README.md', 'src/a.ts', 'src/deep/b.ts'])
    return workspace
  }

  it('finds lines, newest file first, and records them', async () => {
    const result = await project().tool('grep').run({ pattern: 'foo' })
    expect(result).toEqual({
      title: 'foo',
      output: [
        'Found 6 matching lines in 3 files',
        '',
        'src/deep/b.ts:',
        '  Line 2: foo(1)',
        '  Line 3: foo.bar',
        '  Line 4: last foo',
        '',
        'src/a.ts:',
        '  Line 2: const Foo = 1',
        '  Line 3: export { foo }',
        '',
        'README.md:',
        '  Line 1: # Foo',
      ].join('\n'),
      metadata: {
        patterns: ['foo'],
        include: [],
        exclude: [],
        mode: 'plain',
        engine,
        matches: 6,
        filesWithMatches: 3,
        truncated: false,
        timedOut: false,
        items: [
          { path: 'src/deep/b.ts', line: 2, text: 'foo(1)' },
          { path: 'src/deep/b.ts', line: 3, text: 'foo.bar' },
          { path: 'src/deep/b.ts', line: 4, text: 'last foo' },
          { path: 'src/a.ts', line: 2, text: 'const Foo = 1' },
          { path: 'src/a.ts', line: 3, text: 'export { foo }' },
          { path: 'README.md', line: 1, text: '# Foo' },
        ],
      },
    })
  })

  it.each([
    ['case-sensitive text', { pattern: 'Foo', caseSensitive: true }, ['src/a.ts:2', 'README.md:1'], 'plain'],
    ['literals of which any may match', { pattern: ['foo(1)', 'import'] }, ['src/deep/b.ts:2', 'src/a.ts:1'], 'plain'],
    ['an expression', { pattern: '^(const|last)\\s' }, ['src/deep/b.ts:4', 'src/a.ts:2'], 'regex'],
    ['an expression at the end of a line that ends with a carriage return', { pattern: '\\(1\\)$' }, ['src/deep/b.ts:2'], 'regex'],
    ['a text that is no valid expression', { pattern: 'foo(' }, ['src/deep/b.ts:2'], 'plain'],
    ['special characters as they are', { pattern: 'foo.bar', mode: 'plain' }, ['src/deep/b.ts:3'], 'plain'],
    ['words in their order', { pattern: 'export  foo', mode: 'fuzzy' }, ['src/a.ts:3'], 'fuzzy'],
    ['words not in another order', { pattern: 'foo export', mode: 'fuzzy' }, [], 'fuzzy'],
    ['files that match a glob', { pattern: 'foo', include: '*.md' }, ['README.md:1'], 'plain'],
    [
      'files that match one of several globs',
      { pattern: 'foo', include: ['src/*.ts', '*.md'] },
      ['src/a.ts:2', 'src/a.ts:3', 'README.md:1'],
      'plain',
    ],
    [
      'files in a directory at any depth',
      { pattern: 'foo', include: 'deep/' },
      ['src/deep/b.ts:2', 'src/deep/b.ts:3', 'src/deep/b.ts:4'],
      'plain',
    ],
    ['all but what a glob excludes', { pattern: 'foo', exclude: ['src/deep', '*.md'] }, ['src/a.ts:2', 'src/a.ts:3'], 'plain'],
    [
      'all but what a negated inclusion names',
      { pattern: 'foo', include: ['!src/deep/**', '*.ts'] },
      ['src/a.ts:2', 'src/a.ts:3'],
      'plain',
    ],
    ['one directory', { pattern: 'foo', path: 'src/deep' }, ['src/deep/b.ts:2', 'src/deep/b.ts:3', 'src/deep/b.ts:4'], 'plain'],
    ['one file', { pattern: 'import', path: 'src/a.ts' }, ['src/a.ts:1'], 'plain'],
    ['one hidden file when it is named', { pattern: 'foo', path: '.env' }, ['.env:1'], 'plain'],
    ['a directory that is left out unless it is named', { pattern: 'foo', path: 'node_modules' }, ['node_modules/m/index.ts:1'], 'plain'],
    ['nothing in a binary file, even when it is named', { pattern: 'foo', path: 'data.bin' }, [], 'plain'],
    ['empty lines', { pattern: '^$', path: 'src' }, [], 'regex'],
  ])('finds %s', async (_, input, expected, mode) => {
    const result = await project().tool('grep').run(input)
    const items = result.metadata?.['items'] as { path: string; line: number }[]
    expect(items.map(({ path, line }) => `${path}:${line}`)).toEqual(expected)
    expect(result.metadata).toMatchObject({ mode, engine })
  })

  it('looks at hidden files when asked, and never into version control', async () => {
    const result = await project().tool('grep').run({ pattern: 'foo', includeHidden: true })
    const items = result.metadata?.['items'] as { path: string }[]
    expect([...new Set(items.map(({ path }) => path))].toSorted()).toEqual([
      '.env',
      '.hidden/c.ts',
      'README.md',
      'src/a.ts',
      'src/deep/b.ts',
    ])
  })

  it('shows lines around matches', async () => {
    const workspace = createWorkspace(options)
    workspace.put('a.txt', 'a\nb\nhit\nc\nd\ne\nhit\nf\n')
    expect(body(await workspace.tool('grep').run({ pattern: 'hit', context: 1 }))).toBe(
      'Found 2 matching lines in 1 file\n\na.txt:\n  Line 2- b\n  Line 3: hit\n  Line 4- c\n  --\n  Line 6- e\n  Line 7: hit\n  Line 8- f',
    )
  })

  it('says how much it leaves out', async () => {
    const workspace = createWorkspace(options)
    workspace.put('a.txt', 'hit\n'.repeat(5))
    const result = await workspace.tool('grep').run({ pattern: 'hit', limit: 2 })
    expect(body(result)).toBe(
      'Found 5 matching lines in 1 file\n\na.txt:\n  Line 1: hit\n  Line 2: hit\n\n(Showing 2 of 5 matching lines. Narrow the pattern or the path, or raise the limit.)',
    )
    expect(result.metadata).toMatchObject({ matches: 5, truncated: true })
  })

  it('says when there is nothing', async () => {
    const workspace = createWorkspace(options)
    workspace.put('a.txt', 'x')
    expect(body(await workspace.tool('grep').run({ pattern: 'nowhere' }))).toBe('No files found')
    expect(body(await workspace.tool('glob').run({ pattern: '*.rs' }))).toBe('No files found')
  })

  it('stays within the limits of an output', async () => {
    const workspace = createWorkspace(options)
    workspace.put('long.txt', `${'x'.repeat(100_000)}\n`.repeat(40))
    workspace.put('many.txt', 'x\n'.repeat(30_000))
    for (const path of ['long.txt', 'many.txt']) {
      const result = await workspace.tool('grep').run({ pattern: 'x', path, limit: 1000 })
      expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(51_200)
      expect(result.output.split('\n').length).toBeLessThanOrEqual(2000)
      expect(result.metadata).toMatchObject({ truncated: true })
    }
  })

  it('stops early when almost everything matches', async () => {
    const workspace = createWorkspace(options)
    for (let index = 0; index < 6; index++) workspace.put(`f${index}.txt`, 'x\n'.repeat(4000))
    const result = await workspace.tool('grep').run({ pattern: 'x' })
    expect(result.output).toContain('(Not everything was searched: stopped after 10000 matching lines.)')
    expect(result.metadata).toMatchObject({ truncated: true })
  })

  it('refuses an expression that is not valid when the mode says it is one', async () => {
    const workspace = createWorkspace(options)
    workspace.put('a.txt', 'x')
    for (const pattern of ['(', 'x)(x', '[', '(?=x)', 'x{2,1}'])
      expect(await workspace.tool('grep').refusal({ pattern, mode: 'regex' })).not.toBe('')
  })

  it('refuses a place that is not there', async () => {
    const workspace = createWorkspace(options)
    expect(await workspace.tool('grep').refusal({ pattern: 'x', path: 'nowhere' })).toBe('File not found: nowhere.')
    expect(await workspace.tool('glob').refusal({ pattern: 'x', path: 'nowhere' })).toBe('File not found: nowhere.')
  })

  it('finds names that begin with a dash or hold odd characters', async () => {
    const workspace = createWorkspace(options)
    for (const name of ['-rf.txt', 'a b.txt', 'é"\n.txt']) workspace.put(name, 'needle\n')
    const result = await workspace.tool('grep').run({ pattern: '--needle|needle', mode: 'regex' })
    expect(result.metadata).toMatchObject({ matches: 3 })
    expect((await workspace.tool('grep').run({ pattern: 'needle', path: '-rf.txt' })).metadata).toMatchObject({ matches: 1 })
    expect((await workspace.tool('glob').run({ pattern: '*.txt' })).metadata).toMatchObject({ total: 3 })
  })

  it('lists files by a glob, shallow ones first', async () => {
    const result = await project().tool('glob').run({ pattern: '*.ts' })
    expect(result).toEqual({
      title: '*.ts',
      output: 'src/a.ts\nsrc/deep/b.ts',
      metadata: { pattern: '*.ts', path: '.', engine, count: 2, total: 2, offset: 0, limit: 50, truncated: false },
    })
  })

  it.each([
    ['a path from the root', { pattern: 'src/**/*.ts' }, ['src/a.ts', 'src/deep/b.ts']],
    ['everything', { pattern: '**/*' }, ['README.md', 'data.bin', 'src/a.ts', 'src/deep/b.ts']],
    ['hidden files when asked', { pattern: '**', includeHidden: true, limit: 3 }, ['.env', '.gitignore', 'README.md']],
    ['a word of a name', { pattern: 'read' }, ['README.md']],
    ['letters in their order', { pattern: 'rdm' }, ['README.md']],
    ['words of a path', { pattern: 'deep src' }, ['src/deep/b.ts']],
    ['a path below a directory', { pattern: '*', path: 'src' }, ['src/a.ts', 'src/deep/b.ts']],
    ['one file', { pattern: '*', path: 'src/a.ts' }, ['src/a.ts']],
  ])('lists %s', async (_, input, expected) => {
    const { output } = await project().tool('glob').run(input)
    expect(output.split('\n\n')[0]?.split('\n')).toEqual(expected)
  })

  it('takes a glob with the path of the session directory in front', async () => {
    const workspace = project()
    expect((await workspace.tool('glob').run({ pattern: `${workspace.directory}/src/*.ts` })).output).toBe('src/a.ts')
  })

  it('pages through a long list', async () => {
    const workspace = createWorkspace(options)
    for (let index = 0; index < 5; index++) workspace.put(`f${index}`, '')
    const glob = workspace.tool('glob')
    expect((await glob.run({ pattern: 'f*', limit: 2, offset: 1 })).output).toBe('f1\nf2\n\n(Files 2-3 of 5. Continue with offset=3.)')
    expect((await glob.run({ pattern: 'f*', limit: 2, offset: 4 })).output).toBe('f4')
    expect((await glob.run({ pattern: 'f*', offset: 9 })).output).toBe('No files found')
  })

  it('ends when the call is aborted', async () => {
    const workspace = project()
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(workspace.tool('grep').run({ pattern: 'foo' }, { signal })).rejects.toThrow('stopped')
    await expect(workspace.tool('glob').run({ pattern: '*' }, { signal })).rejects.toThrow('stopped')
  })
})

describe('searching within a time', () => {
  it('a search that takes too long ends with advice', async () => {
    const slow: Processes = {
      ...processes,
      run: async (run) => {
        expect(run.timeoutMs).toBe(2000)
        return {
          exitCode: null,
          signal: 'SIGTERM',
          timedOut: true,
          aborted: false,
          stdout: '',
          stderr: '',
          captureTruncated: false,
          left: [],
          durationMs: 2000,
        }
      },
    }
    const workspace = createWorkspace({ ripgrepPath: rgPath, processes: slow })
    const advice = 'The search took longer than 2000 ms. Search a narrower path, add include globs, or raise the timeout.'
    expect(await workspace.tool('grep').refusal({ pattern: 'x', timeout: 2000 })).toBe(advice)
    expect(await workspace.tool('glob').refusal({ pattern: 'x', timeout: 2000 })).toBe(advice)
  })

  it('our own scan looks at its deadline too', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'x\n'.repeat(1000))
    const { clock } = workspace.effects
    let now = 0
    clock.monotonic = () => (now += 100)
    clock.setTimeout = (run) => setImmediate(run)
    expect(await workspace.tool('grep').refusal({ pattern: 'x', timeout: 1000 })).toMatch(/^The search took longer than 1000 ms/)
  })
})

describe('ripgrep', () => {
  it('is given no ignore files, no configuration and nothing that a pattern could turn into an option', async () => {
    const workspace = createWorkspace({ ripgrepPath: '/opt/rg' })
    workspace.effects.processes.script(() => ({ exitCode: 1 }))
    await workspace.tool('grep').run({ pattern: '--pre=/bin/sh', include: '--x' })
    const [call] = workspace.effects.processes.calls
    expect(call).toMatchObject({ command: '/opt/rg', cwd: workspace.directory, timeoutMs: 45_000 })
    expect(call?.env).toEqual(workspace.effects.childEnv)
    expect(call?.args).toEqual(expect.arrayContaining(['--no-config', '--no-ignore', '--glob=/**/--x']))
    expect(call?.args.slice(call.args.indexOf('-e'), call.args.indexOf('-e') + 2)).toEqual(['-e', '(?:\\-\\-pre=/bin/sh).*'])
    expect(call?.args.slice(-2)).toEqual(['--', './'])
  })

  it('is replaced by our own scan when it cannot be started', async () => {
    const workspace = createWorkspace({ ripgrepPath: '/nowhere/rg', processes })
    workspace.put('a.txt', 'x')
    expect((await workspace.tool('grep').run({ pattern: 'x' })).metadata).toMatchObject({ engine: 'scan', matches: 1 })
    expect((await workspace.tool('glob').run({ pattern: 'a' })).output).toBe('a.txt')
    expect(workspace.effects.logs.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'ripgrep cannot be started; searching without it'],
    ])
  })

  it('shows what it could find when some directories cannot be read', async () => {
    const workspace = createWorkspace({ ripgrepPath: '/opt/rg' })
    mkdirSync(workspace.path('src'))
    workspace.put('a.txt', '\n\nhé\n')
    const message = (value: unknown) => `${JSON.stringify(value)}\n`
    workspace.effects.processes.script(() => ({
      exitCode: 2,
      stderr: 'denied',
      stdout:
        message({ type: 'begin', data: { path: { text: './a.txt' } } }) +
        message({
          type: 'match',
          data: { path: { text: './a.txt' }, lines: { bytes: Buffer.from('hé\n').toString('base64') }, line_number: 3 },
        }) +
        message({ type: 'end', data: { path: { text: './a.txt' }, binary_offset: null } }),
    }))
    expect((await workspace.tool('grep').run({ pattern: 'h' })).output).toBe('Found 1 matching line in 1 file\n\na.txt:\n  Line 3: hé')
  })
})

describe('what the rules for reading ask about', () => {
  const decisions = (_: string, patterns: readonly string[]) =>
    patterns.map((path) => (path.endsWith('.env') ? ('ask' as const) : ('allow' as const)))
  const project = () => {
    const workspace = createWorkspace()
    workspace.put('.env', 'TOKEN=1\n')
    workspace.put('below/.env', 'TOKEN=2\n')
    workspace.put('below/a.txt', 'TOKEN\n')
    return workspace
  }

  it('is left out of a tree, and not counted', async () => {
    const result = await project().tool('grep').run({ pattern: 'TOKEN', includeHidden: true }, { decisions })
    expect(result.output).toBe('Found 1 matching line in 1 file\n\nbelow/a.txt:\n  Line 1: TOKEN')
    expect(result.metadata).toMatchObject({ matches: 1, filesWithMatches: 1 })
    const below = await project().tool('grep').run({ pattern: 'TOKEN=', path: 'below', includeHidden: true }, { decisions })
    expect(below.output).toBe('No files found')
  })

  it('is found where the tree itself is asked about in the same way', async () => {
    const ask = (_: string, patterns: readonly string[]) => patterns.map(() => 'ask' as const)
    const result = await project().tool('grep').run({ pattern: 'TOKEN', includeHidden: true }, { decisions: ask })
    expect(result.metadata).toMatchObject({ matches: 3 })
  })

  it('is a need of a search in one file', async () => {
    const needs = await project().tool('grep').needs({ pattern: 'TOKEN', path: '.env' })
    expect(needs).toMatchObject([
      { permission: 'grep', patterns: ['.env'] },
      { permission: 'read', patterns: ['.env'] },
    ])
    expect(await project().tool('grep').needs({ pattern: 'TOKEN' })).toMatchObject([{ permission: 'grep', patterns: ['.'] }])
  })
})

/** Formatters after changes: real ones, and scripted ones that fail, wait, flood, empty and remove. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import type { NativeHost } from '../../../src/ports/plugin.js'
import { lacking } from '../../fakes/machine.js'
import { createWorkspace, type Workspace } from './fixture.js'

const NO_RUSTFMT = lacking('rustfmt')
const BIN = resolve('node_modules/.bin')
const content = (workspace: Workspace, name: string) => readFileSync(workspace.path(name), 'utf8')

/** Tools whose formatters are `formatter`; programs are found in the tool folder of this repository and on the search path. */
function formatting(formatter: unknown, host: Partial<NativeHost> = {}) {
  const processes = createNodeProcesses(`${BIN}:${process.env['PATH'] ?? ''}`)
  // A formatter may be a program of Node, wherever that is.
  const path = `${dirname(process.execPath)}:/usr/bin:/bin`
  const workspace = createWorkspace({ processes, path, host: { config: async () => ({ formatter }), ...host } })
  const warnings = () => workspace.effects.logs.filter(({ level }) => level === 'warn').map(({ fields }) => String(fields?.['reason']))
  return { workspace, warnings }
}

/** A formatter of `.x` files that is the shell script. */
const script = (text: string) => ({ mine: { command: ['/bin/sh', '-c', text, 'sh', '$FILE'], extensions: ['.x'] } })

test('Prettier formats what was written, and the record is of the formatted text', async () => {
  const { workspace } = formatting(true)
  workspace.put('package.json', '{"devDependencies": {"prettier": "3.0.0"}}')
  workspace.put('.prettierrc', 'semi: false\n')
  const result = await workspace.tool('write').run({ filePath: 'a.js', content: 'const  a = {b:1};\n' })
  expect(content(workspace, 'a.js')).toBe('const a = { b: 1 }\n')
  expect(result.output).toBe('Created a.js (19 bytes).\nFormatted with prettier afterwards: read the file again before you edit there.')
  expect(result.metadata).toMatchObject({ formatted: ['a.js'], bytes: 19, diff: expect.stringContaining('+const a = { b: 1 }\n') })
  const edited = await workspace.tool('edit').run({ filePath: 'a.js', oldString: '{ b: 1 }', newString: '{ b: 2 }' })
  expect(edited.output).toBe('Edited a.js: 1 replacement, +1 -1 lines.')
  expect(edited.metadata).toMatchObject({ formatted: ['a.js'] })
})

test('Biome formats the files of a patch, those of others stay', async () => {
  const { workspace } = formatting({ prettier: false })
  workspace.put('biome.json', '{"formatter": {"indentStyle": "space", "indentWidth": 3}}')
  const patchText = ['*** Begin Patch', '*** Add File: src/a.ts', '+if (a) {', '+b()', '+}', '*** Add File: b.txt', '+  x', '*** End Patch']
  const result = await workspace.tool('apply_patch').run({ patchText: patchText.join('\n') })
  expect([content(workspace, 'src/a.ts'), content(workspace, 'b.txt')]).toEqual(['if (a) {\n   b();\n}\n', '  x\n'])
  expect(result.output).toContain('Formatted with biome afterwards: read the file again before you edit there.')
  expect(result.metadata).toMatchObject({ formatted: ['src/a.ts'] })
})

test.skipIf(NO_RUSTFMT !== '')(`rustfmt formats one file in the edition of its crate${NO_RUSTFMT}`, async () => {
  const { HOME = '', PATH = '' } = process.env
  const { workspace, warnings } = formatting({ rustfmt: { environment: { HOME, PATH } } })
  workspace.put('Cargo.toml', '[package]\nname = "x"\nedition = "2024"\n')
  workspace.put('src/inner.rs', 'fn   other( ) {}\n')
  const result = await workspace.tool('write').run({ filePath: 'src/main.rs', content: 'mod inner;\nasync fn  main( ){ }\n' })
  expect(warnings()).toEqual([])
  expect(result.metadata).toMatchObject({ formatted: ['src/main.rs'] })
  expect([content(workspace, 'src/main.rs'), content(workspace, 'src/inner.rs')]).toEqual([
    'mod inner;\nasync fn main() {}\n',
    'fn   other( ) {}\n',
  ])
})

test('formatters of the configuration run in order with their environment', async () => {
  const { workspace } = formatting({
    one: { command: ['/bin/sh', '-c', 'printf "$WORD" >> "$1"', 'sh', '$FILE'], extensions: ['x'], environment: { WORD: 'one' } },
    two: { command: ['/bin/sh', '-c', 'printf two >> "$1"', 'sh', '$FILE'], extensions: ['.X'] },
    off: { command: 'rm $FILE', extensions: ['x'], disabled: true },
  })
  const result = await workspace.tool('write').run({ filePath: 'a b.x', content: '0' })
  expect(content(workspace, 'a b.x')).toBe('0onetwo')
  expect(result.metadata).toMatchObject({ formatted: ['a b.x'], snapshots: [{ after: { exists: true } }] })
  expect(result.output).toContain('Formatted with one and two afterwards')
})

test.each([
  ['fails', 'echo broken > "$1"; echo no such rule >&2; exit 3', 'it ended with code 3: no such rule'],
  ['removes the file', 'rm "$1"', 'it left no file, or a larger one than tools change'],
  ['empties the file', ': > "$1"', 'it left an empty file'],
  ['puts a link there', 'rm "$1"; ln -s /etc/hostname "$1"', 'it left no file, or a larger one than tools change'],
  ['makes it enormous', 'head -c 11000000 /dev/zero > "$1"', 'it left no file, or a larger one than tools change'],
  ['is killed', 'echo broken > "$1"; kill -9 $$', 'it was ended by SIGKILL'],
])('a formatter that %s changes nothing, and the log says so', async (_what, text, reason) => {
  const { workspace, warnings } = formatting(script(text))
  const result = await workspace.tool('write').run({ filePath: 'a.x', content: 'as it was\n' })
  expect(content(workspace, 'a.x')).toBe('as it was\n')
  expect(result).toMatchObject({ output: 'Created a.x (10 bytes).', metadata: { bytes: 10 } })
  expect(result.metadata).not.toHaveProperty('formatted')
  expect(warnings()).toEqual([expect.stringContaining(reason)])
})

test('one that prints without end is no matter', async () => {
  const { workspace, warnings } = formatting(script('head -c 5000000 /dev/zero; echo done > "$1"'))
  await workspace.tool('write').run({ filePath: 'a.x', content: 'a' })
  expect([content(workspace, 'a.x'), warnings()]).toEqual(['done\n', []])
})

test('a call that is aborted while one waits gives the file back as it was written', async () => {
  const { workspace, warnings } = formatting(script('echo half > "$1"; mkfifo "$1.wait"; : > "$1.begun"; cat "$1.wait"'))
  const call = new AbortController()
  const work = workspace.tool('write').run({ filePath: 'a.x', content: 'whole\n' }, { signal: call.signal })
  await expect.poll(() => existsSync(workspace.path('a.x.begun'))).toBe(true)
  call.abort()
  expect(await work).toMatchObject({ output: 'Created a.x (6 bytes).' })
  expect([content(workspace, 'a.x'), warnings()]).toEqual(['whole\n', ['it was ended together with the call']])
})

test('one that takes too long is ended with all it started', async () => {
  const real = createNodeProcesses(process.env['PATH'] ?? '')
  const processes = { ...real, run: async (options: Parameters<typeof real.run>[0]) => real.run({ ...options, timeoutMs: 200 }) }
  const workspace = createWorkspace({
    processes,
    host: { config: async () => ({ formatter: script('echo half > "$1"; sleep 60 & sleep 60') }) },
  })
  await workspace.tool('write').run({ filePath: 'a.x', content: 'whole\n' })
  expect([content(workspace, 'a.x'), real.alive]).toEqual(['whole\n', 0])
  expect(workspace.effects.logs.map(({ fields }) => fields?.['reason'])).toContain('it took too long and was ended')
})

test('nothing of a project is started: programs in it, and settings that are code or name some', async () => {
  const { workspace, warnings } = formatting(true)
  workspace.put('package.json', '{"devDependencies": {"prettier": "3.0.0"}}')
  for (const [name, text] of [
    ['prettier.config.mjs', 'export default {}'],
    ['.prettierrc', 'plugins: [./evil.mjs]'],
    ['.prettierrc', '"./evil.mjs"'],
    ['.prettierrc', '--- ./evil.mjs'],
    ['.prettierrc', '//evil.mjs'],
    ['.prettierrc', '{"plug\\u0069ns": ["./evil.mjs"]}'],
    ['package.json', '{"prettier": "./evil.mjs"}'],
    ['package.json', '{"prettier": {"overrides": [{"options": {"plug\\u0069ns": ["./evil.mjs"]}}]}}'],
  ] as const) {
    workspace.put('package.json', '{"devDependencies": {"prettier": "3.0.0"}}')
    const folder = `case${warnings().length}`
    workspace.put(`${folder}/${name}`, text)
    const result = await workspace.tool('write').run({ filePath: `${folder}/a.js`, content: 'a  ()\n' })
    expect([name, text, content(workspace, `${folder}/a.js`), result.metadata?.['formatted']]).toEqual([name, text, 'a  ()\n', undefined])
    expect(warnings().at(-1)).toContain(`${folder}/${name}`)
  }
  workspace.put('rust-toolchain.toml', '[toolchain]\npath = "evil"\n')
  await workspace.tool('write').run({ filePath: 'a.rs', content: 'fn  a(){}\n' })
  expect(content(workspace, 'a.rs')).toBe('fn  a(){}\n')
})

test('a program that a search path finds in the project is not started; by its absolute path the installation may name it', async () => {
  const first = createWorkspace()
  const bin = first.path('node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'mine'), '#!/bin/sh\nprintf ran > "$1"\n')
  chmodSync(join(bin, 'mine'), 0o755)
  const processes = createNodeProcesses(`${bin}:/usr/bin:/bin`)
  for (const [command, expected] of [
    ['mine $FILE', 'a'],
    [`${bin}/mine $FILE`, 'ran'],
  ] as const) {
    const workspace = createWorkspace({
      processes,
      host: { config: async () => ({ formatter: { mine: { command, extensions: ['x'] } } }) },
    })
    await workspace.tool('write').run({ filePath: first.path('a.x'), content: 'a' }, { directory: first.directory })
    expect(content(first, 'a.x')).toBe(expected)
  }
})

test('an interpreter is not given a file of the project', async () => {
  const { workspace, warnings } = formatting({ mine: { command: 'sh tools/format.sh $FILE', extensions: ['x'] } })
  workspace.put('tools/format.sh', 'printf evil > "$1"')
  await workspace.tool('write').run({ filePath: 'a.x', content: 'a' })
  expect(content(workspace, 'a.x')).toBe('a')
  expect(warnings()).toEqual(['its argument "tools/format.sh" names a file of the project; name a file by its absolute path'])
})

test('where commands run in the sandbox formatters do, and where there is none they do not run', async () => {
  const asked: unknown[] = []
  const sandbox = {
    isOn: async () => true,
    whyMissing: async () => undefined,
    placeOf: () => undefined,
    wrap: async (command: object) => {
      asked.push(command)
      return asked.length === 1 ? { program: '/bin/sh', args: ['-c', 'printf wrapped > a.x'] } : { unavailable: 'gone' }
    },
  }
  const { workspace, warnings } = formatting(script('printf bare > "$1"'), { sandbox })
  await workspace.tool('write').run({ filePath: 'a.x', content: 'a' })
  await workspace.tool('write').run({ filePath: 'b.x', content: 'b' })
  expect([content(workspace, 'a.x'), content(workspace, 'b.x')]).toEqual(['wrapped', 'b'])
  expect(asked[0]).toMatchObject({
    workspace: workspace.directory,
    network: false,
    directories: [],
    reads: [],
    writes: [workspace.path('a.x')],
  })
  expect(warnings()).toEqual(['it could not be started: There is no sandbox: gone'])
})

test('a protected file stays as it was answered for', async () => {
  const protectedFiles = { reasons: async (paths: readonly string[]) => paths.map(() => 'it configures svc') }
  const { workspace } = formatting(script('printf formatted > "$1"'), { protectedFiles })
  await workspace.tool('write').run({ filePath: 'a.x', content: 'a' })
  expect(content(workspace, 'a.x')).toBe('a')
})

test.each([
  ['false', false],
  ['nothing', undefined],
  ['an object that disables all', { disabled: true, ...script('printf no > "$1"') }],
  ['a wrong entry', { mine: { command: 'format', extensions: ['x'] }, other: 3, third: { extensions: ['x'] } }],
])('%s formats nothing', async (_what, formatter) => {
  const { workspace, warnings } = formatting(formatter)
  const result = await workspace.tool('write').run({ filePath: 'a.x', content: 'a' })
  expect([content(workspace, 'a.x'), result.metadata?.['formatted'], warnings()]).toEqual(['a', undefined, []])
})

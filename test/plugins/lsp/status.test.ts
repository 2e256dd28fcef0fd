// Holds subsystems e.1, e.2, e.3.
import { mkdirSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createAdapters } from '../../../src/plugins/lsp/configured.js'
import { createStatus } from '../../../src/plugins/lsp/status.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { isMarker, isNamed } from '../../../src/protocol/lsp/adapters.js'
import { LspStatus } from '../../../src/protocol/lsp/lsp.js'
import { createFakeEffects } from '../../fakes/effects.js'

const ROOT = '/srv/a ü'

/** Nothing waits for anybody. */
const noProgram = async () => undefined
const door = (find: (name: string) => Promise<string | undefined>) => ({
  find,
  standing: async () => ({ state: 'named' as const, revision: '', commands: [], also: [], message: null }),
})

/** Rows for a workspace with these files; these programs are on the search path. */
async function rows(
  paths: readonly string[],
  { lsp, programs = [], env = {} }: { lsp?: unknown; programs?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
) {
  const { files, clock } = createFakeEffects()
  const looked: string[] = []
  const effects = {
    clock,
    files: {
      ...files,
      readDirectory: async (directory: string) => {
        looked.push(directory)
        const below = paths.flatMap((path) =>
          `${ROOT}/${path}`.startsWith(`${directory}/`) ? [`${ROOT}/${path}`.slice(directory.length + 1)] : [],
        )
        const inside = new Set(below)
        return [...new Set(below.map((path) => path.split('/')[0] ?? ''))].map((name) => ({
          name,
          kind: inside.has(name) ? ('file' as const) : ('directory' as const),
        }))
      },
    },
  }
  const host = {
    config: async () => ({ lsp }),
    effects,
    programs: door(async (name) => (programs.includes(name) ? `/usr/bin/${name}` : undefined)),
  }
  const found = await createStatus(host, createAdapters(env), noProgram)(ROOT, new AbortController().signal, {
    in: () => [],
    of: () => undefined,
  })
  expect(LspStatus.array().parse(found)).toEqual(found)
  return { found, looked, ids: found.map(({ id }) => id) }
}

describe('language servers of a directory', () => {
  it('are those whose files, names or markers are there, with the evidence', async () => {
    const { found } = await rows(['go.mod', 'web/package.json', 'web/A.TS', 'web/b.ts', 'compose.dev.yaml'], { programs: ['gopls'] })
    expect(found.map(({ id, status, command_source }) => [id, status, command_source])).toEqual([
      ['typescript', 'error', 'missing'],
      ['go', 'available', 'path'],
      ['json', 'error', 'missing'],
      ['docker', 'error', 'missing'],
      ['yaml', 'error', 'missing'],
      ['html', 'error', 'missing'],
      ['css', 'error', 'missing'],
      ['svelte', 'error', 'missing'],
      ['vue', 'error', 'missing'],
    ])
    expect(found[0]).toMatchObject({
      language: 'typescript',
      command: ['typescript-language-server', '--stdio'],
      workspace: { root: `${ROOT}/web`, root_uri: 'file:///srv/a%20%C3%BC/web' },
      detected: {
        files: 5,
        markers: ['package.json'],
        extensions: { ts: 2 },
        command_available: false,
        message: 'The program "typescript-language-server" was not found.',
      },
    })
    expect(Object.values(found[0]?.capabilities ?? {})).toEqual(Array.from({ length: 12 }, () => false))
    expect(found[1]).toMatchObject({ workspace: { root: ROOT }, capabilities: { hover: true, rename: true }, detected: { message: null } })
  })

  it('know what data languages cannot be asked for', async () => {
    const { found } = await rows(['a.json'], { programs: ['vscode-json-language-server'] })
    expect(found[0]?.capabilities).toMatchObject({ hover: true, references: false, rename: false, workspace_symbols: false })
  })

  it('do not come from dependencies and what was built, which nobody reads', async () => {
    const { ids, looked } = await rows(['node_modules/a/b.py', 'dist/c.rs', 'src/d.sh'])
    expect(ids).toEqual(['bash'])
    expect(looked).toEqual([ROOT, `${ROOT}/src`])
  })

  it('come from a bounded number of files, and bounded lists of evidence', async () => {
    const many = Array.from({ length: LIMITS.lsp.scannedFiles + 5 }, (_, index) => `Dockerfile.${index}`)
    const { found } = await rows(many)
    expect(found[0]?.detected.files).toBe(LIMITS.lsp.scannedFiles)
    expect(found[0]?.detected.markers).toHaveLength(LIMITS.lsp.evidence)
  })

  it('are none where they are switched off, not even a look', async () => {
    expect(await rows(['a.go'], { lsp: false })).toEqual({ found: [], looked: [], ids: [] })
    expect((await rows(['a.go', 'b.sh', 'c.rs'], { lsp: { go: false, rust: { disabled: true }, bash: { enabled: false } } })).ids).toEqual(
      [],
    )
  })

  it('are as configured: another program, another name, servers of their own; a wrong entry harms no other', async () => {
    const { found } = await rows(['a.go'], {
      lsp: {
        go: { command: '/opt/gopls -v', name: 'Go' },
        mine: { command: ['mine'], extensions: ['.XY'] },
        bad: { command: 1 },
        empty: {},
      },
      programs: ['/opt/gopls', 'mine'],
    })
    expect(found.map(({ id, name, status, command, command_source }) => [id, name, status, command, command_source])).toEqual([
      ['go', 'Go', 'available', ['/opt/gopls', '-v'], 'config'],
      ['mine', 'mine', 'available', ['mine'], 'path'],
      ['bad', 'bad', 'error', [], 'missing'],
      ['empty', 'empty', 'error', [], 'missing'],
    ])
    expect(found.map(({ detected }) => detected.message)).toEqual([null, null, expect.stringContaining('command'), 'needs a command'])
  })

  it('are for the files of their routes, and asked for what their capabilities list', async () => {
    const { found } = await rows(['a.ts', 'b.vue', 'Justfile', 'c.xyz'], {
      lsp: {
        mine: {
          command: ['mine'],
          routes: [
            { language: 'vue', extensions: ['.VUE'] },
            { language: 'just', filenamePatterns: ['Just*'] },
          ],
          capabilities: ['hover', 'definition'],
        },
        one: { command: ['mine'], routes: [{ language: 'xyz', extensions: ['xyz'] }] },
        odd: { command: ['mine'], capabilities: ['thinking'] },
        bare: { command: ['mine'], routes: [{ language: 'x' }] },
        where: { command: ['mine'], rootStrategy: 'guess' },
      },
      programs: ['mine'],
    })
    const explicit = found.filter(({ id }) => id !== 'typescript' && id !== 'vue')
    expect(explicit.map(({ id, status, language, detected }) => [id, status, language, detected.extensions])).toEqual([
      ['mine', 'available', 'mine', { vue: 1 }],
      ['one', 'available', 'xyz', { xyz: 1 }],
      ['odd', 'error', 'odd', {}],
      ['bare', 'error', 'bare', {}],
      ['where', 'error', 'where', {}],
    ])
    expect(Object.entries(explicit[0]?.capabilities ?? {}).flatMap(([name, has]) => (has ? [name] : []))).toEqual(['hover', 'definition'])
    expect(explicit.slice(2).map(({ detected }) => detected.message)).toEqual([
      expect.stringContaining('"capabilities.0"'),
      '"routes.0": needs "extensions" or "filenamePatterns"',
      expect.stringContaining('"rootStrategy"'),
    ])
  })

  it.each([
    [{ endpoint: '10.0.0.1:7000' }, 'tcp://10.0.0.1:7000'],
    [{ endpoint: 'tcp://[::1]:7000' }, 'tcp://[::1]:7000'],
    [{ host: 'build.local', port: 7 }, 'tcp://build.local:7'],
    [{ transport: 'tcp', port: 7, command: 'x' }, 'tcp://127.0.0.1:7'],
    [{ adapter: 'godot', host: 'godot.local' }, 'tcp://godot.local:6005'],
    [{ transport: 'stdio', port: 7, command: 'x' }, 'x'],
    [{ transport: 'tcp' }, 'needs a port'],
    [{ port: 7, command: 'x' }, 'has a command and an endpoint: "transport" must say which is meant'],
    [{ endpoint: 'localhost' }, '"endpoint": must be "host:port"'],
    [{ endpoint: 'a b:1' }, '"endpoint": must be "host:port"'],
    [{ endpoint: 'x:99999' }, '"endpoint": must be "host:port"'],
    [{ transport: 'stdio', adapter: 'godot' }, 'needs a command'],
  ])('are reached as %j says', async (entry, said) => {
    const { found } = await rows([], { lsp: { it: entry }, programs: ['x'] })
    expect(found.map(({ status, command, detected }) => (status === 'error' ? detected.message : command.join(' ')))).toEqual([said])
    expect(found[0]?.command_source).toBe({ tcp: 'config', x: 'path' }[said.split(':')[0] ?? ''] ?? 'missing')
  })

  it('may be reached at an address, which is not tried', async () => {
    const moved = await rows(['project.godot'], { env: { GODOT_LSP_HOST: '127.0.0.2', GODOT_LSP_PORT: '7005' } })
    expect(moved.found[0]?.command).toEqual(['tcp://127.0.0.2:7005'])
    expect((await rows(['project.godot'], { env: { GODOT_LSP_PORT: 'x' } })).found[0]?.command).toEqual(['tcp://127.0.0.1:6005'])
    const { found } = await rows(['project.godot'])
    expect(found[0]).toMatchObject({ id: 'godot', status: 'available', command: ['tcp://127.0.0.1:6005'], command_source: 'built_in' })
  })
})

describe('a second look', () => {
  it('reads what has changed, and nothing when nothing has', async () => {
    const fake = createFakeEffects()
    const [root, read, found] = [fake.paths.cwd, [] as string[], [] as string[]]
    let later = 10_000
    const effects = {
      clock: { ...fake.clock, now: () => Date.now() + later, monotonic: () => later },
      files: {
        ...fake.files,
        readDirectory(directory: string) {
          read.push(directory)
          return fake.files.readDirectory(directory)
        },
      },
    }
    const lsp = {}
    const programs = door(async (program) => {
      found.push(program)
      return undefined
    })
    const status = createStatus({ config: async () => ({ lsp }), effects, programs }, createAdapters({}), noProgram)
    const none = { in: () => [], of: () => undefined }
    async function look() {
      read.length = found.length = 0
      const rows = await status(root, new AbortController().signal, none)
      return [rows.map(({ id, detected }) => [id, detected.extensions]), read.map((path) => path.slice(root.length)), [...found]]
    }
    mkdirSync(`${root}/a/b`, { recursive: true })
    writeFileSync(`${root}/a/x.sh`, '')
    writeFileSync(`${root}/a/b/x.sh`, '')
    expect(await look()).toEqual([[['bash', { sh: 2 }]], ['', '/a', '/a/b'], ['bash-language-server']])
    expect(await look()).toEqual([[['bash', { sh: 2 }]], [], []])
    writeFileSync(`${root}/a/b/y.sh`, '')
    expect(await look()).toEqual([[['bash', { sh: 3 }]], ['/a/b'], []])
    later += 1000
    expect(await look()).toEqual([[['bash', { sh: 3 }]], [], ['bash-language-server']])
    later = 0 // It changed just now, and may again without a trace.
    writeFileSync(`${root}/a/z.sh`, '')
    expect((await look())[1]).toContain('/a')
    expect((await look())[1]).toContain('/a')
  })
})

it('names are matched as they are written, and projects by the end of their name where that is what marks them', () => {
  expect(['compose.yml', 'compose.dev.yml', 'xcompose.yml'].map((name) => isNamed('compose*.yml', name))).toEqual([true, true, false])
  expect(isNamed('a*a', 'a')).toBe(false)
  expect([isMarker('.sln', 'App.sln'), isMarker('.luarc.json', 'x.luarc.json'), isMarker('go.mod', 'go.mod')]).toEqual([true, false, true])
})

/**
 * Every kind of program that loads code of a workspace, in every way it can stand there: a planted program leaves a mark when it is started, and
 * the same program is started where somebody stands for it (choice 34).
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createNodeProcesses } from '../../src/platform/node/process/processes.js'
import type { NativeHost } from '../../src/ports/plugin.js'
import { isDenied, lineNames, lineText, mayStart, stateOf } from '../../src/machines/acceptance/standing.js'
import type { PermissionAction } from '../../src/protocol/interaction/interaction.js'
import { createWorkspace } from './files/fixture.js'
import { openLsp, scripted } from './lsp/fixture.js'

/** What stands for the sandbox: the same line, told to a list. */
function sandboxed(wrapped: string[], missing?: string): NativeHost['sandbox'] {
  return {
    isOn: async () => true,
    whyMissing: async () => missing,
    placeOf: () => undefined,
    wrap: async ({ program, args }) => {
      wrapped.push(lineText([program, ...args]))
      return missing === undefined ? { program, args } : { unavailable: missing }
    },
  }
}

interface Way {
  /** The installation names it. */
  readonly named?: boolean
  /** Somebody accepts it first; `other`: with another command than it has later. */
  readonly accepted?: 'this' | 'other'
  readonly sandbox?: 'on' | 'missing'
  /** What rules of the run say of its line in the shell tool. */
  readonly rule?: PermissionAction
}

/** In which ways it starts. */
const WAYS: readonly (readonly [string, Way, boolean])[] = [
  ['nobody names or accepts it', {}, false],
  ['the installation names it', { named: true }, true],
  ['somebody accepted it', { accepted: 'this' }, true],
  ['somebody accepted another command', { accepted: 'other' }, false],
  ['the sandbox is on', { sandbox: 'on' }, true],
  ['the sandbox is on and cannot be had', { sandbox: 'missing' }, false],
  ['the sandbox cannot be had, though it is named and accepted', { sandbox: 'missing', named: true, accepted: 'this' }, false],
  ['a rule of the run asks about its line', { accepted: 'this', rule: 'ask' }, true],
  ['a rule of the run denies its line, though it is accepted', { accepted: 'this', rule: 'deny' }, false],
  ['a rule of the run denies its line, though it is named', { named: true, rule: 'deny' }, false],
  ['a rule of the run denies its line, though it would be in the sandbox', { sandbox: 'on', rule: 'deny' }, false],
]

/** Starts it in one way; answers whether it was started, and what says why not. */
type Kind = (way: Way, wrapped: string[]) => Promise<{ readonly ran: boolean; readonly why: string }>

const sandboxOf = ({ sandbox }: Way, wrapped: string[]) =>
  sandbox === undefined ? {} : { sandbox: sandboxed(wrapped, sandbox === 'missing' ? 'gone' : undefined) }

/** A server that is named, so that models have the tool. */
const OTHER = { other: { endpoint: '127.0.0.1:1', extensions: ['other'] } }

/** What the installation says; what is configured besides stands for a registry that has changed. */
const installationOf = ({ named }: Way, id: string) => ({ lsp: named === true ? { ...OTHER, [id]: {} } : OTHER })

/** A program on the search path under the name that the registry has for it. */
const server = (mark: string, habit = 'all') => {
  const [node = '', script = ''] = scripted(habit)
  return `#!/bin/sh\necho "$@" >> "${mark}"\nexec "${node}" "${script}" ${habit}\n`
}

const languageServer: Kind = async (way, wrapped) => {
  const decide = () => way.rule ?? 'ask'
  const lsp = openLsp(way.named === true ? { ...OTHER, bash: {} } : OTHER, {
    decide,
    installation: installationOf(way, 'bash'),
    ...sandboxOf(way, wrapped),
  })
  const mark = join(lsp.effects.paths.home, 'mark')
  lsp.install('bash-language-server', server(mark))
  lsp.write('a.sh', 'bad')
  await lsp.prepare()
  if (way.accepted !== undefined) await lsp.call('accept', {}, undefined, { server: 'bash' })
  if (way.accepted === 'other') lsp.reconfigure({ ...OTHER, bash: { command: 'bash-language-server start --other' } })
  await lsp.prepare()
  await lsp.ask({ operation: 'diagnostics', filePath: 'a.sh' })
  return { ran: existsSync(mark), why: await lsp.ask({ operation: 'documentSymbol', filePath: 'a.sh' }) }
}

const buildTool: Kind = async (way, wrapped) => {
  const decide = (pattern: string) => (pattern.includes('cargo') ? (way.rule ?? 'ask') : 'ask')
  const lsp = openLsp(way.named === true ? { ...OTHER, rust: {} } : OTHER, {
    decide,
    installation: installationOf(way, 'rust'),
    ...sandboxOf(way, wrapped),
  })
  const mark = join(lsp.effects.paths.home, 'mark')
  lsp.install('rust-analyzer', server(join(lsp.effects.paths.home, 'server')))
  lsp.install('cargo', `#!/bin/sh\necho "$@" >> "${mark}"\necho '{"workspace_root":"${lsp.directory}"}'\n`)
  lsp.write('Cargo.toml', '')
  lsp.write('a.rs', 'bad')
  await lsp.prepare()
  if (way.accepted !== undefined) await lsp.call('accept', {}, undefined, { server: 'rust' })
  if (way.accepted === 'other') lsp.reconfigure({ ...OTHER, rust: { command: 'rust-analyzer --other' } })
  await lsp.prepare()
  await lsp.ask({ operation: 'diagnostics', filePath: 'a.rs' })
  return { ran: existsSync(mark), why: await lsp.ask({ operation: 'documentSymbol', filePath: 'a.rs' }) }
}

/** Prettier, with settings that are code of the project. */
const formatter: Kind = async (way, wrapped) => {
  const first = createWorkspace()
  const bin = join(first.effects.paths.home, 'bin')
  const mark = join(first.effects.paths.home, 'mark')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'prettier'), `#!/bin/sh\necho "$@" >> "${mark}"\n`, { mode: 0o755 })
  const processes = createNodeProcesses(`${bin}:${process.env['PATH'] ?? ''}`)
  let config: unknown = way.named === true ? { prettier: { command: 'prettier --check $FILE' } } : true
  const workspace = createWorkspace({ processes, host: { config: async () => ({ formatter: config }), ...sandboxOf(way, wrapped) } })
  workspace.put('package.json', '{"devDependencies": {"prettier": "3.0.0"}}')
  workspace.put('.prettierrc.mjs', 'export default {}')
  const params = { formatter: 'prettier' }
  if (way.accepted !== undefined) await workspace.operation('v2.plugins.files.formatters.accept', { params })
  if (way.accepted === 'other') config = { prettier: { environment: { OTHER: '1' } } }
  const decisions = (_: string, patterns: readonly string[]) => patterns.map((): PermissionAction => way.rule ?? 'ask')
  await workspace.tool('write').run({ filePath: 'a.js', content: 'a\n' }, { decisions })
  const why = workspace.effects.logs.map(({ fields }) => JSON.stringify(fields?.['reason'] ?? '')).join('\n')
  return { ran: existsSync(mark), why }
}

const KINDS: Readonly<Record<string, Kind>> = { 'a language server': languageServer, 'a build tool': buildTool, 'a formatter': formatter }

describe.each(Object.entries(KINDS))('%s that loads code of the workspace', (_name, start) => {
  it.each(WAYS)('where %s', async (_way, way, starts) => {
    const wrapped: string[] = []
    const { ran, why } = await start(way, wrapped)
    expect(ran).toBe(starts)
    expect(starts || /accept|sandbox|rule/.test(why)).toBe(true)
    expect(wrapped.length > 0).toBe(way.sandbox === 'on' && starts)
  })
})

describe('the lines that rules are asked about', () => {
  it('are the line under every name of its program', () => {
    expect(lineNames(['node', 'a b.js'], '/usr/bin/node')).toEqual([
      "node 'a b.js'",
      'node a b.js',
      "/usr/bin/node 'a b.js'",
      '/usr/bin/node a b.js',
    ])
    expect([isDenied(['allow', 'ask']), isDenied(['allow', 'deny'])]).toEqual([false, true])
  })

  it('hold words that a shell would read otherwise in quotes', () => {
    expect(lineText(['a', "it's", '$HOME', ''])).toBe(String.raw`a 'it'\''s' '$HOME' ''`)
  })
})

it('a server of the Model Context Protocol that a workspace brings takes an act in the sandbox, too', () => {
  const states = (['off', 'on', 'missing'] as const).map((sandbox) => [
    stateOf({ kind: 'mcp-server', isNamed: true, isAccepted: false, sandbox }),
    stateOf({ kind: 'mcp-server', isNamed: false, isAccepted: true, sandbox }),
    stateOf({ kind: 'mcp-server', isNamed: false, isAccepted: false, sandbox }),
  ])
  expect(states).toEqual([
    ['named', 'accepted', 'waiting'],
    ['named', 'accepted', 'waiting'],
    ['named', 'unavailable', 'waiting'],
  ])
  expect(['confined', 'named', 'accepted', 'waiting', 'unavailable'].map((state) => mayStart(state as 'named'))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})

describe('an act', () => {
  const place = () => {
    const lsp = openLsp({})
    const mark = join(lsp.effects.paths.home, 'mark')
    lsp.install('bash-language-server', server(mark))
    lsp.write('a.sh', 'bad')
    return { lsp, mark }
  }
  const bash = async ({ lsp }: ReturnType<typeof place>) => ((await lsp.call('status')) as { id: string }[]).find(({ id }) => id === 'bash')

  it('is asked for by the status, remembered with what it was about, and taken back with what it started', async () => {
    const scene = place()
    const { lsp, mark } = scene
    expect(await lsp.call('diagnostics', { file: 'a.sh' })).toEqual([])
    const message = expect.stringMatching(/"bash-language-server start" loads code.*svc lsp accept bash.*"lsp": \{ "bash": \{\} \}/)
    expect(await bash(scene)).toMatchObject({
      status: 'error',
      detected: { message },
      runtime: null,
      acceptance: { state: 'waiting', message },
    })
    const accepted = await lsp.call('accept', {}, undefined, { server: 'bash' })
    expect(accepted).toMatchObject({ name: 'bash', directory: lsp.directory, commands: [['bash-language-server', 'start']] })
    expect(await lsp.call('acceptances')).toEqual([accepted])
    expect(await bash(scene)).toMatchObject({ status: 'available', acceptance: { state: 'accepted', message: null } })
    expect([existsSync(mark), await lsp.call('diagnostics', { file: 'a.sh' })]).toEqual([
      false,
      [expect.objectContaining({ message: 'bad in version 0' })],
    ])
    expect(lsp.alive()).toBe(1)
    const params = { server: 'bash' }
    expect(await lsp.call('takeBack', {}, undefined, params)).toEqual({ removed: true })
    expect([lsp.alive(), await lsp.call('acceptances'), await lsp.call('diagnostics', { file: 'a.sh' })]).toEqual([0, [], []])
    expect(await lsp.call('takeBack', {}, undefined, params)).toEqual({ removed: false })
    expect(lsp.told.filter(({ type }) => type === 'lsp.updated').length).toBeGreaterThanOrEqual(2)
  })

  it('of what was seen changes nothing when it is another by now, and there is none for what is not there', async () => {
    const { lsp } = place()
    await expect(lsp.call('accept', {}, { revision: 'sha256:0' }, { server: 'bash' })).rejects.toMatchObject({
      code: 'management.revision_conflict',
    })
    await expect(lsp.call('accept', {}, undefined, { server: 'no' })).rejects.toMatchObject({ code: 'resource.not_found' })
    await expect(lsp.call('accept', {}, undefined, { server: 'godot' })).rejects.toMatchObject({ code: 'request.unprocessable' })
    expect(await lsp.call('acceptances')).toEqual([])
  })

  it('is the answer of a run, which is asked once for what would start', async () => {
    const { lsp, mark } = place()
    await lsp.call('diagnostics', { file: 'a.sh' })
    await lsp.prepare()
    const needs = await lsp.tool.needs({ operation: 'diagnostics', filePath: 'a.sh' })
    expect(needs.at(-1)).toMatchObject({
      permission: 'bash',
      patterns: ['bash-language-server start'],
      explicit: expect.stringMatching('accepted'),
    })
    expect(await lsp.tool.needs({ operation: 'diagnostics', filePath: 'a.sh' }, { unattended: true })).toHaveLength(2)
    expect(existsSync(mark)).toBe(false)
    expect(await lsp.answered({ operation: 'diagnostics', filePath: 'a.sh' })).toContain('bad in version 0')
    expect(await lsp.call('acceptances')).toHaveLength(1)
    expect(await lsp.tool.needs({ operation: 'diagnostics', filePath: 'a.sh' })).toHaveLength(2)
  })

  it('of one call is not that of another session whose call has the same id', async () => {
    const { lsp } = place()
    await lsp.call('diagnostics', { file: 'a.sh' })
    await lsp.prepare()
    const input = { operation: 'diagnostics', filePath: 'a.sh' }
    await lsp.tool.needs(input, { unattended: true })
    await lsp.tool.needs(input, { sessionId: 'ses_2' })
    expect(await lsp.tool.invoke(input)).toMatch(/Nothing was found.*accept/s)
    expect(await lsp.call('acceptances')).toEqual([])
  })
})

it('a program that the search path finds in the workspace is not there', async () => {
  const lsp = openLsp({ bash: {} })
  const bin = join(lsp.directory, 'node_modules/.bin')
  lsp.write('node_modules/.bin/bash-language-server', '#!/bin/sh\n')
  mkdirSync(join(lsp.effects.paths.home, 'bin'), { recursive: true })
  const { symlinkSync, chmodSync } = await import('node:fs')
  chmodSync(join(bin, 'bash-language-server'), 0o755)
  symlinkSync(join(bin, 'bash-language-server'), join(lsp.effects.paths.home, 'bin/bash-language-server'))
  lsp.write('a.sh', 'bad')
  const [row] = (await lsp.call('status')) as { status: string; command_source: string }[]
  expect([row?.status, row?.command_source, dirname(bin).startsWith(lsp.directory)]).toEqual(['error', 'missing', true])
  expect(await lsp.call('diagnostics', { file: 'a.sh' })).toEqual([])
})

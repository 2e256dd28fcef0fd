import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createProtectedFiles } from '../../../src/platform/protection/protected-files.js'
import { PROTECTED_NAMES } from '../../../src/platform/protection/protected-names.js'
import { createCommandSandbox } from '../../../src/platform/confinement/confined-command.js'
import type { SandboxedCommand } from '../../../src/ports/doors.js'
import { createFakeProcesses } from '../../../src/simulation/processes.js'
import { createFakeEffects } from '../../fakes/effects.js'

/** A machine on which bubblewrap works, as far as anybody can tell. */
function setup({ failure }: { failure?: string } = {}) {
  const processes = createFakeProcesses()
  processes.programs.set('bwrap', '/usr/bin/bwrap')
  processes.script(() => (failure === undefined ? { stdout: 'bubblewrap' } : { exitCode: 1, stderr: failure }))
  const effects = createFakeEffects({ processes })
  const { paths, env } = effects
  const protectedFiles = createProtectedFiles({
    configDirectory: paths.config,
    stateDirectory: paths.state,
    cacheDirectory: paths.cache,
    home: paths.home,
    env,
    files: effects.files,
  })
  const sandbox = createCommandSandbox(effects, protectedFiles)
  const put = (path: string, content = '') => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    return realpathSync(path)
  }
  const command = (more: Partial<SandboxedCommand> = {}): SandboxedCommand => ({
    program: '/usr/bin/bash',
    args: ['-c', 'make'],
    cwd: paths.cwd,
    workspace: paths.cwd,
    network: false,
    searchPath: '/usr/bin',
    directories: [],
    reads: [],
    writes: [],
    ...more,
  })
  /** What is mounted where: the last option for each place. */
  const mounted = async (more: Partial<SandboxedCommand> = {}) => {
    const wrapped = await sandbox.wrap(command(more))
    if ('unavailable' in wrapped) throw new Error(wrapped.unavailable)
    const args = wrapped.args.slice(0, wrapped.args.lastIndexOf('--chdir'))
    const places = new Map<string, string>()
    for (const [at, option] of args.entries()) {
      if (option === '--bind' || option === '--ro-bind') places.set(args[at + 2] ?? '', `${option} ${args[at + 1]}`)
      if (option === '--tmpfs') places.set(args[at + 1] ?? '', option)
    }
    return places
  }
  /** What must be there while it runs. */
  const held = async (more: Partial<SandboxedCommand> = {}) => {
    const wrapped = await sandbox.wrap(command(more))
    return 'unavailable' in wrapped ? [] : (wrapped.holds ?? [])
  }
  return { effects, paths, sandbox, put, command, mounted, held, processes }
}

describe('the sandbox of commands', () => {
  it('shows a stranger its workspace and the system, and nothing of the home or of what was allowed elsewhere', async () => {
    const { paths, put, mounted } = setup()
    put(join(paths.home, '.cargo/bin/cargo'))
    const elsewhere = put(join(paths.temp, 'elsewhere/file'))
    const granted = { directories: [dirname(elsewhere)], reads: [elsewhere], writes: [elsewhere] }
    const beyond = [dirname(paths.cwd), dirname(elsewhere), elsewhere, join(paths.home, '.cargo'), '/opt']
    const places = await mounted({ ...granted, within: [paths.cwd] })
    expect(beyond.filter((path) => places.has(path))).toEqual([])
    expect(places.get(paths.cwd)).toBe(`--bind ${paths.cwd}`)
    expect(places.get(paths.home)).toBe('--tmpfs')
    expect(places.get('/usr')).toBe('--ro-bind /usr')
    const others = await mounted(granted)
    expect(beyond.filter((path) => others.has(path))).toEqual(expect.arrayContaining([dirname(elsewhere), join(paths.home, '.cargo')]))
  })

  it('has a writable workspace, a home of its own with the tools, and the system', async () => {
    const { paths, put, mounted } = setup()
    put(join(paths.home, '.cargo/bin/cargo'))
    put(join(paths.home, '.cargo/credentials.toml'))
    put(join(paths.home, '.ssh/id_x'))
    const places = await mounted()
    expect(places.get(paths.cwd)).toBe(`--bind ${paths.cwd}`)
    expect(places.get(paths.home)).toBe('--tmpfs')
    expect(places.get(join(paths.home, '.cargo'))).toBe(`--ro-bind ${paths.home}/.cargo`)
    expect(places.get(join(paths.home, '.cargo/credentials.toml'))).toBe('--ro-bind /dev/null')
    expect(places.get('/usr')).toBe('--ro-bind /usr')
    expect([...places.keys()].filter((path) => path.includes('.ssh'))).toEqual([])
    expect([...places].filter(([, how]) => how.startsWith('--bind')).map(([path]) => path)).toEqual([
      paths.cwd,
      ...['.vscode', '.zed', '.cursor', '.claude'].map((name) => join(paths.cwd, name)),
    ])
  })

  it('hides secrets in a workspace that holds them, keeps start-up files, and lets no new ones be made at its top', async () => {
    const { paths, put, mounted } = setup()
    const key = put(join(paths.home, '.ssh/id_x'))
    const rc = put(join(paths.home, '.bashrc'))
    const notes = put(join(paths.home, 'notes.txt'))
    const places = await mounted({ workspace: paths.home, cwd: paths.home })
    expect(places.get(paths.home)).toBe(`--ro-bind ${paths.home}`)
    expect(places.get(notes)).toBe(`--bind ${notes}`)
    expect(places.get(dirname(key))).toBe('--tmpfs')
    expect(places.get(rc)).toBe(`--ro-bind ${rc}`)
  })

  it('shows nothing that was allowed of a place that is hidden or holds one', async () => {
    const { paths, put, mounted } = setup()
    const key = put(join(paths.home, '.ssh/id_x'))
    const config = put(join(paths.config, 'config.json'))
    const notes = put(join(paths.home, 'notes.txt'))
    const other = dirname(put(join(paths.home, 'other/file')))
    const places = await mounted({
      directories: [paths.home, dirname(key), dirname(config), dirname(paths.config), other],
      reads: [key, config, notes],
    })
    expect(places.get(paths.home)).toBe('--tmpfs')
    expect(places.get(other)).toBe(`--bind ${other}`)
    expect(places.get(notes)).toBe(`--ro-bind ${notes}`)
    for (const path of [key, dirname(key), config, dirname(config), dirname(paths.config)]) expect(places.has(path)).toBe(false)
  })

  it('shows of the state of svc the whole output of a tool that the line names', async () => {
    const { paths, put, mounted } = setup()
    const output = put(join(paths.state, 'tool-output/tool_1'))
    const other = put(join(paths.state, 'agent.sqlite3'))
    const places = await mounted({ directories: [dirname(output)], reads: [output, other] })
    expect([...places.keys()].filter((path) => path.startsWith(paths.state))).toEqual([output])
  })

  it('runs nothing in a session directory that lies in a hidden place', async () => {
    const { paths, put, sandbox, command } = setup()
    const inside = dirname(put(join(paths.state, 'work/file')))
    expect(await sandbox.wrap(command({ workspace: inside }))).toEqual({
      unavailable: expect.stringContaining('which the sandbox hides') as string,
    })
  })

  it('runs nothing where bubblewrap does not work', async () => {
    const { sandbox, command, processes } = setup({ failure: 'bwrap: no namespaces\nmore' })
    const reason = 'bubblewrap (/usr/bin/bwrap) does not work here: bwrap: no namespaces'
    expect(await sandbox.wrap(command())).toEqual({ unavailable: reason })
    expect(await sandbox.whyMissing()).toBe(reason)
    expect(processes.calls).toHaveLength(1)
  })

  it('keeps the settings of the repository, and lets a command write the one it was allowed to', async () => {
    const { paths, put, mounted, held } = setup()
    const git = join(paths.cwd, '.git')
    for (const name of ['config', 'info/exclude', 'HEAD']) put(join(git, name))
    const places = await mounted()
    expect(places.get(git)).toBe(`--bind ${git}`)
    expect(places.get(join(git, 'config'))).toBe(`--ro-bind ${git}/config`)
    expect(places.get(join(git, 'info'))).toBe(`--ro-bind ${git}/info`)
    expect(places.get(join(git, 'hooks'))).toBe(`--ro-bind ${git}/hooks`)
    expect(await held()).toContainEqual({ path: join(git, 'hooks'), kind: 'directory' })
    expect((await mounted({ writes: [join(git, 'config')] })).has(join(git, 'config'))).toBe(false)
  })

  it('takes no commits where a setting of the repository is a link, which could be replaced', async () => {
    const { paths, put, mounted } = setup()
    const git = dirname(put(join(paths.cwd, '.git/HEAD')))
    symlinkSync(paths.cwd, join(git, 'hooks'))
    expect((await mounted()).get(git)).toBe(`--ro-bind ${git}`)
  })

  it('believes no workspace that says its repository is elsewhere', async () => {
    const { paths, put, mounted } = setup()
    const theirs = join(paths.home, 'other/.git')
    for (const name of ['config', 'HEAD', 'worktrees/x/HEAD', 'worktrees/x/commondir']) put(join(theirs, name), '../..')
    put(join(theirs, 'worktrees/x/gitdir'), '/elsewhere/.git\n')
    put(join(paths.cwd, '.git'), `gitdir: ${theirs}/worktrees/x\n`)
    expect([...(await mounted()).keys()].filter((path) => path.startsWith(theirs))).toEqual([])
    put(join(theirs, 'worktrees/x/gitdir'), `${paths.cwd}/.git\n`)
    const places = await mounted()
    expect(places.get(theirs)).toBe(`--bind ${theirs}`)
    expect(places.get(join(theirs, 'worktrees'))).toBe(`--ro-bind ${theirs}/worktrees`)
    expect(places.get(join(theirs, 'worktrees/x'))).toBe(`--bind ${theirs}/worktrees/x`)
    expect(places.get(join(theirs, 'worktrees/x/commondir'))).toBe(`--ro-bind ${theirs}/worktrees/x/commondir`)
  })

  it('keeps protected files of the workspace, and their directory where it is', async () => {
    const { paths, put, mounted } = setup()
    const config = put(join(paths.cwd, 'svc.json'))
    put(join(paths.cwd, '.svc/agent/x.md'))
    const places = await mounted()
    expect(places.get(config)).toBe(`--ro-bind ${config}`)
    expect(places.get(join(paths.cwd, '.svc'))).toBe(`--ro-bind ${paths.cwd}/.svc`)
    expect((await mounted({ writes: [config] })).has(config)).toBe(false)
  })

  it('holds every protected name that is absent, and none that was answered for', async () => {
    const { paths, mounted, held } = setup()
    const names = async (more = {}) => (await held(more)).map(({ path }) => path.slice(paths.cwd.length + 1))
    expect(await names()).toEqual(expect.arrayContaining([...PROTECTED_NAMES]))
    const places = await mounted()
    for (const name of PROTECTED_NAMES) expect(places.get(join(paths.cwd, name))).toBe(`--ro-bind ${paths.cwd}/${name}`)
    expect(await names({ writes: [join(paths.cwd, '.envrc'), join(paths.cwd, '.vscode/tasks.json')] })).toEqual(
      (await names()).filter((name) => name !== '.envrc' && name !== '.vscode/tasks.json'),
    )
  })

  it('holds what is there as well, where it may be held for another command and go with it', async () => {
    const { paths, put, mounted, held } = setup()
    const before = await held()
    for (const name of ['.envrc', '.vscode/tasks.json']) mkdirSync(join(paths.cwd, name), { recursive: true })
    expect(await held()).toEqual(before)
    expect((await mounted()).get(join(paths.cwd, '.envrc'))).toBe(`--ro-bind ${paths.cwd}/.envrc`)
    const file = put(join(paths.cwd, '.gitconfig'))
    expect(await held()).toEqual(before.filter(({ path }) => path !== file))
  })

  it('looks past any number of names for those that are protected, and runs nothing beyond its bound', async () => {
    const { paths, put, mounted, sandbox, command, effects } = setup()
    for (let at = 0; at < 1100; at += 1) put(join(paths.cwd, `!${at}`))
    const odd = put(join(paths.cwd, 'SVC.json'))
    const workspace = put(join(paths.cwd, 'a.code-workspace'))
    const places = await mounted()
    expect([odd, workspace].map((path) => places.get(path))).toEqual([`--ro-bind ${odd}`, `--ro-bind ${workspace}`])
    expect([...places.keys()].filter((path) => path.includes('!'))).toEqual([])
    const { readDirectory } = effects.files
    const many = Array.from({ length: 33_000 }, (_, at) => ({ name: `n${at}`, kind: 'file' as const }))
    Object.assign(effects.files, { readDirectory: async (path: string) => (path === paths.cwd ? many : readDirectory(path)) })
    expect(await sandbox.wrap(command())).toEqual({ unavailable: expect.stringContaining('have 33000 names') as string })
  })

  it('lets nothing new be made at the top where a protected name is a link, which could be replaced', async () => {
    const { paths, put, mounted, held } = setup()
    const file = put(join(paths.cwd, 'a.txt'))
    symlinkSync('elsewhere', join(paths.cwd, '.envrc'))
    const places = await mounted()
    expect([places.get(paths.cwd), places.get(file)]).toEqual([`--ro-bind ${paths.cwd}`, `--bind ${file}`])
    expect(await held()).toEqual([])
  })

  it('lets nothing new be made in a dot directory where a protected name is a link, nor that directory be moved', async () => {
    const { paths, put, mounted, held } = setup()
    const other = put(join(paths.cwd, '.vscode/other.json'))
    const settings = put(join(paths.cwd, '.vscode/settings.json'))
    symlinkSync('elsewhere', join(paths.cwd, '.vscode/tasks.json'))
    const places = await mounted()
    const directory = join(paths.cwd, '.vscode')
    expect([paths.cwd, directory, other, settings].map((path) => places.get(path))).toEqual([
      `--bind ${paths.cwd}`,
      `--ro-bind ${directory}`,
      `--bind ${other}`,
      `--ro-bind ${settings}`,
    ])
    expect((await held()).map(({ path }) => path).filter((path) => path.startsWith(directory))).toEqual([])
  })

  it('keeps what a protected link leads to as it is, unless that was allowed, with the directories above it in their places', async () => {
    const { paths, put, mounted } = setup()
    const target = put(join(paths.cwd, 'env/deep/dev.env'))
    symlinkSync('env/deep/dev.env', join(paths.cwd, '.envrc'))
    const [env, deep] = [join(paths.cwd, 'env'), join(paths.cwd, 'env/deep')]
    const places = await mounted()
    expect([env, deep, target].map((path) => places.get(path))).toEqual([`--bind ${env}`, `--bind ${deep}`, `--ro-bind ${target}`])
    expect((await mounted({ writes: [target] })).get(target)).toBeUndefined()
  })

  it('holds what a protected link leads to where that is not there, and closes directories with further links on the way', async () => {
    const { paths, put, mounted, held } = setup()
    const inside = (path: string) => join(paths.cwd, path)
    put(inside('env/other.txt'))
    put(inside('way/other.txt'))
    const end = put(inside('ends/deep/settings.json'))
    mkdirSync(inside('.vscode'))
    symlinkSync('env/dev.env', inside('.envrc'))
    symlinkSync('../way/link', inside('.vscode/tasks.json'))
    symlinkSync('../ends/deep/settings.json', inside('way/link'))
    const places = await mounted()
    expect((await held()).filter(({ path }) => path === inside('env/dev.env'))).toEqual([
      { path: inside('env/dev.env'), kind: 'directory' },
    ])
    expect(['env', 'env/dev.env', 'way', 'ends', 'ends/deep'].map((path) => places.get(inside(path)))).toEqual([
      `--bind ${inside('env')}`,
      `--ro-bind ${inside('env/dev.env')}`,
      `--ro-bind ${inside('way')}`,
      `--bind ${inside('ends')}`,
      `--bind ${inside('ends/deep')}`,
    ])
    expect(places.get(end)).toBe(`--ro-bind ${end}`)
  })
})

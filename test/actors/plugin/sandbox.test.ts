// Holds plugin-protocol §9.4.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
// Brings its binaries: nothing has to be compiled for it.
import { spawn } from '@lydell/node-pty'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacking } from '../../fakes/machine.js'
import type { ChildPipe } from '../../../src/ports/effects.js'
import { createNodeEffects } from '../../../src/platform/node/node-effects.js'
import { bubblewrapArgs, createSandbox, sandboxPolicy } from '../../../src/actors/plugin/entry/sandbox.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakeProcesses } from '../../../src/simulation/processes.js'
import { isRunning, until } from '../../fakes/programs.js'

describe('the policy', () => {
  it.each([
    [false, { SVC_AGENT_PLUGIN_SANDBOX: 'required' }, 'off'],
    [true, { SVC_AGENT_PLUGIN_SANDBOX: 'off' }, 'required'],
    [undefined, { SVC_AGENT_PLUGIN_SANDBOX: 'required' }, 'required'],
    [undefined, { SVC_AGENT_PLUGIN_SANDBOX: '1' }, 'required'],
    [undefined, { SVC_AGENT_PLUGIN_SANDBOX: 'true' }, 'required'],
    [undefined, { SVC_AGENT_PLUGIN_SANDBOX: 'off' }, 'off'],
    [undefined, { SVC_AGENT_PLUGIN_SANDBOX: '0' }, 'off'],
    [undefined, { SVC_AGENT_PLUGIN_SANDBOX: 'false' }, 'off'],
    [undefined, { SVC_AGENT_PLUGIN_SANDBOX: 'maybe' }, 'auto'],
    [undefined, { SVC_AGENT_AUTH_CONFIG: '/tokens.json', SVC_AGENT_PLUGIN_SANDBOX: 'off' }, 'required'],
    [false, { SVC_AGENT_AUTH_CONFIG: '/tokens.json' }, 'required'],
    [undefined, {}, 'auto'],
  ])('of %s under %j is %s', (sandbox, env, expected) => {
    expect(sandboxPolicy(sandbox, env)).toBe(expected)
  })
})

describe('the command line', () => {
  const args = async (spec: { cwd: string; program?: string; network?: boolean; reads?: string[] }) =>
    bubblewrapArgs(createFakeEffects(), { program: '/usr/bin/env', args: ['a', '--b'], network: true, ...spec })
  const bound = (all: readonly string[]) => all.flatMap((arg, at) => (arg === '--ro-bind' ? [all[at + 2]] : []))

  it('isolates everything and ends with the program', async () => {
    const all = await args({ cwd: '/srv/project' })
    expect(all.join(' ')).toMatch(
      /^--new-session --die-with-parent --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL /,
    )
    expect(all.slice(-8)).toEqual(['--remount-ro', '/', '--chdir', '/srv/project', '--', '/usr/bin/env', 'a', '--b'])
    expect(all).not.toContain('--unshare-net')
    expect(all.join(' ')).toContain('--tmpfs /tmp')
    expect(all.join(' ')).toContain('--proc /proc --remount-ro /proc')
    expect(all.join(' ')).toContain('--dev /dev')
  })

  it('closes the network when asked', async () => {
    expect(await args({ cwd: '/srv/project', network: false })).toContain('--unshare-net')
  })

  it('shows the system and the working directory, read-only, and nothing else', async () => {
    const shown = bound(await args({ cwd: '/srv/project' }))
    expect(shown).toContain('/usr')
    expect(shown).toContain('/srv/project')
    const allowed = ['/usr', '/bin', '/lib', '/lib64', '/etc/ssl', '/etc/resolv.conf', '/srv/project']
    expect(shown.filter((path) => path === undefined || !allowed.includes(path))).toEqual([])
    expect(await args({ cwd: '/srv/project' })).not.toContain('--bind')
  })

  it('mounts a directory below the temporary one after that', async () => {
    const all = (await args({ cwd: '/tmp/a/b' })).join(' ')
    expect(all.indexOf('--tmpfs /tmp')).toBeLessThan(all.indexOf('--ro-bind /tmp/a/b /tmp/a/b'))
  })

  it('shows where a program outside the system lies and where it leads', async () => {
    const { root } = createFakeEffects()
    const at = (path: string) => join(root, path)
    for (const path of ['opt/bin', 'real/bin', 'lib']) mkdirSync(at(path), { recursive: true })
    writeFileSync(at('real/bin/x'), '', { mode: 0o755 })
    symlinkSync(at('real/bin/x'), at('opt/bin/x'))
    const shown = bound(
      await args({ cwd: '/srv/project', program: at('opt/bin/x'), reads: [at('lib'), '/srv/project/below', '/usr/share/x'] }),
    )
    expect(shown).toEqual(expect.arrayContaining([at('opt/bin'), at('real/bin'), at('lib')]))
    expect(shown).not.toContain('/srv/project/below')
    expect(shown).not.toContain('/usr/share/x')
  })

  it.each([
    ['/home/ann/.pyenv/shims/python3', '/home/ann/.pyenv'],
    ['/home/ann/.nvm/versions/node/v22.1.0/bin/node', '/home/ann/.nvm'],
    ['/home/ann/.local/share/uv/python/cpython-3.12/bin/python3', '/home/ann/.local/share/uv'],
    ['/opt/versions/shims/ruby', '/opt/versions'],
    ['/home/ann/.cargo/bin/tool', '/home/ann/.cargo/bin'],
    ['/home/ann/.local/bin/tool', '/home/ann/.local/bin'],
  ])('of %s shows %s', async (program, directory) => {
    expect(bound(await args({ cwd: '/srv/project', program })).filter((path) => path !== '/srv/project')).toContain(directory)
  })

  it('keeps links of the system links', async () => {
    const fake = createFakeEffects()
    const files = { ...fake.files, realPath: async (path: string) => (path === '/bin' ? '/usr/bin' : path) }
    const all = (await bubblewrapArgs({ files }, { program: '/usr/bin/env', args: [], cwd: '/srv', network: true })).join(' ')
    expect(all).toContain('--symlink /usr/bin /bin')
    expect(all).toContain('--ro-bind /lib /lib')
  })
})

describe('where there is no sandbox', () => {
  const PROGRAM = { program: '/usr/bin/env', args: ['x'], cwd: '/srv/project', network: true }
  const PLAIN = { program: '/usr/bin/env', args: ['x'] }

  it('runs the plain program unless a sandbox is required', async () => {
    const sandbox = createSandbox(createFakeEffects())
    expect(await sandbox.wrap('off', PROGRAM)).toEqual(PLAIN)
    expect(await sandbox.wrap('auto', PROGRAM)).toEqual({
      ...PLAIN,
      uncontained: expect.stringContaining('bubblewrap (bwrap) is not installed') as string,
    })
    expect(await sandbox.wrap('required', PROGRAM)).toEqual({
      unavailable: expect.stringContaining('sandbox required but bubblewrap (bwrap) is not installed') as string,
    })
  })

  it('says so on another system, and looks for nothing there', async () => {
    const processes = createFakeProcesses()
    processes.programs.set('bwrap', '/usr/bin/bwrap')
    const sandbox = createSandbox(createFakeEffects({ processes, platform: { os: 'darwin', arch: 'arm64', user: 'x' } }))
    expect(await sandbox.wrap('auto', PROGRAM)).toEqual({ ...PLAIN, uncontained: expect.stringContaining('needs Linux') as string })
    expect(await sandbox.wrap('required', PROGRAM)).toEqual({ unavailable: expect.stringContaining('needs Linux') as string })
  })

  it('finds out once per network setting whether bubblewrap works', async () => {
    const processes = createFakeProcesses()
    processes.programs.set('bwrap', '/usr/bin/bwrap')
    processes.script(({ args }) =>
      args.includes('--unshare-net')
        ? { exitCode: 1, stderr: 'bwrap: loopback: Operation not permitted\nmore' }
        : { stdout: 'bubblewrap 0.8.0' },
    )
    const effects = createFakeEffects({ processes })
    const sandbox = createSandbox(effects)
    const closed = { ...PROGRAM, network: false }
    const uncontained = 'bubblewrap (/usr/bin/bwrap) does not work here: bwrap: loopback: Operation not permitted'
    const plain = { ...PLAIN, uncontained }
    expect(await Promise.all([sandbox.wrap('auto', closed), sandbox.wrap('auto', closed)])).toEqual([plain, plain])
    expect(await sandbox.wrap('required', closed)).toEqual({
      unavailable: 'sandbox required but bubblewrap (/usr/bin/bwrap) does not work here: bwrap: loopback: Operation not permitted',
    })
    expect(await sandbox.wrap('required', PROGRAM)).toMatchObject({ program: '/usr/bin/bwrap' })
    expect(processes.calls).toHaveLength(2)
    expect(effects.logs.map(({ level, fields }) => [level, fields?.['network']])).toEqual([['warn', false]])
  })

  it('counts a probe that cannot be started as not working', async () => {
    const processes = createFakeProcesses()
    processes.programs.set('bwrap', '/usr/bin/bwrap')
    const sandbox = createSandbox(createFakeEffects({ processes }))
    expect(await sandbox.wrap('auto', PROGRAM)).toMatchObject({ ...PLAIN, uncontained: expect.any(String) as string })
  })
})

const NO_PERL = lacking('perl')

describe('a real sandbox, where this machine has one', () => {
  const effects = createNodeEffects({ logWrite: () => undefined })
  const sandbox = createSandbox(effects)
  const fake = createFakeEffects()
  const cwd = join(fake.root, 'work')
  const node = process.execPath
  let works = false
  beforeAll(async () => {
    works = !('unavailable' in (await sandbox.wrap('required', { program: node, args: [], cwd, network: false })))
    writeFileSync(join(fake.root, 'secret'), 's')
    writeFileSync(join(cwd, 'readable'), 'r')
  })
  afterAll(() => effects.processes.killAll())

  const PROBE = `
    const fs = require('node:fs')
    const can = (run) => { try { run(); return true } catch { return false } }
    console.log(JSON.stringify({
      reads: can(() => fs.readFileSync('readable')),
      writes: can(() => fs.writeFileSync('new', '')),
      writesRoot: can(() => fs.writeFileSync('/new', '')),
      secret: can(() => fs.readFileSync(process.argv[1])),
      passwords: can(() => fs.readFileSync('/etc/passwd')),
      temp: can(() => fs.writeFileSync(require('node:os').tmpdir() + '/x', '')),
      links: Object.keys(require('node:os').networkInterfaces()).filter((name) => name !== 'lo'),
      cwd: process.cwd(),
      pids: fs.readdirSync('/proc').filter((name) => Number(name) > 0).length,
    }))`

  it('shows a program its directory, lets it write to a private /tmp alone, and hides the rest', async () => {
    const wrapped = await sandbox.wrap('auto', { program: node, args: ['-e', PROBE, join(fake.root, 'secret')], cwd, network: false })
    if ('unavailable' in wrapped) throw new Error(wrapped.unavailable)
    const result = await effects.processes.run({
      command: wrapped.program,
      args: wrapped.args,
      cwd,
      env: effects.childEnv,
      signal: new AbortController().signal,
      timeoutMs: 10_000,
      captureBytes: 10_000,
    })
    const seen: unknown = JSON.parse(result.stdout || JSON.stringify(result.stderr))
    const few: unknown = expect.toSatisfy((count: number) => count < 8)
    const inside = { writes: false, writesRoot: false, secret: false, passwords: false, temp: true, links: [], pids: few }
    expect(seen).toMatchObject(works ? { reads: true, cwd, ...inside } : { reads: true, cwd, secret: true })
  })

  it.skipIf(NO_PERL !== '')(`keeps a program from typing into the terminal that the server runs in${NO_PERL}`, async () => {
    const type = ['-e', 'print ioctl(STDIN, 0x5412, my $key = "x") ? "typed\\n" : "refused\\n"']
    const wrapped = await sandbox.wrap('auto', { program: PERL, args: type, cwd, network: false })
    if ('unavailable' in wrapped) throw new Error(wrapped.unavailable)
    const mayType = process.geteuid?.() === 0 || readFileSync('/proc/sys/dev/tty/legacy_tiocsti', 'utf8').trim() === '1'
    expect(await inTerminal(PERL, type)).toContain(mayType ? 'typed' : 'refused')
    expect(await inTerminal(wrapped.program, wrapped.args)).toContain(works || !mayType ? 'refused' : 'typed')
  })

  it('leaves nothing behind when the group that it was started in is killed', async () => {
    const SLEEPER = `console.log('up'); setInterval(() => {}, 1000)`
    const spawned = `const { spawn } = require('node:child_process')
      spawn(process.execPath, ['-e', ${JSON.stringify(SLEEPER)}], { detached: ${works}, stdio: ['ignore', 'inherit', 'ignore'] })
      setInterval(() => {}, 1000)`
    const wrapped = await sandbox.wrap('auto', { program: node, args: ['-e', spawned], cwd, network: true })
    if ('unavailable' in wrapped) throw new Error(wrapped.unavailable)
    let wrote = (): void => undefined
    const output = new Promise<void>((resolve) => {
      wrote = resolve
    })
    const child: ChildPipe = await effects.processes.open({
      command: wrapped.program,
      args: wrapped.args,
      cwd,
      env: effects.childEnv,
      inputBacklog: 1000,
      onStdout: () => wrote(),
      onStderr: () => undefined,
    })
    await output
    const descendants = works ? await pidsBelow(effects, child.pid) : [child.pid]
    expect(descendants.length).toBeGreaterThanOrEqual(works ? 3 : 1)
    child.kill()
    await child.gone
    await until('everything inside has ended', () => !descendants.some(isRunning))
  })
})

const PERL = '/usr/bin/perl'

/** What a program prints in a terminal of its own, until it ends. */
function inTerminal(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const terminal = spawn(program, [...args], { cwd: '/' })
    let text = ''
    terminal.onData((data) => (text += data))
    terminal.onExit(() => resolve(text))
  })
}

/** A process with all its descendants, however their sessions are. */
async function pidsBelow(effects: ReturnType<typeof createNodeEffects>, top: number): Promise<readonly number[]> {
  const listed = await effects.processes.run({
    command: '/bin/sh',
    args: ['-c', 'cat /proc/[0-9]*/stat 2>/dev/null'],
    cwd: dirname(process.execPath),
    env: effects.childEnv,
    signal: new AbortController().signal,
    timeoutMs: 5000,
    captureBytes: 1_000_000,
  })
  const parents = listed.stdout.split('\n').flatMap((line): [number, number][] => {
    const after = line.slice(line.lastIndexOf(')') + 2).split(' ')
    return after[1] === undefined ? [] : [[Number.parseInt(line, 10), Number(after[1])]]
  })
  const found = new Set([top])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid)
  }
  return [...found]
}

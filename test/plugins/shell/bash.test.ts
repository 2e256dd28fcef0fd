// Holds sessions-events §8.8.
import { mkdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ProcessResult } from '../../../src/ports/effects.js'
import { ToolError } from '../../../src/ports/plugin.js'
import { widerDirectory } from '../../../src/machines/permission/wider-directory.js'
import { widerCommand } from '../../../src/plugins/shell/programs/wider-commands.js'
import { createShellWorkspace, type ShellWorkspace } from './fixture.js'

const LOGIN = 'svc-login-environment\0PATH=/login/bin:/usr/bin\0OPENAI_API_KEY=secret\0'

/** A workspace whose login shell answers at once and whose commands end with `result`. */
function setup(result: Partial<ProcessResult> = {}): ShellWorkspace {
  const workspace = createShellWorkspace()
  const { processes } = workspace.effects
  processes.programs.set('bash', '/usr/bin/bash')
  processes.script(() => result)
  processes.script(({ args }) => (args[0] === '-l' ? { stdout: `welcome\n${LOGIN}` } : undefined))
  return workspace
}

const failure = async (outcome: Promise<unknown>): Promise<ToolError> => {
  const error = await outcome.catch((reason: unknown) => reason)
  if (error instanceof ToolError) return error
  throw new Error('expected a ToolError', { cause: error })
}

describe('bash', () => {
  it('runs the command with bash in the session directory and returns both streams', async () => {
    const workspace = setup({ stdout: 'out\n', stderr: 'warn\n' })
    const result = await workspace.run({ command: 'make all', description: 'Build everything' })
    expect(result).toEqual({
      title: 'Build everything',
      output: 'out\nwarn',
      metadata: {
        command: 'make all',
        description: 'Build everything',
        exit: 0,
        timeout: 120_000,
        workdir: workspace.directory,
        captureTruncated: false,
        alwaysPatterns: [],
        commandPatterns: ['make all'],
        externalDirectories: [],
      },
    })
    const { command, args, cwd, env, timeoutMs, captureBytes, stdin } = workspace.effects.processes.calls.at(-1) ?? {}
    expect({ command, args, cwd, timeoutMs, captureBytes, stdin }).toEqual({
      command: '/usr/bin/bash',
      args: ['-c', 'make all'],
      cwd: workspace.directory,
      timeoutMs: 120_000,
      captureBytes: 1024 * 1024,
      stdin: undefined,
    })
    expect(env).toEqual({
      PATH: '/login/bin:/usr/bin',
      HOME: workspace.effects.paths.home,
      TERM: 'xterm-256color',
      SVC_TERMINAL: '1',
    })
  })

  it('adds the variables of plugins, and runs nothing when they cannot be had', async () => {
    const asked: unknown[] = []
    const workspace = createShellWorkspace({}, async ({ cwd, sessionId, callId }) => {
      asked.push({ cwd, sessionId, callId })
      return { PATH: '/plugin/bin', NODE_ENV: 'test' }
    })
    workspace.effects.processes.script(() => ({}))
    await workspace.run({ command: 'true' })
    expect(workspace.effects.processes.calls.at(-1)?.env).toMatchObject({ PATH: '/plugin/bin', NODE_ENV: 'test', TERM: 'xterm-256color' })
    expect(asked).toEqual([{ cwd: workspace.directory, sessionId: 'ses_1', callId: 'call_1' }])
    const failing = createShellWorkspace({}, () => Promise.reject(new Error('the hook failed')))
    await expect(failing.run({ command: 'true' })).rejects.toThrow('the hook failed')
    expect(failing.effects.processes.calls.filter(({ args }) => args.includes('true'))).toEqual([])
  })

  it('says when there is no output, and when some of it was dropped', async () => {
    expect((await setup().run({ command: 'true' })).output).toBe('(no output)')
    const full = await setup({ stdout: 'x', captureTruncated: true }).run({ command: 'yes' })
    expect(full.output).toBe('x\n(More than 1048576 bytes were printed; the rest was dropped.)')
  })

  it('names what the system does not let it end', async () => {
    const left = [{ pid: 77, command: 'sudo sleep\u202e 60' }]
    const result = await setup({ stdout: 'x', left }).run({ command: 'start' })
    expect(result.output).toBe('x\n(Still running, out of reach of this server: sudo sleep\\u{202e} 60)')
    expect(result.metadata).toMatchObject({ left })
  })

  it.each([
    [{ exitCode: 2, stderr: 'no rule' }, 'The command failed with exit status 2. Its output:\n\nno rule', 2],
    [{ exitCode: null, timedOut: true, stdout: 'a' }, 'The command was stopped after 500 ms. Its output so far:\n\na', null],
    [{ exitCode: null, aborted: true, stdout: 'a' }, 'The command was stopped because the run was aborted. Its output so far:\n\na', null],
    [{ exitCode: null, signal: 'SIGSEGV' }, 'The command was ended by the signal SIGSEGV. Its output:\n\n(no output)', null],
  ])('fails with what was printed: %j', async (result, message, exit) => {
    const error = await failure(setup(result).run({ command: 'make', timeout: 500 }))
    expect(error.message).toBe(message)
    expect(error.metadata).toMatchObject({ command: 'make', exit, timeout: 500, truncated: false })
  })

  it('keeps the end of the output of a failure within the limits', async () => {
    const error = await failure(setup({ exitCode: 1, stdout: `${'line\n'.repeat(5000)}last` }).run({ command: 'make' }))
    const lines = error.message.split('\n')
    expect(lines.length).toBeLessThanOrEqual(2004)
    expect(lines.at(-1)).toBe('last')
    expect(error.metadata?.['truncated']).toBe(true)
  })

  it('runs in another directory, which needs permission outside the session directory', async () => {
    const workspace = setup()
    mkdirSync(join(workspace.directory, 'sub'))
    await workspace.run({ command: 'ls', workdir: 'sub' })
    expect(workspace.effects.processes.calls.at(-1)?.cwd).toBe(join(workspace.directory, 'sub'))
    const needs = await workspace.needs({ command: 'ls', workdir: workspace.effects.paths.temp })
    expect(needs.map(({ permission, patterns }) => [permission, patterns])).toEqual([
      ['bash', ['ls']],
      ['external_directory', [`${workspace.effects.paths.temp}/*`]],
    ])
    expect((await failure(workspace.needs({ command: 'ls', workdir: 'nowhere' }))).message).toBe('The directory nowhere does not exist.')
  })

  it('shows the end of the output while it runs, at most ten times a second', async () => {
    const workspace = setup()
    const { processes, clock } = workspace.effects
    const shown: unknown[] = []
    processes.script(async ({ onStdout, onStderr }) => {
      onStdout?.('a')
      onStderr?.('b')
      await clock.advanceAsync(0)
      onStdout?.('c')
      await clock.advanceAsync(99)
      onStdout?.('d')
      await clock.advanceAsync(1)
      onStdout?.('e'.repeat(40_000))
      await clock.advanceAsync(100)
      onStdout?.('never shown')
      return {}
    })
    processes.script(({ args }) => (args[0] === '-l' ? { stdout: LOGIN } : undefined))
    await workspace.run({ command: 'make' }, { progress: (metadata) => shown.push(metadata) })
    await clock.advanceAsync(1000)
    expect(shown).toEqual([{ output: 'ab' }, { output: 'abcd' }, { output: 'e'.repeat(30 * 1024) }])
    expect(clock.pendingTimers).toBe(0)
  })

  it('does not run when it was not judged, or when what it touches has changed since', async () => {
    const workspace = setup()
    workspace.put('real')
    const link = join(workspace.directory, 'link')
    symlinkSync('real', link)
    const message = 'What the command touches was not checked for this call, or has changed since. Nothing was run; call again.'
    expect((await failure(workspace.invoke({ command: 'ls' }))).message).toBe(message)
    await workspace.needs({ command: 'echo > link' })
    unlinkSync(link)
    symlinkSync(join(workspace.effects.paths.home, '.bashrc'), link)
    expect((await failure(workspace.invoke({ command: 'echo > link' }))).message).toBe(message)
    expect(workspace.effects.processes.calls.filter(({ args }) => args[0] === '-c')).toEqual([])
  })

  it('does not start once the call is aborted', async () => {
    const workspace = setup()
    await workspace.needs({ command: 'make' })
    await expect(workspace.invoke({ command: 'make' }, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
    expect(workspace.effects.processes.calls.some(({ args }) => args[0] === '-c')).toBe(false)
  })

  it.each([
    [{ command: 'ls', timeout: 600_000 }, true],
    [{ command: 'ls', timeout: 600_001 }, false],
    [{ command: '' }, false],
    [{ command: 'ls', shell: '/bin/zsh' }, false],
    [{}, false],
  ])('accepts only its own parameters: %j', (input, accepted) => {
    expect(setup().accepts(input)).toBe(accepted)
  })
})

describe('what a command must be allowed to do', () => {
  it('is every program, place outside and file written', async () => {
    const workspace = setup()
    const command = 'npm test && cat /etc/hosts > out.txt'
    expect(await workspace.needs({ command })).toEqual([
      {
        permission: 'bash',
        patterns: ['npm test', 'cat /etc/hosts'],
        widen: widerCommand,
        title: `Run: ${command}`,
        metadata: { command },
      },
      {
        permission: 'external_directory',
        patterns: ['/etc/*'],
        widen: widerDirectory,
        title: `Touch files outside the session directory: ${command}`,
        metadata: { command },
      },
      {
        permission: 'edit',
        patterns: ['out.txt'],
        title: `Write by: ${command}`,
        metadata: { command, paths: ['out.txt'] },
      },
      {
        permission: 'read',
        patterns: ['/etc/hosts'],
        title: `Read by: ${command}`,
        metadata: { command, paths: ['/etc/hosts'] },
      },
    ])
  })

  it('is reading anything, secrets included, where an operand is only known when it runs', async () => {
    const command = 'cat $(head -1 list)'
    const needs = await setup().needs({ command })
    expect(needs.map(({ permission, patterns }) => ({ permission, patterns }))).toEqual([
      { permission: 'bash', patterns: ['head -1 list', 'cat $(head -1 list)'] },
      { permission: 'external_directory', patterns: ['/*'] },
      { permission: 'read', patterns: ['.env'] },
      { permission: 'read', patterns: ['list'] },
    ])
  })

  it('is nothing for a change of directory or a variable', async () => {
    const workspace = setup()
    mkdirSync(join(workspace.directory, 'sub'))
    expect(await workspace.needs({ command: 'cd sub; x=1' })).toEqual([])
  })

  it('needs an explicit answer when the line is not understood, and asks for the whole line if nothing is known of it', async () => {
    const [need, ...others] = await setup().needs({ command: 'echo "' })
    expect(others).toEqual([])
    expect(need).toMatchObject({ permission: 'bash', patterns: ['echo "'] })
    expect(need?.explicit).toBe('the command is not complete shell syntax, or uses syntax that is not understood')
  })

  it.each([
    ['echo > .git/hooks/pre-commit', '.git/hooks/pre-commit is version-control data'],
    ['echo > ~/.bashrc', '.bashrc is a start-up or credential file'],
    ['rm svc.json', 'svc.json is svc configuration'],
    ['cp -l .git/config x', '.git/config is version-control data'],
    ['mv x .git', '.git is version-control data'],
    ['mkdir -p bare/objects bare/refs', 'which git takes for a repository'],
    ['git config core.hooksPath x', '.git/config is version-control data'],
  ])('needs an explicit answer for a protected file: %s', async (command, reason) => {
    const workspace = setup()
    const need = (await workspace.needs({ command })).find(({ permission }) => permission === 'edit')
    expect(need?.explicit).toContain(reason)
  })

  it('shows the complete command in one line, with nothing invisible in it and any cut marked', async () => {
    const [need] = await setup().needs({ command: 'echo a\necho "\u202eb"' })
    expect(need?.title).toBe('Run: echo a\\necho "\\u{202e}b"')
    const [long] = await setup().needs({ command: `echo ${'x'.repeat(5000)}` })
    expect(long?.title).toBe(`Run: echo ${'x'.repeat(3995)}… (1005 more characters)`)
  })

  it('may be remembered beyond what it says where that does little harm', async () => {
    const [need] = await setup().needs({ command: 'make; ls -l; npm test; sudo ls' })
    expect(need?.patterns.map((pattern) => need.widen?.(pattern))).toEqual([undefined, 'ls *', 'npm test *', undefined, 'ls *'])
  })
})

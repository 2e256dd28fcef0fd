// Holds threat-model §4.12.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { ProcessResult, SpawnOptions } from '../../../src/ports/effects.js'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import { OWN_GROUP } from '../../fakes/machine.js'
import { isRunning, until } from '../../fakes/programs.js'

const PATH = '/usr/bin:/bin'
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'svc-processes-')))
const processes = createNodeProcesses(PATH)
afterAll(() => rmSync(directory, { recursive: true, force: true }))
afterEach(() => {
  if (processes.alive !== 0) throw new Error(`${processes.alive} processes are left`)
})

function sh(script: string, options: Partial<SpawnOptions> = {}): Promise<ProcessResult> {
  return processes.run({
    command: '/bin/sh',
    args: ['-c', script],
    cwd: directory,
    env: { PATH },
    signal: new AbortController().signal,
    timeoutMs: 10_000,
    captureBytes: 64 * 1024,
    ...options,
  })
}

/** A promise of the first text the command prints, and the listener that fulfils it. */
function firstOutput() {
  let onStdout: (text: string) => void = () => undefined
  const text = new Promise<string>((resolve) => {
    onStdout = resolve
  })
  return { text, onStdout }
}

describe('the result of a command', () => {
  it('carries both streams, the exit code and nothing else', async () => {
    const { durationMs, ...result } = await sh('echo out; echo err >&2; exit 3')
    expect(result).toEqual({
      exitCode: 3,
      signal: null,
      timedOut: false,
      aborted: false,
      stdout: 'out\n',
      stderr: 'err\n',
      captureTruncated: false,
      left: [],
    })
    expect(durationMs).toBeGreaterThan(0)
  })

  it('names the signal that ended the command', async () => {
    expect(await sh('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL', aborted: false, timedOut: false })
  })

  it('keeps the head of each stream and drains the rest', async () => {
    const result = await sh('head -c 3000000 /dev/zero | tr "\\0" x; echo end >&2', { captureBytes: 1000 })
    expect(result).toMatchObject({ exitCode: 0, stdout: 'x'.repeat(1000), stderr: 'end\n', captureTruncated: true })
  })

  it('never cuts a character in half', async () => {
    const result = await sh('printf "aé€😀😀"', { captureBytes: 12 })
    expect(result).toMatchObject({ stdout: 'aé€😀', captureTruncated: true })
  })

  it('hands out whole characters however the bytes arrive, and replaces malformed ones', async () => {
    const texts: string[] = []
    const result = await sh(`printf '\\360\\237'; sleep 0.05; printf '\\230\\200 \\377 \\342\\202'`, {
      onStdout: (text) => texts.push(text),
    })
    expect(texts.join('')).toBe('😀 \ufffd \ufffd')
    expect(texts.some((text) => /[\ud800-\udbff]$/.test(text))).toBe(false)
    expect(result.stdout).toBe('😀 \ufffd \ufffd')
  })

  it('delivers the input and closes it', async () => {
    expect(await sh('cat; echo done', { stdin: 'line one\n' })).toMatchObject({ stdout: 'line one\ndone\n' })
    expect(await sh('cat; echo done')).toMatchObject({ stdout: 'done\n' })
  })

  it('survives a command that ends without reading a large input', async () => {
    expect(await sh('exit 4', { stdin: 'x'.repeat(4_000_000) })).toMatchObject({ exitCode: 4 })
  })

  it('rejects with what a listener threw, after ending the command', async () => {
    const listening = sh('echo $$; sleep 600', {
      onStdout: () => {
        throw new Error('listener failed')
      },
    })
    await expect(listening).rejects.toThrow('listener failed')
  })
})

describe('what a command gets', () => {
  it('is the given environment, a mark and the directory alone', async () => {
    process.env['SVC_TEST_SECRET'] = 'sekret'
    const { stdout } = await sh('env | sort; pwd', { env: { PATH, GREETING: 'hello' } })
    delete process.env['SVC_TEST_SECRET']
    expect(stdout.split('\n').filter((line) => !/^(PWD|SHLVL|_)=/.test(line))).toEqual([
      'GREETING=hello',
      `PATH=${PATH}`,
      expect.stringMatching(/^SVC_PROCESS_MARK=[0-9a-f]{32}\.[0-9a-f]{16}$/),
      directory,
      '',
    ])
  })

  it('is arguments as they are, never read by a shell', async () => {
    const args = ['%s|', '$(id)', '*', 'a b', '"', "'", '-n', '']
    const result = await processes.run({
      command: 'printf',
      args,
      cwd: directory,
      env: { PATH },
      signal: new AbortController().signal,
      timeoutMs: 5000,
      captureBytes: 1000,
    })
    expect(result.stdout).toBe(`${args.slice(1).join('|')}|`)
  })

  it('is a process group of its own', async () => {
    const { stdout } = await sh(`echo $$; ${OWN_GROUP}`)
    const [pid, group] = stdout.trim().split(/\s+/)
    expect(group).toBe(pid)
  })
})

describe('starting', () => {
  it('rejects a program that is not there, not executable or given by a relative path', async () => {
    writeFileSync(join(directory, 'plain'), 'x')
    for (const command of ['no-such-program-x', join(directory, 'plain'), './plain', directory, '']) {
      await expect(sh('', { command })).rejects.toMatchObject({ code: 'request.unprocessable', details: { program: command } })
    }
  })

  it('rejects a missing working directory', async () => {
    await expect(sh('true', { cwd: '/no/such/place' })).rejects.toThrow('"/no/such/place" does not exist')
  })

  it('rejects arguments the system refuses', async () => {
    await expect(sh('', { args: ['x'.repeat(3_000_000)] })).rejects.toThrow('could not be started')
    await expect(sh('', { args: ['a\0b'] })).rejects.toThrow('could not be started')
  })

  it('does nothing when the signal is aborted already', async () => {
    const result = await sh('echo started > witness', { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ aborted: true, exitCode: null, stdout: '', durationMs: 0 })
    expect(await sh('cat witness')).toMatchObject({ exitCode: 1 })
  })
})

describe('ending', () => {
  it('ends the whole group after the timeout', async () => {
    const result = await sh('sleep 600 & echo $!; sleep 600', { timeoutMs: 150 })
    expect(result).toMatchObject({ timedOut: true, aborted: false, signal: 'SIGTERM' })
    expect(isRunning(Number(result.stdout))).toBe(false)
  })

  it('ends a command that ignores TERM after an abort', async () => {
    const controller = new AbortController()
    const output = firstOutput()
    const running = sh(`trap '' TERM; echo $$; while :; do sleep 1; done`, { signal: controller.signal, onStdout: output.onStdout })
    const pid = Number(await output.text)
    controller.abort()
    expect(await running).toMatchObject({ aborted: true, timedOut: false, exitCode: null, signal: 'SIGKILL' })
    expect(isRunning(pid)).toBe(false)
  })

  it('lets a command clean up on TERM and keeps what it prints', async () => {
    const controller = new AbortController()
    const output = firstOutput()
    const running = sh(`trap 'echo bye; exit 7' TERM; echo up; sleep 600 & wait`, {
      signal: controller.signal,
      onStdout: output.onStdout,
    })
    await output.text
    controller.abort()
    expect(await running).toMatchObject({ aborted: true, exitCode: 7, stdout: 'up\nbye\n' })
  })

  it('ends grandchildren that ignore TERM after the command itself obeyed', async () => {
    const controller = new AbortController()
    const output = firstOutput()
    const running = sh(`(trap '' TERM; while :; do sleep 1; done) & echo $!; wait`, {
      signal: controller.signal,
      onStdout: output.onStdout,
    })
    const grandchild = Number(await output.text)
    controller.abort()
    await running
    expect(isRunning(grandchild)).toBe(false)
  })

  it('does not wait for a background process that holds the pipe, and ends it', async () => {
    const result = await sh('sleep 600 & echo $!')
    expect(result).toMatchObject({ exitCode: 0, timedOut: false, aborted: false })
    expect(isRunning(Number(result.stdout))).toBe(false)
  })

  it('ends a background process that let go of the pipe', async () => {
    const result = await sh('sleep 600 >/dev/null 2>&1 & echo $!')
    expect(isRunning(Number(result.stdout))).toBe(false)
  })

  it('kills every group at once', async () => {
    const outputs = [firstOutput(), firstOutput()]
    const running = outputs.map(({ onStdout }) => sh(`trap '' TERM; echo $$; while :; do sleep 1; done`, { onStdout }))
    await Promise.all(outputs.map(({ text }) => text))
    expect(processes.alive).toBe(2)
    await processes.killAll()
    expect(await Promise.all(running)).toMatchObject([{ signal: 'SIGKILL' }, { signal: 'SIGKILL' }])
  })

  it('leaves no listener, timer or pipe behind', async () => {
    const controller = new AbortController()
    await sh('true')
    const before = resources()
    for (let round = 0; round < 5; round++) await sh('echo x; sleep 600 &', { signal: controller.signal })
    await expect(until('resources are released', () => resources() <= before)).resolves.toBeUndefined()
  })
})

describe('finding programs', () => {
  it('looks at absolute entries of the search path only, for executable files', async () => {
    const bin = join(directory, 'bin')
    mkdirSync(join(bin, 'folder'), { recursive: true })
    symlinkSync('/bin/sh', join(bin, 'linked'))
    writeFileSync(join(bin, 'plain'), 'x', { mode: 0o644 })
    const { find } = createNodeProcesses(`:.:relative:${bin}:/bin`)
    expect(await Promise.all(['linked', 'plain', 'folder', 'sh', 'no-such-program-x', './plain'].map((name) => find(name)))).toEqual([
      join(bin, 'linked'),
      undefined,
      undefined,
      '/bin/sh',
      undefined,
      undefined,
    ])
  })
})

function resources(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'PipeWrap' || kind === 'Timeout' || kind === 'ProcessWrap').length
}

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { ChildPipe, PipeOptions } from '../../../src/ports/effects.js'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import { OWN_GROUP } from '../../fakes/machine.js'
import { isRunning, until } from '../../fakes/programs.js'

const PATH = '/usr/bin:/bin'
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'svc-pipes-')))
const processes = createNodeProcesses(PATH)
afterAll(() => rmSync(directory, { recursive: true, force: true }))
afterEach(async () => {
  await processes.killAll()
  await until('every child is gone', () => processes.alive === 0)
})

interface Opened {
  readonly pipe: ChildPipe
  readonly out: () => string
  readonly err: () => string
  /** Waits until standard output contains `text`. */
  readonly said: (text: string) => Promise<void>
}

async function open(script: string, options: Partial<PipeOptions> = {}): Promise<Opened> {
  const out: Uint8Array[] = []
  const err: Uint8Array[] = []
  const pipe = await processes.open({
    command: '/bin/sh',
    args: ['-c', script],
    cwd: directory,
    env: { PATH },
    inputBacklog: 1024 * 1024,
    onStdout: (chunk) => out.push(chunk),
    onStderr: (chunk) => err.push(chunk),
    ...options,
  })
  const stdout = () => Buffer.concat(out).toString()
  return {
    pipe,
    out: stdout,
    err: () => Buffer.concat(err).toString(),
    said: async (text) => until(`the child says ${text}`, () => stdout().includes(text)),
  }
}

describe('a child', () => {
  it('gets every byte written to it, from the first on, and both its streams are heard', async () => {
    const { pipe, out, err } = await open('cat; echo end >&2; exit 3')
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join('')
    expect(pipe.write(lines)).toBe(true)
    expect(pipe.write('é€😀\n')).toBe(true)
    pipe.closeInput()
    expect(await pipe.ended).toEqual({ exitCode: 3, signal: null })
    expect(out()).toBe(`${lines}é€😀\n`)
    expect(err()).toBe('end\n')
    expect(pipe.write('late')).toBe(false)
  })

  it('talks in both directions as long as it likes', async () => {
    const { pipe, said, out } = await open('while read -r line; do echo "got $line"; done')
    pipe.write('one\n')
    await said('got one\n')
    pipe.write('two\n')
    await said('got two\n')
    pipe.closeInput()
    await pipe.gone
    expect(out()).toBe('got one\ngot two\n')
    expect(processes.alive).toBe(0)
  })

  it('gets the given environment, a mark and the directory alone, in a process group of its own', async () => {
    process.env['SVC_TEST_SECRET'] = 'sekret'
    const { pipe, out } = await open(`env | sort; pwd; ${OWN_GROUP}`, { env: { PATH, GREETING: 'hello' } })
    await pipe.ended
    delete process.env['SVC_TEST_SECRET']
    const lines = out()
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => !/^(PWD|SHLVL|_)=/.test(line))
    const mark: unknown = expect.stringMatching(/^SVC_PROCESS_MARK=/)
    expect(lines).toEqual(['GREETING=hello', `PATH=${PATH}`, mark, directory, String(pipe.pid), ''])
  })

  it('that cannot be started is refused', async () => {
    await expect(open('', { command: 'no-such-program-x' })).rejects.toMatchObject({ code: 'request.unprocessable' })
    await expect(open('', { cwd: '/no/such/place' })).rejects.toThrow('"/no/such/place" does not exist')
    expect(processes.alive).toBe(0)
  })

  it.runIf(process.platform === 'linux')('tells how much memory it uses until it is gone', async () => {
    const { pipe, said } = await open('echo up; read -r _')
    await said('up')
    expect(pipe.residentBytes()).toBeGreaterThan(100_000)
    expect(pipe.residentBytes()).toBeLessThan(50_000_000)
    pipe.kill()
    await pipe.gone
    expect(pipe.residentBytes()).toBeUndefined()
  })

  it.runIf(process.platform === 'linux')('counts the memory of what it started, as a sandbox around it does', async () => {
    const grandchild = `${process.execPath} -e 'const b = Buffer.alloc(150e6, 1); console.log("up"); setInterval(() => b, 1e6)'`
    const { pipe, said } = await open(`sh -c "${grandchild.replaceAll('"', '\\"')}; true" & wait`)
    await said('up')
    expect(pipe.residentBytes()).toBeGreaterThan(150_000_000)
    pipe.kill()
    await pipe.gone
  })
})

describe('the input of a child that does not read', () => {
  it('is bounded, counted in bytes, and refused as a whole beyond the bound', async () => {
    const { pipe, said, out } = await open('echo up; sleep 600 & wait', { inputBacklog: 1_000_000 })
    await said('up')
    const chunk = '€'.repeat(100_000)
    let accepted = 0
    while (accepted < 100 && pipe.write(chunk)) accepted++
    // What the kernel takes comes on top of the backlog.
    expect(accepted).toBeGreaterThanOrEqual(3)
    expect(accepted).toBeLessThan(10)
    expect(pipe.write('x'.repeat(1_000_000))).toBe(false)
    expect(out()).toBe('up\n')
  })

  it('is accepted again when it has been read', async () => {
    const { pipe, said, out } = await open('echo up; read -r go; wc -c', { inputBacklog: 300_000 })
    await said('up')
    pipe.write('go\n')
    let written = 0
    for (let round = 0; round < 20; round++) {
      await until('there is room', () => pipe.write('x'.repeat(200_000)))
      written += 200_000
    }
    pipe.closeInput()
    expect(await pipe.ended).toEqual({ exitCode: 0, signal: null })
    expect(out().trim().split(/\s+/)).toEqual(['up', String(written)])
  })

  it('harms nobody when the child ends with it unread', async () => {
    const { pipe } = await open('exit 4')
    pipe.write('x'.repeat(900_000))
    expect(await pipe.ended).toEqual({ exitCode: 4, signal: null })
    expect(pipe.write('x')).toBe(false)
  })
})

describe('a paused child', () => {
  it('has to wait, and loses nothing', async () => {
    const { pipe, said, out } = await open('read -r go; head -c 3000000 /dev/zero | tr "\\0" x; echo done > written; echo end')
    pipe.pause()
    pipe.write('go\n')
    await until('the child has begun', () => out().length === 0 && isRunning(pipe.pid))
    const witness = await processes.run({
      command: '/bin/sh',
      args: ['-c', 'sleep 0.2; test -e written'],
      cwd: directory,
      env: { PATH },
      signal: new AbortController().signal,
      timeoutMs: 5000,
      captureBytes: 10,
    })
    expect(witness.exitCode).toBe(1)
    expect(out().length).toBeLessThan(500_000)
    pipe.resume()
    await said('end\n')
    expect(out()).toBe(`${'x'.repeat(3_000_000)}end\n`)
    await pipe.ended
  })

  it('that ends is heard to the end all the same', async () => {
    const { pipe, out } = await open('read -r go; head -c 50000 /dev/zero | tr "\\0" x; exit 5')
    pipe.pause()
    pipe.write('go\n')
    expect(await pipe.ended).toEqual({ exitCode: 5, signal: null })
    expect(out()).toHaveLength(50_000)
  })
})

describe('the end', () => {
  it('brings a paused listener no more than pipes hold, though a grandchild goes on writing', async () => {
    const { pipe, out } = await open('read -r go; yes & exit 0')
    pipe.pause()
    pipe.write('go\n')
    expect(await pipe.ended).toEqual({ exitCode: 0, signal: null })
    expect(out().length).toBeLessThanOrEqual(2 * 1024 * 1024)
    const heard = out().length
    await pipe.gone
    expect(out()).toHaveLength(heard)
  })

  it('comes though a grandchild holds the pipes, and takes the grandchild along', async () => {
    const { pipe, out } = await open('sleep 600 & echo $!; exit 2')
    expect(await pipe.ended).toEqual({ exitCode: 2, signal: null })
    await pipe.gone
    expect(isRunning(Number(out()))).toBe(false)
  })

  it('comes when the child closes its output and stays', async () => {
    const { pipe, said } = await open('echo up; exec >&-; trap "" TERM; while :; do sleep 1; done')
    await said('up')
    expect(await pipe.ended).toEqual({ exitCode: null, signal: null })
    await pipe.gone
    expect(isRunning(pipe.pid)).toBe(false)
  })

  it('by a signal names the signal', async () => {
    const { pipe } = await open('kill -15 $$')
    expect(await pipe.ended).toEqual({ exitCode: null, signal: 'SIGTERM' })
  })

  it('by kill takes the whole group, at once', async () => {
    const { pipe, said, out } = await open(
      `(trap '' TERM; while :; do sleep 1; done) & echo "$! up"; trap '' TERM; while :; do sleep 1; done`,
    )
    await said('up')
    pipe.kill()
    expect(await pipe.ended).toEqual({ exitCode: null, signal: 'SIGKILL' })
    await pipe.gone
    expect(isRunning(pipe.pid)).toBe(false)
    expect(isRunning(Number.parseInt(out(), 10))).toBe(false)
    pipe.kill()
  })

  it('comes to every child when all are killed', async () => {
    const children = [await open('echo up; sleep 600'), await open('echo up; sleep 600')]
    for (const { said } of children) await said('up')
    expect(processes.alive).toBe(2)
    await processes.killAll()
    for (const { pipe } of children) expect(await pipe.ended).toEqual({ exitCode: null, signal: 'SIGKILL' })
    for (const { pipe } of children) await pipe.gone
    expect(processes.alive).toBe(0)
  })

  it('comes to a child whose listener throws', async () => {
    const { pipe } = await open('echo hello; sleep 600', {
      onStdout: () => {
        throw new Error('listener failed')
      },
    })
    expect(await pipe.ended).toEqual({ exitCode: null, signal: 'SIGKILL' })
  })

  it('leaves no listener, timer or pipe behind', async () => {
    const { pipe } = await open('true')
    await pipe.gone
    const before = resources()
    for (let round = 0; round < 3; round++) await (await open('echo x; sleep 600 &')).pipe.gone
    await expect(until('resources are released', () => resources() <= before)).resolves.toBeUndefined()
  })
})

it('starts nothing when its group cannot be guarded', async () => {
  const guardless = createNodeProcesses(PATH, {
    adopt: async () => {
      throw new Error('no guard')
    },
    release: () => undefined,
    keep: async () => undefined,
    drop: () => undefined,
    mark: 'none',
    pid: undefined,
  })
  const listener = () => undefined
  const opening = guardless.open({
    command: '/bin/sh',
    args: ['-c', 'echo started > unguarded'],
    cwd: directory,
    env: { PATH },
    inputBacklog: 10,
    onStdout: listener,
    onStderr: listener,
  })
  await expect(opening).rejects.toThrow('no guard')
  await until('the gate is gone', () => guardless.alive === 0)
  const { pipe } = await open('test -e unguarded')
  expect(await pipe.ended).toMatchObject({ exitCode: 1 })
})

function resources(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'PipeWrap' || kind === 'Timeout' || kind === 'ProcessWrap').length
}

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nextTurn } from '../../../src/kernel/pause.js'
import type { Processes } from '../../../src/ports/effects.js'
import type { LeftProcess } from '../../../src/ports/process-facts.js'
import { createFamilies, MARK } from '../../../src/platform/node/process/program-families.js'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import { readProcess } from '../../../src/platform/node/process/process-table.js'
import { createReaper } from '../../../src/platform/node/process/reaper.js'
import { createNodeTerminals } from '../../../src/platform/node/pty/node-terminals.js'
import { isRunning, until } from '../../fakes/programs.js'

const PATH = '/usr/bin:/bin'
const directory = mkdtempSync(join(tmpdir(), 'svc-families-'))
const reaper = createReaper()
const processes = createNodeProcesses(PATH, reaper)
const terminals = createNodeTerminals(PATH, reaper)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let files = 0
/** A script that starts `escape` and waits until one more process, of which it tells the id in a file, is where it wants to be. */
function escaping(escape: string) {
  const file = join(directory, String(files++))
  const stay = `sh -c "trap '' HUP TERM; echo \\$\\$ >${file}; while :; do sleep 1; done"`
  const script = `${escape.replace('STAY', () => stay)} >/dev/null 2>&1 </dev/null & while [ ! -s ${file} ]; do sleep 0.01; done`
  const pid = () => Number(readFileSync(file, 'utf8'))
  return { script, file, pid, hasEscaped: () => until('it has escaped', () => existsSync(file) && readFileSync(file, 'utf8') !== '') }
}

function run(script: string, signal = new AbortController().signal, from: Processes = processes) {
  const options = { command: '/bin/sh', args: ['-c', script], cwd: '/', env: { PATH }, signal, timeoutMs: 20_000, captureBytes: 10_000 }
  return from.run(options)
}

const ESCAPES = [
  ['to a session of its own', 'setsid STAY'],
  ['by forking twice', 'setsid sh -c \'"$@" & exit\' - STAY'],
  ['with nohup', 'nohup setsid STAY'],
  ['to a group of its own, without its environment', 'bash -mc \'env -i "$@" &\' - STAY'],
  ['without its environment, from a parent that stays', 'setsid sh -c \'env -i setsid -w "$@"; :\' - STAY'],
] as const

describe('what a command leaves behind', () => {
  it.each(ESCAPES)('is ended when the command ends: %s', async (_, escape) => {
    const { script, pid } = escaping(escape)
    expect(await run(`${script}; echo over`)).toMatchObject({ exitCode: 0, stdout: 'over\n', left: [] })
    expect(isRunning(pid())).toBe(false)
  })

  it.each(ESCAPES)('is ended when the command is stopped: %s', async (_, escape) => {
    const { script, pid, hasEscaped } = escaping(escape)
    const controller = new AbortController()
    const running = run(`${script}; wait; sleep 300`, controller.signal)
    await hasEscaped()
    controller.abort()
    expect(await running).toMatchObject({ aborted: true, left: [] })
    expect(isRunning(pid())).toBe(false)
  })
})

it('a child that was talked to leaves nothing either', async () => {
  const { script, pid, hasEscaped } = escaping('setsid STAY')
  const pipe = await processes.open({
    command: '/bin/sh',
    args: ['-c', `${script}; read line`],
    cwd: '/',
    env: { PATH },
    inputBacklog: 1000,
    onStdout: () => undefined,
    onStderr: () => undefined,
  })
  await hasEscaped()
  pipe.closeInput()
  await pipe.gone
  expect(isRunning(pid())).toBe(false)
})

it.each(['exit', 'end', 'kill'] as const)('a terminal leaves nothing either (%s)', async (how) => {
  const { script, pid, hasEscaped } = escaping('setsid STAY')
  const open = {
    command: '/bin/sh',
    args: ['-c', `${script}; read line`],
    cwd: '/',
    env: { PATH },
    cols: 80,
    rows: 24,
    onData: () => undefined,
  }
  const terminal = await terminals.open(open)
  await hasEscaped()
  if (how === 'exit') terminal.write(Buffer.from('\n'))
  else terminal[how]()
  await terminal.ended
  expect(isRunning(pid())).toBe(false)
})

it('killing everything waits until it is gone', async () => {
  const { script, pid, hasEscaped } = escaping('setsid STAY')
  const running = run(`${script}; sleep 300`)
  await hasEscaped()
  await processes.killAll()
  expect(isRunning(pid())).toBe(false)
  expect(await running).toMatchObject({ signal: 'SIGKILL' })
})

it('what the system protects is reported, and the rest ended', async () => {
  const [guarded, other] = [escaping('setsid STAY'), escaping('setsid STAY')]
  const reported: LeftProcess[] = []
  const families = createFamilies(reaper.mark, {
    onLeft: (left) => reported.push(left),
    send(pid, signal) {
      if (pid === guarded.pid()) throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
      process.kill(pid, signal)
    },
  })
  const { left } = await run(`${guarded.script}; ${other.script}`, undefined, createNodeProcesses(PATH, reaper, families))
  const pid = guarded.pid()
  expect([isRunning(pid), isRunning(other.pid())]).toEqual([true, false])
  process.kill(pid, 'SIGKILL')
  expect(left.filter((each) => each.pid === pid)).toEqual([{ pid, command: expect.stringContaining('while :; do sleep 1; done') }])
  expect(reported).toEqual(left)
})

it('what our user started with the rights of another is reported and not signalled, because its mark cannot be read', async () => {
  const guarded = escaping('setsid STAY')
  const families = createFamilies(reaper.mark, {
    marksOf: (pid) => (existsSync(guarded.file) && pid === guarded.pid() ? undefined : []),
    send: () => {
      throw new Error('nothing is signalled')
    },
  })
  const { left } = await run(guarded.script, undefined, createNodeProcesses(PATH, reaper, families))
  const pid = guarded.pid()
  expect(isRunning(pid)).toBe(true)
  process.kill(pid, 'SIGKILL')
  expect(left).toEqual([{ pid, command: expect.stringContaining('while :; do sleep 1; done') }])
})

it('what is left and shows no command line is named by its program', async () => {
  const file = join(directory, String(files++))
  const families = createFamilies(reaper.mark, {
    marksOf: (pid) => (existsSync(file) && pid === Number(readFileSync(file, 'utf8')) ? undefined : []),
    send: () => {
      throw new Error('nothing is signalled')
    },
  })
  const nameless = `setsid bash -c 'echo $$ >${file}; exec -a "" cat <>${file}.fifo' >/dev/null 2>&1 &`
  const begun = `while [ ! -s ${file} ] || grep -q bash /proc/$(cat ${file})/cmdline; do sleep 0.01; done`
  const { left } = await run(`mkfifo ${file}.fifo; ${nameless} ${begun}`, undefined, createNodeProcesses(PATH, reaper, families))
  const pid = Number(readFileSync(file, 'utf8'))
  expect(readProcess(pid)).toMatchObject({ runs: true, ends: false })
  process.kill(pid, 'SIGKILL')
  expect(left).toEqual([{ pid, command: '(cat)' }])
})

it('what ends while it is looked at is not left', async () => {
  const escaped = escaping('setsid STAY')
  const families = createFamilies(reaper.mark, {
    marksOf(pid) {
      if (!existsSync(escaped.file) || pid !== escaped.pid()) return []
      process.kill(pid, 'SIGKILL')
      while (isRunning(pid)) continue
      return undefined
    },
  })
  const { left } = await run(escaped.script, undefined, createNodeProcesses(PATH, reaper, families))
  expect(left).toEqual([])
})

it('a process that has ended or is about to is told from one that runs', async () => {
  const file = join(directory, String(files++))
  const controller = new AbortController()
  const running = run(`sleep 0 & echo $! >${file}; exec sleep 300`, controller.signal)
  const entry = () => (existsSync(file) ? readProcess(Number(readFileSync(file, 'utf8'))) : undefined)
  await until('it has ended', () => entry()?.runs === false)
  expect(entry()).toMatchObject({ runs: false, ends: true })
  expect(readProcess(process.pid)).toMatchObject({ runs: true, ends: false })
  controller.abort()
  expect((await running).left).toEqual([])
})

it('nobody else is signalled: neither a stranger nor the family of another', async () => {
  const signalled = new Set<number>()
  const families = createFamilies(reaper.mark, {
    send(pid, signal) {
      signalled.add(pid)
      process.kill(pid, signal)
    },
  })
  const both = createNodeProcesses(PATH, reaper, families)
  const controller = new AbortController()
  const [mine, others] = [escaping('setsid STAY'), escaping('setsid STAY')]
  const going = run(`${others.script}; sleep 300`, controller.signal, both)
  await others.hasEscaped()
  await run(mine.script, undefined, both)
  expect([isRunning(mine.pid()), isRunning(others.pid())]).toEqual([false, true])
  expect(signalled).toContain(mine.pid())
  expect(signalled).not.toContain(others.pid())
  controller.abort()
  await going
})

it('marks cannot be guessed from one another', () => {
  const { expect: next } = createFamilies('server')
  const marks = Array.from({ length: 100 }, () => next().variable[MARK] ?? '')
  expect(new Set(marks).size).toBe(100)
  expect(marks.every((mark) => /^server\.[0-9a-f]{16}$/.test(mark))).toBe(true)
})

it.runIf(process.platform === 'linux')('who was there before a program is read once, however often its family is looked at', async () => {
  const read: number[] = []
  const families = createFamilies('a-mark', {
    read(pid) {
      read.push(pid)
      return readProcess(pid)
    },
  })
  const child = spawn('/bin/sleep', ['60'], { stdio: 'ignore' })
  const family = families.expect().begin(child.pid ?? 0)
  try {
    for (let look = 0; look < 3; look++) {
      family.look()
      await nextTurn()
    }
    const times = (pid: number | undefined) => read.filter((each) => each === pid).length
    expect([times(process.pid), times(process.ppid), times(child.pid)]).toEqual([1, 1, 3])
  } finally {
    child.kill('SIGKILL')
  }
})

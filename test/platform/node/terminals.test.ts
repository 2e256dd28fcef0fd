import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Terminal, Terminals } from '../../../src/ports/effects.js'
import { loadCompiledBinding, loadPrebuiltBinding } from '../../../src/platform/node/pty/pty-binding.js'
import { createReaper } from '../../../src/platform/node/process/reaper.js'
import { createNodeTerminals } from '../../../src/platform/node/pty/node-terminals.js'

const PATH = '/usr/local/bin:/usr/bin:/bin'
const reaper = createReaper()

interface Opened {
  readonly terminal: Terminal
  /** Everything written so far. */
  output(): string
  /** Resolves once the output contains `text`. */
  until(text: string): Promise<void>
}

async function openFrom(from: Terminals, script: string, more: { cols?: number; rows?: number } = {}): Promise<Opened> {
  const chunks: Buffer[] = []
  let looks: (() => void)[] = []
  const terminal = await from.open({
    command: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH, TERM: 'xterm-256color', MARK: 'set' },
    cols: 80,
    rows: 24,
    ...more,
    onData(bytes) {
      chunks.push(Buffer.from(bytes))
      for (const look of looks) look()
    },
  })
  const output = () => Buffer.concat(chunks).toString()
  return {
    terminal,
    output,
    until: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!output().includes(text)) return
          looks = looks.filter((each) => each !== look)
          resolve()
        }
        looks.push(look)
        look()
      }),
  }
}

const runs = (pid: number) => {
  if (!existsSync(`/proc/${pid}/stat`)) return false
  return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
}

/** A Node that brings its binaries compiles nothing at the installation. */
const isCompiled = existsSync(
  createRequire(import.meta.url)
    .resolve('node-pty/package.json')
    .replace('package.json', 'build/Release/pty.node'),
)

describe.for([
  { name: 'as it was compiled here', load: loadCompiledBinding, why: isCompiled ? '' : ' (skipped: nothing was compiled here)' },
  { name: 'as it came', load: loadPrebuiltBinding, why: '' },
])('a terminal of the binding $name$why', ({ load, why }) => {
  beforeEach(({ skip }) => skip(why !== '', why))
  const terminals = createNodeTerminals(PATH, reaper, { load })
  afterAll(() => terminals.killAll())
  const open = (script: string, more?: { cols: number; rows: number }) => openFrom(terminals, script, more)

  test('is the controlling terminal of its program, and says nothing of the gate', async () => {
    const { terminal, output } = await open('[ -t 0 ] && [ -t 1 ] && : >/dev/tty && echo "$MARK $TERM $(stty size)"; exit 3', {
      cols: 101,
      rows: 33,
    })
    expect(await terminal.ended).toEqual({ exitCode: 3 })
    expect(output()).toBe('set xterm-256color 33 101\r\n')
  })

  test('hands over everything that was written before the end, paused or not', async () => {
    for (let run = 0; run < 8; run++) {
      const { terminal, output } = await open('head -c 300000 /dev/zero | tr "\\0" x; echo; echo last')
      if (run % 2 === 1) {
        terminal.pause()
        setTimeout(() => terminal.resume(), 30)
      }
      expect(await terminal.ended).toEqual({ exitCode: 0 })
      expect(output()).toBe(`${'x'.repeat(300_000)}\r\nlast\r\n`)
    }
  })

  test('hands over what the system holds when its program ends while it is paused', async () => {
    const { terminal, output } = await open('echo begin; read x; echo end')
    terminal.pause()
    terminal.write(Buffer.from('go\n'))
    expect(await terminal.ended).toEqual({ exitCode: 0 })
    expect(output()).toMatch(/^(go\r\n)?begin\r\n(go\r\n)?end\r\n$/)
  })

  test('makes its program wait while it is paused', async () => {
    const { terminal, output, until } = await open('echo begin; read x; yes')
    await until('begin')
    terminal.pause()
    terminal.write(Buffer.from('go\n'))
    await delay(100)
    expect(output()).toBe('begin\r\n')
    terminal.resume()
    await until('y\r\ny\r\n')
    terminal.kill()
    expect(await terminal.ended).toEqual({ exitCode: null })
  })

  test('takes input, keeps what its program does not read yet, and tells when it is taken', async () => {
    const { terminal, output, until } = await open('stty raw -echo; echo ready; sleep 0.2; head -c 300000 | tr -d "\\n" | wc -c')
    await until('ready')
    terminal.write(Buffer.alloc(300_000, 'a'))
    expect(terminal.waiting).toBeGreaterThan(100_000)
    await terminal.taken()
    expect(terminal.waiting).toBe(0)
    await terminal.ended
    expect(output()).toContain('300000')
  })

  test('resizes, and its program is told', async () => {
    const { terminal, until } = await open('trap "stty size" WINCH; echo ready; while :; do sleep 0.02; done')
    await until('ready')
    terminal.resize(132, 43)
    await until('43 132')
    terminal.kill()
    await terminal.ended
  })

  test.each(['end', 'kill'] as const)(
    '%s leaves nothing running, not even jobs that ignore hangups in groups of their own',
    async (how) => {
      const { terminal, output, until } = await open(
        `set -m; sh -c 'trap "" HUP TERM; echo "one $$"; sleep 300; sleep 300' & sh -c 'echo "two $$"; exec sleep 300' & echo "three $$"; wait`,
      )
      for (const name of ['one', 'two', 'three']) await until(name)
      await until('three')
      const pids = [...output().matchAll(/(?:one|two|three) (\d+)/g)].map(([, pid]) => Number(pid))
      expect(pids.map(runs)).toEqual([true, true, true])
      terminal[how]()
      await terminal.ended
      expect(pids.map(runs)).toEqual([false, false, false])
      expect(terminals.alive).toBe(0)
    },
  )

  test('ends what its program left behind when it exits', async () => {
    const { terminal, output } = await open('set -m; sleep 300 & echo "left $!"')
    await terminal.ended
    const pid = Number(/left (\d+)/.exec(output())?.[1])
    expect(runs(pid)).toBe(false)
  })

  test('is not inherited by programs that are started later', async () => {
    const first = await open('echo ready; sleep 300')
    await first.until('ready')
    const second = await open('ls -l /proc/self/fd')
    await second.terminal.ended
    expect(second.output()).not.toMatch(/ptmx/)
    first.terminal.kill()
    await first.terminal.ended
  })

  test('leaves no descriptor open here', async () => {
    const before = readdirSync('/proc/self/fd').length
    for (let run = 0; run < 5; run++) await (await open('echo x')).terminal.ended
    while (readdirSync('/proc/self/fd').length > before) await delay(5) // the test ends in time, or this is in vain
  })

  test('is refused for a program that does not exist', async () => {
    const options = { command: 'no-such-program', args: [], cwd: '/', env: { PATH }, cols: 80, rows: 24, onData: () => undefined }
    await expect(terminals.open(options)).rejects.toMatchObject({ code: 'request.unprocessable' })
  })
})

test('without a binding there are no terminals, and a reason', async () => {
  const none = createNodeTerminals(PATH, reaper, { load: () => Promise.reject(new Error('it was not compiled\nwith a stack')) })
  expect(await none.unavailable()).toBe('it was not compiled')
  const refused = openFrom(none, 'true')
  await expect(refused).rejects.toMatchObject({ code: 'feature.not_implemented' })
  expect(await createNodeTerminals(PATH, reaper).unavailable()).toBeUndefined()
})

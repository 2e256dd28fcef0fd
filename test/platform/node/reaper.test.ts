import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { bundleProgram, isRunning, jsonLines, until } from '../../fakes/programs.js'

/** A server in small: runs `argv[2]` with the shell and tells the processes that matter, one JSON value a line. */
const SERVER = `
import { createNodeProcesses } from './src/platform/node/process/processes.ts'
import { createReaper } from './src/platform/node/process/reaper.ts'
import { writeSync } from 'node:fs'
const say = (value) => writeSync(1, JSON.stringify(value) + '\\n')
const [script, mode] = process.argv.slice(2)
const real = createReaper()
const reaper = {
  mark: real.mark,
  release: real.release,
  keep: real.keep,
  drop: real.drop,
  adopt: async (group) => {
    if (mode.endsWith('die-before-adopting')) { say({ gate: group }); process.kill(process.pid, 'SIGKILL') }
    await real.adopt(group)
    if (mode.endsWith('die-before-opening')) { say({ gate: group }); process.kill(process.pid, 'SIGKILL') }
  },
}
const processes = createNodeProcesses('/usr/bin:/bin', reaper)
const command = {
  command: '/bin/sh', args: ['-c', script], cwd: '/', env: { PATH: '/usr/bin:/bin' }, holds: JSON.parse(process.argv[4] ?? '[]'),
  onStdout: (text) => say({ reaper: real.pid, pids: String(text).trim().split(/\\s+/).map(Number) }),
}
const run = mode.startsWith('pipe')
  ? processes.open({ ...command, inputBacklog: 1000, onStdout: (chunk) => command.onStdout(Buffer.from(chunk)), onStderr: () => undefined })
      .then((pipe) => pipe.gone)
  : processes.run({ ...command, signal: new AbortController().signal, timeoutMs: 60_000, captureBytes: 1000 })
if (mode === 'replace-reaper') {
  while (real.pid === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
  const first = real.pid
  process.kill(first, 'SIGKILL')
  while (real.pid === undefined || real.pid === first) await new Promise((resolve) => setTimeout(resolve, 5))
  say({ first, second: real.pid })
}
await run
say({ done: true })
`
/** Two processes, of which the first ignores polite requests; says who they are once both run. */
const STUBBORN = `trap '' TERM; sleep 60 & echo $$ $!; while :; do sleep 1; done`

/** What leaves its group at once, ignores polite requests and says who it is. */
const ESCAPED = `setsid sh -c "trap '' TERM HUP; echo \\$\\$; while :; do sleep 1; done"`

const Started = z.object({ reaper: z.number(), pids: z.array(z.number()) })
const Gate = z.object({ gate: z.number() })
const Replaced = z.object({ first: z.number(), second: z.number() })

const directory = mkdtempSync(join(tmpdir(), 'svc-reaper-'))
const servers: ChildProcessByStdio<null, Readable, null>[] = []
let program: string
beforeAll(() => {
  program = bundleProgram(SERVER)
})
afterEach(() => {
  for (const server of servers.splice(0)) server.kill('SIGKILL')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function startServer(script: string, mode = 'plain', holds: readonly object[] = []) {
  const server = spawn(process.execPath, [program, script, mode, JSON.stringify(holds)], { stdio: ['ignore', 'pipe', 'inherit'] })
  servers.push(server)
  const said = jsonLines(server.stdout)
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  return {
    kill: (signal: NodeJS.Signals) => server.kill(signal),
    said,
    exited,
  }
}

async function gone(...pids: number[]): Promise<void> {
  await until('the processes are gone', () => !pids.some(isRunning))
}

describe('a server killed without warning', () => {
  it.each(['plain', 'pipe'])('leaves neither its commands nor its reaper (%s)', async (mode) => {
    const server = startServer(STUBBORN, mode)
    const { reaper, pids } = Started.parse(await server.said())
    expect([reaper, ...pids].map(isRunning)).toEqual([true, true, true])
    server.kill('SIGKILL')
    await expect(gone(reaper, ...pids)).resolves.toBeUndefined()
  })

  it.each(['plain', 'pipe'])('leaves none of the names that a command has held (%s)', async (mode) => {
    const place = mkdtempSync(join(directory, 'held '))
    const holds = ['.vscode', '.vscode/tasks.json', '.hg'].map((name) => {
      const kind = name === '.hg' ? 'socket' : 'directory'
      return { path: join(place, name), kind, ...(name === '.vscode' && { isOpen: true }) }
    })
    const server = startServer(STUBBORN, mode, holds)
    const { reaper } = Started.parse(await server.said())
    expect(readdirSync(place).toSorted()).toEqual(['.hg', '.vscode'])
    server.kill('SIGKILL')
    await gone(reaper)
    expect(readdirSync(place)).toEqual([])
  })

  it.each(['plain', 'pipe'])('leaves nothing that left its group (%s)', async (mode) => {
    const server = startServer(`${ESCAPED} & sleep 300`, mode)
    const { reaper, pids } = Started.parse(await server.said())
    expect([reaper, ...pids].map(isRunning)).toEqual([true, true])
    server.kill('SIGKILL')
    await expect(gone(reaper, ...pids)).resolves.toBeUndefined()
  })

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)('by %s leaves none either, though the reaper gets the signal too', async (signal) => {
    const server = startServer(STUBBORN)
    const { reaper, pids } = Started.parse(await server.said())
    process.kill(-reaper, signal)
    server.kill(signal)
    await expect(gone(reaper, ...pids)).resolves.toBeUndefined()
  })

  it.each(['die-before-adopting', 'die-before-opening', 'pipe-die-before-adopting', 'pipe-die-before-opening'])(
    'runs nothing of a command that waits at its gate (%s)',
    async (mode) => {
      const witness = join(directory, mode)
      const server = startServer(`echo ran > ${witness}`, mode)
      const { gate } = Gate.parse(await server.said())
      await server.exited
      await gone(gate)
      expect(existsSync(witness)).toBe(false)
    },
  )

  it('leaves none when its reaper had been killed and replaced before', async () => {
    const server = startServer(STUBBORN, 'replace-reaper')
    const told = [await server.said(), await server.said()]
    const { pids } = Started.parse(told.find((value) => Started.safeParse(value).success))
    const { second } = Replaced.parse(told.find((value) => Replaced.safeParse(value).success))
    server.kill('SIGKILL')
    await expect(gone(second, ...pids)).resolves.toBeUndefined()
  })
})

it('a server that ends by itself is not held up by its reaper, and the reaper ends with it', async () => {
  const server = startServer('echo $$')
  const { reaper } = Started.parse(await server.said())
  expect(await server.said()).toEqual({ done: true })
  await server.exited
  await expect(gone(reaper)).resolves.toBeUndefined()
})

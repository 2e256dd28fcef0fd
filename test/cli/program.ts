/** The built program as a person runs it: own home, own state, no inherited settings. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { refuseWarnings } from '../fixtures/node-warnings.js'
import { filesWithSecrets, plantKey, secretsIn } from '../fixtures/planted.js'

export const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Started {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Resolves with the match once standard output matches; rejects when the program ends first. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** As `prints`, of standard error. */
  notes(pattern: RegExp): Promise<RegExpExecArray>
  readonly ended: Promise<Ended>
}

export interface Home {
  readonly path: string
  readonly state: string
  readonly workspace: string
  /** `stdin`: everything there is to read; `typed` = more comes while it runs. */
  start(
    args: readonly string[],
    options?: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string; readonly typed?: true },
  ): Started
  run(args: readonly string[], options?: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string }): Promise<Ended>
  /** Starts a server on a free port; answers its origin too. */
  serve(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Started & { readonly url: string }>
  /** The same home with an empty workspace of its own: for one of several tests that share a server. */
  elsewhere(): Home
  /** Ends everything that was started and removes the files; fails when a planted secret was printed or kept. */
  close(): Promise<void>
}

/** A home directory for one test, or for a file whose tests have a workspace each. */
export function makeHome(): Home {
  const path = mkdtempSync(join(tmpdir(), 'svc-cli-'))
  const state = join(path, 'state')
  mkdirSync(state, { mode: 0o700 })
  plantKey(state)
  const started: Started[] = []

  async function close() {
    for (const { child } of started) child.kill('SIGKILL')
    const ended = await Promise.all(started.map((program) => program.ended))
    const kept = filesWithSecrets(state)
    rmSync(path, { recursive: true, force: true })
    for (const { stderr } of ended) refuseWarnings(stderr)
    const told = [...ended.flatMap(({ stdout, stderr }) => secretsIn(stdout + stderr)), ...kept]
    if (told.length > 0) throw new Error(`planted secrets were told: ${told.join(', ')}`)
  }

  function inWorkspace(workspace: string): Home {
    function start(
      args: readonly string[],
      options: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string; readonly typed?: true } = {},
    ): Started {
      const env = { PATH: process.env['PATH'] ?? '', HOME: path, SVC_AGENT_STATE_DIR: state, NO_COLOR: '1', ...options.env }
      const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: workspace, env, stdio: ['pipe', 'pipe', 'pipe'] })
      if (options.typed !== true) child.stdin.end(options.stdin ?? '')
      const program = follow(child)
      started.push(program)
      return program
    }

    return {
      path,
      state,
      workspace,
      start,
      run: (args, options) => start(args, options).ended,
      async serve(args = [], env = {}) {
        const server = start(['serve', '--port', '0', ...args], { env })
        const [, url = ''] = await server.prints(/^svc agent listening on (http:\/\/\S+)\n/)
        return { ...server, url }
      },
      elsewhere: () => inWorkspace(makeWorkspace()),
      close,
    }
  }

  const makeWorkspace = () => mkdtempSync(join(path, 'work-'))
  return inWorkspace(makeWorkspace())
}

function follow(child: ChildProcessByStdio<Writable, Readable, Readable>): Started {
  let stdout = ''
  let stderr = ''
  const looks = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    for (const look of looks) look()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    for (const look of looks) look()
  })
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
  const seen = (pattern: RegExp, heard: () => string) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(heard())
        if (match === null) return
        looks.delete(look)
        resolve(match)
      }
      looks.add(look)
      look()
      void ended.then(() => reject(new Error(`ended without printing ${String(pattern)}\n${stdout}\n${stderr}`)))
    })
  return { child, ended, prints: (pattern) => seen(pattern, () => stdout), notes: (pattern) => seen(pattern, () => stderr) }
}

/** Runs lines in real bash, many in one process group that is ended as a whole. */
import { spawn } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Place, SECRETS } from './place.js'

const ENDLESS = 'a line of the campaign had no end'
/** For every line a bash of its own, as the tool starts it: `bash -c line`, without input. */
const EACH = `ulimit -t 2; while IFS= read -r -d "" line <&3; do timeout -k 1 4 bash -c "$line" </dev/null 3<&-; [ $? != 124 ] || echo "${ENDLESS}"; done`
const TIMEOUT_MS = 60_000
/** A process that left the group may hold the pipe. */
const DRAIN_MS = 1000
const MAX_OUTPUT = 64 * 1024 * 1024

export interface Ran {
  /** Why these lines should not have run: files touched, secrets shown. */
  readonly escapes: readonly string[]
  readonly timedOut: boolean
  /** Lines that were ended. */
  readonly endless: number
}

export async function runLines(place: Place, lines: readonly string[], timeoutMs = TIMEOUT_MS): Promise<Ran> {
  const file = join(place.root, '..', `lines-${process.pid}-${Math.trunc(performance.now())}`)
  writeFileSync(file, lines.map((line) => `${line}\0`).join(''))
  const input = openSync(file, 'r')
  rmSync(file)
  const child = spawn('bash', ['--norc', '--noprofile', '-c', EACH], {
    cwd: place.repo,
    env: place.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', input],
  })
  closeSync(input)
  let output = ''
  let timedOut = false
  const add = (chunk: Buffer) => {
    if (output.length < MAX_OUTPUT) output += chunk.toString('latin1')
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Nobody of the group is left.
    }
  }
  const timer = setTimeout(() => {
    timedOut = true
    end()
  }, timeoutMs)
  const closed = new Promise((resolve) => void child.once('close', resolve))
  await new Promise((resolve) => void child.once('exit', resolve))
  clearTimeout(timer)
  end()
  await Promise.race([closed, new Promise((resolve) => void setTimeout(resolve, DRAIN_MS))])
  child.stdout?.destroy()
  child.stderr?.destroy()
  return {
    escapes: [...place.changes(), ...SECRETS.filter((secret) => output.includes(secret))],
    timedOut,
    endless: output.split(ENDLESS).length - 1,
  }
}

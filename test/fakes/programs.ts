import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { buildSync } from 'esbuild'
import { PATIENCE, patience } from './patience.js'

/** Bundles TypeScript that imports from `./src/…` into a program for `process.execPath`; returns its path. */
export function bundleProgram(source: string): string {
  const outfile = join(mkdtempSync(join(tmpdir(), 'svc-programs-')), 'program.mjs')
  buildSync({
    stdin: { contents: source, resolveDir: join(import.meta.dirname, '../..'), loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  })
  return outfile
}

/** A function that waits for the next line of a program's output, which is JSON. */
export function jsonLines(stream: Readable): () => Promise<unknown> {
  const lines: AsyncIterator<string, undefined> = createInterface({ input: stream })[Symbol.asyncIterator]()
  return async () => {
    const { value } = await lines.next()
    if (value === undefined) throw new Error('the program ended without saying more')
    const line: unknown = JSON.parse(value)
    return line
  }
}

/** Whether a process runs; one that has ended and is not reaped yet does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

/** Waits for a state of the outside world that sends no event. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = PATIENCE): Promise<void> {
  const waiting = patience(withinMs)
  while (!(await holds())) {
    if (waiting.isOver()) throw new Error(`not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

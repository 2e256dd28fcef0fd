import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStore } from '../../src/store/open.js'

const WRITER = `
import { openStore } from './src/store/open.ts'
const store = openStore({ directory: process.argv[2] ?? '', now: () => 1 })
const first = store.reserveSequences(1_000_000)
for (let sequence = first; ; sequence++) {
  store.transact(sequence % 3 === 0 ? 'power' : 'process', () =>
    store.events.insert({ sequence, type: 'session.updated', sessionId: null, json: '{}', created: 1 }))
  process.stdout.write(sequence + '\\n')
}`

const root = join(import.meta.dirname, '..', '..')
const program = join(root, 'node_modules', '.cache', 'svc-test', `store-writer-${process.pid}.mjs`)
let directory = ''
let writer: ChildProcess | undefined

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-store-'))
  await build({
    stdin: { contents: WRITER, resolveDir: root, loader: 'ts' },
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
})
afterAll(() => {
  writer?.kill('SIGKILL')
  rmSync(directory, { recursive: true })
  rmSync(program)
})

/** Lets the writer run until it has acknowledged `count` rows; answers it, still running, and the last row. */
async function startWriter(count: number): Promise<{ child: ChildProcess; lines: AsyncIterator<string>; acknowledged: number }> {
  const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  writer = child
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let acknowledged = 0
  for (let i = 0; i < count; i++) acknowledged = Number((await lines.next()).value)
  return { child, lines, acknowledged }
}

it('keeps every acknowledged commit of a killed server, frees its lock and never repeats its sequences', async () => {
  let reservedUntil = 1000
  for (let round = 0; round < 3; round++) {
    const { child, lines, acknowledged } = await startWriter(50)
    expect(() => openStore({ directory, now: () => 1 })).toThrow(`(process ${child.pid})`)
    child.kill('SIGKILL')
    await once(child, 'exit')
    let last = acknowledged
    for (let line = await lines.next(); !line.done; line = await lines.next()) last = Math.max(last, Number(line.value) || 0)

    const store = openStore({ directory, now: () => 1 })
    expect(acknowledged).toBeGreaterThan(reservedUntil)
    expect(store.events.last()).toBeGreaterThanOrEqual(last)
    const rows = store.events.after(reservedUntil, 1_000_000).map((row) => row.sequence)
    expect(rows).toEqual(rows.map((_, index) => reservedUntil + 1 + index))
    reservedUntil = store.reserveSequences(1)
    expect(reservedUntil).toBeGreaterThan(store.events.last())
    store.close()
  }
})

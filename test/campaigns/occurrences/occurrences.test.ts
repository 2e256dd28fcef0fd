// Holds subsystems a.5.
/**
 * Random schedules against an oracle that knows `Intl` alone, on machines in several zones: two thousand, or ten thousand
 * with `SVC_CAMPAIGN=whole`.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { upcoming } from '../../../src/machines/workflows/schedule/occurrence.js'
import { cases, disagreement, ZONES } from './oracle-cases.js'

const HOSTS = [
  ['UTC', 0],
  ['America/St_Johns', 150],
  ['Pacific/Kiritimati', -840],
  ['Australia/Lord_Howe', -630],
] as const
const EACH = process.env['SVC_CAMPAIGN'] === 'whole' ? 2500 : 500

const folder = mkdtempSync(join(tmpdir(), 'svc-oracle-'))
const program = join(folder, 'oracle.mjs')

beforeAll(async () => {
  const entryPoints = [fileURLToPath(new URL('oracle-program.ts', import.meta.url))]
  await build({ entryPoints, outfile: program, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.concurrent.each(HOSTS)('agrees on a machine in %s', async (host, offset) => {
  const env = { PATH: process.env['PATH'], TZ: host }
  const seed = 1000 + HOSTS.findIndex(([name]) => name === host)
  const { stdout } = await promisify(execFile)(process.execPath, [program, String(seed), String(EACH)], { env })
  expect(JSON.parse(stdout)).toEqual({ host, offset, compared: EACH, zones: ZONES.length, wrong: [] })
})

test('the oracle notices an answer that is half an hour late where the clock was changed', () => {
  const late: typeof upcoming = (schedule, after, count) =>
    upcoming(schedule, after, count).map((each) => (each.shift === 'gap' ? { ...each, scheduledAt: each.scheduledAt + 1_800_000 } : each))
  const sample = [...cases(1, 400)]
  expect(sample.filter((each) => disagreement(each) !== undefined)).toEqual([])
  expect(sample.filter((each) => disagreement(each, late) !== undefined).length).toBeGreaterThan(0)
})

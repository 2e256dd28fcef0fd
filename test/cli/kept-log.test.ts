import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keptLog } from '../../src/cli/kept-log.js'

test.each([
  ['1', 1],
  ['none', 4],
])('with SVC_LOG_MIB=%s the log is two files of %d MiB', (value, mebibytes) => {
  const state = mkdtempSync(join(tmpdir(), 'svc-kept-log-'))
  onTestFinished(() => rmSync(state, { recursive: true, force: true }))
  const { logWrite } = keptLog({ SVC_AGENT_STATE_DIR: state, SVC_LOG: 'silent', SVC_LOG_MIB: value }, 'info')
  const line = `${'x'.repeat(64 * 1024)}\n`
  for (let written = 0; written < 9 * 1024 * 1024; written += line.length) logWrite?.(line, 'info')
  const sizes = ['svc.log', 'svc.log.1'].map((name) => statSync(join(state, 'log', name)).size)
  const most = mebibytes * 1024 * 1024
  expect(sizes.every((size) => size > 0 && size < most + most / 8)).toBe(true)
  expect(sizes[1]).toBeGreaterThan(most - most / 8)
})

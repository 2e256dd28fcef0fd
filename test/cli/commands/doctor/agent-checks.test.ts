import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentFindings, inspectAgents } from '../../../../src/cli/commands/doctor/agent-checks.js'
import { createNodeEffects } from '../../../../src/platform/node/node-effects.js'

let root: string
const before = process.env['PATH']
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-agents-')))
})
afterEach(() => {
  process.env['PATH'] = before
  rmSync(root, { recursive: true })
})

/** A program as npm installs it globally: a link into its package. */
function install(name: string, version: string): string {
  const folder = join(root, 'lib/node_modules', name)
  mkdirSync(join(folder, 'dist'), { recursive: true })
  mkdirSync(join(root, 'bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version }))
  writeFileSync(join(folder, 'dist/index.js'), '#!/bin/sh\nexit 9\n')
  chmodSync(join(folder, 'dist/index.js'), 0o755)
  symlinkSync(join(folder, 'dist/index.js'), join(root, 'bin', name))
  return join(root, 'bin', name)
}

test('the doctor tells where an agent is, of which version, what is missing, and what the environment names wrongly; it starts none', async () => {
  const codex = install('codex-acp', '2.6.0')
  process.env['PATH'] = join(root, 'bin')
  const env = { SVC_EXTERNAL_CLAUDE_COMMAND: '["not-a-program-of-anybody"]' }
  const findings = await inspectAgents({ directory: join(root, 'work') }, createNodeEffects(), env)
  expect(findings.map(({ level, detail }) => `${level}: ${detail}`)).toEqual([
    `ok: codex 2.6.0 (${codex}); not on the search path: opencode (npm install --global opencode-ai)`,
    'warning: The program "not-a-program-of-anybody" that SVC_EXTERNAL_CLAUDE_COMMAND names is not on the search path.',
  ])
})

test('an agent that no package has is told without a version', () => {
  expect(agentFindings([{ provider: 'codex', line: '/opt/codex-acp', version: undefined }])).toEqual([
    { level: 'ok', check: 'external agents', detail: 'codex (/opt/codex-acp)' },
  ])
})

// Holds http-contract §2.13, §5.9; subsystems e.
import { expect, test } from 'vitest'
import { lspFindings } from '../../../../src/cli/commands/doctor/lsp-checks.js'
import type { LspStatus } from '../../../../src/protocol/lsp/lsp.js'

type Standing = LspStatus['acceptance']
const fitting = (id: string, status: 'available' | 'connected' | 'error', message: string | null = null, acceptance: Standing = null) => ({
  acceptance,
  id,
  status,
  command: [`${id}-server`, '--stdio'],
  command_source: 'path' as const,
  detected: { files: 1, markers: [], extensions: {}, command_available: message === null, message },
})

test('the doctor says nothing of language servers where none fits', () => {
  expect(lspFindings([])).toEqual([])
})

test('the doctor tells which language servers run, could, are missing and are broken', () => {
  const findings = lspFindings([
    fitting('typescript', 'connected'),
    fitting('pyright', 'available'),
    fitting('bash', 'available'),
    fitting('gopls', 'error', 'The program "gopls-server" was not found.'),
    fitting('mine', 'error', '"command" is empty.'),
  ])
  expect(findings.map(({ level, detail }) => `${level}: ${detail}`)).toEqual([
    'ok: running: typescript-server; start when they are needed: pyright-server, bash-server; would help, and not installed: gopls-server',
    'warning: mine: "command" is empty. (docs/language-servers.md)',
  ])
})

test('the doctor names the language servers that wait to be accepted, and how that is done', () => {
  const waiting = { state: 'waiting' as const, revision: 'sha256:1', commands: [['bash-server']], also: [], message: 'it waits' }
  const findings = lspFindings([fitting('bash', 'error', 'it waits', waiting), fitting('pyright', 'available')])
  expect(findings.map(({ level, detail }) => `${level}: ${detail}`)).toEqual([
    'ok: start when they are needed: pyright-server; wait until somebody lets them load code of this workspace: bash-server; "svc lsp accept bash" does',
  ])
})

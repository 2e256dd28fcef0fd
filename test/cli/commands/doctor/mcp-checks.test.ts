// Holds http-contract §2.14.
import { expect, test } from 'vitest'
import { mcpFindings, waitingFindings } from '../../../../src/cli/commands/doctor/mcp-checks.js'
import { MCP_UNTRIED } from '../../../../src/protocol/mcp/mcp.js'

test('the doctor says nothing of MCP servers where there are none', () => {
  expect(mcpFindings({})).toEqual([])
})

test('the doctor counts MCP servers, and says of each that cannot be used why, and what to do', () => {
  const findings = mcpFindings({
    files: { status: 'connected' },
    quiet: { status: 'failed', error: MCP_UNTRIED },
    off: { status: 'disabled' },
    broken: { status: 'failed', error: 'its program has ended with code 3\nand more' },
    tracker: { status: 'needs_auth' },
    stranger: { status: 'needs_client_registration', error: 'configure "oauth.clientId"' },
  })
  expect(findings.map(({ level, detail }) => `${level}: ${detail}`)).toEqual([
    'ok: 6 configured, 1 connected, 1 switched off, 1 not tried yet (svc mcp --connect tries them)',
    'warning: broken: its program has ended with code 3 (svc mcp broken --connect tries it anew)',
    'warning: tracker: somebody has to sign in: open the authorizationUrl that POST /v2/plugins/dev.svc.mcp/tracker/auth answers',
    'warning: stranger: configure "oauth.clientId"',
  ])
})

test('the doctor names the servers of the workspace that nobody has accepted', () => {
  const standing = { state: 'waiting' as const, revision: 'sha256:1', commands: [['server']], also: [], message: 'it waits' }
  expect(waitingFindings({ theirs: { acceptance: standing }, ours: { acceptance: null } })).toEqual([
    { level: 'warning', check: 'MCP servers', detail: 'theirs: it waits (docs/mcp.md)' },
  ])
})

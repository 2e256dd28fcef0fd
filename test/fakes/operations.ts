/** What plugins of a fake runtime answer to operations of the contract, by operation id. */
import type { McpCatalogEntry, McpStatus } from '../../src/protocol/mcp/mcp.js'
import type { GoalResponse } from '../../src/protocol/session/goal.js'
import type { SubagentTask } from '../../src/protocol/session/subagent.js'
import type { Pty } from '../../src/protocol/terminal/pty.js'
import type { WorkflowDefinition, WorkflowProjection, WorkflowRun, WorkflowView } from '../../src/protocol/workflow/workflow.js'

export const WORKFLOW: WorkflowDefinition = {
  id: 'report',
  name: 'Report',
  active: true,
  schedule: { frequency: 'daily', interval: 1, timezone: 'UTC', time: '09:00' },
  prompt: 'Write the report.',
}

const HASH = 'a'.repeat(64)
const sourcePath = '/srv/here/.svc/workflows/report.md'

const VIEW: WorkflowView = {
  definition: WORKFLOW,
  sourcePath,
  sourceHash: HASH,
  active: true,
  activationID: 'wfa_1',
  lastScheduledAt: null,
  revision: `sha256:${HASH}`,
  writable: true,
}

const PROJECTION: WorkflowProjection = {
  activationId: 'wfa_1',
  workflowId: WORKFLOW.id,
  workspaceRoot: '/srv/here',
  sourcePath,
  sourceHash: HASH,
  definition: WORKFLOW,
  active: true,
  activatedAt: 1,
  updated: 1,
}

const RUN: WorkflowRun = {
  id: 'wfr_1_a',
  activationId: 'wfa_1',
  workflowId: WORKFLOW.id,
  scheduledAt: 1,
  status: 'queued',
  trigger: 'manual',
  created: 1,
  attempt: 1,
  rootRunId: 'wfr_1_a',
}

const PTY: Pty = { id: 'pty_1', command: ['/bin/sh'], cwd: '/srv/space', title: 'shell', time: 1 }

const TASK: SubagentTask = {
  id: 'ses_2',
  sessionId: 'ses_1',
  childSessionId: 'ses_2',
  agent: 'general',
  status: 'completed',
  description: 'look around',
  nested: false,
  result: 'Nothing.',
}

const GOAL: GoalResponse = {
  goal: {
    text: 'All tests pass.',
    status: 'active',
    paused: false,
    summary: '',
    research: [{ source: 'https://here.test', content: 'How to.', captured: 1 }],
    created: 1,
    updated: 2,
  },
  researchEnabled: true,
}

const MCP_STATUS: McpStatus = { status: 'connected' }

const MCP_ENTRY: McpCatalogEntry = {
  status: MCP_STATUS,
  enabled: true,
  runtimeConnected: true,
  oauthCapable: false,
  hasCredentials: false,
  configWritable: true,
  configScope: 'global',
  acceptance: null,
}

const ACCEPTANCE = {
  name: 'bash',
  directory: '/srv/here',
  revision: `sha256:${HASH}`,
  commands: [['bash-language-server', 'start']],
  acceptedAt: 1,
}

const EXTERNAL = {
  provider: 'opencode',
  configOptions: [],
  modeFallback: false,
  selectedOptions: {},
  externalSessionId: null,
  availableCommands: [],
}
const EXTERNAL_SESSION = {
  id: 'ses_2',
  slug: 'a',
  projectId: 'p',
  directory: '/srv/here',
  title: 'From the agent',
  version: '0',
  time: { created: 1, updated: 1 },
}
const CHANGE = { path: 'a.txt', file: 'a.txt', status: 'modified', additions: 1, deletions: 0 }
const DIFF = { ...CHANGE, added: 1, removed: 0, patch: 'diff --git a/a.txt b/a.txt\n', hunks: [{ patch: 'diff --git a/a.txt b/a.txt\n' }] }

const LSP_PLACE = {
  path: 'a.ts',
  range: { start: { line: 1, character: 1 }, end: { line: 1, character: 2 } },
  language: 'typescript',
}
const LSP_ITEM = { ...LSP_PLACE, name: 'f', kind: 'function', detail: null, selection_range: null }

export const OPERATION_ANSWERS: Readonly<Record<string, unknown>> = {
  'v2.sessions.jobs.cancel': { jobId: 'job_1', status: 'stopping' },
  'v2.subagents.tasks.list': [TASK],
  'v2.subagents.tasks.stop': { stopped: ['ses_2'], clearedPrompts: 1 },
  'v2.plugins.goals.get': GOAL,
  'v2.plugins.goals.set': GOAL,
  'v2.plugins.goals.clear': { goal: null, researchEnabled: true },
  'v2.plugins.goals.research': GOAL,
  'v2.plugins.vcs.get': { branch: 'main', default_branch: 'main' },
  'v2.external.options.preview': EXTERNAL,
  'v2.external.options.previewSelected': EXTERNAL,
  'v2.sessions.external.options.get': EXTERNAL,
  'v2.sessions.external.options.set': EXTERNAL,
  'v2.sessions.external.catalog': { provider: 'opencode', cwd: '/srv/here', sessions: [], importSupported: true },
  'v2.sessions.external.import': EXTERNAL_SESSION,
  'external.sessions.create': EXTERNAL_SESSION,
  'v2.plugins.vcs.status': [CHANGE],
  'v2.plugins.vcs.diff': [DIFF],
  'v2.plugins.vcs.diff.raw': new TextEncoder().encode(DIFF.patch),
  'v2.plugins.vcs.apply': { success: true },
  'v2.plugins.semantic.search': {
    available: true,
    hits: [{ sessionId: 'ses_1', messageId: 'msg_1', role: 'user', created: 1, excerpt: 'hello', distance: 0 }],
  },
  'v2.plugins.lsp.status': [
    {
      id: 'bash',
      name: 'bash',
      status: 'error',
      language: 'shellscript',
      command: ['bash-language-server', 'start'],
      command_source: 'missing',
      workspace: { root: '/srv/here', root_uri: 'file:///srv/here' },
      capabilities: {
        workspace_symbols: false,
        completion: false,
        hover: false,
        definition: false,
        references: false,
        implementation: false,
        call_hierarchy: false,
        diagnostics: false,
        document_symbols: false,
        formatting: false,
        code_actions: false,
        rename: false,
      },
      detected: { files: 1, markers: [], extensions: { sh: 1 }, command_available: false, message: 'The program was not found.' },
      runtime: null,
      acceptance: null,
    },
  ],
  'v2.plugins.lsp.acceptances': [ACCEPTANCE],
  'v2.plugins.lsp.accept': ACCEPTANCE,
  'v2.plugins.lsp.takeBack': { removed: true },
  'v2.plugins.files.formatters': [
    { id: 'prettier', command: ['prettier'], extensions: ['ts'], wanted: true, problem: null, acceptance: null },
  ],
  'v2.plugins.files.formatters.accept': ACCEPTANCE,
  'v2.plugins.files.formatters.takeBack': { removed: true },
  'v2.plugins.mcp.accept': ACCEPTANCE,
  'v2.plugins.mcp.takeBack': { removed: true },
  'v2.plugins.lsp.codeActions': [{ title: 'Fix it' }],
  'v2.plugins.lsp.definition': [LSP_PLACE],
  'v2.plugins.lsp.diagnostics': [
    {
      ...LSP_PLACE,
      severity: 'error',
      code: '1',
      code_description: null,
      source: 'it',
      message: 'no',
      tags: [],
      related_information: [{ path: 'a.ts', range: null, message: 'here' }],
    },
  ],
  'v2.plugins.lsp.documentHighlights': [{ ...LSP_PLACE, kind: 'text' }],
  'v2.plugins.lsp.documentSymbols': [{ ...LSP_ITEM, children: [{ ...LSP_ITEM, children: [] }] }],
  'v2.plugins.lsp.formatting': [{ newText: '' }],
  'v2.plugins.lsp.hover': [{ ...LSP_PLACE, contents: 'a', kind: 'markdown' }],
  'v2.plugins.lsp.implementation': [LSP_PLACE],
  'v2.plugins.lsp.incomingCalls': [{ item: LSP_ITEM, ranges: [LSP_PLACE.range], direction: 'incoming', language: 'typescript' }],
  'v2.plugins.lsp.outgoingCalls': [{ item: LSP_ITEM, ranges: [LSP_PLACE.range], direction: 'outgoing', language: 'typescript' }],
  'v2.plugins.lsp.inlayHints': [
    { path: 'a.ts', line: 1, character: 1, label: 'a', kind: 'type', padding_left: false, padding_right: true, language: null },
  ],
  'v2.plugins.lsp.prepareCallHierarchy': [LSP_ITEM],
  'v2.plugins.lsp.references': [LSP_PLACE],
  'v2.plugins.lsp.signatureHelp': [
    {
      path: 'a.ts',
      signatures: [{ label: 'f()', documentation: null, parameters: [{ label: 'a', documentation: null }], active_parameter: null }],
      active_signature: 0,
      active_parameter: 0,
      language: 'typescript',
    },
  ],
  'v2.plugins.lsp.touch': [{ language: 'typescript', path: 'a.ts', notified: true, cachedDiagnostics: 0 }],
  'v2.plugins.lsp.shutdown': { shutdown: true },
  'v2.plugins.mcp.status': { files: MCP_STATUS },
  'v2.plugins.mcp.add': { files: MCP_STATUS },
  'v2.plugins.mcp.auth.start': { authorizationUrl: 'https://sign.in', oauthState: 's' },
  'v2.plugins.mcp.auth.remove': { success: true },
  'v2.plugins.mcp.auth.authenticate': MCP_STATUS,
  'v2.plugins.mcp.auth.callback.post': MCP_STATUS,
  'v2.plugins.mcp.auth.callback.get': { status: 200, html: '<!doctype html>' },
  'v2.plugins.mcp.catalog': { files: MCP_ENTRY },
  'v2.plugins.mcp.config': MCP_ENTRY,
  'v2.plugins.mcp.connect': true,
  'v2.plugins.mcp.disconnect': true,
  'v2.plugins.mcp.prompts': [{ name: 'review', client: 'files', arguments: [{ name: 'file', required: true }] }],
  'v2.plugins.mcp.resources': [{ name: 'notes', uri: 'file:///notes', client: 'files' }],
  'v2.plugins.mcp.tools': [{ name: 'read', inputSchema: { type: 'object' }, client: 'files' }],
  'v2.plugins.mcp.tools.call': { content: [{ type: 'text', text: 'hello' }] },
  'v2.plugins.pty.list': [PTY],
  'v2.plugins.pty.create': PTY,
  'v2.plugins.pty.shells': [{ path: '/bin/sh', name: 'sh', acceptable: true }],
  'v2.plugins.pty.get': PTY,
  'v2.plugins.pty.update': PTY,
  'v2.plugins.pty.remove': true,
  'v2.plugins.pty.connectToken': { ticket: 'secret', expires_in: 30 },
  'v2.plugins.workflows.list': {
    workflows: [VIEW],
    diagnostics: [{ sourcePath: '/srv/here/.svc/workflows/bad.md', line: 2, message: 'needs the field "id"' }],
  },
  'v2.plugins.workflows.create': VIEW,
  'v2.plugins.workflows.get': VIEW,
  'v2.plugins.workflows.update': VIEW,
  'v2.plugins.workflows.patch': VIEW,
  'v2.plugins.workflows.delete': undefined,
  'v2.plugins.workflows.activate': PROJECTION,
  'v2.plugins.workflows.pause': { ...PROJECTION, active: false },
  'v2.plugins.workflows.preview': {
    definition: WORKFLOW,
    sourcePath,
    upcoming: [{ scheduledAt: 32_400_000, utc: '1970-01-01T09:00:00Z', local: '1970-01-01T09:00:00+00:00' }],
  },
  'v2.plugins.workflows.run': RUN,
  'v2.plugins.workflows.history': { runs: [RUN] },
  'v2.plugins.workflows.runs.get': RUN,
  'v2.plugins.workflows.runs.retry': { ...RUN, id: 'wfr_2_b', attempt: 2, retryOf: RUN.id, trigger: 'manual-retry' },
}

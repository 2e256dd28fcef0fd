/** Language servers of a directory: what `dev.svc.lsp` tells of them (http-contract §2.13, §5.9; subsystems e). */
import * as z from 'zod'
import { ACT, AcceptanceRemoved, AcceptRequest, ProgramAcceptance, ProgramStanding } from '../acceptance/acceptance.js'
import { LIMITS } from '../limits.js'
import { pathText } from '../text/path-text.js'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, queryInt, uint } from '../shared.js'
import {
  LspCallHierarchyCall,
  LspCallHierarchyItem,
  LspDiagnostic,
  LspDocumentHighlight,
  LspDocumentSymbol,
  LspHover,
  LspInlayHint,
  LspLocation,
  LspSignatureHelp,
} from './lsp-records.js'

/** What a language server can be asked for. */
const LspCapabilities = z.strictObject({
  workspace_symbols: z.boolean(),
  completion: z.boolean(),
  hover: z.boolean(),
  definition: z.boolean(),
  references: z.boolean(),
  implementation: z.boolean(),
  call_hierarchy: z.boolean(),
  diagnostics: z.boolean(),
  document_symbols: z.boolean(),
  formatting: z.boolean(),
  code_actions: z.boolean(),
  rename: z.boolean(),
})
export const LspCapability = LspCapabilities.keyof()
export type LspCapability = z.infer<typeof LspCapability>

/** One adapter for which a directory gives reason. */
export const LspStatus = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** `error`: its program is missing or its configuration is wrong; `detected.message` says which. */
  status: z.enum(['available', 'connected', 'error']),
  /** The one language its files are in, or its id when there are several. */
  language: z.string(),
  command: z.array(z.string()),
  command_source: z.enum(['built_in', 'extension', 'config', 'path', 'missing']),
  /** The nearest directory with a marker of the project. */
  workspace: z.strictObject({ root: z.string(), root_uri: z.string() }),
  /** All false when the program is missing. */
  capabilities: LspCapabilities,
  detected: z.strictObject({
    /** Files that were looked at. */
    files: uint,
    markers: z.array(z.string()),
    /** Files by extension, lower case and without a dot. */
    extensions: z.record(z.string(), uint),
    command_available: z.boolean(),
    message: z.string().nullable(),
  }),
  /** What a server says of the program of the project that it uses; nothing here tells. */
  runtime: z
    .strictObject({
      source: z.enum(['yarn_sdk', 'configured', 'language_server_default', 'missing_yarn_sdk']),
      path: z.string().nullable(),
      version: z.string().nullable(),
    })
    .nullable(),
  /** Whether its program may start in this workspace; null when it is missing, or runs already and is reached. */
  acceptance: ProgramStanding.nullable(),
})
export type LspStatus = z.infer<typeof LspStatus>

export const LspTouchRequest = z.strictObject({
  /** Absolute, or relative to the directory. */
  file: pathText.min(1).max(4096),
  /** What the file is to hold, as far as language servers know; absent or null: what is on disk. */
  text: z.string().max(LIMITS.lsp.documentBytes).nullable().optional(),
  directory: directoryQuery.directory,
})

/** One language server that was told. */
export const LspTouched = z.strictObject({ language: z.string(), path: z.string(), notified: z.literal(true), cachedDiagnostics: uint })
export type LspTouched = z.infer<typeof LspTouched>

const file = pathText.min(1).max(4096)
const position = queryInt(0, 2 ** 31 - 1)
/** A file; absolute, or relative to the directory. */
export const LspFileQuery = z.strictObject({ ...directoryQuery, file })
/** A place in a file, counted from zero: line, and byte of it. */
export const LspPlaceQuery = z.strictObject({ ...directoryQuery, file, line: position, character: position })
/** Lines of a file, counted from zero, both included. */
export const LspLinesQuery = z.strictObject({ ...directoryQuery, file, start_line: position, end_line: position })

export const LspServerParams = z.strictObject({ server: z.string() })

const PREFIX = '/v2/plugins/dev.svc.lsp'
const common = { tag: 'plugins', method: 'GET', access: { class: 'directory' }, headers: directoryHeaders } as const
const ofPlace = { ...common, query: LspPlaceQuery } as const
const ofFile = { ...common, query: LspFileQuery } as const
const ofServer = {
  ...common,
  ...ACT,
  params: LspServerParams,
  query: z.strictObject(directoryQuery),
} as const

export const lspRoutes = {
  status: defineRoute({
    ...common,
    id: 'v2.plugins.lsp.status',
    path: PREFIX,
    query: z.strictObject(directoryQuery),
    summary: 'Language servers that fit the files of a directory, and whether they run or could. None is started.',
    success: { status: 200, description: 'Adapters in the order of the registry.', schema: z.array(LspStatus) },
  }),
  codeActions: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.codeActions',
    path: `${PREFIX}/code-actions`,
    summary: 'What language servers would do at a place.',
    success: { status: 200, description: 'As the servers say it; columns are bytes from zero.', schema: z.array(z.unknown()) },
  }),
  definition: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.definition',
    path: `${PREFIX}/definition`,
    summary: 'Where what stands at a place is defined.',
    success: { status: 200, description: 'Places.', schema: z.array(LspLocation) },
  }),
  diagnostics: defineRoute({
    ...ofFile,
    id: 'v2.plugins.lsp.diagnostics',
    path: `${PREFIX}/diagnostics`,
    summary: 'What language servers find wrong in a file; waits two seconds for them.',
    success: { status: 200, description: 'Diagnostics.', schema: z.array(LspDiagnostic) },
  }),
  documentHighlights: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.documentHighlights',
    path: `${PREFIX}/document-highlights`,
    summary: 'Where in its file what stands at a place stands as well.',
    success: { status: 200, description: 'Highlights.', schema: z.array(LspDocumentHighlight) },
  }),
  documentSymbols: defineRoute({
    ...ofFile,
    id: 'v2.plugins.lsp.documentSymbols',
    path: `${PREFIX}/document-symbols`,
    summary: 'What a file defines.',
    success: { status: 200, description: 'Symbols, at most a hundred that are in no other.', schema: z.array(LspDocumentSymbol) },
  }),
  formatting: defineRoute({
    ...ofFile,
    id: 'v2.plugins.lsp.formatting',
    path: `${PREFIX}/formatting`,
    summary: 'Edits that would format a file; nothing is changed.',
    success: { status: 200, description: 'As the servers say it; columns are bytes from zero.', schema: z.array(z.unknown()) },
  }),
  hover: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.hover',
    path: `${PREFIX}/hover`,
    summary: 'What language servers tell about a place.',
    success: { status: 200, description: 'Texts.', schema: z.array(LspHover) },
  }),
  implementation: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.implementation',
    path: `${PREFIX}/implementation`,
    summary: 'Where what stands at a place is implemented.',
    success: { status: 200, description: 'Places.', schema: z.array(LspLocation) },
  }),
  incomingCalls: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.incomingCalls',
    path: `${PREFIX}/incoming-calls`,
    summary: 'What calls the function at a place.',
    success: { status: 200, description: 'Calls.', schema: z.array(LspCallHierarchyCall) },
  }),
  outgoingCalls: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.outgoingCalls',
    path: `${PREFIX}/outgoing-calls`,
    summary: 'What the function at a place calls.',
    success: { status: 200, description: 'Calls.', schema: z.array(LspCallHierarchyCall) },
  }),
  inlayHints: defineRoute({
    ...common,
    id: 'v2.plugins.lsp.inlayHints',
    path: `${PREFIX}/inlay-hints`,
    query: LspLinesQuery,
    summary: 'What an editor would show between the words of some lines.',
    success: { status: 200, description: 'Hints.', schema: z.array(LspInlayHint) },
  }),
  prepareCallHierarchy: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.prepareCallHierarchy',
    path: `${PREFIX}/prepare-call-hierarchy`,
    summary: 'Functions at a place, whose calls can be asked for.',
    success: { status: 200, description: 'Functions.', schema: z.array(LspCallHierarchyItem) },
  }),
  references: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.references',
    path: `${PREFIX}/references`,
    summary: 'Where what stands at a place is used and declared.',
    success: { status: 200, description: 'Places.', schema: z.array(LspLocation) },
  }),
  signatureHelp: defineRoute({
    ...ofPlace,
    id: 'v2.plugins.lsp.signatureHelp',
    path: `${PREFIX}/signature-help`,
    summary: 'Signatures of the call a place is in.',
    success: { status: 200, description: 'Signatures, by server.', schema: z.array(LspSignatureHelp) },
  }),
  touch: defineRoute({
    ...common,
    id: 'v2.plugins.lsp.touch',
    method: 'POST',
    path: `${PREFIX}/touch`,
    query: z.strictObject(directoryQuery),
    summary: 'Tell language servers what a file holds.',
    body: { schema: LspTouchRequest, required: true },
    success: { status: 200, description: 'Servers that were told.', schema: z.array(LspTouched) },
  }),
  acceptances: defineRoute({
    ...common,
    id: 'v2.plugins.lsp.acceptances',
    path: `${PREFIX}/acceptances`,
    query: z.strictObject(directoryQuery),
    summary: 'Language servers that somebody let start in a workspace.',
    success: { status: 200, description: 'The oldest first.', schema: z.array(ProgramAcceptance) },
  }),
  accept: defineRoute({
    ...ofServer,
    id: 'v2.plugins.lsp.accept',
    method: 'POST',
    path: `${PREFIX}/{server}/acceptance`,
    summary: 'Let a language server start in a workspace, with the command it has now: it loads code from there.',
    body: { schema: AcceptRequest, required: false },
    success: { status: 200, description: 'What is remembered.', schema: ProgramAcceptance },
  }),
  takeBack: defineRoute({
    ...ofServer,
    id: 'v2.plugins.lsp.takeBack',
    method: 'DELETE',
    path: `${PREFIX}/{server}/acceptance`,
    summary: 'Let it start no more, and end it.',
    success: { status: 200, description: 'Whether there was something to take back.', schema: AcceptanceRemoved },
  }),
  shutdown: defineRoute({
    id: 'v2.plugins.lsp.shutdown',
    method: 'POST',
    path: `${PREFIX}/shutdown`,
    tag: 'plugins',
    access: { class: 'caller' },
    summary: 'End the language servers of every directory the caller may use; the next question starts what it needs.',
    success: { status: 200, description: 'They have ended.', schema: z.strictObject({ shutdown: z.literal(true) }) },
  }),
} as const

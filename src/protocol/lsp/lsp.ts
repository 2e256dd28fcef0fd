/** Language servers of a directory: what `dev.svc.lsp` tells of them (http-contract §2.13, §5.9; subsystems e). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, uint } from '../shared.js'

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
export type LspCapability = keyof z.infer<typeof LspCapabilities>

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
})
export type LspStatus = z.infer<typeof LspStatus>

export const lspRoutes = {
  status: defineRoute({
    id: 'v2.plugins.lsp.status',
    method: 'GET',
    path: '/v2/plugins/dev.svc.lsp',
    tag: 'plugins',
    access: { class: 'directory' },
    headers: directoryHeaders,
    query: z.strictObject(directoryQuery),
    summary: 'Language servers that fit the files of a directory, and whether their programs are there. None is started.',
    success: { status: 200, description: 'Adapters in the order of the registry.', schema: z.array(LspStatus) },
  }),
}

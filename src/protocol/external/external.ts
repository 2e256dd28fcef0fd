/** Agents of others, driven over the Agent Client Protocol: what may be chosen of one (http-contract §2.5, §5.3; subsystems l). */
import * as z from 'zod'
import { ExternalProvider, selectedOptions } from '../session/external-provider.js'
import { defineRoute } from '../route.js'
import { anyRecord, directoryHeaders, directoryQuery } from '../shared.js'

export const ExternalOptionsPreview = z
  .looseObject({
    provider: ExternalProvider,
    configOptions: z.array(anyRecord),
    modeFallback: z.boolean().describe('The agent knows modes only: they are shown as the option `mode`.'),
    selectedOptions: z.record(z.string(), z.string()).describe('The value of each option by its id.'),
    externalSessionId: z.null(),
    availableCommands: z.array(anyRecord),
    catalogStale: z.literal(true).optional().describe('What was known before; it is looked at again meanwhile.'),
  })
  .meta({ id: 'ExternalOptionsPreview' })
export type ExternalOptionsPreview = z.infer<typeof ExternalOptionsPreview>

export const ExternalOptionsPreviewRequest = z.strictObject({ selectedOptions }).meta({ id: 'ExternalOptionsPreviewRequest' })
export type ExternalOptionsPreviewRequest = z.infer<typeof ExternalOptionsPreviewRequest>

export const ExternalSessionOptions = z
  .looseObject({
    provider: ExternalProvider,
    configOptions: z.array(anyRecord),
    modeFallback: z.boolean(),
    selectedOptions: z.record(z.string(), z.string()).describe('Of the next turn.'),
    externalSessionId: z.null().describe('It is not shown by which id the agent knows the session.'),
    availableCommands: z.array(anyRecord),
    replayError: z.string().optional().describe('Why what was chosen before cannot be chosen any more.'),
  })
  .meta({ id: 'ExternalSessionOptions' })
export type ExternalSessionOptions = z.infer<typeof ExternalSessionOptions>

export const ExternalOptionSetRequest = z
  .strictObject({ configId: z.string().min(1), value: z.string() })
  .meta({ id: 'ExternalOptionSetRequest' })
export type ExternalOptionSetRequest = z.infer<typeof ExternalOptionSetRequest>

export const ExternalSessionCatalog = z
  .looseObject({
    provider: ExternalProvider,
    cwd: z.string(),
    sessions: z.array(z.looseObject({ externalSessionId: z.string(), title: z.string().optional(), updatedAt: z.string().optional() })),
    importSupported: z.boolean(),
    importUnavailableReason: z.string().optional(),
  })
  .meta({ id: 'ExternalSessionCatalog' })
export type ExternalSessionCatalog = z.infer<typeof ExternalSessionCatalog>

export const ExternalImportRequest = z
  .strictObject({ provider: ExternalProvider, externalSessionId: z.string().min(1).max(512) })
  .meta({ id: 'ExternalImportRequest' })
export type ExternalImportRequest = z.infer<typeof ExternalImportRequest>

export const ExternalPreviewQuery = z.strictObject({ provider: ExternalProvider, ...directoryQuery })

const common = {
  tag: 'catalog',
  access: { class: 'directory' },
  headers: directoryHeaders,
  query: ExternalPreviewQuery,
  path: '/v2/external/options/preview',
  success: { status: 200, description: 'What may be chosen, and what is.', schema: ExternalOptionsPreview },
} as const

export const externalRoutes = {
  preview: defineRoute({
    ...common,
    id: 'v2.external.options.preview',
    method: 'GET',
    summary: 'Tell what may be chosen of an external agent. It is started for that, and ended again.',
  }),
  previewSelected: defineRoute({
    ...common,
    id: 'v2.external.options.previewSelected',
    method: 'POST',
    summary: 'Tell what may be chosen of an external agent once some of it is.',
    body: { schema: ExternalOptionsPreviewRequest, required: true },
  }),
} as const

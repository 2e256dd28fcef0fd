/** Configuration document and its operations (http-contract §2.3; subsystems b). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, scopeQuery, uint } from '../shared.js'

export const CompactionConfig = z
  .looseObject({
    auto: z.boolean().optional(),
    buffer: uint.optional(),
    keep: z.looseObject({ tokens: uint.optional() }).optional(),
    prune: z.boolean().optional(),
    'threshold-percent': z.number().min(1).max(100).optional(),
  })
  .meta({ id: 'CompactionConfig' })

export const ConfigDocument = z.looseObject({ compaction: CompactionConfig.optional() }).meta({ id: 'ConfigDocument' })
export type ConfigDocument = z.infer<typeof ConfigDocument>

/** A JSON merge patch: given keys replace, `null` deletes (choice 9). */
export const ConfigPatch = z.looseObject({}).meta({ id: 'ConfigPatch', description: 'JSON merge patch of a ConfigDocument.' })

export const ConfigDefaults = z
  .looseObject({ defaultAgent: z.string().nullable(), model: z.string().nullable(), variant: z.string().nullable() })
  .meta({ id: 'ConfigDefaults' })
export type ConfigDefaults = z.infer<typeof ConfigDefaults>

export const ConfigDiagnostic = z
  .looseObject({
    level: z.enum(['error', 'warning']),
    path: z.string(),
    message: z.string(),
    /** `unsupported`: the key is read and nothing is done with it. */
    code: z.string().optional(),
    file: z.string().optional(),
    line: uint.optional(),
    column: uint.optional(),
  })
  .meta({ id: 'ConfigDiagnostic' })
export type ConfigDiagnostic = z.infer<typeof ConfigDiagnostic>
export const ConfigValidation = z.looseObject({ ok: z.boolean(), diagnostics: z.array(ConfigDiagnostic) }).meta({ id: 'ConfigValidation' })
export type ConfigValidation = z.infer<typeof ConfigValidation>

const common = { tag: 'catalog', access: { class: 'directory' }, headers: directoryHeaders, query: z.strictObject(directoryQuery) } as const

export const configRoutes = {
  get: defineRoute({
    ...common,
    id: 'v2.config.get',
    method: 'GET',
    path: '/v2/config',
    summary: 'The effective configuration.',
    success: { status: 200, description: 'Configuration.', schema: ConfigDocument },
  }),
  update: defineRoute({
    ...common,
    id: 'v2.config.update',
    isForOwnPage: true,
    ownPageFields: ['plugins'],
    method: 'PATCH',
    path: '/v2/config',
    access: { class: 'directory', guardsInstallation: true },
    query: z.strictObject({ ...directoryQuery, ...scopeQuery }),
    summary: 'Merge a patch into the writable configuration.',
    body: { schema: ConfigPatch, required: true },
    success: { status: 200, description: 'The effective configuration.', schema: ConfigDocument },
  }),
  defaults: defineRoute({
    ...common,
    id: 'v2.config.defaults',
    method: 'GET',
    path: '/v2/config/defaults',
    summary: 'Effective default selections.',
    success: { status: 200, description: 'Defaults.', schema: ConfigDefaults },
  }),
  validate: defineRoute({
    ...common,
    id: 'v2.config.validate',
    method: 'GET',
    path: '/v2/config/validate',
    summary: 'Check the configuration.',
    success: { status: 200, description: 'Diagnostics.', schema: ConfigValidation },
  }),
} as const

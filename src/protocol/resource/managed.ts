/** Managed agents, commands and skills: records and operations (http-contract §2.10, §5.7; subsystems b.13). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { defineRoute } from '../route.js'
import { anyRecord, directoryHeaders, directoryQuery, ms, scopeQuery } from '../shared.js'

export const ResourceScope = z.enum(['installation', 'workspace']).meta({ id: 'ResourceScope' })
export type ResourceScope = z.infer<typeof ResourceScope>

export const ManagedResource = z
  .looseObject({
    id: z.string(),
    /** As `revision`, `createdAt` and `updatedAt`: null unless managed. */
    scope: ResourceScope.nullable(),
    origin: z.enum(['builtIn', 'discovered', 'managed']),
    /** The file that defines it, or where else it comes from. */
    provenance: z.string(),
    writable: z.boolean(),
    managed: z.boolean(),
    revision: z.string().nullable(),
    createdAt: ms.nullable(),
    updatedAt: ms.nullable(),
    /** An Agent, a Command, or `{info, content}` of a skill; null for a file that cannot be used. */
    definition: z.unknown(),
  })
  .meta({ id: 'ManagedResource' })
export type ManagedResource = z.infer<typeof ManagedResource>

/** `sha256:` and 64 hex digits; `*` stands for any. */
export const revisionText = z.string().min(1).max(256)

export const MarkdownWriteRequest = z
  .strictObject({
    content: z.string().max(LIMITS.management.content),
    frontmatter: anyRecord.optional(),
    scope: ResourceScope.optional(),
    expectedRevision: revisionText.optional(),
  })
  .meta({ id: 'MarkdownWriteRequest' })
export type MarkdownWriteRequest = z.infer<typeof MarkdownWriteRequest>

const query = z.strictObject({ ...directoryQuery, ...scopeQuery })
const common = { tag: 'management', access: { class: 'directory', operator: true }, headers: directoryHeaders, query } as const
const headers = z.looseObject({ ...directoryHeaders.shape, 'if-match': revisionText.optional() })
/** What a call expects may stand in its body, its query or its header. */
const one = {
  ...common,
  headers,
  query: z.strictObject({ ...query.shape, expectedRevision: revisionText.optional() }),
  params: z.strictObject({ id: z.string() }),
} as const
const PREFIX = '/v2/management'

/** The five operations of a kind that is one Markdown file. */
function markdownRoutes<const Kind extends 'agents' | 'commands'>(kind: Kind, noun: string) {
  const path = `${PREFIX}/${kind}/{id}`
  return {
    list: defineRoute({
      ...common,
      id: `v2.management.${kind}.list`,
      method: 'GET',
      path: `${PREFIX}/${kind}`,
      summary: `List the ${noun}s of a scope: built-in, discovered and managed ones.`,
      success: { status: 200, description: 'Resources by id.', schema: z.array(ManagedResource) },
    }),
    get: defineRoute({
      ...one,
      id: `v2.management.${kind}.get`,
      method: 'GET',
      path,
      summary: `Get one ${noun} with its revision.`,
      success: { status: 200, description: 'The resource.', schema: ManagedResource },
    }),
    create: defineRoute({
      ...one,
      id: `v2.management.${kind}.create`,
      method: 'POST',
      path,
      summary: `Write the file of a new ${noun}.`,
      body: { schema: MarkdownWriteRequest, required: true },
      success: { status: 201, description: 'The resource.', schema: ManagedResource },
    }),
    update: defineRoute({
      ...one,
      id: `v2.management.${kind}.update`,
      method: 'PUT',
      path,
      summary: `Replace the file of a managed ${noun}.`,
      body: { schema: MarkdownWriteRequest, required: true },
      success: { status: 200, description: 'The resource.', schema: ManagedResource },
    }),
    delete: defineRoute({
      ...one,
      id: `v2.management.${kind}.delete`,
      method: 'DELETE',
      path,
      summary: `Remove the file of a managed ${noun}; what it replaced shows again.`,
      success: { status: 204, description: 'Removed.' },
    }),
  } as const
}

export const managedAgentRoutes = markdownRoutes('agents', 'agent')
export const managedCommandRoutes = markdownRoutes('commands', 'command')

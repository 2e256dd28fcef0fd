/** Registered workspaces and repositories (http-contract §2.10, §5.7; subsystems b.14). */
import * as z from 'zod'
import { pathText } from '../text/path-text.js'
import { defineRoute } from '../route.js'
import { ms } from '../shared.js'
import { revisionText } from '../resource/managed.js'

const name = z.string().min(1).max(160)
const path = pathText.min(1).max(4096)

const ManagedRepositoryMetadata = z
  .looseObject({ remoteUrl: z.string().optional(), gitRef: z.string().optional() })
  .meta({ id: 'ManagedRepositoryMetadata' })

export const ManagedWorkspace = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    root: z.string(),
    revision: z.string(),
    createdAt: ms,
    updatedAt: ms,
    /** It is the top of a Git worktree. */
    repository: ManagedRepositoryMetadata.optional(),
  })
  .meta({ id: 'ManagedWorkspace' })
export type ManagedWorkspace = z.infer<typeof ManagedWorkspace>

export const ManagedRepository = z
  .looseObject({
    id: z.string(),
    workspaceId: z.string(),
    name: z.string(),
    path: z.string(),
    revision: z.string(),
    createdAt: ms,
    updatedAt: ms,
    remoteUrl: z.string().optional(),
    gitRef: z.string().optional(),
  })
  .meta({ id: 'ManagedRepository' })
export type ManagedRepository = z.infer<typeof ManagedRepository>

export const WorkspaceCreateRequest = z
  .strictObject({ root: path, id: z.string().optional(), name: name.optional(), createDirectory: z.boolean().optional() })
  .meta({ id: 'WorkspaceCreateRequest' })
export type WorkspaceCreateRequest = z.infer<typeof WorkspaceCreateRequest>

export const WorkspaceUpdateRequest = z
  .strictObject({ name: name.optional(), root: path.optional(), expectedRevision: revisionText.optional() })
  .meta({ id: 'WorkspaceUpdateRequest' })
export type WorkspaceUpdateRequest = z.infer<typeof WorkspaceUpdateRequest>

const RepositoryExistingRequest = z
  .strictObject({ kind: z.literal('existing'), path, id: z.string().optional(), name: name.optional() })
  .meta({ id: 'RepositoryExistingRequest' })

const RepositoryCloneRequest = z
  .strictObject({
    kind: z.literal('clone'),
    remoteUrl: z.string().min(1).max(4096),
    id: z.string().optional(),
    name: name.optional(),
    ref: z.string().min(1).max(256).optional(),
    depth: z.number().int().min(1).max(10_000).optional(),
  })
  .meta({ id: 'RepositoryCloneRequest' })

export const RepositoryCreateRequest = z
  .discriminatedUnion('kind', [RepositoryExistingRequest, RepositoryCloneRequest])
  .meta({ id: 'RepositoryCreateRequest' })
export type RepositoryCreateRequest = z.infer<typeof RepositoryCreateRequest>

export const RepositoryUpdateRequest = z
  .strictObject({ name: name.optional(), expectedRevision: revisionText.optional() })
  .meta({ id: 'RepositoryUpdateRequest' })
export type RepositoryUpdateRequest = z.infer<typeof RepositoryUpdateRequest>

const common = { tag: 'management', access: { class: 'operator' } } as const
const one = { ...common, params: z.strictObject({ id: z.string() }) } as const
const headers = z.looseObject({ 'if-match': revisionText.optional() })
const query = z.strictObject({ expectedRevision: revisionText.optional() })
const WORKSPACES = '/v2/management/workspaces'
const REPOSITORIES = '/v2/management/repositories'

export const managedWorkspaceRoutes = {
  list: defineRoute({
    ...common,
    id: 'v2.management.workspaces.list',
    method: 'GET',
    path: WORKSPACES,
    summary: 'List registered workspaces.',
    success: { status: 200, description: 'Workspaces by id.', schema: z.array(ManagedWorkspace) },
  }),
  create: defineRoute({
    ...common,
    id: 'v2.management.workspaces.create',
    method: 'POST',
    path: WORKSPACES,
    summary: 'Register a directory as a workspace.',
    body: { schema: WorkspaceCreateRequest, required: true },
    success: { status: 201, description: 'The workspace.', schema: ManagedWorkspace },
  }),
  get: defineRoute({
    ...one,
    id: 'v2.management.workspaces.get',
    method: 'GET',
    path: `${WORKSPACES}/{id}`,
    summary: 'Get one workspace.',
    success: { status: 200, description: 'The workspace.', schema: ManagedWorkspace },
  }),
  update: defineRoute({
    ...one,
    headers,
    query,
    id: 'v2.management.workspaces.update',
    method: 'PUT',
    path: `${WORKSPACES}/{id}`,
    summary: 'Give a workspace another name or root.',
    body: { schema: WorkspaceUpdateRequest, required: true },
    success: { status: 200, description: 'The workspace.', schema: ManagedWorkspace },
  }),
  delete: defineRoute({
    ...one,
    headers,
    query,
    id: 'v2.management.workspaces.delete',
    method: 'DELETE',
    path: `${WORKSPACES}/{id}`,
    summary: 'Forget a workspace; its files stay.',
    success: { status: 204, description: 'Forgotten.' },
  }),
} as const

export const managedRepositoryRoutes = {
  list: defineRoute({
    ...common,
    id: 'v2.management.repositories.list',
    method: 'GET',
    path: REPOSITORIES,
    summary: 'List registered repositories.',
    success: { status: 200, description: 'Repositories by id.', schema: z.array(ManagedRepository) },
  }),
  create: defineRoute({
    ...common,
    id: 'v2.management.repositories.create',
    method: 'POST',
    path: REPOSITORIES,
    summary: 'Register a repository that is there, or clone one.',
    body: { schema: RepositoryCreateRequest, required: true },
    success: { status: 201, description: 'The repository.', schema: ManagedRepository },
  }),
  get: defineRoute({
    ...one,
    id: 'v2.management.repositories.get',
    method: 'GET',
    path: `${REPOSITORIES}/{id}`,
    summary: 'Get one repository.',
    success: { status: 200, description: 'The repository.', schema: ManagedRepository },
  }),
  update: defineRoute({
    ...one,
    headers,
    query,
    id: 'v2.management.repositories.update',
    method: 'PUT',
    path: `${REPOSITORIES}/{id}`,
    summary: 'Give a repository another name.',
    body: { schema: RepositoryUpdateRequest, required: true },
    success: { status: 200, description: 'The repository.', schema: ManagedRepository },
  }),
  delete: defineRoute({
    ...one,
    headers,
    query,
    id: 'v2.management.repositories.delete',
    method: 'DELETE',
    path: `${REPOSITORIES}/{id}`,
    summary: 'Forget a repository; its files stay.',
    success: { status: 204, description: 'Forgotten.' },
  }),
} as const

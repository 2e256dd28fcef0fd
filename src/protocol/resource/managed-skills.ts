/** Managed skills: bundles of a SKILL.md and its files, with every version that was written (http-contract §2.10, §5.7). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { defineRoute } from '../route.js'
import { anyRecord, directoryHeaders, directoryQuery, ms, scopeQuery } from '../shared.js'
import { ManagedResource, ResourceScope, revisionText } from './managed.js'

const { skills: bounds } = LIMITS.management

const bundle = {
  content: z.string().max(LIMITS.management.content),
  name: z.string().optional(),
  description: z.string().optional(),
  version: z.string().optional(),
  license: z.string().optional(),
  compatibility: z.unknown().optional(),
  metadata: anyRecord.optional(),
  /** Text by relative path. */
  files: z.record(z.string(), z.string().max(bounds.fileBytes)).optional(),
}
const request = { ...bundle, scope: ResourceScope.optional(), expectedRevision: revisionText.optional() }

export const SkillWriteRequest = z.strictObject(request).meta({ id: 'SkillWriteRequest' })
export type SkillWriteRequest = z.infer<typeof SkillWriteRequest>
const SkillInstallRequest = z.strictObject({ id: z.string(), ...request }).meta({ id: 'SkillInstallRequest' })

const SkillBundle = z.looseObject(bundle).meta({ id: 'SkillBundle' })
export type SkillBundle = z.infer<typeof SkillBundle>

export const SkillVersion = z
  .looseObject({
    id: z.string(),
    skillId: z.string(),
    scope: ResourceScope,
    revision: z.string(),
    createdAt: ms,
    bundle: SkillBundle,
  })
  .meta({ id: 'SkillVersion' })
export type SkillVersion = z.infer<typeof SkillVersion>

const PREFIX = '/v2/management/skills'
const ONE = `${PREFIX}/{id}`
const query = z.strictObject({ ...directoryQuery, ...scopeQuery })
const headers = z.looseObject({ ...directoryHeaders.shape, 'if-match': revisionText.optional() })
const list = { tag: 'management', access: { class: 'directory', operator: true }, headers: directoryHeaders, query } as const
const expecting = { expectedRevision: revisionText.optional() }
const common = { ...list, headers, query: z.strictObject({ ...query.shape, ...expecting }) } as const
const one = { ...common, params: z.strictObject({ id: z.string() }) } as const
const versioned = z.strictObject({ id: z.string(), version: z.string() })
const resource = { description: 'The skill.', schema: ManagedResource } as const

export const managedSkillRoutes = {
  list: defineRoute({
    ...list,
    id: 'v2.management.skills.list',
    method: 'GET',
    path: PREFIX,
    summary: 'List the skills of a scope.',
    success: { status: 200, description: 'Skills by id.', schema: z.array(ManagedResource) },
  }),
  install: defineRoute({
    ...common,
    query: z.strictObject({ ...directoryQuery, ...expecting }),
    id: 'v2.management.skills.install',
    method: 'POST',
    path: `${PREFIX}/install`,
    summary: 'Install a skill with its files. Nothing of it is run.',
    body: { schema: SkillInstallRequest, required: true },
    success: { status: 201, ...resource },
  }),
  get: defineRoute({
    ...one,
    id: 'v2.management.skills.get',
    method: 'GET',
    path: ONE,
    summary: 'Get one skill with its revision.',
    success: { status: 200, ...resource },
  }),
  create: defineRoute({
    ...one,
    id: 'v2.management.skills.create',
    method: 'POST',
    path: ONE,
    summary: 'Write a new skill.',
    body: { schema: SkillWriteRequest, required: true },
    success: { status: 201, ...resource },
  }),
  update: defineRoute({
    ...one,
    id: 'v2.management.skills.update',
    method: 'PUT',
    path: ONE,
    summary: 'Replace a managed skill and all its files.',
    body: { schema: SkillWriteRequest, required: true },
    success: { status: 200, ...resource },
  }),
  delete: defineRoute({
    ...one,
    id: 'v2.management.skills.delete',
    method: 'DELETE',
    path: ONE,
    summary: 'Remove the files of a managed skill; its versions stay.',
    success: { status: 204, description: 'Removed.' },
  }),
  versions: defineRoute({
    ...list,
    params: z.strictObject({ id: z.string() }),
    id: 'v2.management.skills.versions.list',
    method: 'GET',
    path: `${ONE}/versions`,
    summary: 'List what a skill has been.',
    success: { status: 200, description: 'Versions, the oldest first.', schema: z.array(SkillVersion) },
  }),
  version: defineRoute({
    ...list,
    params: versioned,
    id: 'v2.management.skills.versions.get',
    method: 'GET',
    path: `${ONE}/versions/{version}`,
    summary: 'Get one version of a skill.',
    success: { status: 200, description: 'The version, which never changes.', schema: SkillVersion },
  }),
  restore: defineRoute({
    ...common,
    params: versioned,
    id: 'v2.management.skills.versions.restore',
    method: 'POST',
    path: `${ONE}/versions/{version}/restore`,
    summary: 'Make a skill what it was in one of its versions, byte for byte.',
    success: { status: 200, ...resource },
  }),
} as const

/** Version control of a directory: records (http-contract §2.17) and operations (§5.8), served by `dev.svc.vcs` (subsystems h). */
import * as z from 'zod'
import { pathText } from '../text/path-text.js'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, uint } from '../shared.js'

/** `{}` outside of a repository; no `branch` while HEAD is detached, no `default_branch` where no remote tells one. */
export const VcsInfo = z
  .looseObject({ branch: z.string().nullable().optional(), default_branch: z.string().nullable().optional() })
  .meta({ id: 'VcsInfo' })
export type VcsInfo = z.infer<typeof VcsInfo>

const VcsStatus = z.enum(['added', 'modified', 'deleted'])
export type VcsStatus = z.infer<typeof VcsStatus>

/** `path` and `file` are the same text: from the root of the repository, with `/`. */
export const VcsFileStatus = z
  .looseObject({ path: z.string(), file: z.string(), status: VcsStatus, additions: uint, deletions: uint })
  .meta({ id: 'VcsFileStatus' })
export type VcsFileStatus = z.infer<typeof VcsFileStatus>

export const VcsFileDiff = z
  .looseObject({
    path: z.string(),
    file: z.string(),
    status: VcsStatus,
    added: uint,
    removed: uint,
    additions: uint,
    deletions: uint,
    /** Unified, with its headers. */
    patch: z.string(),
    hunks: z.array(z.strictObject({ patch: z.string() })),
  })
  .meta({ id: 'VcsFileDiff' })
export type VcsFileDiff = z.infer<typeof VcsFileDiff>

/** `diff` and `content` are other names of `patch`. */
export const VcsApplyRequest = z
  .looseObject({
    patch: z.string().optional(),
    diff: z.string().optional(),
    content: z.string().optional(),
    directory: pathText.min(1).optional(),
  })
  .refine(({ patch, diff, content }) => (patch ?? diff ?? content ?? '').trim() !== '', { path: ['patch'], message: 'must not be empty' })
  .meta({ id: 'VcsApplyRequest' })
export type VcsApplyRequest = z.infer<typeof VcsApplyRequest>

export const VcsApplyResult = z
  .looseObject({ success: z.boolean(), error: z.string().nullable().optional() })
  .meta({ id: 'VcsApplyResult' })
export type VcsApplyResult = z.infer<typeof VcsApplyResult>

const VcsStatusList = z.array(VcsFileStatus).meta({ id: 'VcsStatusList' })
const VcsDiffList = z.array(VcsFileDiff).meta({ id: 'VcsDiffList' })

const PREFIX = '/v2/plugins/dev.svc.vcs'
const ofDirectory = {
  tag: 'plugins',
  access: { class: 'directory' },
  headers: directoryHeaders,
  query: z.strictObject(directoryQuery),
} as const

export const vcsRoutes = {
  get: defineRoute({
    ...ofDirectory,
    id: 'v2.plugins.vcs.get',
    method: 'GET',
    path: PREFIX,
    summary: 'The branch that is checked out, and the default branch of its remote.',
    success: { status: 200, description: 'Branches; empty outside of a repository.', schema: VcsInfo },
  }),
  status: defineRoute({
    ...ofDirectory,
    id: 'v2.plugins.vcs.status',
    method: 'GET',
    path: `${PREFIX}/status`,
    summary: 'Files that differ from the last commit, untracked ones included.',
    success: { status: 200, description: 'Files by path.', schema: VcsStatusList },
  }),
  diff: defineRoute({
    ...ofDirectory,
    id: 'v2.plugins.vcs.diff',
    method: 'GET',
    path: `${PREFIX}/diff`,
    summary: 'What differs from the last commit, file by file, untracked ones included.',
    success: { status: 200, description: 'Files by path, each with its patch.', schema: VcsDiffList },
  }),
  rawDiff: defineRoute({
    ...ofDirectory,
    id: 'v2.plugins.vcs.diff.raw',
    method: 'GET',
    path: `${PREFIX}/diff/raw`,
    summary: 'What differs from the last commit as one patch, byte by byte; without untracked files.',
    success: { status: 200, description: 'A unified diff; empty outside of a repository.', mediaType: 'text/x-diff' },
  }),
  apply: defineRoute({
    ...ofDirectory,
    id: 'v2.plugins.vcs.apply',
    method: 'POST',
    path: `${PREFIX}/apply`,
    summary: 'Apply a patch to the files of a directory: all of it, or nothing.',
    body: { schema: VcsApplyRequest, required: true },
    success: { status: 200, description: 'Whether it was applied, and why not.', schema: VcsApplyResult },
  }),
} as const

export const SessionDiffParams = z.strictObject({ session_id: z.string() })

export const sessionDiffRoute = defineRoute({
  id: 'v2.sessions.diff',
  method: 'GET',
  path: '/v2/sessions/{session_id}/diff',
  tag: 'sessions',
  access: { class: 'session', param: 'session_id' },
  params: SessionDiffParams,
  summary: 'What differs from the last commit in the directory of a session.',
  success: { status: 200, description: 'Files by path, each with its patch.', schema: VcsDiffList },
})

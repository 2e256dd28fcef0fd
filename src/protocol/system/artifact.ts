/** Artifacts: uploaded bytes and their metadata (http-contract §2.9; subsystems m). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { LIMITS } from '../limits.js'
import { uint } from '../shared.js'

export const Artifact = z
  .looseObject({
    id: z.string(),
    filename: z.string(),
    mediaType: z.string(),
    size: uint,
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    created: uint,
    downloadUrl: z.string(),
    sessionId: z.string().optional(),
  })
  .meta({ id: 'Artifact' })
export type Artifact = z.infer<typeof Artifact>

const params = z.strictObject({ artifact_id: z.string() })
const access = { class: 'caller' } as const
const tag = 'artifacts' as const

export const artifactRoutes = {
  list: defineRoute({
    id: 'v2.artifacts.list',
    method: 'GET',
    path: '/v2/artifacts',
    tag,
    access,
    query: z.strictObject({ sessionId: z.string().optional() }),
    summary: 'List artifacts, newest first.',
    success: { status: 200, description: 'Artifacts.', schema: z.array(Artifact) },
  }),
  create: defineRoute({
    id: 'v2.artifacts.create',
    method: 'POST',
    path: '/v2/artifacts',
    tag,
    access,
    headers: z.looseObject({
      'content-type': z.string().optional(),
      'x-svc-filename': z.string().max(4096).optional(),
      'x-svc-session-id': z.string().optional(),
    }),
    query: z.strictObject({
      filename: z.string().max(4096).optional().describe('As `X-Svc-Filename`, which wins.'),
      sessionId: z.string().optional().describe('As `X-Svc-Session-Id`, which wins.'),
    }),
    binaryBody: { mediaType: 'application/octet-stream', maxBytes: LIMITS.artifacts.uploadBytes },
    summary: 'Upload an artifact.',
    success: { status: 201, description: 'The stored artifact.', schema: Artifact },
  }),
  get: defineRoute({
    id: 'v2.artifacts.get',
    method: 'GET',
    path: '/v2/artifacts/{artifact_id}',
    tag,
    access,
    params,
    summary: 'Metadata of an artifact.',
    success: { status: 200, description: 'The artifact.', schema: Artifact },
  }),
  content: defineRoute({
    id: 'v2.artifacts.content',
    method: 'GET',
    path: '/v2/artifacts/{artifact_id}/content',
    tag,
    access,
    params,
    summary: 'Bytes of an artifact.',
    success: {
      status: 200,
      description: 'The bytes.',
      mediaType: 'application/octet-stream',
      headers: {
        'Content-Disposition': 'Always an attachment, with its file name.',
        'Content-Type': 'Media type of the artifact.',
        ETag: 'SHA-256 of the bytes, in quotes.',
      },
    },
  }),
  delete: defineRoute({
    id: 'v2.artifacts.delete',
    method: 'DELETE',
    path: '/v2/artifacts/{artifact_id}',
    tag,
    access,
    params,
    summary: 'Delete an artifact.',
    success: { status: 204, description: 'Deleted.' },
  }),
} as const

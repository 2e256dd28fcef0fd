/** Sessions that travel between servers, and their routes (http-contract §2.5; sessions-events §2.15). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { LIMITS } from '../limits.js'
import { Message, PromptPart, UserModel } from '../message/message.js'
import { pathText } from '../text/path-text.js'
import { Artifact } from '../system/artifact.js'
import { Session } from './session.js'

/** A bundle of a higher version is refused. */
export const BUNDLE_VERSION = 1

/** `sessionId`: only this session of the workspace. `artifacts`: with what was uploaded to the sessions. */
const ExportSessionsRequest = z
  .strictObject({
    workspaceRoot: pathText.max(4096).regex(/^\//, 'must be an absolute path'),
    sessionId: z.string().max(256).optional(),
    artifacts: z.boolean().optional(),
  })
  .meta({ id: 'ExportSessionsRequest' })
export type ExportSessionsRequest = z.infer<typeof ExportSessionsRequest>

const QueuedPrompt = z
  .looseObject({
    messageId: z.string().optional(),
    parts: z.array(PromptPart).min(1).max(LIMITS.sessions.promptParts),
    noReply: z.boolean(),
    model: UserModel.optional(),
    agent: z.string().optional(),
    system: z.string().optional(),
    tools: z.record(z.string(), z.boolean()).optional(),
    author: z.string().optional(),
    calls: z
      .array(z.looseObject({ tool: z.string(), input: z.record(z.string(), z.unknown()) }))
      .max(LIMITS.run.callsPerStep)
      .optional(),
  })
  .meta({ id: 'QueuedPrompt' })

export const QueuedPromptBundleItem = z
  .looseObject({
    request: QueuedPrompt,
    delivery: z.enum(['steer', 'queue']),
    held: z.literal(true).optional().describe('It waited to be released. Imported, every prompt does.'),
  })
  .meta({ id: 'QueuedPromptBundleItem' })

/** An artifact whose bytes stand as base64 in pieces, each with a whole number of bytes. */
export const BundledArtifact = z.looseObject({ info: Artifact, content: z.array(z.string()) }).meta({ id: 'BundledArtifact' })

const SessionBundle = z
  .looseObject({
    version: z.number().int().min(1),
    session: Session,
    artifacts: z.array(BundledArtifact).optional(),
    messages: z
      .array(Message)
      .describe('Oldest first. `questionDeleted: true` beside `info`: the message that it answers is there no more.'),
    queuedPrompts: z.array(QueuedPromptBundleItem),
    workspaceRoot: z.string().optional(),
  })
  .meta({ id: 'SessionBundle' })

const ImportSessionRequest = z
  .strictObject({ bundle: SessionBundle, targetWorkspaceRoot: z.string().min(1).max(4096) })
  .meta({ id: 'ImportSessionRequest' })

export const bundleRoutes = {
  export: defineRoute({
    id: 'v2.sessions.export',
    method: 'POST',
    path: '/v2/sessions/export',
    tag: 'sessions',
    access: { class: 'caller' },
    summary:
      'Export every session of a workspace, or one of them, with its messages, the prompts that wait and, when asked for, its artifacts. Written as it is read, whatever its size. A session that is not there, or a directory that is not and in which none worked, is an error.',
    body: { schema: ExportSessionsRequest, required: true },
    success: {
      status: 200,
      description: 'One bundle for each session. An answer that breaks off is incomplete.',
      schema: z.looseObject({ bundles: z.array(SessionBundle) }).meta({ id: 'ExportSessionsResponse' }),
    },
  }),
  import: defineRoute({
    id: 'v2.sessions.import',
    method: 'POST',
    path: '/v2/sessions/import',
    tag: 'sessions',
    access: { class: 'caller' },
    summary:
      'Import a session. Ids are new, paths lie below the target. It starts nothing: prompts that waited are held until a person releases them, what was running is interrupted, and until a person has prompted the session everything its rules allow is asked for. Read as it arrives; nothing is seen of it before it is whole. A field that is missing or wrong is 400; what contradicts itself 422, as an artifact that has not the size and digest it tells.',
    headers: z.looseObject({ 'content-type': z.string().optional() }),
    binaryBody: { mediaType: 'application/json', maxBytes: LIMITS.bundles.bytes, schema: ImportSessionRequest },
    success: {
      status: 200,
      description: 'The new session.',
      schema: z.looseObject({ sessionId: z.string() }).meta({ id: 'ImportSessionResponse' }),
    },
  }),
} as const

/** Undoing turns with what they changed on disk (http-contract §2.5, §5.5; sessions-events §7). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { ms, uint } from '../shared.js'
import { Session } from './session.js'

export const RevertRequest = z
  .strictObject({ messageId: z.string().max(256).optional(), partId: z.string().max(256).optional() })
  .meta({ id: 'RevertRequest' })
export type RevertRequest = z.infer<typeof RevertRequest>

const SnapshotCount = z.looseObject({ files: uint, paths: z.array(z.string()).optional(), refs: z.array(z.string()).optional() })

const UndoTreeNode = z
  .looseObject({
    id: z.string(),
    messageID: z.string(),
    parentID: z.string().optional(),
    status: z.enum(['applied', 'partial', 'reverted']),
    title: z.string(),
    time: ms,
    messageIDs: z.array(z.string()),
    parts: z.array(
      z.looseObject({
        messageID: z.string(),
        partID: z.string(),
        type: z.string(),
        tool: z.string().optional(),
        title: z.string().optional(),
        snapshots: SnapshotCount,
      }),
    ),
    snapshots: SnapshotCount,
  })
  .meta({ id: 'UndoTreeNode' })
export type UndoTreeNode = z.infer<typeof UndoTreeNode>

export const SessionUndoTree = z
  .looseObject({
    sessionID: z.string(),
    cursor: z.looseObject({ messageID: z.string(), partID: z.string().optional() }).optional(),
    revert: z
      .looseObject({
        messageID: z.string(),
        partID: z.string().optional(),
        time: ms.optional(),
        messages: uint,
        parts: uint,
        snapshots: uint,
        files: z.array(z.string()).optional(),
        snapshotRefs: z.array(z.string()).optional(),
      })
      .optional(),
    nodes: z.array(UndoTreeNode),
  })
  .meta({ id: 'SessionUndoTree' })
export type SessionUndoTree = z.infer<typeof SessionUndoTree>

/** What a session says of its undone messages: where they begin, and which they are. */
export const RevertMark = z.looseObject({
  messageID: z.string(),
  partID: z.string().optional(),
  time: ms,
  messages: z.array(z.string()),
  parts: z.array(z.string()),
})
export type RevertMark = z.infer<typeof RevertMark>

const params = z.strictObject({ session_id: z.string() })
const access = { class: 'session', param: 'session_id' } as const
const success = { status: 200, description: 'The session.', schema: Session } as const
const posts = { method: 'POST', tag: 'sessions', access, params, success } as const

export const undoRoutes = {
  undo: defineRoute({
    ...posts,
    id: 'v2.sessions.undo',
    path: '/v2/sessions/{session_id}/undo',
    summary: 'Take back the last turn, or everything from a message on, with what it changed on disk.',
    body: { schema: RevertRequest, required: false },
  }),
  redo: defineRoute({
    ...posts,
    id: 'v2.sessions.redo',
    path: '/v2/sessions/{session_id}/redo',
    summary: 'Bring back the next undone turn, or everything before a message.',
    body: { schema: RevertRequest, required: false },
  }),
  revert: defineRoute({
    ...posts,
    id: 'v2.sessions.revert',
    path: '/v2/sessions/{session_id}/revert',
    summary: 'Take back everything from a message, or from a part of it, on.',
    body: { schema: RevertRequest, required: true },
  }),
  unrevert: defineRoute({
    ...posts,
    id: 'v2.sessions.unrevert',
    path: '/v2/sessions/{session_id}/unrevert',
    summary: 'Bring back everything that was taken back.',
  }),
  undoTree: defineRoute({
    id: 'v2.sessions.undoTree',
    method: 'GET',
    path: '/v2/sessions/{session_id}/undo-tree',
    tag: 'sessions',
    access,
    params,
    summary: 'The turns of a session, which of them are undone, and the files each has changed.',
    success: { status: 200, description: 'The tree.', schema: SessionUndoTree },
  }),
} as const

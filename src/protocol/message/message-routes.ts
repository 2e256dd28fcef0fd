/** Prompts, messages, parts and queues of a session over HTTP (http-contract §2.6–2.7). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { defineRoute } from '../route.js'
import { queryBool, queryInt } from '../shared.js'
import {
  AbortRequest,
  Message,
  PageCursor,
  Part,
  PromptRequest,
  SessionQueueInfo,
  SessionQueueMutation,
  SessionQueueRelease,
} from './message.js'

const MessageList = z.array(Message).meta({ id: 'MessageList' })
const MessagePage = z.looseObject({ items: z.array(Message), cursor: PageCursor }).meta({ id: 'MessagePage' })

const sessionParams = z.strictObject({ session_id: z.string() })
const messageParams = z.strictObject({ session_id: z.string(), message_id: z.string() })
const partParams = z.strictObject({ session_id: z.string(), message_id: z.string(), part_id: z.string() })
const access = { class: 'session', param: 'session_id' } as const
const tag = 'sessions' as const

export const messageRoutes = {
  prompt: defineRoute({
    id: 'v2.sessions.prompt',
    method: 'POST',
    path: '/v2/sessions/{session_id}/prompt',
    tag,
    access,
    params: sessionParams,
    summary: 'Submit a prompt: it joins the active run (`steer`) or waits for it (`queue`).',
    body: { schema: PromptRequest, required: true, maxBytes: LIMITS.http.promptBody },
    success: { status: 204, description: 'The prompt is durably admitted.' },
  }),
  promptAsync: defineRoute({
    id: 'v2.sessions.promptAsync',
    method: 'POST',
    path: '/v2/sessions/{session_id}/prompt-async',
    tag,
    access,
    params: sessionParams,
    summary: 'Submit a prompt that always waits for the active run.',
    body: { schema: PromptRequest, required: true, maxBytes: LIMITS.http.promptBody },
    success: { status: 204, description: 'The prompt is durably admitted.' },
  }),
  abort: defineRoute({
    id: 'v2.sessions.abort',
    method: 'POST',
    path: '/v2/sessions/{session_id}/abort',
    tag,
    access: { ...access, lease: 'free' },
    params: sessionParams,
    summary:
      'Abort the active run. A prompt that waits runs then, unless `queue` says otherwise; not even a control lease keeps anybody from it.',
    body: { schema: AbortRequest, required: false },
    success: { status: 200, description: 'True if a run was aborted.', schema: z.boolean() },
  }),
  wait: defineRoute({
    id: 'v2.sessions.wait',
    method: 'POST',
    path: '/v2/sessions/{session_id}/wait',
    tag,
    access: { ...access, lease: 'free' },
    params: sessionParams,
    summary: 'Wait until the session has no active run and no queued prompt.',
    success: { status: 204, description: 'The session is settled.' },
  }),
  context: defineRoute({
    id: 'v2.sessions.context',
    method: 'GET',
    path: '/v2/sessions/{session_id}/context',
    tag,
    access,
    params: sessionParams,
    summary: 'The whole stored message list.',
    success: { status: 200, description: 'Messages, oldest first.', schema: MessageList },
  }),
  list: defineRoute({
    id: 'v2.sessions.messages',
    method: 'GET',
    path: '/v2/sessions/{session_id}/messages',
    tag,
    access,
    params: sessionParams,
    query: z.strictObject({
      limit: queryInt(1, 1_000_000).optional(),
      order: z.enum(['asc', 'desc']).optional(),
      slim: queryBool.optional(),
      cursor: z.string().optional(),
    }),
    summary: 'List messages, a page at a time.',
    success: { status: 200, description: 'A page of messages.', schema: MessagePage },
  }),
  get: defineRoute({
    id: 'v2.sessions.messages.get',
    method: 'GET',
    path: '/v2/sessions/{session_id}/messages/{message_id}',
    tag,
    access,
    params: messageParams,
    summary: 'Get one message.',
    success: { status: 200, description: 'The message.', schema: Message },
  }),
  delete: defineRoute({
    id: 'v2.sessions.messages.delete',
    method: 'DELETE',
    path: '/v2/sessions/{session_id}/messages/{message_id}',
    tag,
    access,
    params: messageParams,
    summary: 'Delete one message.',
    success: { status: 200, description: 'True once deleted.', schema: z.boolean() },
  }),
  updatePart: defineRoute({
    id: 'v2.sessions.parts.update',
    method: 'PATCH',
    path: '/v2/sessions/{session_id}/messages/{message_id}/parts/{part_id}',
    tag,
    access,
    params: partParams,
    summary: 'Replace one part of a message.',
    body: { schema: Part, required: true },
    success: { status: 200, description: 'The stored part.', schema: Part },
  }),
  deletePart: defineRoute({
    id: 'v2.sessions.parts.delete',
    method: 'DELETE',
    path: '/v2/sessions/{session_id}/messages/{message_id}/parts/{part_id}',
    tag,
    access,
    params: partParams,
    summary: 'Delete one part of a message.',
    success: { status: 200, description: 'True once deleted.', schema: z.boolean() },
  }),
  queue: defineRoute({
    id: 'v2.sessions.queue.list',
    method: 'GET',
    path: '/v2/sessions/{session_id}/queue',
    tag,
    access,
    params: sessionParams,
    summary: 'List queued prompts.',
    success: { status: 200, description: 'The queue.', schema: SessionQueueInfo },
  }),
  clearQueue: defineRoute({
    id: 'v2.sessions.queue.clear',
    method: 'DELETE',
    path: '/v2/sessions/{session_id}/queue',
    tag,
    access,
    params: sessionParams,
    summary: 'Remove every queued prompt.',
    success: { status: 200, description: 'What was removed, and the queue after it.', schema: SessionQueueMutation },
  }),
  popQueue: defineRoute({
    id: 'v2.sessions.queue.pop',
    method: 'POST',
    path: '/v2/sessions/{session_id}/queue/pop',
    tag,
    access,
    params: sessionParams,
    query: z.strictObject({ messageId: z.string().min(1).max(256).optional() }),
    summary: 'Remove the oldest queued prompt, or the one with this message id; 0 are removed when it no longer waits.',
    success: { status: 200, description: 'What was removed, and the queue after it.', schema: SessionQueueMutation },
  }),
  releaseQueue: defineRoute({
    id: 'v2.sessions.queue.release',
    method: 'POST',
    path: '/v2/sessions/{session_id}/queue/release',
    tag,
    access,
    params: sessionParams,
    query: z.strictObject({ messageId: z.string().min(1).max(256).optional() }),
    summary:
      'Give the oldest held prompt its turn, or the one with this message id; 0 are released when it is not held. Sending a held prompt again under its message id does the same.',
    success: { status: 200, description: 'What was released, and the queue after it.', schema: SessionQueueRelease },
  }),
} as const

/** Compaction of a conversation: what is kept of it, and its routes (http-contract §5.5; sessions-events §6). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { uint } from '../shared.js'

/** What the messages before stand for; `summary` of a session is the latest. */
export const CompactionSummary = z
  .looseObject({
    text: z.string(),
    /** The message that marks the place. */
    messageID: z.string(),
    /** The message that holds the summary. */
    throughMessageID: z.string(),
    updated: uint,
    kind: z.string(),
  })
  .meta({ id: 'CompactionSummary' })
export type CompactionSummary = z.infer<typeof CompactionSummary>

const common = {
  method: 'POST',
  tag: 'sessions',
  access: { class: 'session', param: 'session_id' },
  params: z.strictObject({ session_id: z.string() }),
} as const

export const compactionRoutes = {
  compact: defineRoute({
    ...common,
    id: 'v2.sessions.compact',
    path: '/v2/sessions/{session_id}/compact',
    summary: 'Compact the conversation of an idle session: a model summarises it. Answers once that is done.',
    success: { status: 204, description: 'The conversation is compacted, or there was nothing to compact.' },
  }),
  summarize: defineRoute({
    ...common,
    id: 'v2.sessions.summarize',
    path: '/v2/sessions/{session_id}/summarize',
    summary: 'The same as compact.',
    body: { schema: z.looseObject({}).meta({ id: 'EmptyObject' }), required: true },
    success: { status: 200, description: 'True once the conversation is compacted.', schema: z.boolean() },
  }),
} as const

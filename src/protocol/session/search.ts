/** Search in what was said, served by `dev.svc.semantic` (http-contract §2.16, §5.8; subsystems i). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { defineRoute } from '../route.js'
import { queryInt, uint } from '../shared.js'

const SemanticSearchHit = z
  .looseObject({
    sessionId: z.string(),
    messageId: z.string(),
    role: z.string(),
    created: uint,
    excerpt: z.string(),
    /** From 0, the best, towards 1. */
    distance: z.number(),
  })
  .meta({ id: 'SemanticSearchHit' })
export type SemanticSearchHit = z.infer<typeof SemanticSearchHit>

/** Whether what was said is also found by its meaning: yes, not all of it yet, not while the service fails, not on this machine. */
const EmbeddingState = z.enum(['ready', 'behind', 'failing', 'unavailable'])
export type EmbeddingState = z.infer<typeof EmbeddingState>

const SemanticSearchResponse = z
  .looseObject({
    available: z.boolean(),
    hits: z.array(SemanticSearchHit),
    /** Left out where no embedding model is configured: searches go by words alone. */
    embeddings: EmbeddingState.optional(),
  })
  .meta({ id: 'SemanticSearchResponse' })
export type SemanticSearchResponse = z.infer<typeof SemanticSearchResponse>

export const SearchQuery = z.strictObject({
  q: z.string().max(LIMITS.search.query),
  limit: queryInt(1, 1_000_000).optional(),
  sessionId: z.string().min(1).optional(),
})

export const searchRoutes = {
  search: defineRoute({
    id: 'v2.plugins.semantic.search',
    method: 'GET',
    path: '/v2/plugins/dev.svc.semantic/search',
    tag: 'plugins',
    access: { class: 'caller' },
    query: SearchQuery,
    summary: 'Messages of the sessions the caller may see, the best matches first.',
    success: { status: 200, description: 'Hits; `available` is false when there is no index.', schema: SemanticSearchResponse },
  }),
} as const

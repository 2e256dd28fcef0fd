/** The tool `session_search` (sessions-events §10). */
import * as z from 'zod'
import { defineTool, type NativeHost, type ToolContribution, ToolError } from '../../ports/plugin.js'
import { TRUSTED_CALLER } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Embeddings } from './embeddings.js'
import { hitOf } from './hits.js'
import type { Indexer } from './indexer.js'
import type { Looking } from './looking.js'

const { query, results, maxResults } = LIMITS.search

const SearchInput = z.strictObject({
  query: z.string().min(1).max(query).describe('Words, a phrase, or part of an identifier.'),
  session_id: z.string().min(1).max(200).optional().describe('Only this session.'),
  limit: z.number().int().min(1).max(maxResults).optional().describe(`At most so many hits; default ${results}.`),
})

const DESCRIPTION = `Searches what was said in the sessions of this directory, this one included: prompts and answers, not files or outputs of tools.
- Finds words, phrases, parts of identifiers and words that are slightly mistyped; the best hits come first.
- Use it when somebody refers to earlier work or decisions that you do not see.`

export interface SearchDeps {
  readonly host: Pick<NativeHost, 'sessions' | 'search'>
  readonly indexer: Indexer
  readonly looking: Looking
  /** Undefined where no model is configured. */
  readonly embeddings: Embeddings | undefined
}

export function searchTool({ host: { sessions, search }, indexer, looking, embeddings }: SearchDeps): ToolContribution {
  return defineTool<z.infer<typeof SearchInput>>({
    id: 'session_search',
    description: DESCRIPTION,
    input: SearchInput,
    permission: 'session_search',
    needs: async (input) => [{ permission: 'session_search', patterns: ['*'], title: `Search sessions: ${input.query.slice(0, 80)}` }],
    async invoke({ query: text, session_id: sessionId, limit = results }, context) {
      const own = sessions.get(context.sessionId)
      if (own === undefined) throw new ToolError('The session is gone.')
      const caller = { ...TRUSTED_CALLER, tenantId: own.svcTenantId ?? TRUSTED_CALLER.tenantId, directoryPrefixes: [context.directory] }
      const prepared = async () => {
        await indexer.ready()
        const vector = await embeddings?.ofQuery(text)
        return () => search.parts(text, limit, { caller, sessionId }, vector)
      }
      const found = await asToolError(() => looking.run({ who: `session ${context.sessionId}`, prepared, signal: context.signal }))
      if (found === undefined) indexer.changed()
      if (found === undefined) throw new ToolError('There is no index to search in at the moment.')
      const hits = found.map((each, rank) => hitOf(each, rank, text))
      const lines = hits.map(
        (hit) => `${new Date(hit.created).toISOString()} ${hit.role} (session ${hit.sessionId}, message ${hit.messageId})\n${hit.excerpt}`,
      )
      return {
        title: text.slice(0, 80),
        output: hits.length === 0 ? 'Nothing was found.' : lines.join('\n\n'),
        metadata: { count: hits.length, hits },
      }
    },
  })
}

async function asToolError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof SvcError ? new ToolError(error.message) : error
  }
}

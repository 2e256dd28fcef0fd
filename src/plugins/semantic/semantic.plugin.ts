/** Search in what was said: `dev.svc.semantic` (subsystems i; http-contract §2.16). */
import type { NativePlugin } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { createPause, type Pause } from '../../kernel/pause.js'
import { SearchQuery, searchRoutes, type SemanticSearchResponse } from '../../protocol/session/search.js'
import { createEmbeddings, type Embeddings, embeddingService } from './embeddings.js'
import { hitOf } from './hits.js'
import { type Indexer, startIndexer } from './indexer.js'
import { createLooking } from './looking.js'
import { type SearchDeps, searchTool } from './tool.js'

export interface SemanticOptions {
  readonly pause?: Pause
  /** Environment of the server. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export function semanticPlugin({ pause = createPause(), env = {} }: SemanticOptions = {}): NativePlugin {
  let indexer: Indexer | undefined
  let embeddings: Embeddings | undefined
  return {
    id: 'dev.svc.semantic',
    name: 'Search',
    capability: { id: 'svc.semantic', apiPrefix: '/v2/plugins/dev.svc.semantic' },
    requires: ['svc.sessions', 'svc.providers'],
    eventNamespaces: ['semantic'],
    start(host) {
      const service = embeddingService(env)
      if (typeof service === 'string') host.effects.log.warn(service)
      const meaning = typeof service === 'object' ? createEmbeddings(host, service) : undefined
      const started = startIndexer(host, pause, () => meaning?.catchUp())
      indexer = started
      embeddings = meaning
      const deps = { host, indexer: started, looking: createLooking(pause), embeddings: meaning }
      return {
        tools: [searchTool(deps)],
        operations: { [searchRoutes.search.id]: ({ caller, query, signal }) => search(deps, { caller, query, signal }) },
        events: {
          namespaces: ['message.', 'session.created', 'session.deleted'],
          deliver: ({ properties }) => started.changed(charactersOf(properties)),
        },
      }
    },
    async stop() {
      await embeddings?.stop()
      indexer?.stop()
    },
  }
}

/** Those of its part that an index may have to read. */
function charactersOf(properties: unknown): number {
  const { part } = properties as { readonly part?: { readonly text?: unknown } }
  return typeof part?.text === 'string' ? Math.min(part.text.length, LIMITS.search.text) : 0
}

type Asked = {
  readonly caller: Parameters<SearchDeps['host']['search']['parts']>[2]['caller']
  readonly query: unknown
  readonly signal: AbortSignal
}

async function search(
  { host, indexer, looking, embeddings }: SearchDeps,
  { caller, query, signal }: Asked,
): Promise<SemanticSearchResponse> {
  const { q, limit = LIMITS.search.results, sessionId } = SearchQuery.parse(query)
  const most = q.trim() === '' ? 0 : Math.min(limit, LIMITS.search.maxResults)
  const prepared = async () => {
    await indexer.ready()
    const vector = most === 0 ? undefined : await embeddings?.ofQuery(q)
    return () => host.search.parts(q, most, { caller, sessionId }, vector)
  }
  const found = await looking.run({ who: `caller ${caller.subject}`, prepared, signal })
  const status = embeddings === undefined ? {} : { embeddings: embeddings.state() }
  if (found === undefined) {
    indexer.changed()
    return { available: false, hits: [], ...status }
  }
  return { available: true, ...status, hits: found.map((each, rank) => hitOf(each, rank, q)) }
}

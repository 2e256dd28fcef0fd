/** Search in what was said: `dev.svc.semantic` (subsystems i; http-contract §2.16). */
import type { NativeHost, NativePlugin } from '../../actors/plugin/native/native.js'
import { LIMITS } from '../../protocol/limits.js'
import { createPause, type Pause } from '../../protocol/pause.js'
import { SearchQuery, searchRoutes, type SemanticSearchResponse } from '../../protocol/session/search.js'
import { hitOf } from './hits.js'
import { type Indexer, startIndexer } from './indexer.js'
import { searchTool } from './tool.js'

export function semanticPlugin({ pause = createPause() }: { readonly pause?: Pause } = {}): NativePlugin {
  let indexer: Indexer | undefined
  return {
    id: 'dev.svc.semantic',
    name: 'Search',
    capability: { id: 'svc.semantic', apiPrefix: '/v2/plugins/dev.svc.semantic' },
    requires: ['svc.sessions', 'svc.providers'],
    eventNamespaces: ['semantic'],
    start(host) {
      const started = startIndexer(host, pause)
      indexer = started
      return {
        tools: [searchTool(host, started)],
        operations: { [searchRoutes.search.id]: ({ caller, query }) => search(host, started, { caller, query }) },
        events: { namespaces: ['message.', 'session.created', 'session.deleted'], deliver: () => started.changed() },
      }
    },
    async stop() {
      indexer?.stop()
    },
  }
}

type Asked = { readonly caller: Parameters<NativeHost['search']['find']>[2]['caller']; readonly query: unknown }

async function search({ search: door }: NativeHost, indexer: Indexer, { caller, query }: Asked): Promise<SemanticSearchResponse> {
  const { q, limit = LIMITS.search.results, sessionId } = SearchQuery.parse(query)
  await indexer.ready()
  const most = q.trim() === '' ? 0 : Math.min(limit, LIMITS.search.maxResults)
  const found = door.find(q, most, { caller, sessionId })
  if (found === undefined) {
    indexer.changed()
    return { available: false, hits: [] }
  }
  return { available: true, hits: found.map((each, rank) => hitOf(each, rank, q)) }
}

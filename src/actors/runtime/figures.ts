/** What metrics say of the moment they are asked for. */
import type { InspectedPlugin } from '../../protocol/system/inspector.js'
import type { Effects } from '../../ports/effects.js'
import type { Store } from '../../store/store.js'
import type { Bus } from '../events/bus.js'
import type { Journal } from '../events/journal.js'
import type { Statuses } from '../session/state/statuses.js'
import type { Figures } from '../telemetry/metrics.js'

interface FigureParts {
  readonly effects: Pick<Effects, 'files' | 'network' | 'paths' | 'processes' | 'terminals'>
  readonly store: Pick<Store, 'queue'>
  readonly bus: Pick<Bus, 'subscribers'>
  readonly journal: Pick<Journal, 'head' | 'commits'>
  readonly statuses: Pick<Statuses, 'all'>
  readonly sessions: { readonly supervisor: { readonly awake: number } }
  readonly inspector: { readonly viewers: number }
  readonly plugins: { inspected(): readonly InspectedPlugin[]; readonly generation: number }
}

/** Of the store, each with its write-ahead log. */
const FILES = {
  database: ['agent.sqlite3'],
  log: ['agent.sqlite3-wal'],
  search: ['search.sqlite3', 'search.sqlite3-wal'],
} as const

export async function figuresNow(parts: FigureParts): Promise<Figures> {
  const { effects, store, bus, journal, statuses, sessions, inspector, plugins } = parts
  const busy = [...statuses.all().keys()]
  const { started, failed, open, bytes } = effects.network.counts()
  const inspected = plugins.inspected()
  return {
    values: {
      svc_sessions_busy: busy.length,
      svc_sessions_awake: sessions.supervisor.awake,
      svc_queued_prompts: busy.reduce((sum, sessionId) => sum + store.queue.count(sessionId), 0),
      svc_event_subscribers: bus.subscribers,
      svc_inspector_viewers: inspector.viewers,
      svc_plugin_generations: inspected.reduce((sum, { generations }) => sum + generations.length, 0),
      svc_plugin_generation: plugins.generation,
      svc_processes: effects.processes.alive,
      svc_terminals: effects.terminals.alive,
      svc_outgoing_requests_total: started,
      svc_outgoing_failures_total: failed,
      svc_outgoing_received_bytes_total: bytes,
      svc_outgoing_open: open,
      svc_event_sequence: journal.head(),
      svc_commits_total: journal.commits,
    },
    plugins: countedBy(inspected.map(({ state }) => state)),
    files: await sizes(effects),
  }
}

function countedBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

async function sizes({ files, paths }: FigureParts['effects']): Promise<Record<string, number>> {
  const all = Object.entries(FILES).map(async ([kind, names]) => {
    const found = await Promise.all(names.map((name) => files.stat(`${paths.state}/${name}`)))
    return [kind, found.reduce((sum, each) => sum + (each?.size ?? 0), 0)] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

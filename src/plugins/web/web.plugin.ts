/** The built-in plugin that reads the web: `dev.svc.web` (sessions-events §10.4, §10.11; threat-model §4.7; decision 070). */
import type { NativePlugin } from '../../ports/plugin.js'
import { createReading, type ReaderProgram } from './reading.js'
import { searchService, websearchTool } from './websearch.js'
import { webfetchTool } from './webfetch.js'

export interface WebOptions {
  readonly program: ReaderProgram
  readonly version: string
  /** Environment of the server. */
  readonly env: Readonly<Record<string, string | undefined>>
}

export function webPlugin({ program, version, env }: WebOptions): NativePlugin {
  return {
    id: 'dev.svc.web',
    name: 'Web',
    // Reading pages needs nothing; what a client can find absent is the search (subsystems o.3).
    capability: { id: 'svc.websearch', apiPrefix: '/v2/tools' },
    eventNamespaces: ['websearch'],
    start(host) {
      const reading = createReading(host.effects, program)
      const webfetch = webfetchTool({ host, reading, version, allowHosts: listed(env['SVC_AGENT_WEBFETCH_HOSTS']) })
      const service = searchService(env)
      if (typeof service === 'object') return { tools: [webfetch, websearchTool(host.effects, service)] }
      const reason = service ?? '"websearch" is not offered: SVC_AGENT_WEBSEARCH_ENDPOINT names no search service'
      host.effects.log[service === undefined ? 'debug' : 'warn'](reason)
      return { tools: [webfetch], unavailable: async () => reason }
    },
  }
}

/** Hosts, separated by commas. */
function listed(text = ''): readonly string[] {
  return text
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '')
}

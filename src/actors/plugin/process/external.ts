/** A plugin process's declarations as contributions: every callback becomes a call through its link (plugin-protocol §4.5–4.7). */
import type { InitializeReply } from '../../../protocol/plugin/plugin-frame.js'
import type { Clock } from '../../../ports/effects.js'
import { nearest } from '../../../protocol/text/nearest.js'
import { EVENT_HOOK, type EventsContribution, HOOK_NAMES, RESPONSE_HOOK } from '../../../ports/contributions.js'
import type { HostCapability } from '../../../protocol/plugin/plugin.js'
import type { PluginEvent } from '../../../protocol/plugin/plugin-requests.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { ServedSessions } from '../brokers/served-sessions.js'
import type { EventSender } from './external-events.js'
import { externalProvider } from './external-provider.js'
import { externalRoute, externalSocketRoute } from './external-routes.js'
import { externalServices } from './external-services.js'
import { externalTool } from './external-tools.js'
import { partReader } from './message-parts.js'
import type { ContributionLink } from './contribution-link.js'
import { unusedOf } from '../link/initialize.js'
import type { Contributions } from '../../../ports/plugin.js'

export interface ExternalParts {
  readonly pluginId: string
  readonly link: ContributionLink
  readonly clock: Clock
  readonly events: EventSender
  readonly served: ServedSessions
  /** What its lease holds. */
  readonly capabilities: ReadonlySet<HostCapability>
}

/** What the registry gets. Throws `plugin.invalid` for a tool whose schema is none. */
export function toContributions(reply: InitializeReply, parts: ExternalParts): Contributions {
  const { link, clock, pluginId, served } = parts
  const events = eventsOf(reply, parts)
  const readParts = partReader(reply.messageParts)
  return {
    tools: reply.tools.map((tool) => externalTool(pluginId, tool, { link, served, parts: readParts })),
    providers: reply.services.providers.map((provider) => externalProvider(provider, { pluginId, link, clock })),
    ...externalServices({ ...reply, hooks: reply.hooks.filter((hook) => isGranted(hook, parts.capabilities)) }, link, served),
    ...(events === undefined ? {} : { events }),
    routes: reply.routes.map((route) => externalRoute(route, link, served)),
    websocketRoutes: reply.websocketRoutes.map((route) => externalSocketRoute(route, link, clock)),
    messageParts: reply.messageParts,
    mcp: reply.mcp,
    unused: unusedOf(reply),
  }
}

/** What is to be said of declared hooks that nobody calls (plugin-protocol §5.1); undefined when there are none. */
export function uncalledHooks(
  { hooks }: Pick<InitializeReply, 'hooks'>,
  capabilities: ReadonlySet<HostCapability> = new Set(),
): string | undefined {
  if (hooks.includes(RESPONSE_HOOK) && !isGranted(RESPONSE_HOOK, capabilities))
    return `The hook "${RESPONSE_HOOK}" is not called: the capability "response-transform" is not granted.`
  const known: readonly string[] = [...HOOK_NAMES, RESPONSE_HOOK, EVENT_HOOK]
  const [first, ...others] = hooks.filter((name) => !known.includes(name))
  if (first === undefined) return undefined
  const near = nearest(first, known)
  const rest = others.length === 0 ? '' : ` (nor ${others.length} others of this plugin)`
  return `The hook "${first.slice(0, 100)}" is never called${rest}; ${near === undefined ? `hooks are ${known.join(', ')}` : `did you mean "${near}"?`}`
}

const REPORTED = 2000

/** What a plugin says of itself that does not work, as one text. */
export function reportedText({ problems }: Pick<InitializeReply, 'problems'>): string {
  return problems.join('; ').slice(0, REPORTED)
}

function isGranted(hook: string, capabilities: ReadonlySet<HostCapability>): boolean {
  return hook !== RESPONSE_HOOK || capabilities.has('response-transform')
}

function eventsOf(
  { hooks, eventNamespaces }: InitializeReply,
  { events, served }: Pick<ExternalParts, 'events' | 'served'>,
): EventsContribution | undefined {
  const namespaces = hooks.includes(EVENT_HOOK) ? [''] : eventNamespaces
  if (namespaces.length === 0) return undefined
  return {
    namespaces,
    deliver(event) {
      const sessionId = sessionOf(event)
      if (sessionId !== undefined) served.heard(sessionId)
      events.deliver(event)
    },
  }
}

/** What plugins publish may name any session of their workspace, and makes it nobody's. */
function sessionOf({ type, properties }: PluginEvent): string | undefined {
  const sessionId = isRecord(properties) ? properties['sessionID'] : undefined
  return typeof sessionId === 'string' && !type.startsWith('plugin.') ? sessionId : undefined
}

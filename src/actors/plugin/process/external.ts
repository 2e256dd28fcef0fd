/** A plugin process's declarations as contributions: every callback becomes a call through its link (plugin-protocol §4.5–4.7). */
import type { InitializeReply } from '../../../protocol/plugin/plugin-frame.js'
import type { Clock } from '../../../ports/effects.js'
import { nearest } from '../../../protocol/text/nearest.js'
import { EVENT_HOOK, type EventsContribution, HOOK_NAMES } from '../../../ports/contributions.js'
import type { EventSender } from './external-events.js'
import { externalProvider } from './external-provider.js'
import { externalRoute, externalSocketRoute } from './external-routes.js'
import { externalServices } from './external-services.js'
import { externalTool } from './external-tools.js'
import type { Link } from '../link/link.js'
import type { Contributions } from '../../../ports/plugin.js'

export interface ExternalParts {
  readonly pluginId: string
  readonly link: Link
  readonly clock: Clock
  readonly events: EventSender
}

/** What the registry gets. Throws `plugin.invalid` for a tool whose schema is none. */
export function toContributions(reply: InitializeReply, parts: ExternalParts): Contributions {
  const { link, clock, pluginId } = parts
  const events = eventsOf(reply, parts.events)
  return {
    tools: reply.tools.map((tool) => externalTool(pluginId, tool, link)),
    providers: reply.services.providers.map((provider) => externalProvider(provider, link, clock)),
    ...externalServices(reply, link),
    ...(events === undefined ? {} : { events }),
    routes: reply.routes.map((route) => externalRoute(route, link)),
    websocketRoutes: reply.websocketRoutes.map((route) => externalSocketRoute(route, link, clock)),
    messageParts: reply.messageParts,
    mcp: reply.mcp,
  }
}

/** What is to be said of declared hooks that nobody calls (plugin-protocol §5.1); undefined when there are none. */
export function uncalledHooks({ hooks }: Pick<InitializeReply, 'hooks'>): string | undefined {
  const known: readonly string[] = [...HOOK_NAMES, EVENT_HOOK]
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

function eventsOf({ hooks, eventNamespaces }: InitializeReply, sender: EventSender): EventsContribution | undefined {
  const namespaces = hooks.includes(EVENT_HOOK) ? [''] : eventNamespaces
  return namespaces.length === 0 ? undefined : { namespaces, deliver: (event) => sender.deliver(event) }
}

/** Agents, commands, skills, tools and providers (http-contract §5.2, §5.3). */
import type { Runtime } from '../../ports/facades.js'
import { providerRoutes } from '../../protocol/provider/provider.js'
import { resourceRoutes } from '../../protocol/resource/resource.js'
import type { Binder } from '../bind.js'

interface Listing {
  readonly directory: string
  readonly query: { readonly sessionId?: string | undefined; readonly scope?: string | undefined }
}

export function catalogRoutes(bind: Binder, { resources, providers, system, sessions }: Runtime): void {
  /** Access to a session that is named was decided with the rest of the call. */
  const place = ({ directory, query: { sessionId, scope } }: Listing): [directory: string, sessionId?: string] => {
    const owner = scope === 'installation' || sessionId === undefined ? undefined : sessions.owner(sessionId)
    return owner === undefined || sessionId === undefined ? [directory] : [owner.directory, sessionId]
  }
  bind.json(resourceRoutes.agents, (call) => resources.agents(...place(call)))
  bind.json(resourceRoutes.agent, async (call) => {
    const [directory, ...session] = place(call)
    return (await resources.agent(directory, call.params.name, ...session)).record
  })
  bind.json(resourceRoutes.commands, (call) => resources.commands(...place(call)))
  bind.json(resourceRoutes.skills, (call) => resources.skills(...place(call)))
  bind.json(resourceRoutes.tools, (call) => system.tools(...place(call)))
  bind.json(providerRoutes.list, (call) => providers.list(...place(call)))
  bind.json(providerRoutes.configured, (call) => providers.configured(...place(call)))
}

/** Agents, commands, skills, tools and providers (http-contract §5.2, §5.3). */
import type { Runtime } from '../../ports/facades.js'
import { providerRoutes } from '../../protocol/provider/provider.js'
import { resourceRoutes } from '../../protocol/resource/resource.js'
import type { Binder } from '../bind.js'

export function catalogRoutes(bind: Binder, { resources, providers, system }: Runtime): void {
  bind.json(resourceRoutes.agents, ({ directory }) => resources.agents(directory))
  bind.json(resourceRoutes.agent, async ({ directory, params }) => (await resources.agent(directory, params.name)).record)
  bind.json(resourceRoutes.commands, ({ directory }) => resources.commands(directory))
  bind.json(resourceRoutes.skills, ({ directory }) => resources.skills(directory))
  bind.json(resourceRoutes.tools, ({ directory }) => system.tools(directory))
  bind.json(providerRoutes.list, ({ directory }) => providers.list(directory))
  bind.json(providerRoutes.configured, ({ directory }) => providers.configured(directory))
}

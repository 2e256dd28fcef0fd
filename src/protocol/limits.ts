import { brokersLimits } from './limits/brokers.js'
import { connectionsLimits } from './limits/connections.js'
import { externalLimits } from './limits/external.js'
import { hostingLimits } from './limits/hosting.js'
import { pluginsLimits } from './limits/plugins.js'
import { pluginServicesLimits } from './limits/plugin-services.js'
import { providersLimits } from './limits/providers.js'
import { repositoriesLimits } from './limits/repositories.js'
import { searchLimits } from './limits/search.js'
import { serverLimits } from './limits/server.js'
import { serversLimits } from './limits/servers.js'
import { sessionsLimits } from './limits/sessions.js'
import { delegationLimits } from './limits/delegation.js'
import { tenantsLimits } from './limits/tenants.js'
import { terminalsLimits } from './limits/terminals.js'
import { webLimits } from './limits/web.js'
import { workflowsLimits } from './limits/workflows.js'

/** Every number the service promises, named once (service.md Limits; threat-model §7); a file for each subject. */
export const LIMITS = {
  ...serverLimits,
  ...sessionsLimits,
  ...providersLimits,
  ...connectionsLimits,
  ...externalLimits,
  ...pluginsLimits,
  ...pluginServicesLimits,
  ...brokersLimits,
  ...workflowsLimits,
  ...repositoriesLimits,
  ...tenantsLimits,
  ...hostingLimits,
  ...terminalsLimits,
  ...delegationLimits,
  ...serversLimits,
  ...webLimits,
  ...searchLimits,
} as const

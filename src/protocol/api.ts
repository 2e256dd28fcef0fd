/** Every operation of the API, in one table (law 3: said once). */
import { artifactRoutes } from './artifact.js'
import { configRoutes } from './config.js'
import { eventRoutes } from './event.js'
import { interactionRoutes } from './interaction.js'
import { messageRoutes } from './message.js'
import { pluginRoutes } from './plugin.js'
import { providerRoutes } from './provider.js'
import { resourceRoutes } from './resource.js'
import type { RouteContract } from './route.js'
import { sessionRoutes } from './session.js'
import { systemRoutes } from './system.js'

/** Version of the contract document and of `ApiMeta.apiVersion`. */
export const API_VERSION = '2.0.0'

export const API: readonly RouteContract[] = [
  ...Object.values(systemRoutes),
  ...Object.values(resourceRoutes),
  ...Object.values(configRoutes),
  ...Object.values(providerRoutes),
  ...Object.values(interactionRoutes),
  ...Object.values(eventRoutes),
  ...Object.values(sessionRoutes),
  ...Object.values(messageRoutes),
  ...Object.values(artifactRoutes),
  ...Object.values(pluginRoutes),
]

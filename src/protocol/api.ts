/** Every operation of the API, in one table (law 3: said once). */
import { artifactRoutes } from './artifact.js'
import { configRoutes } from './config.js'
import { eventRoutes } from './event.js'
import { interactionRoutes } from './interaction.js'
import { inspectorRoutes } from './inspector.js'
import { commandRoutes } from './command.js'
import { messageRoutes } from './message.js'
import { pluginRoutes } from './plugin.js'
import { providerRoutes } from './provider.js'
import { ptyRoutes } from './pty.js'
import { resourceRoutes } from './resource.js'
import type { RouteContract } from './route.js'
import { sessionRoutes } from './session.js'
import { systemRoutes } from './system.js'
import { workflowRoutes } from './workflow-routes.js'

/** Version of the contract document and of `ApiMeta.apiVersion`. */
export const API_VERSION = '2.0.0'

const GROUPS = [
  systemRoutes,
  resourceRoutes,
  configRoutes,
  providerRoutes,
  interactionRoutes,
  eventRoutes,
  inspectorRoutes,
  sessionRoutes,
  messageRoutes,
  commandRoutes,
  artifactRoutes,
  pluginRoutes,
  workflowRoutes,
  ptyRoutes,
] as const

/** The union of all operations, each with its precise type. */
export type ApiRoute = RoutesOf<(typeof GROUPS)[number]>
type RoutesOf<Group> = Group extends unknown ? Group[keyof Group] : never

export const API: readonly RouteContract[] = GROUPS.flatMap((group) => Object.values<RouteContract>(group))

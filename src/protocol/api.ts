/** Every operation of the API, in one table (law 3: said once). */
import { artifactRoutes } from './system/artifact.js'
import { configRoutes } from './resource/config.js'
import { eventRoutes } from './event/event.js'
import { externalRoutes } from './external/external.js'
import { externalSessionRoutes } from './external/external-sessions.js'
import { interactionRoutes } from './interaction/interaction.js'
import { inspectorRoutes } from './system/inspector.js'
import { bundleRoutes } from './session/bundle.js'
import { commandRoutes } from './resource/command.js'
import { managedAgentRoutes, managedCommandRoutes } from './resource/managed.js'
import { managedSkillRoutes } from './resource/managed-skills.js'
import { managedRepositoryRoutes, managedWorkspaceRoutes } from './workspace/workspaces.js'
import { messageRoutes } from './message/message-routes.js'
import { mcpAuthRoutes } from './mcp/mcp-auth.js'
import { mcpRoutes } from './mcp/mcp.js'
import { pluginRoutes } from './plugin/plugin.js'
import { pluginSettingsRoutes } from './plugin/plugin-settings.js'
import { connectionRoutes } from './provider/connection.js'
import { signInRoutes } from './provider/sign-in.js'
import { providerRoutes } from './provider/provider.js'
import { ptyRoutes } from './terminal/pty.js'
import { resourceRoutes } from './resource/resource.js'
import type { RouteContract } from './route.js'
import { compactionRoutes } from './session/compaction.js'
import { sharingRoutes } from './session/sharing.js'
import { sessionRoutes } from './session/session.js'
import { undoRoutes } from './session/undo.js'
import { jobRoutes } from './session/job.js'
import { searchRoutes } from './session/search.js'
import { subagentRoutes } from './session/subagent.js'
import { goalRoutes } from './session/goal.js'
import { systemRoutes } from './system/system.js'
import { formatterRoutes } from './format/formatter-routes.js'
import { lspRoutes } from './lsp/lsp.js'
import { sessionDiffRoute, vcsRoutes } from './vcs/vcs.js'
import { workflowRoutes } from './workflow/workflow-routes.js'

/** Version of the contract document and of `ApiMeta.apiVersion`. */
export const API_VERSION = '2.0.0'

const GROUPS = [
  systemRoutes,
  resourceRoutes,
  configRoutes,
  providerRoutes,
  connectionRoutes,
  signInRoutes,
  externalRoutes,
  externalSessionRoutes,
  interactionRoutes,
  eventRoutes,
  inspectorRoutes,
  sessionRoutes,
  sharingRoutes,
  undoRoutes,
  messageRoutes,
  compactionRoutes,
  commandRoutes,
  bundleRoutes,
  artifactRoutes,
  pluginRoutes,
  pluginSettingsRoutes,
  managedAgentRoutes,
  managedCommandRoutes,
  managedSkillRoutes,
  managedWorkspaceRoutes,
  managedRepositoryRoutes,
  workflowRoutes,
  ptyRoutes,
  vcsRoutes,
  lspRoutes,
  formatterRoutes,
  mcpRoutes,
  mcpAuthRoutes,
  { sessionDiff: sessionDiffRoute },
  searchRoutes,
  subagentRoutes,
  goalRoutes,
  jobRoutes,
] as const

/** The union of all operations, each with its precise type. */
export type ApiRoute = RoutesOf<(typeof GROUPS)[number]>
type RoutesOf<Group> = Group extends unknown ? Group[keyof Group] : never

export const API: readonly RouteContract[] = GROUPS.flatMap((group) => Object.values<RouteContract>(group))

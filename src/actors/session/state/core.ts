/** What the parts of the session system share, in three records; a function takes the ones it needs. Put together once by the assembly. */
import { SvcError } from '../../../protocol/errors.js'
import type { Message } from '../../../protocol/message/message.js'
import type { Session } from '../../../protocol/session/session.js'
import type { HistoryMark, Store } from '../../../store/store.js'
import type { ArtifactFiles } from '../../artifact/artifacts.js'
import type { Effects } from '../../../ports/effects.js'
import type { Configs, Providers, Resources } from '../../../ports/facades.js'
import type { ConfigFacade } from '../../resource/facade/config.js'
import type { WorkspaceRegistry } from '../../workspace/workspace-registry.js'
import type { Families } from '../../events/families.js'
import type { Journal } from '../../events/journal.js'
import type { Live } from '../../events/live.js'
import type { Owners } from '../../tenancy/owners.js'
import type { Hosting } from '../../tenancy/hosted-session.js'
import type { ManagedOutputs } from '../../../ports/plugin.js'
import type { Traces } from '../../../ports/telemetry.js'
import type { WorkspacePlugins } from '../../../ports/view.js'
import type { CallNames } from './call-names.js'
import type { Sizes } from './sizes.js'
import type { Executions } from './executions.js'
import type { InteractionBroker } from '../../interaction/interactions.js'
import type { Outstanding } from './outstanding.js'
import type { Projects } from './project.js'
import type { Partings } from './partings.js'
import type { Sequels } from './sequels.js'
import type { Statuses } from './statuses.js'
import type { Transcripts } from './transcripts.js'

/** Where to go from a mark; undefined = nowhere. What it throws is why nothing is moved. `history` is an outline, the undone part included. */
export type Choose = (history: readonly Message[], from: HistoryMark | undefined) => { readonly to: HistoryMark | undefined } | undefined

export interface Restores {
  /** Moves a session from its mark to another, which is chosen when nobody can change the history any more; rejects with why nothing was moved. */
  move(sessionId: string, choose: Choose): Promise<void>
  isActive(sessionId: string): boolean
  /** Resolves when no restore of the session is under way. */
  settled(sessionId: string): Promise<void>
  /** Finishes or takes back what an earlier process left. */
  recover(): Promise<void>
}

/** What is stored, and how a change of it is committed and told. */
export interface Rows {
  readonly store: Store
  readonly journal: Journal
  readonly effects: Effects
  readonly families: Families
  readonly owners: Owners
  readonly live: Live
  readonly transcripts: Transcripts
}

/** What sessions do and wait for. */
export interface Work {
  readonly statuses: Statuses
  readonly executions: Executions
  readonly outstanding: Outstanding
  readonly sequels: Sequels
  readonly partings: Partings
  readonly interactions: InteractionBroker
  readonly restores: Restores
  readonly sizes: Sizes
  readonly callNames: CallNames
  /** Aborted once the server begins to stop. */
  readonly stopping: AbortSignal
}

/** What there is around sessions: what is configured, offered and kept outside of them. */
export interface Sources {
  readonly configs: Configs & Pick<ConfigFacade, 'latest'>
  readonly resources: Resources
  readonly providers: Providers
  /** What agents may for hosted callers. */
  readonly hosting: Hosting
  /** Registered workspaces. */
  readonly managed: Pick<WorkspaceRegistry, 'all'>
  readonly plugins: WorkspacePlugins
  /** Resolves once plugins were told of what is committed by now; undefined = they were. */
  pluginsHeard(): Promise<void> | undefined
  readonly projects: Projects
  readonly outputs: ManagedOutputs
  readonly artifacts: Pick<ArtifactFiles, 'list' | 'create' | 'content' | 'incoming'>
  /** Server version, recorded on sessions. */
  readonly version: string
  readonly traces: Traces
}

/** The session, or `resource.not_found`. */
export function sessionOrThrow(core: Pick<Rows, 'store'>, id: string): Session {
  const session = core.store.sessions.get(id)
  if (session === undefined) throw new SvcError('resource.not_found', `There is no session "${id}".`, { sessionId: id })
  return session
}

/** The root of a session's family; a session that was just deleted is its own. */
export function rootOf(core: Pick<Rows, 'families'>, sessionId: string): string {
  return core.families.rootOf(sessionId) ?? sessionId
}

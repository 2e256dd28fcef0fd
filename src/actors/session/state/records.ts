/** Session records: create, list, change, delete (sessions-events §2.2–2.9). */
import { type Caller, isOfWorkspace, LOCAL_TENANT, mayUseDirectory } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import type { ModelRef } from '../../../protocol/message/message.js'
import {
  type CatalogActivity,
  type CreateSessionRequest,
  ExternalAgent,
  type Session,
  type UpdateSessionRequest,
} from '../../../protocol/session/session.js'
import { EXTERNAL } from '../../../protocol/session/external-provider.js'
import type { RawJson, SessionListQuery } from '../../../ports/facades.js'
import { hostedFields } from '../../tenancy/hosted-session.js'
import type { Change } from '../../events/journal.js'
import { rootOf, sessionOrThrow, type Rows, type Work, type Sources } from './core.js'
import { refuseExternal } from './external-agent.js'
import { keptQuotas, refuseTooManySessions } from './session-quota.js'
import { DEFAULT_TITLES } from '../../../protocol/session/default-title.js'
import { slugOf } from './slug.js'

const DEFAULT_PAGE = 100
const CURSOR = /^v1:(\d{1,16}):([\w-]{1,128})$/
export interface CreateOptions {
  /** Further fields of the record; of a hosted caller, what its session says of that wins. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Joins the commit that creates the session. */
  along?(tx: Change, session: Session): void
}

/** Creates a session in a canonical directory; emits `session.created`. It survives a loss of power; one with something `along` with what is synced next. */
export async function createSession(
  core: Rows & Sources,
  caller: Caller,
  directory: string,
  request: CreateSessionRequest,
  { extra = {}, along }: CreateOptions = {},
): Promise<Session> {
  const { effects, store, journal } = core
  if (request.externalProvider !== undefined || request.externalOptions !== undefined)
    throw new SvcError('request.invalid', 'A session on an external agent is made by the plugin of external agents.')
  const external = extra['externalAgent'] === undefined ? undefined : ExternalAgent.safeParse(extra['externalAgent']).data?.provider
  const parent = request.parentId === undefined ? undefined : store.sessions.get(request.parentId)
  if (request.parentId !== undefined) {
    if (parent === undefined) throw new SvcError('resource.not_found', `There is no session "${request.parentId}" to be the parent.`)
    if ((parent.svcTenantId ?? LOCAL_TENANT) !== caller.tenantId || !isOfWorkspace(caller, parent.workspaceId))
      throw new SvcError('auth.session_forbidden')
  }
  if (request.workspaceId !== undefined && !isOfWorkspace(caller, request.workspaceId))
    throw new SvcError('request.forbidden', 'The credential is for another workspace.')
  const workspaceId = request.workspaceId ?? caller.workspaceId
  await refuseUnknownWorkspace(core, caller, directory, request)
  if (request.model !== undefined) await core.providers.check(directory, request.model, workspaceId, request.parentId)
  const [project, agent, model] = await Promise.all([
    core.projects.identify(directory),
    external ?? agentName(core, directory, request.agent, request.parentId),
    external === undefined ? (request.model ?? configuredModel(core, directory)) : { providerId: EXTERNAL, id: external },
  ])
  const kept = keptQuotas(caller, parent)
  refuseTooManySessions(store, caller.tenantId, kept) // Here too, where nobody else waits with it.
  const now = effects.clock.now()
  const id = effects.ids.next('ses')
  const session: Session = {
    ...extra,
    id,
    slug: slugOf(effects.random.bytes(2)),
    projectId: project.projectId,
    directory,
    title: request.title ?? `${DEFAULT_TITLES[request.parentId === undefined ? 0 : 1]}${now}`,
    version: core.version,
    time: { created: now, updated: now },
    agent,
    svcTenantId: caller.tenantId,
    ...(kept.quotas !== undefined && { tenantQuotas: kept.quotas }),
    ...(request.parentId === undefined ? {} : { parentId: request.parentId }),
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(project.path === undefined ? {} : { path: project.path }),
    ...(model === undefined ? {} : { model }),
    ...(request.permission === undefined ? {} : { permission: request.permission }),
    ...(caller.hosted === true ? hostedFields(caller, await core.hosting.policy(), parent) : {}),
  }
  const insert = (tx: Change) => {
    refuseTooManySessions(store, caller.tenantId, kept)
    tx.emitSession('session.created', store.sessions.insert(session))
    tx.after(() => {
      core.owners.noted(session)
      core.families.added(id, session.parentId)
    })
    along?.(tx, session)
  }
  if (along === undefined) await journal.together(insert)
  else journal.commit('process', insert)
  return session
}

/** The id of a registered workspace, the directory itself, or what the parent says. */
async function refuseUnknownWorkspace(
  { managed, store }: Rows & Sources,
  caller: Caller,
  directory: string,
  { workspaceId, parentId }: CreateSessionRequest,
): Promise<void> {
  if (workspaceId === undefined || workspaceId === directory || workspaceId === caller.workspaceId) return
  if (parentId !== undefined && store.sessions.get(parentId)?.workspaceId === workspaceId) return
  const isKnown = (await managed.all()).some(({ id, root }) => id === workspaceId && mayUseDirectory(caller, root))
  if (!isKnown) throw new SvcError('request.unprocessable', `There is no workspace "${workspaceId}".`, { workspaceId })
}

async function agentName(core: Sources, directory: string, name: string | undefined, sessionId: string | undefined): Promise<string> {
  if (name === undefined) return (await core.resources.defaultAgent(directory, sessionId)).record.name
  return (await knownAgent(core, directory, name, sessionId)).record.name
}

/** An agent by name; an unknown one is the caller's mistake, not a missing resource. */
export async function knownAgent(core: Pick<Sources, 'resources'>, directory: string, name: string, sessionId: string | undefined) {
  try {
    return await core.resources.agent(directory, name, sessionId)
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'resource.not_found') throw error
    const known = (await core.resources.agents(directory, sessionId)).filter((agent) => !agent.hidden).map((agent) => agent.name)
    throw new SvcError('request.invalid', `There is no agent "${name}". Known agents: ${known.join(', ')}.`, { agent: name, known })
  }
}

async function configuredModel(core: Sources, directory: string): Promise<ModelRef | undefined> {
  const config = await core.configs.load(directory)
  const text = config['model']
  if (typeof text !== 'string' || !text.includes('/')) return undefined
  const at = text.indexOf('/')
  const variant = config['variant']
  return { providerId: text.slice(0, at), id: text.slice(at + 1), ...(typeof variant === 'string' ? { variant } : {}) }
}

/** A page of sessions as JSON text, newest first, each with its `catalogActivity`. */
export function listSessions(core: Rows & Work, caller: Caller, query: SessionListQuery): RawJson {
  const limit = query.limit ?? DEFAULT_PAGE
  const rootsOnly = query.roots === 'true' || query.roots === '1'
  const rows = core.store.sessions.list({
    tenantId: caller.tenantId,
    prefixes: caller.directoryPrefixes,
    workspaceId: caller.workspaceId,
    directory: query.directory,
    path: query.path,
    rootsOnly,
    includeArchived: query.archived === 'true' || query.archived === '1',
    updatedSince: query.start,
    search: query.search === '' ? undefined : query.search,
    limit,
    after: query.cursor === undefined ? undefined : parseCursor(query.cursor),
  })
  const activities = familyActivities(core)
  const items = rows.map((row) => `${row.json.slice(0, -1)},"catalogActivity":"${activities(rootOf(core, row.id))}"}`)
  const last = rows.length === limit ? rows.at(-1) : undefined
  const cursor = last === undefined ? '{}' : JSON.stringify({ next: `v1:${last.updated}:${last.id}` })
  return { rawJson: `{"items":[${items.join(',')}],"cursor":${cursor}}` }
}

function parseCursor(cursor: string): { updated: number; id: string } {
  const match = CURSOR.exec(cursor)
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new SvcError('request.invalid', 'The cursor is not one this server gave out.', { cursor })
  }
  return { updated: Number(match[1]), id: match[2] }
}

/** Activity of any root, from what is in memory: permission > running > background > idle (http-contract CatalogActivity). */
export function familyActivities(
  core: Pick<Rows & Work, 'families' | 'statuses' | 'interactions' | 'outstanding'>,
): (rootId: string) => CatalogActivity {
  const asking = new Set([...core.interactions.waitingSessions()].map((id) => rootOf(core, id)))
  const running = new Set([...core.statuses.all().keys()].map((id) => rootOf(core, id)))
  for (const id of core.outstanding.sessions('task')) running.add(rootOf(core, id))
  const working = new Set([...core.outstanding.sessions('job')].map((id) => rootOf(core, id)))
  return (rootId) => (asking.has(rootId) ? 'permission' : running.has(rootId) ? 'running' : working.has(rootId) ? 'background' : 'idle')
}

/** As `familyActivities`, of one root: looks at its family and at no other. */
export function familyActivity(
  { families, statuses, interactions, outstanding }: Pick<Rows & Work, 'families' | 'statuses' | 'interactions' | 'outstanding'>,
  rootId: string,
): CatalogActivity {
  const members = families.members(rootId)
  for (const id of interactions.waitingSessions()) if (members.includes(id)) return 'permission'
  if (members.some((id) => !statuses.isIdle(id) || outstanding.has(id, 'task'))) return 'running'
  return members.some((id) => outstanding.has(id)) ? 'background' : 'idle'
}

/** Changes a session; `directoryAt` resolves a new directory, which may be relative to that of the session (sessions-events §2.3). */
export async function updateSession(
  core: Rows & Work & Sources,
  id: string,
  request: UpdateSessionRequest,
  directoryAt: (path: string, base: string) => Promise<string>,
): Promise<Session> {
  const before = sessionOrThrow(core, id)
  if (request.agent !== undefined || request.model !== undefined || request.directory !== undefined)
    refuseExternal(before, 'its agent, its model and its directory stay as they are')
  if (request.agent !== undefined) await knownAgent(core, before.directory, request.agent, before.id)
  const directory = request.directory === undefined ? undefined : await directoryAt(unquoted(request.directory), before.directory)
  const moved = directory !== undefined && directory !== before.directory ? directory : undefined
  const project = moved === undefined ? undefined : await core.projects.identify(moved)
  if (request.model !== undefined) await core.providers.check(directory ?? before.directory, request.model, before.workspaceId, before.id)
  const session = sessionOrThrow(core, id)
  if (moved !== undefined && (!core.statuses.isIdle(id) || core.restores.isActive(id))) {
    throw new SvcError('resource.conflict', 'The session is running; its directory can be changed when it is idle.', { sessionId: id })
  }
  const { archived: _archived, ...time } = { ...session.time, updated: core.effects.clock.now() }
  const archived = request.time?.archived ?? session.time.archived
  const { path: _path, ...unplaced } = session
  const next: Session = {
    ...(project === undefined
      ? session
      : { ...unplaced, projectId: project.projectId, ...(project.path === undefined ? {} : { path: project.path }) }),
    ...(request.title === undefined ? {} : { title: request.title }),
    ...(request.agent === undefined ? {} : { agent: request.agent }),
    ...(request.model === undefined ? {} : { model: request.model }),
    ...(request.permission === undefined ? {} : { permission: request.permission }),
    ...(moved === undefined ? {} : { directory: moved }),
    time: { ...time, ...(archived === undefined || archived === 0 ? {} : { archived }) },
  }
  core.journal.commit('power', (tx) => {
    tx.emitSession('session.updated', core.store.sessions.update(next))
    tx.after(() => core.owners.noted(next))
    if (moved === undefined) return
    tx.emit('session.moved', { sessionID: id, info: next, previousDirectory: session.directory, directory: moved, switchWorkspace: false })
  })
  return next
}

function unquoted(path: string): string {
  return path.trim().replace(/^(['"])(.*)\1$/, '$2')
}

export function pinSession(core: Rows, id: string, pinned: boolean | undefined): Session {
  const { pinned: before, ...session } = sessionOrThrow(core, id)
  const wanted = pinned ?? before !== true
  const next: Session = {
    ...session,
    time: { ...session.time, updated: core.effects.clock.now() },
    ...(wanted ? { pinned: true as const } : {}),
  }
  core.journal.commit('power', (tx) => {
    tx.emitSession('session.updated', core.store.sessions.update(next))
  })
  return next
}

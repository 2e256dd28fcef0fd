/**
 * A session from a bundle (sessions-events §2.15).
 *
 * I1 Until it is whole the session belongs to a tenant nobody can be: it is in no list, and nobody may use it.
 * I2 It becomes the caller's in one commit, and is answered once that is synced. What failed, and what an earlier process left, is removed.
 *    Artifacts are files without rows until then, and prompts rows of a queue that nobody may look into.
 * I3 A bundle speaks for nobody: of its rules only those that ask or deny are kept, what its prompts want called is asked for, and what its
 *    parts say of files is forgotten, because undo would write it.
 * I4 It starts nothing (choice 35): its prompts are held, and until a person has prompted the session all its calls are asked for. What
 *    it says is running was interrupted.
 */
import { nextTurn } from '../../../kernel/pause.js'
import type { Caller } from '../../../protocol/caller.js'
import { workspaceRootOf } from '../../../protocol/session/workspace-root.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { Session } from '../../../protocol/session/session.js'
import type { IncomingArtifacts } from '../../artifact/incoming.js'
import { wellFormedValue } from '../../../protocol/text/well-formed.js'
import { sessionOrThrow, type Rows, type Sources } from '../state/core.js'
import { refuseTooManySessions } from '../state/session-quota.js'
import { slicesOf } from '../state/slices.js'
import { slugOf } from '../state/slug.js'
import { STAGED_TENANT } from '../history/staged.js'
import { arrivals } from './arriving.js'
import { type BundledPrompt, type BundleHead, readBundle } from './read-bundle.js'

const PAGE = 32
const EXPLICIT = 'it came with a bundle'

export interface ImportParts {
  readonly chunks: AsyncIterable<Uint8Array>
  /** The canonical directory, which the caller may use. */
  admit(directory: string): Promise<string>
}

export async function importSession(core: Rows & Sources, caller: Caller, { chunks, admit }: ImportParts): Promise<string> {
  const { effects, store, journal } = core
  refuseTooManySessions(store, caller.tenantId, caller)
  const id = effects.ids.next('ses')
  const staged = stagedSession(core, id)
  const artifacts = core.artifacts.incoming(caller)
  journal.commit('process', () => store.sessions.insert(staged))
  try {
    const head = await readBundle(chunks, arrivals(core, id, artifacts))
    await artifacts.complete()
    const root = await admit(head.targetWorkspaceRoot)
    const session = await sessionOf(core, caller, staged, head, root)
    await reroot(core, id, head.workspaceRoot ?? workspaceRootOf(head.session), root)
    await keepPrompts(core, id, head.prompts)
    await journal.synced()
    publish(core, caller, session, artifacts)
    await journal.synced()
    return id
  } catch (error) {
    if (store.sessions.get(id)?.svcTenantId === STAGED_TENANT) journal.commit('process', () => store.sessions.delete(id))
    throw error
  } finally {
    await artifacts.discard()
  }
}

/** Removes what an earlier process began to import (I2). Meant for the start. */
export function removeStaged({ store, journal }: Pick<Rows, 'store' | 'journal'>): void {
  for (;;) {
    const rows = store.sessions.list({ tenantId: STAGED_TENANT, includeArchived: true, limit: PAGE })
    if (rows.length === 0) return
    journal.commit('process', () => {
      for (const { id } of rows) store.sessions.delete(id)
    })
  }
}

function stagedSession({ effects, version }: Rows & Sources, id: string): Session {
  const now = effects.clock.now()
  return {
    id,
    slug: slugOf(effects.random.bytes(2)),
    projectId: '',
    directory: '',
    title: '',
    version,
    time: { created: now, updated: now },
    svcTenantId: STAGED_TENANT,
  }
}

async function sessionOf(core: Rows & Sources, caller: Caller, staged: Session, { session }: BundleHead, root: string): Promise<Session> {
  const { path, title, agent, model, permission = [], time } = session
  const directory = await existing(core, path === undefined || path === '' ? root : `${root === '/' ? '' : root}/${path}`, root)
  const known = await core.resources.agents(directory)
  const isUsable = model !== undefined && (await core.providers.resolve(directory, model).then(isTrue, isFalse))
  const project = await core.projects.identify(directory)
  const rules = permission.filter(({ action }) => action !== 'allow')
  return wellFormedValue({
    ...staged,
    imported: true as const, // I4
    svcTenantId: caller.tenantId,
    ...(caller.quotas !== undefined && { tenantQuotas: caller.quotas }),
    ...(caller.workspaceId === undefined ? {} : { workspaceId: caller.workspaceId }),
    projectId: project.projectId,
    directory,
    title: title.slice(0, 1000),
    time: { ...staged.time, created: time.created, ...(time.archived ? { archived: time.archived } : {}) },
    ...(project.path === undefined ? {} : { path: project.path }),
    ...(known.some(({ name }) => name === agent) && agent !== undefined ? { agent } : {}),
    ...(isUsable ? { model } : {}),
    ...(rules.length > 0 ? { permission: rules } : {}),
  })
}

const isTrue = () => true
const isFalse = () => false

/** The directory the session worked in, when the target has it and it lies below. */
async function existing({ effects: { files } }: Rows, directory: string, root: string): Promise<string> {
  const real = await files.realPath(directory).catch(() => root)
  return real === root || real.startsWith(root === '/' ? '/' : `${root}/`) ? real : root
}

/** Paths of answers lie below the new root. What is looked at in one turn is as long as a slice of a history, however long its messages are. */
async function reroot({ store, journal }: Rows, sessionId: string, from: string, to: string): Promise<void> {
  const moved = (path: string) =>
    path === from ? to : path.startsWith(`${from}/`) ? `${to === '/' ? '' : to}${path.slice(from.length)}` : path
  for await (const messages of slicesOf(store, { sessionId, order: 'asc' }))
    journal.commit('process', () => {
      for (const { id } of messages) {
        const info = store.messages.getInfo(id)
        if (info?.role === 'assistant')
          store.messages.updateInfo({ ...info, path: { ...info.path, cwd: moved(info.path.cwd), root: moved(info.path.root) } })
      }
    })
}

/** Each in a turn of its own: they may be long. */
async function keepPrompts({ effects, store, journal }: Rows, sessionId: string, prompts: readonly BundledPrompt[]): Promise<void> {
  for (const { delivery, request } of prompts) {
    await nextTurn()
    const prompt = promptOf(request, effects.ids.next('msg'))
    const row = { id: effects.ids.next('evt'), sessionId, delivery, request: prompt, created: effects.clock.now() }
    journal.commit('process', () => store.queue.append({ ...row, held: true })) // I4
  }
}

function publish(core: Rows, caller: Caller, session: Session, artifacts: IncomingArtifacts): void {
  const { store, journal, families, owners } = core
  journal.commit('process', (tx) => {
    sessionOrThrow(core, session.id)
    refuseTooManySessions(store, caller.tenantId, caller)
    store.sessions.update(session)
    artifacts.insert()
    tx.emit('session.created', { sessionID: session.id, info: session })
    tx.after(() => {
      owners.noted(session)
      families.added(session.id, undefined)
    })
  })
}

function promptOf(
  { parts, noReply, model, agent, system, tools, author, calls }: BundledPrompt['request'],
  messageId: string,
): QueuedPrompt {
  return wellFormedValue({
    messageId,
    parts,
    noReply,
    ...(model === undefined ? {} : { model }),
    ...(agent === undefined ? {} : { agent }),
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    ...(author === undefined ? {} : { author }),
    ...(calls === undefined ? {} : { calls: calls.map(({ tool, input }) => ({ tool, input, explicit: EXPLICIT })) }),
  })
}

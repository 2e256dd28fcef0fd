/**
 * The system messages of a request and the context epoch (sessions-events §12).
 *
 * I1 The first system messages, the workspace's and the plugins', are byte-stable while a session is awake: providers
 *    can cache them. What drifts from their baseline is told in a note of its own.
 * I2 They are the same after a restart or a sleep, on another day too, unless a text in them has changed meanwhile: then there is a new baseline.
 */
import type { Session } from '../../../protocol/session/session.js'
import type { InstructionFile } from '../../../ports/facades.js'
import type { ModelMessage } from '../../../ports/provider-adapter.js'
import type { Rows, Sources } from '../state/core.js'
import type { World } from './world.js'
import { type ContextSection, createPluginContext } from './plugin-context.js'

const DAY = 86_400_000

interface ContextSources {
  readonly config: { readonly generation: number }
  readonly environment: Readonly<Record<string, unknown>>
  readonly instructions: readonly { readonly path: string; readonly sha256: string }[]
  /** Sections of plugins; absent when there are none. */
  readonly services?: readonly { readonly key: string; readonly sha256: string }[]
  readonly calendar: { readonly unixDay: number }
}

interface Epoch {
  readonly baseline: ContextSources
  readonly snapshot: ContextSources
  readonly generation: number
  readonly baselineSeq: number
  readonly updated: number
}

export interface SystemContext {
  /** Reconciles the epoch of a session before a run; publishes `session.context.updated` when it changed. */
  reconcile(session: Session, messageCount: number): Promise<void>
  /** Whether a session is awake, and that would change nothing. */
  isCurrent(session: Session): Promise<boolean>
  /** System messages for a run of this session. */
  messages(session: Session, world: Pick<World, 'target' | 'view'>, system: string | undefined): readonly SystemMessage[]
  forget(sessionId: string): void
}

type SystemMessage = Extract<ModelMessage, { readonly role: 'system' }>

/** What a look at the sources found. */
interface Seen {
  readonly sources: ContextSources
  readonly files: readonly InstructionFile[]
  readonly sections: readonly ContextSection[]
}

/** What an awake session is told: the texts of its baseline, and what has changed since. */
interface Awake {
  readonly workspace: string
  readonly sections: string
  readonly epoch: Epoch
  readonly note: string | undefined
}

export function createSystemContext(
  core: Pick<Rows & Sources, 'effects' | 'resources' | 'projects' | 'journal' | 'store' | 'plugins'>,
): SystemContext {
  const { effects } = core
  const sectionsOf = createPluginContext(effects)
  /** One entry for each awake session: whoever puts a session to sleep calls `forget`. */
  const awake = new Map<string, Awake>()
  /** What a session was last told: the same texts are the same messages. */
  const told = new WeakMap<Awake, readonly SystemMessage[]>()

  async function look(session: Session): Promise<Seen> {
    const view = core.plugins.current(session.directory, session.id)
    const [files, project, sections] = await Promise.all([
      core.resources.instructions(session.directory),
      core.projects.identify(session.directory),
      session.executionPolicy === undefined ? sectionsOf(view, session.directory) : [], // What plugins know is not for strangers.
    ])
    const { os, arch } = effects.platform
    const environment = {
      directory: session.directory,
      os,
      arch,
      shell: effects.childEnv['SHELL'] ?? '/bin/sh',
      git: project.worktree !== undefined,
    }
    const services = sections.map(({ key, text }) => ({ key, sha256: effects.sha256(text) }))
    return {
      files,
      sections,
      sources: {
        config: { generation: view.generation },
        environment,
        instructions: files.map((file) => ({ path: file.path, sha256: effects.sha256(file.text) })),
        ...(services.length === 0 ? {} : { services }),
        calendar: { unixDay: Math.floor(effects.clock.now() / DAY) },
      },
    }
  }

  return {
    async reconcile(session, messageCount) {
      const seen = await look(session)
      const { sources, files } = seen
      const known = awake.get(session.id)
      const last = known?.epoch ?? (session['contextEpoch'] as Epoch | undefined)
      if (known !== undefined && same(known.epoch.snapshot, sources)) return
      const before = known?.epoch ?? (last !== undefined && saysTheSame(last.baseline, sources) ? last : undefined)
      const baseline = before?.baseline ?? sources
      const epoch: Epoch = {
        baseline,
        snapshot: sources,
        generation: last === undefined ? 1 : same(last.snapshot, sources) ? last.generation : last.generation + 1,
        baselineSeq: before?.baselineSeq ?? messageCount,
        updated: effects.clock.now(),
      }
      const workspace = known?.workspace ?? workspaceSection(baseline, files)
      const sections = known?.sections ?? seen.sections.map(({ text }) => text).join('\n\n')
      const next = { workspace, sections, epoch, note: changeNote(epoch, seen) }
      if (last !== undefined && same(last.snapshot, sources)) {
        awake.set(session.id, next)
        return
      }
      const current = core.store.sessions.get(session.id)
      if (current === undefined) return
      core.journal.commit('process', (tx) => {
        core.store.sessions.update({ ...current, contextEpoch: epoch })
        tx.emit('session.context.updated', { sessionID: session.id, epoch: { ...epoch } })
        tx.after(() => awake.set(session.id, next))
      })
    },
    async isCurrent(session) {
      if (!awake.has(session.id)) return false
      const { sources } = await look(session)
      const known = awake.get(session.id)
      return known !== undefined && same(known.epoch.snapshot, sources)
    },
    messages(session, { target, view: { sessionContext } }, system) {
      const known = awake.get(session.id)
      const own = sessionContext.length === 0 ? undefined : core.store.sessions.get(session.id)
      const texts = [
        known?.workspace,
        ...(own === undefined ? [] : sessionContext.map((say) => say(own))),
        known?.sections,
        known?.note,
        [target.agent.record.prompt, system].filter((text) => text?.trim()).join('\n\n'),
      ]
      const before = (known && told.get(known)) ?? []
      const messages = texts.flatMap((text): SystemMessage[] => {
        if (text === undefined || text === '') return []
        const same = before.find((message) => message.text === text)
        return [same ?? { role: 'system', text }]
      })
      if (known !== undefined) told.set(known, messages)
      return messages
    },
    forget: (sessionId) => void awake.delete(sessionId),
  }
}

function same(a: ContextSources, b: ContextSources): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Whether the first system messages made of either have the same texts, but for the day (I2). */
function saysTheSame(baseline: ContextSources, now: ContextSources): boolean {
  const texts = ({ environment, instructions, services }: ContextSources) => JSON.stringify([environment, instructions, services])
  return texts(baseline) === texts(now)
}

function workspaceSection(sources: ContextSources, files: readonly InstructionFile[]): string {
  const { directory, os, arch, shell, git } = sources.environment
  const role = [
    'You are a coding agent. You work on the files of one directory through tools, on behalf of a person who sees your text and every tool call.',
    'Look before you change: read a file before you edit it, and search before you assume. Change what was asked for and nothing else. Prefer `edit` for existing files and `write` for new ones, or `apply_patch` where you have that. After a change, check it where you can. When a tool fails or is refused, say so or try another way; never claim what you have not seen.',
    `Directory: ${String(directory)}\nPlatform: ${String(os)} ${String(arch)}\nShell: ${String(shell)}\nGit repository: ${git === true ? 'yes' : 'no'}\nDate: ${new Date(sources.calendar.unixDay * DAY).toISOString().slice(0, 10)}`,
  ]
  return [...role, ...files.map((file) => `Instructions from ${file.path}:\n${file.text}`)].join('\n\n')
}

/** What differs from the baseline, for the model; undefined when nothing does. */
function changeNote(epoch: Epoch, { files, sections }: Seen): string | undefined {
  const { baseline, snapshot } = epoch
  const notes: string[] = []
  if (baseline.calendar.unixDay !== snapshot.calendar.unixDay)
    notes.push(`The date is now ${new Date(snapshot.calendar.unixDay * DAY).toISOString().slice(0, 10)}.`)
  if (JSON.stringify(baseline.environment) !== JSON.stringify(snapshot.environment))
    notes.push(`The environment is now ${JSON.stringify(snapshot.environment)}.`)
  const before = new Map(baseline.instructions.map((file) => [file.path, file.sha256]))
  for (const { path, sha256 } of snapshot.instructions) {
    if (before.get(path) === sha256) continue
    notes.push(`Instructions from ${path} have changed and now read:\n${files.find((file) => file.path === path)?.text ?? ''}`)
  }
  const now = new Set(snapshot.instructions.map((file) => file.path))
  for (const { path } of baseline.instructions) if (!now.has(path)) notes.push(`Instructions from ${path} no longer apply.`)
  notes.push(...sectionNotes(epoch, sections))
  return notes.length === 0 ? undefined : ['Since this conversation began:', ...notes].join('\n\n')
}

function sectionNotes({ baseline, snapshot }: Epoch, sections: readonly ContextSection[]): string[] {
  const before = new Map(baseline.services?.map(({ key, sha256 }) => [key, sha256]))
  const now = new Map(snapshot.services?.map(({ key, sha256 }) => [key, sha256]))
  const changed = sections.filter(({ key }) => before.get(key) !== now.get(key))
  const gone = [...before.keys()].filter((key) => !now.has(key))
  return [
    ...changed.map(({ key, text }) => `Guidance of the plugin section ${key} now reads:\n${text}`),
    ...gone.map((key) => `Guidance of the plugin section ${key} no longer applies.`),
  ]
}

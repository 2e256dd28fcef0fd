/** Agents and commands as managed resources: their Markdown files are the truth, whoever wrote them (subsystems b.13). */
import { basename, dirname, join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { expectedOf } from '../../../protocol/resource/expected.js'
import type { ManagedResource, MarkdownWriteRequest } from '../../../protocol/resource/managed.js'
import { AgentConfig, canonicalKey, CommandConfig } from '../../../protocol/resource/agent-config.js'
import { publicRecord } from '../../../protocol/text/secrets.js'
import type { Effects } from '../../../ports/effects.js'
import type { Resources } from '../../../ports/facades.js'
import type { ManagedMarkdown, ManagedPlace } from '../../../ports/managed.js'
import type { ConfigSnapshot } from '../snapshot/snapshot.js'
import type { Snapshots } from '../snapshot/snapshots.js'
import type { DefinitionFile } from '../markdown/markdown.js'
import { type FolderEffects, isPlain, managedRoot, writableFolder } from './managed-folder.js'
import { markdownText } from './managed-text.js'
import type { ManagedTimes } from './managed-times.js'
import { isManagedId, refuseExisting, refuseOther, requireManagedId } from './revisions.js'
import type { WritingLane } from './writing.js'
import { compare } from '../../../kernel/sort.js'

export interface ManagedDeps {
  readonly effects: FolderEffects & Pick<Effects, 'sha256'>
  readonly snapshots: Pick<Snapshots, 'get' | 'written' | 'onForgotten'>
  readonly resources: Pick<Resources, 'agents' | 'commands' | 'skills' | 'contributors'>
  readonly lane: WritingLane
  readonly times: ManagedTimes
}

type MarkdownKind = 'agent' | 'command'
const SCHEMAS = { agent: AgentConfig, command: CommandConfig }

/** The operations of one kind. */
export function createManagedMarkdown(deps: ManagedDeps, kind: MarkdownKind): ManagedMarkdown {
  const { effects, lane, times } = deps
  const { files, sha256 } = effects
  const folderName = `${kind}s`
  const called = (id: string) => `${kind} "${id}"`

  async function readAll(place: ManagedPlace): Promise<ManagedResource[]> {
    const snapshot = await deps.snapshots.get(place.directory, { fresh: true })
    const folder = join(managedRoot(effects, place), folderName)
    const own = (await isPlain(effects, place, folder)) ? ownFiles(snapshot, kind, folder) : []
    const effective = new Map((await effectiveOf(deps, kind, place.directory)).map((each) => [each.name, each]))
    const managed = await Promise.all(
      own.map(async (file) => {
        const createdAt = await times.createdAt(file.path, file.modifiedMs)
        return managedResource(place, file, { createdAt, definition: file.entry && (effective.get(file.entry.name) ?? fallback(file)) })
      }),
    )
    const taken = new Set([...managed.map(({ id }) => id), ...own.flatMap(({ entry }) => entry?.name ?? [])])
    const from = await deps.resources.contributors(place.directory, kind)
    const others = [...effective.values()]
      .filter(({ name }) => !taken.has(name))
      .map((each) => otherResource(snapshot, kind, each, from.get(each.name)))
    return [...managed, ...others].toSorted((a, b) => compare(a.id, b.id))
  }

  async function find(place: ManagedPlace, id: string): Promise<ManagedResource> {
    const found = (await readAll(place)).find((resource) => resource.id === id)
    if (found !== undefined) return found
    throw new SvcError('management.not_found', `There is no ${called(id)}.`, { id })
  }

  /** Something of that name is there that is not managed here, or nothing is. */
  async function refuseUnmanaged(place: ManagedPlace, id: string): Promise<never> {
    const { provenance } = await find(place, id)
    throw new SvcError('management.read_only', `The ${called(id)} is defined by ${provenance}, which is not changed here.`, {
      id,
      provenance,
    })
  }

  /** An id that no managed file can have may still be of something that is there, and is not changed here. */
  async function refuseOthers(place: ManagedPlace, id: string): Promise<void> {
    if (isManagedId(id)) return
    if ((await readAll(place)).some((resource) => resource.id === id)) await refuseUnmanaged(place, id)
    requireManagedId(id)
  }

  async function write(place: ManagedPlace, id: string, text: string, check: (current: string | undefined) => Promise<void>) {
    return lane.inTurn(async () => {
      const folder = await writableFolder(effects, place, folderName)
      const path = join(folder, `${id}.md`)
      await check(await currentRevision(effects, path))
      await files.makeDirectory(folder)
      await writableFolder(effects, place, folderName)
      const before = await files.stat(path)
      if (before !== undefined) await times.replacing(path, before.modifiedMs)
      await files.writeAtomic(path, text, place.scope === 'installation' ? { canonical: true, mode: 0o600 } : { canonical: true })
      await deps.snapshots.written(place.directory)
      const written = await find(place, id)
      return { ...written, revision: `sha256:${sha256(text)}` }
    })
  }

  return {
    list: readAll,
    async get(place, id, expected) {
      const found = await find(place, id)
      refuseOther(called(id), found.revision ?? undefined, expectedOf(undefined, undefined, expected))
      return found
    },
    async create(place, id, request, ifMatch) {
      const expected = expectedOf(request.expectedRevision, undefined, ifMatch)
      return write(place, id, textOf(kind, id, request), async (current) => refuseExisting(called(id), current, expected))
    },
    async update(place, id, request, ifMatch) {
      await refuseOthers(place, id)
      const expected = expectedOf(request.expectedRevision, undefined, ifMatch)
      return write(place, id, textOf(kind, id, request), async (current) => {
        if (current === undefined) await refuseUnmanaged(place, id)
        refuseOther(called(id), current, expected)
      })
    },
    async delete(place, id, ifMatch) {
      await refuseOthers(place, id)
      await lane.inTurn(async () => {
        const path = join(await writableFolder(effects, place, folderName), `${id}.md`)
        const current = await currentRevision(effects, path)
        if (current === undefined) await refuseUnmanaged(place, id)
        refuseOther(called(id), current, expectedOf(undefined, undefined, ifMatch))
        await files.remove(path)
        await times.replacing(path, undefined)
        await deps.snapshots.written(place.directory)
      })
    },
  }
}

/** The bytes of the managed file just now; what is no plain file is not ours. */
async function currentRevision({ files, sha256 }: Pick<Effects, 'files' | 'sha256'>, path: string): Promise<string | undefined> {
  const entry = await files.entry(path)
  if (entry === undefined) return undefined
  if (entry.kind !== 'file') throw new SvcError('management.read_only', `${path} is no regular file; it is not written.`, { path })
  return `sha256:${sha256(await files.read(path, LIMITS.config.markdownBytes, { canonical: true }))}`
}

/** Managed files of a folder; the last one that defines a name is the one that counts, as everywhere. */
function ownFiles(snapshot: ConfigSnapshot, kind: MarkdownKind, folder: string): DefinitionFile[] {
  return snapshot.files.filter((file) => file.kind === kind && dirname(file.path) === folder && isManagedId(basename(file.path, '.md')))
}

interface Effective {
  readonly name: string
  readonly native?: boolean
}

async function effectiveOf({ resources }: ManagedDeps, kind: MarkdownKind, directory: string): Promise<readonly Effective[]> {
  return kind === 'agent' ? resources.agents(directory) : resources.commands(directory)
}

/** What a file says that is not in effect: a disabled agent, a command that cannot be run. */
function fallback({ entry }: DefinitionFile): unknown {
  return entry === undefined ? null : publicRecord({ ...entry.definition, name: entry.name })
}

interface Known {
  readonly createdAt: number
  readonly definition: unknown
}

function managedResource({ scope }: ManagedPlace, file: DefinitionFile, { createdAt, definition }: Known): ManagedResource {
  const { path, revision = null, modifiedMs } = file
  return {
    id: basename(path, '.md'),
    scope,
    origin: 'managed',
    provenance: path,
    writable: true,
    managed: true,
    revision,
    createdAt,
    updatedAt: Math.floor(modifiedMs),
    definition: definition ?? null,
  }
}

/** `plugin`: the id of the one it comes from. */
function otherResource(snapshot: ConfigSnapshot, kind: MarkdownKind, definition: Effective, plugin: string | undefined): ManagedResource {
  const isBuiltIn = kind === 'agent' ? definition.native === true : ['init', 'summarize'].includes(definition.name)
  const file = snapshot.definedIn.get(`${kind}/${definition.name}`)
  return {
    id: definition.name,
    scope: null,
    origin: isBuiltIn && file === undefined ? 'builtIn' : 'discovered',
    provenance: file ?? plugin ?? (isBuiltIn ? `dev.svc.${kind}s` : 'plugin'),
    writable: false,
    managed: false,
    revision: null,
    createdAt: null,
    updatedAt: null,
    definition,
  }
}

/** The bytes of a request; throws `management.invalid_request` for what would not be used. */
function textOf(kind: MarkdownKind, id: string, { content, frontmatter = {} }: MarkdownWriteRequest): string {
  requireManagedId(id)
  const renamed = Object.entries(frontmatter).map(([key, value]): [string, unknown] => [canonicalKey([kind, id], key), value])
  const values: JsonRecord = { ...Object.fromEntries(renamed), name: id }
  const checked = SCHEMAS[kind].safeParse(values)
  if (!checked.success) {
    const [issue] = checked.error.issues
    const path = ['frontmatter', ...(issue?.path ?? [])].join('.')
    const message = issue?.message ?? 'is not valid'
    throw new SvcError('management.invalid_request', `${path}: ${message}`, { issues: [{ path: `body.${path}`, message }] })
  }
  if (kind === 'command' && content.trim() === '')
    throw new SvcError('management.invalid_request', 'A command needs content: its template.')
  return markdownText(values, content)
}

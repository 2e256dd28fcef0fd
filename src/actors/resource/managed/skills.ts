/** Skills as managed resources: a folder of files each, with all its versions (subsystems b.13). */
import { basename, dirname, join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { expectedOf } from '../../../protocol/resource/expected.js'
import type { ManagedResource } from '../../../protocol/resource/managed.js'
import type { Effects } from '../../../ports/effects.js'
import type { ManagedPlace, ManagedSkills } from '../../../ports/managed.js'
import type { Watcher } from '../../../ports/watched.js'
import type { SkillEntry } from '../markdown/markdown.js'
import { isPlain, managedRoot, writableFolder } from './managed-folder.js'
import type { ManagedDeps } from './markdown-resources.js'
import { isManagedId, refuseExisting, refuseOther, requireManagedId } from './revisions.js'
import { type Bundle, bundleOf, readBundle, readSkill, revisionOf, shownBundle, SKILL_FILE } from './skill-bundle.js'
import type { SkillFolders } from './skill-folders.js'
import { createSkillList } from './skill-list.js'
import type { SkillVersions } from './skill-versions.js'

interface SkillDeps extends ManagedDeps {
  readonly effects: ManagedDeps['effects'] & Pick<Effects, 'clock' | 'hasher'>
  readonly versions: SkillVersions
  readonly folders: SkillFolders
  readonly watched: Watcher
}

type Check = (current: string | undefined) => Promise<void>

export function createManagedSkills(deps: SkillDeps): ManagedSkills {
  const { effects, lane, versions, folders, times } = deps
  const { files } = effects
  const called = (id: string) => `skill "${id}"`

  const list = createSkillList({ effects, watched: deps.watched, read: resourceOf })
  deps.snapshots.onForgotten(list.forget)

  async function resourceOf(place: ManagedPlace, entry: SkillEntry, isInPlace: boolean): Promise<ManagedResource> {
    const { id, path } = entry
    const isOwn = isInPlace && isManagedId(id)
    const bundle = isOwn ? await readBundle(effects, dirname(path)) : undefined
    return bundle instanceof Map ? managed(place, id, { path, bundle }) : discovered(entry)
  }

  async function managed(place: ManagedPlace, id: string, { path, bundle }: { path: string; bundle: Bundle }): Promise<ManagedResource> {
    const modifiedMs = (await files.stat(path))?.modifiedMs ?? 0
    return {
      id,
      scope: place.scope,
      origin: 'managed',
      provenance: path,
      writable: true,
      managed: true,
      revision: revisionOf(effects, bundle),
      createdAt: await times.createdAt(dirname(path), modifiedMs),
      updatedAt: Math.floor(modifiedMs),
      definition: definitionOf(id, path, bundle),
    }
  }

  async function discovered({ id, path }: SkillEntry): Promise<ManagedResource> {
    const bytes = await files.read(path, LIMITS.config.markdownBytes).catch(() => new Uint8Array())
    return {
      id,
      scope: null,
      origin: 'discovered',
      provenance: path,
      writable: false,
      managed: false,
      revision: null,
      createdAt: null,
      updatedAt: null,
      definition: definitionOf(id, path, new Map([[SKILL_FILE, bytes]])),
    }
  }

  async function readAll(place: ManagedPlace): Promise<readonly ManagedResource[]> {
    const { skills } = await deps.snapshots.get(place.directory, { fresh: true })
    return list.get({ place, skills, isPlain: await isPlain(effects, place, join(managedRoot(effects, place), 'skills')) })
  }

  async function find(place: ManagedPlace, id: string): Promise<ManagedResource> {
    const found = (await readAll(place)).find((skill) => skill.id === id)
    if (found !== undefined) return found
    throw new SvcError('management.not_found', `There is no ${called(id)}.`, { id })
  }

  /** With what it consists of, as a request would write it, where it can be written here: an editor begins with that. */
  async function withBundle(found: ManagedResource): Promise<ManagedResource> {
    const bundle = found.managed ? await readBundle(effects, dirname(found.provenance)) : undefined
    if (!(bundle instanceof Map) || typeof found.definition !== 'object') return found
    return { ...found, definition: { ...found.definition, bundle: shownBundle(bundle), bundleRevision: revisionOf(effects, bundle) } }
  }

  const readOnly = ({ id, provenance }: ManagedResource) =>
    new SvcError('management.read_only', `The ${called(id)} is defined by ${provenance}, which is not changed here.`, { id, provenance })

  /** An id that no managed skill can have may still be of one that is there, and is not changed here. */
  async function refuseOthers(place: ManagedPlace, id: string): Promise<void> {
    if (isManagedId(id)) return
    const found = (await readAll(place)).find((skill) => skill.id === id)
    if (found !== undefined) throw readOnly(found)
    requireManagedId(id)
  }

  /** What is there now; throws `management.read_only` when that is none of ours. */
  async function currentOf(target: string): Promise<Bundle | undefined> {
    const bundle = await readBundle(effects, target)
    if (typeof bundle === 'string')
      throw new SvcError('management.read_only', `${target} is not written: it ${bundle}.`, { folder: target })
    return bundle
  }

  async function put(place: ManagedPlace, id: string, bundle: Bundle | undefined, check: Check): Promise<void> {
    requireManagedId(id)
    if (id === 'install') throw new SvcError('management.invalid_request', 'A skill cannot be called "install".')
    await lane.inTurn(async () => {
      const target = join(await writableFolder(effects, place, 'skills'), id)
      const current = await currentOf(target)
      await check(current && revisionOf(effects, current))
      if (current !== undefined) await versions.keep(place, id, current)
      if (bundle !== undefined) await versions.keep(place, id, bundle)
      const before = current && (await files.stat(join(target, SKILL_FILE)))
      if (before !== undefined && bundle !== undefined) await times.replacing(target, before.modifiedMs)
      await folders.replace(target, bundle)
      if (bundle === undefined) await times.replacing(target, undefined)
      await deps.snapshots.written(place.directory)
    })
  }

  const creating =
    (id: string, expected: string | undefined): Check =>
    async (current) =>
      refuseExisting(called(id), current, expected)

  const changing =
    (place: ManagedPlace, id: string, expected: string | undefined): Check =>
    async (current) => {
      if (current === undefined) throw readOnly(await find(place, id))
      refuseOther(called(id), current, expected)
    }

  return {
    list: async (place) => (await readAll(place)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    async get(place, id, ifMatch) {
      const found = await find(place, id)
      refuseOther(called(id), found.revision ?? undefined, expectedOf(undefined, undefined, ifMatch))
      return withBundle(found)
    },
    async create(place, id, request, ifMatch) {
      requireManagedId(id)
      await put(place, id, bundleOf(id, request), creating(id, expectedOf(request.expectedRevision, undefined, ifMatch)))
      return find(place, id)
    },
    async update(place, id, request, ifMatch) {
      await refuseOthers(place, id)
      await put(place, id, bundleOf(id, request), changing(place, id, expectedOf(request.expectedRevision, undefined, ifMatch)))
      return find(place, id)
    },
    async delete(place, id, ifMatch) {
      await refuseOthers(place, id)
      await put(place, id, undefined, changing(place, id, expectedOf(undefined, undefined, ifMatch)))
    },
    versions: (place, id) => versions.list(place, id),
    version: async (place, id, version) => (await versions.get(place, id, version)).shown,
    async restore(place, id, version, { query, ifMatch }) {
      const { bundle } = await versions.get(place, id, version)
      const expected = expectedOf(undefined, query, ifMatch)
      await put(place, id, bundle, async (current) => refuseOther(called(id), current, expected))
      return find(place, id)
    },
  }
}

function definitionOf(id: string, path: string, bundle: Bundle): unknown {
  const { values, content } = readSkill(bundle)
  const { name = id, description = null, version, license, compatibility, metadata } = values
  const info = { id: basename(dirname(path)), name, description, path, version, license, compatibility, metadata }
  return { info: Object.fromEntries(Object.entries(info).filter(([, value]) => value !== undefined)), content }
}

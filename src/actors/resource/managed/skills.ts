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
import { createSkillList, type SkillList } from './skill-list.js'
import type { SkillVersions } from './skill-versions.js'

interface SkillDeps extends ManagedDeps {
  readonly effects: ManagedDeps['effects'] & Pick<Effects, 'clock' | 'hasher'>
  readonly versions: SkillVersions
  readonly folders: SkillFolders
  readonly watched: Watcher
}

type Check = (current: string | undefined) => Promise<void>

/** What is asked of it goes through here. */
interface Skills extends SkillDeps {
  readonly list: SkillList
}

export function createManagedSkills(deps: SkillDeps): ManagedSkills {
  const { effects, versions } = deps
  const list = createSkillList({ effects, watched: deps.watched, read: (...found) => resourceOf(deps, ...found) })
  deps.snapshots.onForgotten(list.forget)
  const skills: Skills = { ...deps, list }
  return {
    list: async (place) => (await readAll(skills, place)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    async get(place, id, ifMatch) {
      const found = await find(skills, place, id)
      refuseOther(called(id), found.revision ?? undefined, expectedOf(undefined, undefined, ifMatch))
      return withBundle(skills, found)
    },
    async create(place, id, request, ifMatch) {
      requireManagedId(id)
      await put(skills, { place, id }, bundleOf(id, request), creating(id, expectedOf(request.expectedRevision, undefined, ifMatch)))
      return find(skills, place, id)
    },
    async update(place, id, request, ifMatch) {
      await refuseOthers(skills, place, id)
      const expected = expectedOf(request.expectedRevision, undefined, ifMatch)
      await put(skills, { place, id }, bundleOf(id, request), changing(skills, place, id, expected))
      return find(skills, place, id)
    },
    async delete(place, id, ifMatch) {
      await refuseOthers(skills, place, id)
      await put(skills, { place, id }, undefined, changing(skills, place, id, expectedOf(undefined, undefined, ifMatch)))
    },
    versions: (place, id) => versions.list(place, id),
    version: async (place, id, version) => (await versions.get(place, id, version)).shown,
    async restore(place, id, version, { query, ifMatch }) {
      const { bundle } = await versions.get(place, id, version)
      const expected = expectedOf(undefined, query, ifMatch)
      await put(skills, { place, id }, bundle, async (current) => refuseOther(called(id), current, expected))
      return find(skills, place, id)
    },
  }
}

function called(id: string): string {
  return `skill "${id}"`
}

async function resourceOf(deps: SkillDeps, place: ManagedPlace, entry: SkillEntry, isInPlace: boolean): Promise<ManagedResource> {
  const { id, path } = entry
  const isOwn = isInPlace && isManagedId(id)
  const bundle = isOwn ? await readBundle(deps.effects, dirname(path)) : undefined
  return bundle instanceof Map ? managed(deps, place, id, { path, bundle }) : discovered(deps, entry)
}

async function managed(
  { effects, times }: SkillDeps,
  place: ManagedPlace,
  id: string,
  { path, bundle }: { path: string; bundle: Bundle },
): Promise<ManagedResource> {
  const modifiedMs = (await effects.files.stat(path))?.modifiedMs ?? 0
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

async function discovered({ effects }: SkillDeps, { id, path }: SkillEntry): Promise<ManagedResource> {
  const bytes = await effects.files.read(path, LIMITS.config.markdownBytes).catch(() => new Uint8Array())
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

async function readAll({ effects, snapshots, list }: Skills, place: ManagedPlace): Promise<readonly ManagedResource[]> {
  const { skills } = await snapshots.get(place.directory, { fresh: true })
  return list.get({ place, skills, isPlain: await isPlain(effects, place, join(managedRoot(effects, place), 'skills')) })
}

async function find(skills: Skills, place: ManagedPlace, id: string): Promise<ManagedResource> {
  const found = (await readAll(skills, place)).find((skill) => skill.id === id)
  if (found !== undefined) return found
  throw new SvcError('management.not_found', `There is no ${called(id)}.`, { id })
}

/** With what it consists of, as a request would write it, where it can be written here: an editor begins with that. */
async function withBundle({ effects }: Skills, found: ManagedResource): Promise<ManagedResource> {
  const bundle = found.managed ? await readBundle(effects, dirname(found.provenance)) : undefined
  if (!(bundle instanceof Map) || typeof found.definition !== 'object') return found
  return { ...found, definition: { ...found.definition, bundle: shownBundle(bundle), bundleRevision: revisionOf(effects, bundle) } }
}

function readOnly({ id, provenance }: ManagedResource): SvcError {
  return new SvcError('management.read_only', `The ${called(id)} is defined by ${provenance}, which is not changed here.`, {
    id,
    provenance,
  })
}

/** An id that no managed skill can have may still be of one that is there, and is not changed here. */
async function refuseOthers(skills: Skills, place: ManagedPlace, id: string): Promise<void> {
  if (isManagedId(id)) return
  const found = (await readAll(skills, place)).find((skill) => skill.id === id)
  if (found !== undefined) throw readOnly(found)
  requireManagedId(id)
}

/** What is there now; throws `management.read_only` when that is none of ours. */
async function currentOf({ effects }: Skills, target: string): Promise<Bundle | undefined> {
  const bundle = await readBundle(effects, target)
  if (typeof bundle === 'string') throw new SvcError('management.read_only', `${target} is not written: it ${bundle}.`, { folder: target })
  return bundle
}

async function put(
  skills: Skills,
  { place, id }: { readonly place: ManagedPlace; readonly id: string },
  bundle: Bundle | undefined,
  check: Check,
): Promise<void> {
  const { effects, lane, versions, folders, times, snapshots } = skills
  requireManagedId(id)
  if (id === 'install') throw new SvcError('management.invalid_request', 'A skill cannot be called "install".')
  await lane.inTurn(async () => {
    const target = join(await writableFolder(effects, place, 'skills'), id)
    const current = await currentOf(skills, target)
    await check(current && revisionOf(effects, current))
    if (current !== undefined) await versions.keep(place, id, current)
    if (bundle !== undefined) await versions.keep(place, id, bundle)
    const before = current && (await effects.files.stat(join(target, SKILL_FILE)))
    if (before !== undefined && bundle !== undefined) await times.replacing(target, before.modifiedMs)
    await folders.replace(target, bundle)
    if (bundle === undefined) await times.replacing(target, undefined)
    await snapshots.written(place.directory)
  })
}

function creating(id: string, expected: string | undefined): Check {
  return async (current) => refuseExisting(called(id), current, expected)
}

function changing(skills: Skills, place: ManagedPlace, id: string, expected: string | undefined): Check {
  return async (current) => {
    if (current === undefined) throw readOnly(await find(skills, place, id))
    refuseOther(called(id), current, expected)
  }
}

function definitionOf(id: string, path: string, bundle: Bundle): unknown {
  const { values, content } = readSkill(bundle)
  const { name = id, description = null, version, license, compatibility, metadata } = values
  const info = { id: basename(dirname(path)), name, description, path, version, license, compatibility, metadata }
  return { info: Object.fromEntries(Object.entries(info).filter(([, value]) => value !== undefined)), content }
}

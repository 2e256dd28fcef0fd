/**
 * What managed skills have been. A version is a file in the state directory that is written once, and stays when the skill goes.
 *
 * I1 A version is there before its content is current, so what the API has written can always be restored.
 */
import { join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { SkillVersion } from '../../../protocol/resource/managed-skills.js'
import type { Effects } from '../../../ports/effects.js'
import type { ManagedPlace } from '../../../ports/managed.js'
import { type Bundle, revisionOf, shownBundle } from './skill-bundle.js'

type VersionEffects = Pick<Effects, 'files' | 'paths' | 'clock' | 'sha256' | 'hasher'>

export interface SkillVersions {
  /** Keeps a bundle, unless it is kept; answers its revision. */
  keep(place: ManagedPlace, id: string, bundle: Bundle): Promise<string>
  /** The oldest first. */
  list(place: ManagedPlace, id: string): Promise<SkillVersion[]>
  /** Throws `management.not_found`. */
  get(place: ManagedPlace, id: string, version: string): Promise<{ readonly shown: SkillVersion; readonly bundle: Bundle }>
}

const VERSION = /^[0-9a-f]{64}$/
/** Base64 of every file, and some room for the rest. */
const MAX_BYTES = LIMITS.management.skills.bundleBytes * 2

export function createSkillVersions(effects: VersionEffects): SkillVersions {
  const { files, paths, clock, sha256 } = effects
  const folderOf = ({ scope, directory }: ManagedPlace, id: string) =>
    join(paths.state, 'skill-versions', sha256(`${scope}\0${scope === 'workspace' ? directory : ''}\0${id}`))

  async function read(place: ManagedPlace, id: string, version: string) {
    const text = Buffer.from(await files.read(join(folderOf(place, id), `${version}.json`), MAX_BYTES)).toString('utf8')
    const record: unknown = JSON.parse(text)
    if (!isRecord(record) || !isRecord(record['files']))
      throw new SvcError('management.storage_error', `The version ${version} cannot be read.`)
    const bundle = new Map(Object.entries(record['files']).map(([path, base64]) => [path, Buffer.from(String(base64), 'base64')]))
    const shown: SkillVersion = {
      id: version,
      skillId: id,
      scope: place.scope,
      revision: `sha256:${version}`,
      createdAt: Number(record['createdAt']),
      bundle: shownBundle(bundle),
    }
    return { shown, bundle }
  }

  async function idsOf(place: ManagedPlace, id: string): Promise<string[]> {
    const folder = folderOf(place, id)
    if ((await files.stat(folder)) === undefined) return []
    const names = (await files.readDirectory(folder)).map(({ name }) => name.replace(/\.json$/, ''))
    return names.filter((name) => VERSION.test(name))
  }

  return {
    async keep(place, id, bundle) {
      const revision = revisionOf(effects, bundle)
      const version = revision.slice('sha256:'.length)
      const known = await idsOf(place, id)
      if (known.includes(version)) return revision
      if (known.length >= LIMITS.management.skills.versions) {
        throw new SvcError('quota.exceeded', `The skill "${id}" has ${known.length} versions; more are not kept.`)
      }
      const kept = Object.fromEntries([...bundle].map(([path, bytes]) => [path, Buffer.from(bytes).toString('base64')]))
      const text = JSON.stringify({ createdAt: clock.now(), files: kept })
      await files.writeAtomic(join(folderOf(place, id), `${version}.json`), text, { mode: 0o600 })
      return revision
    },
    async list(place, id) {
      const versions = await Promise.all((await idsOf(place, id)).map((version) => read(place, id, version)))
      return versions.map(({ shown }) => shown).toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    },
    async get(place, id, version) {
      if ((await idsOf(place, id)).includes(version)) return read(place, id, version)
      throw new SvcError('management.not_found', `The skill "${id}" has no version "${version}".`, { id, version })
    },
  }
}

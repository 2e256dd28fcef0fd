/**
 * The skills of a place as managed resources, kept until a file of one of them changes: each is read again by itself.
 */
import { dirname, join } from 'node:path'
import type { ManagedResource } from '../../../protocol/resource/managed.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { FileProbe, Watcher } from '../../../ports/watched.js'
import type { SkillEntry } from '../markdown/markdown.js'
import type { ManagedPlace } from '../../../ports/managed.js'
import { managedRoot } from './managed-folder.js'

/** Of which skills a list is made. */
interface SkillGround {
  readonly place: ManagedPlace
  readonly skills: readonly SkillEntry[]
  /** Nothing but folders leads to what is managed. */
  readonly isPlain: boolean
}

export interface SkillListDeps {
  readonly effects: Pick<Effects, 'files' | 'clock' | 'paths'>
  readonly watched: Watcher
  /** `isOwn`: it lies in the managed folder. */
  read(place: ManagedPlace, entry: SkillEntry, isOwn: boolean): Promise<ManagedResource>
}

interface Kept {
  readonly print: string
  readonly resource: ManagedResource
}

export interface SkillList {
  get(ground: SkillGround): Promise<readonly ManagedResource[]>
  forget(directory: string): void
}

export function createSkillList({ effects, watched, read }: SkillListDeps): SkillList {
  const looks = watched<SkillGround, ReadonlyMap<string, Kept>>({
    async read(probe, _key, { input: { place, skills, isPlain }, before }) {
      const own = join(managedRoot(effects, place), 'skills')
      const kept = new Map<string, Kept>()
      for (const entry of skills) {
        const folder = dirname(entry.path)
        const isOwn = isPlain && dirname(folder) === own
        const print = `${isOwn} ${entry.description ?? ''} ${isOwn ? await printOf(probe, folder) : ((await probe.identity(entry.path)) ?? '')}`
        const known = before?.get(entry.path)
        const resource = known?.print === print ? known.resource : await read(place, entry, isOwn)
        kept.set(entry.path, { print, resource })
      }
      return kept
    },
    isSame: (now, before) => now.size === before.size && [...now].every(([path, { print }]) => before.get(path)?.print === print),
    isSameInput: (now, before) => now.skills === before.skills && now.isPlain === before.isPlain,
  })
  return {
    async get(ground) {
      const kept = await looks.get(keyOf(ground.place), ground, { fresh: true })
      return [...kept.values()].map(({ resource }) => resource)
    },
    forget(directory) {
      for (const scope of ['workspace', 'installation'] as const) looks.forget(keyOf({ scope, directory }))
    },
  }
}

function keyOf({ scope, directory }: ManagedPlace): string {
  return `${scope} ${directory}`
}

/** What its files are, as far as a managed skill may have files. */
async function printOf(probe: FileProbe, folder: string): Promise<string> {
  const prints: string[] = []
  const open = [folder]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const { name, kind } of await probe.list(path)) {
      const inner = join(path, name)
      if (prints.length > LIMITS.management.skills.files * 4) return prints.join(' ')
      if (kind === 'directory') open.push(inner)
      prints.push(`${name} ${kind} ${kind === 'directory' ? '' : ((await probe.identity(inner)) ?? '')}`)
    }
  }
  return prints.join(' ')
}

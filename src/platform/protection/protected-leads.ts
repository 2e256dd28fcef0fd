/** Whether a protected name is a link that leads to a path: then the path is protected by its reason. */
import { dirname, join } from 'node:path'
import { isWithin } from '../../protocol/caller.js'
import type { Effects } from '../../ports/effects.js'
import { wayOf } from './protected-links.js'
import { IN_WORKSPACES } from './protected-places.js'

/** Directories above a path in which names are looked for, from the root on. */
const MOST_ABOVE = 32

type Place = readonly [path: string, reason: string]

/** What a protected name leads to, and why that counts. */
interface Lead {
  readonly from: string
  readonly places: readonly string[]
  readonly reason: string
}

const NAMES = IN_WORKSPACES.flatMap(([pattern, reason]): Place[] =>
  pattern.includes('*.') ? [] : [[pattern.replace(/\/\*\*$/, ''), reason]],
)

/** Of the paths of one call; `places` are protected wherever one is. */
export function createFindLead(files: Pick<Effects['files'], 'entry' | 'readLink'>, places: readonly Place[]) {
  const leads = new Map<string, Promise<readonly Lead[]>>()
  const absent = new Map<string, Promise<boolean>>()

  async function isAbsent(path: string): Promise<boolean> {
    return (await files.entry(path).catch(() => undefined)) === undefined
  }

  async function leadOf(directory: string, [name, reason]: Place): Promise<readonly Lead[]> {
    const first = join(directory, name.split('/')[0] ?? '')
    const known = absent.get(first) ?? isAbsent(first)
    absent.set(first, known)
    if (await known) return []
    const from = join(directory, name)
    const way = await wayOf(files, from)
    if (way === undefined || way.links.length === 0) return []
    return [{ from, places: [...way.links, way.end].filter((path) => path !== from), reason }]
  }

  async function leadsFrom(directory: string, names: readonly Place[]): Promise<readonly Lead[]> {
    return (await Promise.all(names.map((name) => leadOf(directory, name)))).flat()
  }

  function leadsIn(directory: string, names: readonly Place[]): Promise<readonly Lead[]> {
    const known = leads.get(directory) ?? leadsFrom(directory, names)
    leads.set(directory, known)
    return known
  }

  return async (path: string): Promise<string | undefined> => {
    const found = [leadsIn('', places), ...above(path).map((directory) => leadsIn(directory, NAMES))]
    const lead = (await Promise.all(found)).flat().find((each) => each.places.some((place) => isWithin(place, path)))
    return lead === undefined ? undefined : `${lead.reason}: ${lead.from} leads to it`
  }
}

function above(path: string): readonly string[] {
  const directories: string[] = []
  for (let at = dirname(path); at !== '/' && at !== '.'; at = dirname(at)) directories.push(at)
  return directories.toReversed().slice(0, MOST_ABOVE)
}

/** Ids in few words: what stands in a list, with the whole id beside it. */
import type { InspectedActor } from '../../protocol/system/inspector.js'

const TAIL = 7
/** Ids that are made: `ses_0198c…`. */
const MADE = /^[a-z]+_[0-9A-Za-z]{12,}$/

/** `dev.example.greeter` of a package, `session …sUopAk3Y/run` of a session. */
export function shortId(id: string): string {
  const [, plugin, , child = ''] = /^package:([^@]+)@(.*?)(\/(?:generation:\d.*|keepCopy.*))?$/.exec(id) ?? []
  return plugin === undefined ? id.split('/').map(shortPart).join('/') : `${plugin}${child}`
}

/** Roots by their id, children by their name; machines that are called otherwise are told. */
export function nameOf({ id, name, kind, machine, parentId, title }: InspectedActor): string {
  if (title !== undefined) return `${title} (${kind})`
  if (parentId === undefined) return kind === 'group' ? name : shortId(id)
  return machine === undefined || name === kind || name.startsWith(`${kind}:`) ? shortPart(name) : `${shortPart(name)} (${kind})`
}

/** The last part of a directory. */
export function placeName(directory: string): string {
  return directory.slice(directory.lastIndexOf('/') + 1) || directory
}

/** Where a package runs, when that is a directory. */
export function placeOf({ id, parentId }: InspectedActor): string | undefined {
  return parentId === undefined ? /^package:[^@]+@(\/.*?)(?:#.*)?$/.exec(id)?.[1] : undefined
}

export function isBuiltIn({ id }: InspectedActor): boolean {
  return id.startsWith('package:') && id.endsWith('@built-in')
}

function shortPart(part: string): string {
  const [kind, made = ''] = part.split(':', 2)
  return MADE.test(made) && made.length > TAIL + 8 ? `${kind} …${made.slice(-TAIL)}` : part
}

/** Protected files by name, for whoever must know them before they are there. */
import { IN_HOME, IN_WORKSPACES } from './protected-places.js'

/** Relative to the directory they are in, each as it stands or with everything below it; none with a wildcard. */
export const PROTECTED_NAMES: readonly string[] = IN_WORKSPACES.map(([pattern]) => pattern.replace(/\/\*\*$/, '')).filter(
  (name) => !name.includes('*'),
)

const WILD = IN_WORKSPACES.flatMap(([pattern]) => (/^\*\.[\w-]+$/.test(pattern) ? [pattern.slice(1).toLowerCase()] : []))
const NAMES = new Set([...PROTECTED_NAMES, ...IN_HOME].flatMap((name) => name.toLowerCase().split('/')))
/** No mark, letter or ending that a file system may ignore. */
const PLAIN = /^[\w-](?:[\w.-]*[\w-])?$/

/** False only for a name of an entry that no pattern can fit: a look at the name, before its path is judged. */
export function mayBeProtected(name: string): boolean {
  if (!PLAIN.test(name)) return true
  const folded = name.toLowerCase()
  return NAMES.has(folded) || WILD.some((ending) => folded.endsWith(ending))
}

/** What stands in a manifest and means nothing where it stands. Pure. */
import { MANIFEST_FILE, PackageManifest } from '../../../protocol/plugin/plugin.js'
import { nearest } from '../../../protocol/text/nearest.js'
import { isRecord } from '../../../protocol/text/json.js'

/** `$schema` is for editors of the file. */
const OF_PACKAGE: readonly string[] = [...Object.keys(PackageManifest.shape), '$schema']
const AGENT = PackageManifest.shape.agent.unwrap().unwrap().shape
const OF_AGENT: readonly string[] = Object.keys(AGENT)
/** Both have them; those of the package are for editors. */
const OF_BOTH: readonly string[] = ['capabilities', 'entrypoint']

/** Keys svc does not know, each with the one that was probably meant. */
export function unknownKeys(manifest: PackageManifest): string[] {
  const { agent } = manifest
  const beside = Object.keys(manifest).flatMap((key) => (OF_PACKAGE.includes(key) ? [] : [notKnown(key, OF_PACKAGE, '')]))
  const inside =
    agent === null ? [] : Object.keys(agent).flatMap((key) => (OF_AGENT.includes(key) ? [] : [notKnown(key, OF_AGENT, 'agent.')]))
  const foreign = manifest.editor === null ? misplaced(manifest).filter((key) => OF_BOTH.includes(key)) : []
  return [
    ...beside,
    ...inside,
    ...foreign.map((key) => `${MANIFEST_FILE}: "${key}" at the top is for editors; what is for agents is "agent.${key}"`),
  ]
}

function notKnown(key: string, known: readonly string[], below: string): string {
  const near = below === '' && OF_AGENT.includes(key) ? `agent.${key}` : nearest(key, known)
  const guess = near === undefined ? '' : `; did you mean "${near.startsWith('agent.') ? near : `${below}${near}`}"?`
  return `${MANIFEST_FILE}: "${below}${key}" is no key svc knows, and means nothing${guess}`
}

/** Keys at the top that belong into `agent`. */
function misplaced(manifest: PackageManifest): string[] {
  const has = (value: unknown) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  return OF_AGENT.filter((key) => has(manifest[key]) && (!OF_PACKAGE.includes(key) || OF_BOTH.includes(key)))
}

/** Why nothing of a package is for agents. */
export function withoutAgent(manifest: PackageManifest): string {
  if (isRecord(manifest.editor)) return `${manifest.id} is a package for editors: nothing of it is for agents`
  const keys = misplaced(manifest).map((key) => `"${key}"`)
  const into = keys.length === 0 ? '' : `; ${keys.join(', ')} ${keys.length === 1 ? 'belongs' : 'belong'} into it`
  return `there is no "agent" in ${MANIFEST_FILE}, so nothing of it runs: {"agent": {"runtime": "lua", "entrypoint": "agent.lua"}}, or a process with its command${into}`
}

/** Helps a model that asked for a file that is not there: names in the same directory that look alike. */
import type { NativeHost } from '../../../ports/plugin.js'
import { ToolError } from '../../../ports/plugin.js'
import { basename, dirname, joinPath } from '../../../protocol/text/paths.js'
import { distance } from '../text/similarity.js'
import { describe, type Target } from './targets.js'

const SUGGESTIONS = 3
const CONSIDERED = 500

/** The error for an absent target, with up to three suggestions. */
export async function missingFile(target: Target, directory: string, files: NativeHost['effects']['files']): Promise<ToolError> {
  const parent = dirname(target.path)
  const entries = await files.readDirectory(parent).catch(() => [])
  const close = similarNames(
    basename(target.path),
    entries.slice(0, CONSIDERED).map((entry) => entry.name),
  )
  const hints = close.map((name) => describe(joinPath(parent, name), directory).display)
  const question = hints.length === 0 ? '' : ` Did you mean ${hints.map((hint) => `"${hint}"`).join(' or ')}?`
  return new ToolError(`File not found: ${target.display}.${question}`)
}

function similarNames(wanted: string, names: readonly string[]): string[] {
  const query = wanted.toLowerCase()
  return names
    .map((name) => ({ name, score: unlikeness(query, name.toLowerCase()) }))
    .filter(({ score }) => score <= 0.5)
    .toSorted((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, SUGGESTIONS)
    .map(({ name }) => name)
}

/** 0 for equal names, above 0.5 for unlike ones. */
function unlikeness(query: string, name: string): number {
  if (name.includes(query) || (query.includes(name) && name.length > 2)) return 0.1
  return distance(query, name) / Math.max(query.length, name.length, 1)
}

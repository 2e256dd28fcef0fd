/**
 * What protected names that are links lead to: whoever changes that has changed what is protected (threat-model G3, F1).
 *
 * I1 The way is followed one name at a time, whether or not there is something at its end: what is not there yet can be made.
 */
import { dirname, join } from 'node:path'
import type { Effects } from '../../ports/effects.js'

type Files = Pick<Effects['files'], 'entry' | 'readLink'>

/** The way from a path: each link that it goes over, in its own place, and where it ends, which may not be there. */
export interface Way {
  readonly links: readonly string[]
  readonly end: string
}

/** Links of one way, as many as the system follows. */
const MOST_LINKS = 40

/** Undefined where it cannot be followed: it goes in a circle, or nobody may look. */
export async function wayOf(files: Files, path: string): Promise<Way | undefined> {
  const links: string[] = []
  const names = path.split('/').filter(isName)
  let at = '/'
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      at = dirname(at)
      continue
    }
    const next = join(at, name)
    const kind = (await files.entry(next).catch(() => undefined))?.kind
    if (kind !== 'link') {
      at = next
      continue
    }
    const target = await files.readLink(next).catch(() => undefined)
    if (target === undefined || links.length >= MOST_LINKS) return undefined
    links.push(next)
    names.unshift(...target.split('/').filter(isName))
    if (target.startsWith('/')) at = '/'
  }
  return { links, end: at }
}

function isName(name: string): boolean {
  return name !== '' && name !== '.'
}

/** Resolves words to the places they name: paths written, and directories outside the session (sessions-events §8.8–8.9). */
import { isWithin } from '../../protocol/caller.js'
import { expandBraces } from './braces.js'
import { addReason, type Findings } from './findings.js'
import { expandGlob, hasWildcard, literalDirectory } from './glob.js'
import { canonicalPath, joinPath, nameOf, normalisePath, parentOf } from './place.js'
import { escape, unescape, type Word } from './word.js'

/** `whole`: removed, moved or changed with everything below it. */
export type Touch = 'read' | 'write' | 'whole'

const DEVICES = /^\/dev\/(?:null|zero|full|u?random|stdin|stdout|stderr|tty|fd\/\d+)$/
const NETWORK = /^\/dev\/(?:tcp|udp)\//

/** Records what touching the path(s) a word stands for means. */
export async function touchWord(findings: Findings, word: Word, touch: Touch): Promise<void> {
  for (const path of await resolveWord(findings, word, touch)) await touchPath(findings, path, touch)
}

/** Records a copy, move or link of `sources` to `target`, which may be a directory they go into. */
export async function touchTarget(findings: Findings, target: Word, sources: readonly Word[]): Promise<void> {
  for (const path of await resolveWord(findings, target, 'write')) {
    if ((await lookup(findings, () => findings.files.kindOf(path))) !== 'directory') {
      await touchPath(findings, path, 'write')
      continue
    }
    await touchPath(findings, path, 'read')
    for (const source of sources) {
      for (const name of await namesOf(findings, source)) {
        if (name === '' || name === '.' || name === '..') addReason(findings, `it copies a whole tree over ${path}`)
        else await touchPath(findings, joinPath(path, name), 'write')
      }
    }
  }
}

/** Absolute paths a word may stand for, not yet canonical. */
export async function resolveWord(findings: Findings, word: Word, touch: Touch): Promise<string[]> {
  if (word.dynamic) {
    if (touch !== 'read') addReason(findings, `it changes a path that is only known when it runs: ${word.text}`)
    return []
  }
  const alternatives = expandBraces(word.pattern)
  if (alternatives === undefined) {
    addReason(findings, `it names too many paths: ${word.text}`)
    return []
  }
  const paths: string[] = []
  for (const alternative of alternatives) {
    const pattern = /^~(?=\/|$)/.test(alternative) ? escape(findings.home) + alternative.slice(1) : alternative
    for (const place of pattern.startsWith('/') ? ['/'] : findings.places) {
      paths.push(...(await expandPattern(findings, joinPath(escape(place), pattern), touch)))
    }
  }
  return paths
}

/** Records one absolute path. */
export async function touchPath(findings: Findings, path: string, touch: Touch): Promise<void> {
  if (DEVICES.test(path)) return
  if (NETWORK.test(path)) return addReason(findings, 'it opens a network connection')
  const canonical = await lookup(findings, () => canonicalPath(path, findings.files))
  if (findings.lookups < 0) return
  if (canonical === undefined) return addReason(findings, `it is not certain where ${path} leads`)
  if (touch !== 'read') findings.writes.add(canonical)
  if (touch === 'whole' && isWithin(canonical, findings.session)) addReason(findings, `it changes ${canonical} as a whole`)
  if (isWithin(findings.session, canonical)) return
  const kind = await lookup(findings, () => findings.files.kindOf(canonical))
  findings.outside.add(kind === 'directory' ? canonical : parentOf(canonical))
}

/** Paths of a wildcard; one that fits nothing is itself. */
async function expandPattern(findings: Findings, pattern: string, touch: Touch): Promise<string[]> {
  if (!hasWildcard(pattern)) return [unescape(pattern)]
  const found = await lookup(findings, () => expandGlob(pattern, findings.files))
  if (found !== undefined && found.length > 0) return found
  if (found === undefined && (touch !== 'read' || pattern.includes('..'))) addReason(findings, 'it names too many paths by a wildcard')
  return [touch === 'read' ? literalDirectory(pattern) : unescape(pattern)]
}

/** Last path segments of a source, as they appear in the directory it is copied to. */
async function namesOf(findings: Findings, source: Word): Promise<string[]> {
  return (await resolveWord(findings, source, 'write')).map((path) => (path.endsWith('/') ? nameOf(normalisePath(path)) : nameOf(path)))
}

async function lookup<T>(findings: Findings, ask: () => Promise<T>): Promise<T | undefined> {
  findings.lookups -= 1
  if (findings.lookups >= 0) return ask()
  addReason(findings, 'it names too many paths')
  return undefined
}

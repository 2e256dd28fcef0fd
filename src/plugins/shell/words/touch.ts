/** Resolves words to the places they name: paths written, and directories outside the session (sessions-events §8.8–8.9). */
import { isWithin } from '../../../protocol/caller.js'
import { expandBraces } from '../parse/braces.js'
import { touchesDescriptor } from './descriptors.js'
import { addReason, type Findings, lookUp } from './findings.js'
import { expandGlob, hasWildcard, literalDirectory } from './glob.js'
import { canonicalPath, joinPath, nameOf, normalisePath, parentOf } from './place.js'
import { escape, unescape, type Word } from './word.js'

/** `whole`: removed, moved or changed with everything below it. */
export type Touch = 'read' | 'write' | 'whole'

const DEVICES = /^\/dev\/(?:null|zero|full|u?random|tty)$/
/** A reason that is none where there is no network. */
export const OPENS_NETWORK = 'it opens a network connection'
const NETWORK = /^\/dev\/(?:tcp|udp)\//

/** Records what touching the path(s) a word stands for means. */
export async function touchWord(findings: Findings, word: Word, touch: Touch): Promise<void> {
  for (const path of await resolveWord(findings, word, touch)) await touchPath(findings, path, touch)
}

interface Sources {
  readonly sources: readonly Word[]
  readonly contents?: 'all' | 'slashed'
}

/** Records a copy, move or link of `sources` to `target`, which may be a directory they go into. */
export async function touchTarget(findings: Findings, target: Word, { sources, contents }: Sources): Promise<void> {
  for (const path of await resolveWord(findings, target, 'write')) {
    const isDirectory = (await lookUp(findings, () => findings.files.kindOf(path))) === 'directory'
    await touchPath(findings, path, isDirectory && contents !== 'all' ? 'read' : 'write')
    if (!isDirectory) continue
    for (const source of sources) {
      const isContent = contents === 'all' || (contents === 'slashed' && /\/\.?$/.test(source.text))
      for (const name of await (isContent ? namesIn(findings, source) : namesOf(findings, source))) {
        if (name === '' || name === '.' || name === '..') addReason(findings, `it copies a whole tree over ${path}`)
        else await touchPath(findings, joinPath(path, name), 'write')
      }
    }
  }
}

/** Absolute paths a word may stand for, not yet canonical. */
export async function resolveWord(findings: Findings, word: Word, touch: Touch): Promise<string[]> {
  if (word.dynamic) {
    if (touch === 'read') findings.unknownReads.add(word.text)
    else addReason(findings, `it changes a path that is only known when it runs: ${word.text}`)
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
  const named = normalisePath(path)
  if (DEVICES.test(named) || touchesDescriptor(findings, named, touch !== 'read')) return
  if (NETWORK.test(named)) return addReason(findings, OPENS_NETWORK)
  const canonical = await lookUp(findings, () => canonicalPath(path, findings.files))
  if (findings.lookups < 0) return
  if (canonical === undefined) return addReason(findings, `it is not certain where ${path} leads`)
  if (canonical !== named && (await leadsToDescriptor(findings, path, canonical))) return
  if (touch === 'read') findings.reads.add(canonical)
  else for (const written of await writtenAt(findings, path, canonical)) findings.writes.add(written)
  if (touch === 'whole' && isWithin(canonical, findings.session)) addReason(findings, `it changes ${canonical} as a whole`)
  if (isWithin(findings.session, canonical)) return
  const kind = await lookUp(findings, () => findings.files.kindOf(canonical))
  findings.outside.add(kind === 'directory' ? canonical : parentOf(canonical))
}

/** A link may be written through, or replaced: then both are written. */
async function writtenAt(findings: Findings, path: string, canonical: string): Promise<readonly string[]> {
  const name = nameOf(path)
  if (canonical === normalisePath(path) || ['', '.', '..'].includes(name)) return [canonical]
  const parent = await lookUp(findings, () => canonicalPath(parentOf(path), findings.files))
  return parent === undefined ? [canonical] : [canonical, joinPath(parent, name)]
}

/** A link may lead into `/proc`, where the server and the line see different things. */
async function leadsToDescriptor(findings: Findings, path: string, canonical: string): Promise<boolean> {
  const parent = await lookUp(findings, () => canonicalPath(parentOf(path), findings.files))
  return touchesDescriptor(findings, canonical, true) || (parent !== undefined && touchesDescriptor(findings, `${parent}/0`, true))
}

/** True when the word may be read as an option: it is not known how it begins, or a file it fits begins with a dash. */
export async function mayBeOption(findings: Findings, word: Word): Promise<boolean> {
  if (word.dynamic) return word.open || word.splits
  if (word.pattern.startsWith('{')) return expandBraces(word.pattern)?.every((text) => /^[\w./]/.test(text)) !== true
  if (!hasWildcard(word.pattern) || !/^[-*?[]/.test(word.pattern)) return false
  return (await resolveWord(findings, word, 'read')).some((path) => nameOf(path).startsWith('-'))
}

/** Paths of a wildcard; one that fits nothing is itself. */
async function expandPattern(findings: Findings, pattern: string, touch: Touch): Promise<string[]> {
  if (!hasWildcard(pattern)) return [unescape(pattern)]
  const found = await lookUp(findings, () => expandGlob(pattern, findings.files))
  if (found !== undefined && found.length > 0) return found
  if (found === undefined && (touch !== 'read' || pattern.includes('..'))) addReason(findings, 'it names too many paths by a wildcard')
  else if (found === undefined) findings.unknownReads.add(unescape(pattern))
  return [touch === 'read' ? literalDirectory(pattern) : unescape(pattern)]
}

/** What is in a source that is a directory: it appears in the directory it is copied to. */
async function namesIn(findings: Findings, source: Word): Promise<string[]> {
  const paths = await resolveWord(findings, source, 'read')
  const names = await Promise.all(paths.map(async (path) => (await lookUp(findings, () => findings.files.list(path))) ?? []))
  return names.flat()
}

/** Last path segments of a source, as they appear in the directory it is copied to. */
async function namesOf(findings: Findings, source: Word): Promise<string[]> {
  return (await resolveWord(findings, source, 'write')).map((path) => (path.endsWith('/') ? nameOf(normalisePath(path)) : nameOf(path)))
}

/** Where commands of git run, and what the repositories there name for them to start. */
import { addReason, type Findings, lookUp } from '../words/findings.js'
import { canonicalPath, joinPath } from '../words/place.js'
import { literalOf, plainWord, type Word } from '../words/word.js'
import { factsOf } from './table.js'

/** Records what `git <command>` may start, called in any of the places, after its own changes of directory. */
export async function findNamed(findings: Findings, changes: readonly Word[], command: string): Promise<void> {
  let places = findings.places
  for (const change of changes) {
    const text = literalOf(change)
    if (text === undefined) return addReason(findings, `git: the directory is only known when it runs: ${change.text}`)
    const path = /^~(?=\/|$)/.test(text) ? findings.home + text.slice(1) : text
    places = places.map((place) => joinPath(place, path))
  }
  for (const place of places) {
    const directory = await lookUp(findings, () => canonicalPath(place, findings.files))
    if (directory === undefined) return addReason(findings, `git: it is not certain where ${place} leads`)
    if ((await lookUp(findings, () => findings.files.kindOf(directory))) !== 'directory') findings.gitAhead = true
    for (const text of (await lookUp(findings, () => findings.files.named(directory, command))) ?? []) findings.named.add(text)
  }
}

/** Records what the repository at a place on this machine starts when `git push` sends something there; a name of a remote is none. */
export async function findReceiving(findings: Findings, changes: readonly Word[], place: Word): Promise<void> {
  const path = literalOf(place)?.replace(/^file:\/\//i, '')
  if (path === undefined || (!/^[./~]/.test(path) && !(await isDirectoryHere(findings, path)))) return
  await findNamed(findings, [...changes, plainWord(path)], 'receive-pack')
}

async function isDirectoryHere(findings: Findings, path: string): Promise<boolean> {
  const kinds = await Promise.all(findings.places.map((place) => lookUp(findings, () => findings.files.kindOf(joinPath(place, path)))))
  return kinds.includes('directory')
}

/** A repository that the same line brings in cannot be looked at before. */
export function checkUnpacked(findings: Findings): void {
  const programs = [...findings.segments.values()].map(({ program }) => program)
  if (!programs.includes('git')) return
  const brings = programs.find((program) => {
    const { brings } = factsOf(program)
    return brings === 'unknown' || (findings.gitAhead && brings === 'trees')
  })
  if (brings !== undefined) addReason(findings, `git: ${brings} may bring a repository with it on the same line`)
}

/** Directory changes on a command line: where the commands after them may run. */
import { isWithin } from '../../../protocol/caller.js'
import { addPlaces, addReason, addVisited, type Findings, type Flow, lookUp } from './findings.js'
import { canonicalPath, normalisePath } from './place.js'
import { resolveWord } from './touch.js'
import type { Word } from './word.js'

const CHANGES = new Set(['cd', 'pushd', 'popd'])

/**
 * Commands that only change the directory need no permission of their own (sessions-events §8.8). `name` is the
 * word as it stands: `./cd` is a program like any other.
 */
export function isDirectoryChange(name: string): boolean {
  return CHANGES.has(name)
}

/**
 * Follows a directory change. When it is certain to happen it replaces the current directory; otherwise both
 * remain possible. Returning (`cd -`, `popd`) keeps every directory possible so far.
 */
export async function changeDirectory(findings: Findings, args: readonly Word[], flow: Flow): Promise<void> {
  findings.changesDirectory = true
  const operands = args.filter((word) => !/^(?:-[LPe@n]+|--|-|[-+]\d+)$/.test(word.text))
  const returns = args.some((word) => /^(?:-|[-+]\d+)$/.test(word.text))
  const word = operands[0]
  if (operands.length > 1) return addReason(findings, 'it changes the directory in a way that is not analysed')
  if (word === undefined) {
    if (!returns && !isWithin(findings.session, findings.home)) findings.outside.add(findings.home)
    return addPlaces(findings, returns ? findings.visited : [findings.home, ...findings.visited])
  }
  if (word.dynamic) return addReason(findings, `it changes to a directory that is only known when it runs: ${word.text}`)
  if (flow.repeats && !word.pattern.startsWith('/')) addReason(findings, 'it changes the directory relatively, perhaps more than once')
  const targets = await targetsOf(findings, word)
  const kinds = await Promise.all(targets.map((target) => lookUp(findings, () => findings.files.kindOf(target))))
  const exists = kinds.every((kind) => kind === 'directory')
  for (const target of targets) if (!isWithin(findings.session, target)) findings.outside.add(target)
  addVisited(findings)
  if (flow.certain && (exists || flow.gates)) {
    if (!exists) findings.assumed = true
    findings.places = []
  }
  addPlaces(findings, targets)
}

/** By name (what the shell does) and by links resolved (what programs see); both when they differ. */
async function targetsOf(findings: Findings, word: Word): Promise<string[]> {
  const targets = new Set<string>()
  for (const path of await resolveWord(findings, word, 'read')) {
    const named = normalisePath(path)
    for (const candidate of [path, named]) {
      const canonical = await lookUp(findings, () => canonicalPath(candidate, findings.files))
      if (canonical === undefined) addReason(findings, `it is not certain where ${path} leads`)
      else targets.add(canonical)
    }
    if (path.includes('..') || (await lookUp(findings, () => canonicalPath(named, findings.files))) !== named) targets.add(named)
  }
  return [...targets]
}

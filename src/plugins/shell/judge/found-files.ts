/**
 * What `find … | xargs` hands on: the paths that exist now, looked up as a wildcard's are (sessions-events §8.8). Never
 * fewer than would be found: tests other than one of the name are taken as passed. What is not certain is not known.
 */
import { compareWildcard } from '../../../machines/permission/wildcard.js'
import type { Findings, Found } from '../words/findings.js'
import { joinPath, nameOf, parentOf } from '../words/place.js'
import { literalOf, plainWord, type Word } from '../words/word.js'
import { factsOf } from '../programs/table.js'

/** Tests and actions without influence on what else there is, and whether a value follows. */
const FLAGS = /^-(?:empty|mount|xdev)$/
const VALUED = /^-(?:type|name|iname|maxdepth|mindepth|size|[acm]time|[acm]min)$/
const PRINTS = /^-print0?$/
const ROOT = /^[\w./]/
const PLAIN = /^[\w./@%+:=,-]+$/
const XARGS_FLAGS = /^(?:-[0rt]+|--null|--no-run-if-empty|-[nPL]\d+)$/
const XARGS_VALUED = /^-[0rt]*[nPL]$/
const MAX_ENTRIES = 2000
const MAX_PATHS = 200

/** The paths a call of `find` prints, or undefined. */
export async function pathsFound(findings: Findings, words: readonly Word[]): Promise<Found | undefined> {
  const [program, ...args] = words.map((word) => literalOf(word))
  const [place, ...others] = findings.places
  if (program !== 'find' || place === undefined || others.length > 0 || findings.defers) return undefined
  const start = args.findIndex((text) => text?.startsWith('-') !== false)
  const roots = start < 0 ? args : args.slice(0, start)
  if (!roots.every((root) => root !== undefined && ROOT.test(root))) return undefined
  const names: ((name: string) => boolean)[] = []
  const tests = start < 0 ? [] : args.slice(start)
  for (let at = 0; at < tests.length; at += 1) {
    const [test, value] = [tests[at] ?? '', tests[at + 1]]
    if (!VALUED.test(test)) {
      if (FLAGS.test(test) || (PRINTS.test(test) && at === tests.length - 1)) continue
      return undefined
    }
    if (value === undefined) return undefined
    if (test.endsWith('name') && !/[[\\]/.test(value)) names.push(matcher(value, test === '-iname'))
    at += 1
  }
  const paths = await listTrees(findings, place, roots.length === 0 ? ['.'] : roots.map((root) => root ?? ''))
  const found = paths?.filter((path) => names.every((matches) => matches(path.slice(path.lastIndexOf('/') + 1))))
  return found === undefined || found.length > MAX_PATHS ? undefined : { paths: found, whole: tests.at(-1) === '-print0' }
}

/** The arguments `xargs` adds to `inner` when it reads these paths, or undefined. `options` stand before the program it starts. */
export function addedWords({ paths, whole }: Found, options: readonly Word[], inner: readonly Word[]): readonly Word[] | undefined {
  const program = literalOf(inner[0] ?? plainWord('echo')) ?? ''
  const hasText = inner.slice(1).some((word) => !word.dynamic && !word.text.startsWith('-'))
  const { operandsAlike } = factsOf(program)
  if (operandsAlike !== 'all' && !(operandsAlike === 'after-text' && hasText)) return undefined
  let nulls = false
  for (let at = 0; at < options.length; at += 1) {
    const text = literalOf(options[at] ?? plainWord('-?')) ?? ''
    if (/^(?:-[rt]*0|--null)/.test(text)) nulls = true
    if (XARGS_VALUED.test(text)) at += 1
    else if (!XARGS_FLAGS.test(text)) return undefined
  }
  if (nulls !== whole || (!whole && !paths.every((path) => PLAIN.test(path)))) return undefined
  return paths.map((path) => ({ ...plainWord(path), added: true }))
}

/** Absolute paths and everything below them; undefined when it is too much. */
export async function pathsBelow(findings: Findings, paths: readonly string[]): Promise<readonly string[] | undefined> {
  const found = await listTrees(findings, '/', paths)
  return found === undefined || found.length > MAX_PATHS ? undefined : found
}

function matcher(pattern: string, folds: boolean): (name: string) => boolean {
  const fold = (text: string) => (folds ? text.toLowerCase() : text)
  return (name) => compareWildcard(fold(pattern), fold(name)) !== 'miss'
}

/** Everything below the roots, links not followed; undefined when it is too much. */
async function listTrees(findings: Findings, place: string, roots: readonly string[]): Promise<string[] | undefined> {
  const open = [...roots]
  const found: string[] = []
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (found.length >= MAX_ENTRIES || findings.isLate()) return undefined
    found.push(at)
    const path = joinPath(place, at)
    if (await isLink(findings, path)) continue
    for (const name of await findings.files.list(path)) open.push(at.endsWith('/') ? `${at}${name}` : `${at}/${name}`)
  }
  return found
}

async function isLink({ files }: Findings, path: string): Promise<boolean> {
  const name = nameOf(path)
  if (name === '' || name === '.' || name === '..') return false
  const [parent, own] = await Promise.all([parentOf(path), path].map((each) => files.realPath(each).catch(() => undefined)))
  return own === undefined || parent === undefined || own !== joinPath(parent, name)
}

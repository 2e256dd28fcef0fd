/** What starting one program means: the segments it adds, the programs inside it, the paths it touches. */
import { within, without } from '../words/assigned.js'
import { changeDirectory, isDirectoryChange } from '../words/directory.js'
import { filesOf } from '../programs/named-files.js'
import { addReason, addSegment, type Findings, type Flow, lookUp, TOP } from '../words/findings.js'
import { addedWords, pathsBelow } from './found-files.js'
import { gitUse } from '../programs/git/git.js'
import { findNamed, findReceiving } from '../programs/git-places.js'
import { hasWildcard } from '../words/glob.js'
import { readOptions } from '../programs/known-options.js'
import { joinPath, nameOf } from '../words/place.js'
import { interpreterReason, isShell, shellUse } from '../programs/shells.js'
import { checkNamedVariables } from './named-variables.js'
import { explicitReason, factsOf } from '../programs/table.js'
import { mayBeOption, resolveWord, touchPath, touchTarget, touchWord } from '../words/touch.js'
import { isHarmless } from '../../../machines/permission/shell-variables.js'
import { literalOf, plainWord, shownWord, unknownWord, type Word } from '../words/word.js'
import { isWrapper, unwrap } from '../programs/wrappers.js'

/** Analyses program text inside the line. */
export type ScanText = (text: string, flow: Flow) => Promise<void>

const RESERVED = /^(?:if|then|else|elif|fi|case|esac|for|select|while|until|do|done|in|function|\{|\}|!|\[\[|\]\]|\(|\))$/
const SYSTEM_DIRECTORIES = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$/
const MAX_NESTING = 8
/** Arguments added at run time. */
const APPENDED: Word = { ...unknownWord(''), added: true }
const ARITHMETIC = new Set(['let', 'test', '[', 'printf', 'read', 'unset', 'declare', 'local', 'typeset', 'export', 'readonly', 'wait'])

/** Records the program `words` start. */
export async function startProgram(findings: Findings, words: readonly Word[], flow: Flow, scanText: ScanText, nesting = 0): Promise<void> {
  const [first, ...args] = words
  if (first === undefined) return
  const name = literalOf(first)
  const program = nameOf(name ?? '')
  if (name === undefined || program === '' || RESERVED.test(name) || nesting > MAX_NESTING) {
    addSegment(findings, texts(words))
    addReason(findings, `which program starts is only known when it runs: ${first.text === '' ? 'an empty or added word' : first.text}`)
    return
  }
  if (isDirectoryChange(name)) return changeDirectory(findings, args, flow)
  addSegment(findings, texts(words))
  if (program !== name) {
    addSegment(findings, [program, ...texts(args)])
    if (!SYSTEM_DIRECTORIES.test(name)) await touchWord(findings, first, 'read')
  }
  if (ARITHMETIC.has(program)) findings.evaluates = true
  checkNamedVariables(findings, name, args)
  if (program === 'shopt' && args.some(({ text }) => text === 'nullglob')) findings.dropsWords = true
  if (hasOrder(program) && args.some(({ pattern }) => hasWildcard(pattern))) findings.mayLoseWords = true
  const { unknown, rest } = readOptions(program, args)
  if (unknown !== undefined) addReason(findings, `${program}: what its option ${unknown} does is not known`)
  const opaque = explicitReason(program, rest) ?? interpreterReason(program, args, flow.fed)
  if (opaque !== undefined) addReason(findings, opaque)
  if (factsOf(program).optionsDecide === true) await checkOptions(findings, program, args)
  await startInner(findings, program, args, { flow, scanText, nesting })
  await touchFiles(findings, program, rest)
}

/** What an operand means depends on those before it. */
function hasOrder(program: string): boolean {
  const { files, explicit, operandsAlike, starts } = factsOf(program)
  return program === 'git' || starts !== undefined || ((files !== undefined || explicit !== undefined) && operandsAlike === undefined)
}

interface Inner {
  readonly flow: Flow
  readonly scanText: ScanText
  readonly nesting: number
}

async function startInner(findings: Findings, program: string, args: readonly Word[], { flow, scanText, nesting }: Inner): Promise<void> {
  const start = (words: readonly Word[]) => startProgram(findings, words, flow, scanText, nesting + 1)
  if (isShell(program)) {
    const use = shellUse(program, args)
    if (use.reason !== undefined) addReason(findings, use.reason)
    if (use.script !== undefined) await touchWord(findings, use.script, 'read')
    const { places } = findings
    const { text } = use
    if (text !== undefined) await without(findings, () => scanText(text, { ...TOP, fed: flow.fed }))
    findings.places = places
  } else if (program === 'eval' || program === 'trap') await startText(findings, program, args, { flow, scanText, nesting })
  else if (program === 'find') for (const words of findCommands(args)) await start(words)
  else if (program === 'jobs' && args[0]?.text === '-x') await start(args.slice(1))
  else if (program === 'command' && /^-p?[vV]/.test(args[0]?.text ?? '')) return
  else if (isWrapper(program)) {
    const unwrapped = unwrap(program, args)
    if (unwrapped === undefined) return addReason(findings, `${program}: which program it starts is not certain`)
    for (const word of unwrapped.assignments) checkExported(findings, word)
    const { inner, placeholder } = unwrapped
    const added = flow.found && addedWords(flow.found, args.slice(0, args.length - inner.length), inner)
    await start(program === 'xargs' ? withArguments(inner, placeholder, added) : inner)
    if (program === 'watch') {
      const text = unwrapped.inner.map((word) => literalOf(word))
      if (text.includes(undefined)) addReason(findings, 'watch: what it runs is only known when it runs')
      else await without(findings, () => scanText(text.join(' '), TOP))
    }
  }
}

/** `eval` joins its words into program text; `trap` keeps its first word for later. */
async function startText(findings: Findings, program: string, args: readonly Word[], { scanText }: Inner): Promise<void> {
  const words = args[0]?.text === '--' ? args.slice(1) : args
  if (program === 'eval') addReason(findings, 'eval: it runs text as commands')
  if (program === 'trap' && (words.length < 2 || words[0]?.text === '-' || /^-[lp]/.test(words[0]?.text ?? ''))) return
  const literals = (program === 'eval' ? words : words.slice(0, 1)).map((word) => literalOf(word))
  if (program === 'trap') findings.defers = true
  if (literals.includes(undefined)) return addReason(findings, `${program}: what it runs is only known when it runs`)
  await (program === 'trap' ? without : within)(findings, () => scanText(literals.join(' '), { ...TOP, certain: false }))
}

async function touchFiles(findings: Findings, program: string, args: readonly Word[]): Promise<void> {
  const use = filesOf(program, args)
  for (const word of use.reads) await touchWord(findings, word, 'read')
  for (const word of use.writes) await touchWord(findings, word, 'write')
  for (const word of use.wholes) await touchWord(findings, word, 'whole')
  if (use.target !== undefined) await touchTarget(findings, use.target, use)
  if (program === 'diff') await touchTrees(findings, use.reads)
  if (program !== 'git') return
  const { reasons, reads, trees, compared, changes, writes, wholes, configures, command, directories, receives } = gitUse(args)
  for (const word of reads) await touchWord(findings, word, 'read')
  await touchTrees(findings, trees)
  await touchCompared(findings, compared)
  for (const word of changes) await touchChanged(findings, word)
  for (const word of writes) await touchWord(findings, word, 'write')
  for (const word of wholes) await touchWord(findings, word, 'whole')
  for (const reason of reasons) addReason(findings, reason)
  await findNamed(findings, directories, command)
  for (const place of receives) await findReceiving(findings, directories, place)
  if (configures === 'user') await touchPath(findings, joinPath(findings.home, '.gitconfig'), 'write')
  if (configures === 'repository') for (const place of findings.places) await touchPath(findings, joinPath(place, '.git/config'), 'write')
}

/** A word that is only known when it runs may be such a file, unless another one certainly is not. */
async function touchCompared(findings: Findings, words: readonly Word[]): Promise<void> {
  let mayBeFiles = true
  for (const word of words.filter(({ dynamic }) => !dynamic)) {
    let exists = false
    for (const path of await resolveWord(findings, word, 'read')) {
      if ((await lookUp(findings, () => findings.files.kindOf(path))) === undefined) continue
      exists = true
      await touchPath(findings, path, 'read')
    }
    if (!exists && !word.approximate) mayBeFiles = false
  }
  if (mayBeFiles) for (const { dynamic, text } of words) if (dynamic) findings.unknownReads.add(text)
}

/** Names of commits seldom look like those of files, and one that does is taken for a file. */
const FILE_NAME = /(?:^|\/)\.[^/.]|\.[a-z]\w*$/i

async function touchChanged(findings: Findings, word: Word): Promise<void> {
  for (const path of await resolveWord(findings, word, 'write')) {
    const exists = (await lookUp(findings, () => findings.files.kindOf(path))) !== undefined
    if (exists || FILE_NAME.test(path)) await touchPath(findings, path, 'write')
  }
}

/** What such a program shows of directories are the files in them. */
async function touchTrees(findings: Findings, words: readonly Word[]): Promise<void> {
  for (const word of words) {
    const below = await pathsBelow(findings, await resolveWord(findings, word, 'read'))
    if (below === undefined) findings.unknownReads.add(word.text)
    else for (const path of below) await touchPath(findings, path, 'read')
  }
}

/** Notes a `NAME=value` word that programs find in their environment. */
export function checkExported(findings: Findings, word: Word): void {
  const equals = word.text.indexOf('=')
  const name = word.text.slice(0, equals).replace(/\+$/, '')
  const value = word.dynamic || word.approximate ? undefined : word.text.slice(equals + 1)
  if (isHarmless(name, value)) return
  addReason(findings, `the variable ${name} may change what programs do`)
}

/** Options of such a program start others or write files: a word that may be one decides. */
async function checkOptions(findings: Findings, program: string, args: readonly Word[]): Promise<void> {
  const { textAfter } = factsOf(program)
  const end = program === 'find' ? -1 : args.findIndex((word) => word.text === '--')
  const before = args.slice(0, end < 0 ? args.length : end)
  for (const [index, word] of before.entries()) {
    if (textAfter?.test(before[index - 1]?.text ?? '') === true && !word.splits) continue
    if (await mayBeOption(findings, word))
      addReason(findings, `${program}: a word that may be an option is only known when it runs: ${word.text}`)
  }
}

/** The programs of `-exec` and its like, up to `;` or `+`; `{}` stands for paths found. */
function findCommands(args: readonly Word[]): Word[][] {
  const commands: Word[][] = []
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at]?.text ?? '')) continue
    const words: Word[] = []
    for (at += 1; at < args.length; at += 1) {
      const word = args[at]
      if (word === undefined || word.text === ';' || (word.text === '+' && words.at(-1)?.text === '{}')) break
      words.push(word.text.includes('{}') ? { ...word, dynamic: true, open: true } : word)
    }
    commands.push(words.length > 0 ? words : [APPENDED])
  }
  return commands
}

/** What xargs runs: its words with the arguments appended, or in place of the placeholder. */
function withArguments(inner: readonly Word[], placeholder: string | undefined, added: readonly Word[] = [APPENDED]): readonly Word[] {
  const words = inner.length > 0 ? inner : [plainWord('echo')]
  if (placeholder === undefined) return [...words, ...added]
  return words.map((word) => (word.text.includes(placeholder) ? { ...word, dynamic: true, open: true } : word))
}

function texts(words: readonly Word[]): string[] {
  return words.filter((word) => word.added !== true).map(shownWord)
}

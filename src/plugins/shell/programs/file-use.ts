/** How the arguments of programs name files (sessions-events §8.8). */
import { hasWildcard } from '../words/glob.js'
import { escape, literalOf, plainWord, unknownWord, type Word } from '../words/word.js'
import { hasOption, splitArguments } from './arguments.js'

export interface FileUse {
  readonly reads: readonly Word[]
  readonly writes: readonly Word[]
  /** Written with everything below. */
  readonly wholes: readonly Word[]
  /** The path to which `sources` are copied, moved or linked; they go into it when it is a directory. */
  readonly target: Word | undefined
  readonly sources: readonly Word[]
  /** Of a source that is a directory the content goes there, not the directory itself: always, or when it ends with a slash. */
  readonly contents?: 'all' | 'slashed'
}

export type Use = (args: readonly Word[]) => FileUse

/** Options in lists separated by blanks, each found in every spelling; what is listed nowhere has no value of its own. */
interface Naming {
  readonly reads?: string
  readonly writes?: string
  /** A file in which the names of files to read stand. */
  readonly lists?: string
  /** Their values are no files. */
  readonly texts?: string
  readonly operands?: 'reads' | 'writes' | 'wholes' | 'none'
  /** Operands before the files: a script, a mode, a subcommand. */
  readonly skips?: number
  /** An option that brings the first of them. */
  readonly unless?: RegExp
}

export const NONE: FileUse = { reads: [], writes: [], wholes: [], target: undefined, sources: [] }
const INTO = ['-t', '--target-directory']
const TAR_VALUES =
  '-C --directory --one-top-level -f --file -T --files-from -X --exclude-from --add-file -g --listed-incremental --index-file --volno-file'.split(
    ' ',
  )
const LISTED = unknownWord('(the names in a file)')
const UNPACKED = unknownWord('(the name of what was packed)')

/** The use of a program by its options. */
export function named({ reads = '', writes = '', lists = '', texts = '', operands = 'reads', skips = 0, unless }: Naming): Use {
  const listed = lists.split(' ')
  const read = [...reads.split(' '), ...listed]
  const written = writes.split(' ')
  const wanted = [...read, ...written, ...texts.split(' ')].filter((name) => name !== '')
  return (args) => {
    const { options, operands: rest, given } = splitArguments(args, wanted)
    const valuesOf = (names: readonly string[]) => given.filter(({ name }) => names.includes(name)).map(({ value }) => value)
    const unknown = given.some(({ name }) => listed.includes(name)) ? [LISTED] : []
    const files = { reads: [...valuesOf(read), ...unknown], writes: valuesOf(written), wholes: new Array<Word>() }
    const first = unless !== undefined && options.some((option) => unless.test(option)) ? skips - 1 : skips
    if (operands !== 'none') files[operands].push(...rest.slice(first))
    return { ...NONE, ...files }
  }
}

/** `-` is the input or output of a program that takes it for that. */
export function isFile(word: Word): boolean {
  return word.text !== '-'
}

/** One use where an option is given, another where it is not. */
export function whether(letters: string, longs: readonly string[], use: Use, otherwise: Use): Use {
  return (args) => (hasOption(splitArguments(args).options, letters, ...longs) ? use : otherwise)(args)
}

/** All uses at once. */
export function both(...uses: readonly Use[]): Use {
  return (args) => {
    const all = uses.map((use) => use(args))
    const last = all.findLast(({ target }) => target !== undefined)
    return {
      reads: all.flatMap(({ reads }) => reads),
      writes: all.flatMap(({ writes }) => writes),
      wholes: all.flatMap(({ wholes }) => wholes),
      target: last?.target,
      sources: last?.sources ?? [],
      ...(last?.contents !== undefined && { contents: last.contents }),
    }
  }
}

/** The first operand is read, what follows is written. */
export function firstAndRest(args: readonly Word[]): FileUse {
  const { operands } = splitArguments(args)
  return { ...NONE, reads: operands.slice(0, 1), writes: operands.slice(1) }
}

/** Options stand before the first operand only: a word after it is a file, however it begins. Without a source it is not known which that is. */
export function sourceThenFiles(args: readonly Word[]): FileUse {
  const { operands } = splitArguments(args, ['-c', '-g', '-l', '-n', '-o', '-s', '-R'])
  const [source] = operands
  return { ...NONE, reads: operands.slice(0, 1), writes: source === undefined ? [] : args.slice(args.indexOf(source) + 1) }
}

/** Sources and the place they go to, which an option may name. */
export function copies(kind: 'reads' | 'wholes', into: readonly string[] = INTO): Use {
  return (args) => {
    const { options, operands, values } = splitArguments(args, into)
    const sources = values.length > 0 ? operands : operands.slice(0, -1)
    return { ...NONE, [kind]: sources, sources, target: values[0] ?? operands[operands.length - 1], ...whole(options) }
  }
}

/** The target is no directory to go into, or is replaced as the link it is. */
function whole(options: readonly string[], letters = 'T', ...longs: readonly string[]): Pick<FileUse, 'contents'> {
  return hasOption(options, letters, '--no-target-directory', ...longs) ? { contents: 'all' } : {}
}

/** A link makes its goal readable and writable under another name, so the goal counts as both. */
export function linkUse(args: readonly Word[]): FileUse {
  const { options, operands, values } = splitArguments(args, INTO)
  const alone = values.length === 0 && operands.length === 1
  const sources = values.length > 0 || alone ? operands : operands.slice(0, -1)
  return {
    ...NONE,
    reads: sources,
    writes: sources,
    sources,
    target: values[0] ?? (alone ? plainWord('.') : operands[operands.length - 1]),
    ...whole(options, 'Tn', '--no-dereference'),
  }
}

export function sedUse(args: readonly Word[]): FileUse {
  const { options, operands } = splitArguments(args, ['-e', '--expression', '-f', '--file'])
  const files = hasOption(options, 'ef', '--expression', '--file') ? operands : operands.slice(1)
  if (!hasOption(options, 'iI', '--in-place')) return { ...NONE, reads: files }
  const suffix = inPlaceSuffix(options)
  return { ...NONE, writes: suffix === '' ? files : files.flatMap((word) => [word, suffixed(word, suffix)]) }
}

/** What `-i` adds to the name of each file that it keeps a copy of. */
export function inPlaceSuffix(options: readonly string[]): string {
  for (const option of options) {
    const [, short, long] = /^(?:-[a-zA-Z]*?[iI](.*)|--in-place=(.*))$/s.exec(option) ?? []
    if ((short ?? long ?? '') !== '') return short ?? long ?? ''
  }
  return ''
}

function suffixed(word: Word, suffix: string): Word {
  return { ...word, text: word.text + suffix, pattern: word.pattern + escape(suffix) }
}

/** `-i` edits the operands in place; the value of `-e` is a program. */
export function perlUse(args: readonly Word[]): FileUse {
  const { options, operands } = splitArguments(args, ['-e', '-E'])
  return hasOption(options, 'i') ? { ...NONE, writes: operands } : { ...NONE, reads: operands }
}

/** Start directories come before the first expression. */
export function findUse(args: readonly Word[]): FileUse {
  const expression = args.findIndex((word) => /^[-(!]/.test(word.text) && !/^-[HLPOD]/.test(word.text))
  const roots = (expression < 0 ? args : args.slice(0, expression)).filter((word) => !word.text.startsWith('-'))
  const valuesOf = (name: RegExp) => args.filter((_, index) => name.test(args[index - 1]?.text ?? ''))
  const outputs = valuesOf(/^-f(?:print0?|printf|ls)$/)
  const lists = valuesOf(/^-files0-from$/)
  const compared = [...valuesOf(/^-(?:[ac]?newer|newer[aBcm][aBcm]|samefile)$/), ...lists, ...lists.map(() => LISTED)]
  const deletes = args.some((word) => literalOf(word) === '-delete')
  const filtered = args.some((word) => /^-i?(?:name|path|regex|wholename)$/.test(word.text))
  if (deletes) return { ...NONE, [filtered ? 'writes' : 'wholes']: [...orHere(roots), ...outputs], reads: compared }
  return { ...NONE, reads: [...roots, ...compared], writes: outputs }
}

/** The archive a call of `tar` names. */
export function tarArchives(args: readonly Word[]): readonly Word[] {
  const bundle = /^[A-Za-z]+$/.test(args[0]?.text ?? '') ? (args[0]?.text ?? '') : ''
  const { operands, given } = splitArguments(bundle === '' ? args : args.slice(1), TAR_VALUES)
  const place = Array.from(bundle.replace(/[^bfCTXgHKLNV]/g, '')).indexOf('f')
  if (place >= 0) return operands.slice(place, place + 1).filter(isFile)
  return given.flatMap(({ name, value }) => (/^(?:-f|--file)$/.test(name) && isFile(value) ? [value] : []))
}

export function tarUse(args: readonly Word[]): FileUse {
  const bundle = /^[A-Za-z]+$/.test(args[0]?.text ?? '') ? (args[0]?.text ?? '') : ''
  const rest = bundle === '' ? args : args.slice(1)
  const { options, operands, given } = splitArguments(rest, TAR_VALUES)
  const valuesOf = (...names: readonly string[]) => given.filter(({ name }) => names.includes(name)).map(({ value }) => value)
  const archives = tarArchives(args)
  const changed = [...valuesOf('-C', '--directory', '--one-top-level'), ...(bundle.includes('C') ? operands : [])]
  const lists = valuesOf('-T', '--files-from')
  const others = [
    ...valuesOf('-X', '--exclude-from', '--add-file'),
    ...lists,
    ...(lists.length > 0 || bundle.includes('T') ? [LISTED] : []),
  ]
  const snapshots = valuesOf('-g', '--listed-incremental')
  const written = [...snapshots, ...valuesOf('--index-file', '--volno-file')]
  const does = (letter: string, ...longs: string[]) => bundle.includes(letter) || hasOption(options, letter, ...longs)
  if (does('x', '--extract', '--get')) return { ...NONE, reads: [...archives, ...others], writes: [...orHere(changed), ...written] }
  if (does('t', '--list')) return { ...NONE, reads: [...archives, ...others], writes: written }
  return {
    ...NONE,
    reads: [...operands.filter((word) => !archives.includes(word)), ...changed, ...others],
    writes: [...archives, ...written],
  }
}

/** Without a file to change, the files are those that the patch names. */
export function patchUse(args: readonly Word[]): FileUse {
  const { operands, values } = splitArguments(args, ['-o', '--output', '-r', '--reject-file', '-d', '--directory'])
  const { values: patches } = splitArguments(args, ['-i', '--input'])
  return { ...NONE, reads: [...patches, ...operands.slice(1)], writes: [...operands.slice(0, 1), ...values] }
}

/** A file is replaced by its packed form, or by what was packed in it, which has the name without the suffix. */
export function packUse(args: readonly Word[], unpacks: boolean): FileUse {
  const { options, operands, values } = splitArguments(args, ['-o'])
  if (hasOption(options, 'clt', '--stdout', '--to-stdout', '--list', '--test')) return { ...NONE, reads: operands }
  const names = hasOption(options, 'N', '--name') ? [UNPACKED] : operands.map(unpackedName)
  return { ...NONE, reads: operands, writes: [...operands, ...values, ...(unpacks ? names : [])] }
}

function unpackedName(word: Word): Word {
  if (word.dynamic || hasWildcard(word.pattern)) return UNPACKED
  return plainWord(word.text.replace(/(?<=[^/])(?:[-_]g?z|\.(?![^/]*[-_]g?z$)[^./]+)$/, ''))
}

export function assigned(args: readonly Word[], key: string): readonly Word[] {
  return args
    .filter((word) => word.text.startsWith(key) || word.dynamic)
    .map((word) => (word.dynamic ? word : plainWord(word.text.slice(key.length))))
}

export function orHere(words: readonly Word[]): readonly Word[] {
  return words.length > 0 ? words : [plainWord('.')]
}

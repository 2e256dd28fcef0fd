/** Programs known to read or change the files they are given, and how their arguments name them (sessions-events §8.8). */
import { hasWildcard } from '../judge/glob.js'
import { cutWord, hasOption, splitArguments } from './arguments.js'
import { literalOf, plainWord, unknownWord, type Word } from '../judge/word.js'

export interface FileUse {
  readonly reads: readonly Word[]
  readonly writes: readonly Word[]
  /** Written with everything below. */
  readonly wholes: readonly Word[]
  /** The path to which `sources` are copied, moved or linked; they go into it when it is a directory. */
  readonly target: Word | undefined
  readonly sources: readonly Word[]
}

const NONE: FileUse = { reads: [], writes: [], wholes: [], target: undefined, sources: [] }

type Use = (args: readonly Word[]) => FileUse

const READERS =
  'cat ls head tail less more stat file wc diff cmp du realpath readlink md5sum sha1sum sha256sum sha512sum od hexdump strings nl tac cut bat jq yq paste fold fmt column comm join expand unexpand pr shuf tsort look ptx cksum sum b2sum rev'
/** An option that names a file to read. */
const FILE_OPTION = /^--(?:file|from-f[\w-]*|to-f[\w-]*|(?:ex|in)clude-f[\w-]*|ignore-f[\w-]*|ref[a-z]*|files0[\w-]*|files-f[\w-]*)=/
const FILE_LETTER = /^(?:[ef]?grep|rg|date|file|hexdump)$/
/** An option that names a file in which the names of the files to read stand. */
const LISTS_FILES = /^--?files0-f/
const LISTED = unknownWord('(the names in a file)')
const UNKNOWN = unknownWord('(a name chosen by the server)')
const UNPACKED = unknownWord('(the name of what was packed)')

const COMMANDS: ReadonlyMap<string, Use> = new Map<string, Use>([
  ...each(READERS, (args) => ({ ...NONE, reads: operandsOf(args) })),
  ...each('date', (args) => ({ ...NONE, reads: splitArguments(args, ['-f', '--file', '-r', '--reference']).values })),
  ...each('sort tree base64', (args) => {
    const { operands, values } = splitArguments(args, ['-o', '--output'])
    return { ...NONE, reads: operands, writes: values }
  }),
  ...each('uniq xxd', (args) => ({ ...NONE, reads: operandsOf(args).slice(0, 1), writes: operandsOf(args).slice(1) })),
  ...each('split', (args) => {
    const { operands } = splitArguments(args, ['-a', '-b', '-C', '-l', '-n', '-t', '--bytes', '--lines', '--number', '--suffix-length'])
    return { ...NONE, reads: operands.slice(0, 1), writes: [operands[1] ?? plainWord('x')] }
  }),
  ...each('csplit', (args) => {
    const { operands, values } = splitArguments(args, ['-f', '--prefix'])
    return { ...NONE, reads: operands.slice(0, 1), writes: values.length > 0 ? values : [plainWord('xx')] }
  }),
  ...each('tee sponge mkfifo mknod', (args) => ({ ...NONE, writes: operandsOf(args) })),
  ...each('mkdir', (args) => ({ ...NONE, writes: splitArguments(args, ['-m', '--mode']).operands })),
  ...each('touch', (args) => ({ ...NONE, writes: splitArguments(args, ['-d', '--date', '-t', '-r', '--reference']).operands })),
  ...each('truncate', (args) => ({ ...NONE, writes: splitArguments(args, ['-s', '--size', '-r', '--reference']).operands })),
  ...each('rm rmdir unlink shred srm chattr', (args) => ({ ...NONE, wholes: operandsOf(args) })),
  ...each('chmod chown chgrp', (args) => ({ ...NONE, wholes: afterFirst(args, /^(?:--ref|-[rwxXstugo,]+$)/) })),
  ...each('cp', (args) =>
    hasOption(splitArguments(args).options, 'ls', '--link', '--symbolic-link') ? linkUse(args) : copyUse(args, 'reads'),
  ),
  ...each('rsync scp', (args) => copyUse(args, 'reads')),
  ...each('mv', (args) => {
    const use = copyUse(args, 'wholes')
    return { ...use, reads: use.sources }
  }),
  ...each('install', (args) =>
    hasOption(splitArguments(args).options, 'd', '--directory') ? { ...NONE, writes: operandsOf(args) } : copyUse(args, 'reads'),
  ),
  ...each('ln', linkUse),
  ...each('grep egrep fgrep rg ag', (args) => ({ ...NONE, reads: afterFirst(args, /^(?:-[a-zA-Z]*[ef]|--regexp|--file)/) })),
  ...each('awk gawk mawk nawk', (args) => ({ ...NONE, reads: afterFirst(args, /^(?:-f|--file)/) })),
  ...each('sed gsed', sedUse),
  ...each('perl ruby', perlUse),
  ...each('find', findUse),
  ...each('xargs', (args) => ({ ...NONE, reads: splitArguments(args, ['-a', '--arg-file']).values })),
  ...each('dd', (args) => ({ ...NONE, reads: assigned(args, 'if='), writes: assigned(args, 'of=') })),
  ...each('tar gtar bsdtar', tarUse),
  ...each('unzip', (args) => {
    const { operands, values } = splitArguments(args, ['-d'])
    return { ...NONE, reads: operands.slice(0, 1), writes: orHere(values) }
  }),
  ...each('patch', patchUse),
  ...each('gzip bzip2 xz lzma zstd', (args) => packUse(args, hasOption(splitArguments(args).options, 'd', '--decompress', '--uncompress'))),
  ...each('gunzip bunzip2 unxz unlzma unzstd', (args) => packUse(args, true)),
  ...each('zcat bzcat xzcat lzcat zstdcat', (args) => ({ ...NONE, reads: operandsOf(args) })),
  ...each('zip', (args) => ({ ...NONE, reads: operandsOf(args).slice(1), writes: operandsOf(args).slice(0, 1) })),
  ...each('iconv', (args) => {
    const { operands, values } = splitArguments(args, ['-o', '--output'])
    return { ...NONE, reads: operands, writes: values }
  }),
  ...each('curl', curlUse),
  ...each('wget', wgetUse),
])

/** How a file command uses its arguments; nothing for other programs. */
export function fileUse(program: string, args: readonly Word[]): FileUse {
  const use = COMMANDS.get(program)?.(args)
  if (use === undefined) return NONE
  const lists = args.some((word) => LISTS_FILES.test(word.text) || (program === 'file' && /^(?:-\w*f|--files-f)/.test(word.text)))
  return { ...use, reads: [...use.reads, ...filesOfOptions(program, args), ...(lists ? [LISTED] : [])] }
}

/** Files named by the value of an option that is part of the same word. */
function filesOfOptions(program: string, args: readonly Word[]): Word[] {
  return args.flatMap((word) => {
    const option = FILE_OPTION.exec(word.text)?.[0] ?? (FILE_LETTER.test(program) ? /^-[a-zA-Z]*?f(?=.)/.exec(word.text)?.[0] : undefined)
    return option === undefined ? [] : [cutWord(word, option.length)]
  })
}

function each(names: string, use: Use): [string, Use][] {
  return names.split(' ').map((name) => [name, use])
}

function operandsOf(args: readonly Word[]): readonly Word[] {
  return splitArguments(args).operands
}

/** Operands without the first (a mode, owner or expression), unless an option matching `given` brings that. */
function afterFirst(args: readonly Word[], given: RegExp): readonly Word[] {
  const { options, operands } = splitArguments(args)
  return options.some((option) => given.test(option)) ? operands : operands.slice(1)
}

function copyUse(args: readonly Word[], kind: 'reads' | 'wholes'): FileUse {
  const { operands, values } = splitArguments(args, ['-t', '--target-directory'])
  const sources = values.length > 0 ? operands : operands.slice(0, -1)
  return { ...NONE, [kind]: sources, sources, target: values[0] ?? operands[operands.length - 1] }
}

/** A link makes its goal readable and writable under another name, so the goal counts as both. */
function linkUse(args: readonly Word[]): FileUse {
  const { operands, values } = splitArguments(args, ['-t', '--target-directory'])
  const alone = values.length === 0 && operands.length === 1
  const sources = values.length > 0 || alone ? operands : operands.slice(0, -1)
  return {
    ...NONE,
    reads: sources,
    writes: sources,
    sources,
    target: values[0] ?? (alone ? plainWord('.') : operands[operands.length - 1]),
  }
}

function sedUse(args: readonly Word[]): FileUse {
  const { options, operands } = splitArguments(args, ['-e', '--expression', '-f', '--file'])
  const files = hasOption(options, 'ef', '--expression', '--file') ? operands : operands.slice(1)
  return hasOption(options, 'iI', '--in-place') ? { ...NONE, writes: files } : { ...NONE, reads: files }
}

/** `-i` edits the operands in place; the value of `-e` is a program. */
function perlUse(args: readonly Word[]): FileUse {
  const { options, operands } = splitArguments(args, ['-e', '-E'])
  return hasOption(options, 'i') ? { ...NONE, writes: operands } : { ...NONE, reads: operands }
}

/** Start directories come before the first expression. */
function findUse(args: readonly Word[]): FileUse {
  const expression = args.findIndex((word) => /^[-(!]/.test(word.text) && !/^-[HLPOD]/.test(word.text))
  const roots = (expression < 0 ? args : args.slice(0, expression)).filter((word) => !word.text.startsWith('-'))
  const outputs = args.filter((_, index) => /^-f(?:print0?|printf|ls)$/.test(args[index - 1]?.text ?? ''))
  const deletes = args.some((word) => literalOf(word) === '-delete')
  const filtered = args.some((word) => /^-i?(?:name|path|regex|wholename)$/.test(word.text))
  if (deletes) return { ...NONE, [filtered ? 'writes' : 'wholes']: [...orHere(roots), ...outputs] }
  return { ...NONE, reads: roots, writes: outputs }
}

function tarUse(args: readonly Word[]): FileUse {
  const bundle = /^[A-Za-z]+$/.test(args[0]?.text ?? '') ? (args[0]?.text ?? '') : ''
  const rest = bundle === '' ? args : args.slice(1)
  const { options, operands, values } = splitArguments(rest, ['-C', '--directory', '--one-top-level'])
  const archives = bundle.includes('f') ? rest.slice(0, 1) : splitArguments(rest, ['-f', '--file']).values
  const places = bundle.includes('C') ? [...values, ...rest] : values
  const does = (letter: string, ...longs: string[]) => bundle.includes(letter) || hasOption(options, letter, ...longs)
  if (does('x', '--extract', '--get')) return { ...NONE, reads: archives, writes: orHere(places) }
  if (does('t', '--list')) return { ...NONE, reads: archives }
  return { ...NONE, reads: [...operands, ...places], writes: archives }
}

/** Without a file to change, the files are those that the patch names. */
function patchUse(args: readonly Word[]): FileUse {
  const { operands, values } = splitArguments(args, ['-o', '--output', '-r', '--reject-file', '-d', '--directory'])
  const { values: patches } = splitArguments(args, ['-i', '--input'])
  return { ...NONE, reads: [...patches, ...operands.slice(1)], writes: [...operands.slice(0, 1), ...values] }
}

/** A file is replaced by its packed form, or by what was packed in it, which has the name without the suffix. */
function packUse(args: readonly Word[], unpacks: boolean): FileUse {
  const { options, operands, values } = splitArguments(args, ['-o'])
  if (hasOption(options, 'clt', '--stdout', '--to-stdout', '--list', '--test')) return { ...NONE, reads: operands }
  const names = hasOption(options, 'N', '--name') ? [UNPACKED] : operands.map(unpackedName)
  return { ...NONE, reads: operands, writes: [...operands, ...values, ...(unpacks ? names : [])] }
}

function unpackedName(word: Word): Word {
  return word.dynamic || hasWildcard(word.pattern) ? UNPACKED : plainWord(word.text.replace(/(?<=[^/])\.[^./]+$/, ''))
}

/** A file named after the last part of the address when no name is given. */
function curlUse(args: readonly Word[]): FileUse {
  const outputs = ['-o', '--output', '--output-dir', '-c', '--cookie-jar', '-D', '--dump-header', '--trace', '--trace-ascii']
  const { options, operands, values } = splitArguments(args, outputs)
  const remote = hasOption(options, 'O', '--remote-name', '--remote-name-all')
  const unnamed = hasOption(options, 'JK', '--remote-header-name', '--config')
  return { ...NONE, writes: [...values, ...(remote ? operands.map(downloadName) : []), ...(unnamed ? [UNKNOWN] : [])] }
}

function wgetUse(args: readonly Word[]): FileUse {
  const { options, operands, values } = splitArguments(args, ['-O', '--output-document', '-P', '--directory-prefix', '-o', '-a'])
  const named = hasOption(options, 'O', '--output-document')
  const unnamed = hasOption(options, 'rmix', '--recursive', '--mirror', '--input-file', '--content-disposition', '--execute', '--config')
  return { ...NONE, writes: [...values, ...(named ? [] : operands.map(downloadName)), ...(unnamed ? [UNKNOWN] : [])] }
}

function downloadName(address: Word): Word {
  if (address.dynamic) return address
  const path = address.text.replace(/^[a-z]+:\/\/[^/]*/, '').replace(/[?#].*$/s, '')
  return plainWord(path.slice(path.lastIndexOf('/') + 1) || 'index.html')
}

function assigned(args: readonly Word[], key: string): readonly Word[] {
  return args
    .filter((word) => word.text.startsWith(key) || word.dynamic)
    .map((word) => (word.dynamic ? word : plainWord(word.text.slice(key.length))))
}

function orHere(words: readonly Word[]): readonly Word[] {
  return words.length > 0 ? words : [plainWord('.')]
}

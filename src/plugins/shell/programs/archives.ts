/** Programs that pack and unpack: what of their arguments is the archive, what goes into it, and where its content goes. */
import type { Word } from '../words/word.js'
import { unknownWord } from '../words/word.js'
import { cutWord, hasOption, splitArguments } from './arguments.js'
import { type FileUse, isFile, NONE, orHere, type Use } from './file-use.js'

const INPUT = unknownWord('(the names in its input)')

/** `7z <verb> <archive> <files>`: a verb that is not known may write the archive. */
export const sevenZipUse: Use = (args) => {
  const [verb, archive, ...files] = splitArguments(args).operands
  const archives = archive === undefined ? [] : [archive]
  // A value is always in one word with its option.
  const into = args.filter(({ text }) => /^-[ow]./.test(text)).map((word) => cutWord(word, 2))
  const lists = args.filter(({ text }) => /^(?:@|-[ix]r?0?@)/.test(text)).map(() => INPUT)
  const reads = [...archives, ...files, ...lists]
  if (/^[lthib]$/.test(verb?.text ?? '')) return { ...NONE, reads, writes: into }
  if (/^[xe]$/.test(verb?.text ?? '')) return { ...NONE, reads: archives, writes: orHere(into) }
  return { ...NONE, reads, writes: [...archives, ...into] }
}

/** `ar <letters> <archive> <members>`. */
export const arUse: Use = (args) => {
  const [key, ...operands] = args.filter(({ text }) => !text.startsWith('--'))
  const letters = key?.text.replace(/^-/, '') ?? ''
  if (/^[^dmqrs]*[pt][^dmqrs]*$/.test(letters)) return { ...NONE, reads: operands }
  if (letters.includes('x')) return { ...NONE, reads: operands.slice(0, 1), writes: orHere(operands.slice(1)) }
  return { ...NONE, reads: operands, writes: operands.slice(0, /[abiN]/.test(letters) ? 2 : 1) }
}

const CPIO = '-F --file -I -O -E --pattern-file -H --format -C --io-size -R --owner -M --message -D --directory'.split(' ')

export const cpioUse: Use = (args) => {
  const { options, operands, given } = splitArguments(args, CPIO)
  const of = (...names: readonly string[]) => given.filter(({ name }) => names.includes(name)).map(({ value }) => value)
  const reads = of('-I', '-E', '--pattern-file')
  const places = of('-D', '--directory')
  const archives = of('-F', '--file')
  if (hasOption(options, 't', '--list')) return { ...NONE, reads: [...reads, ...archives] }
  if (hasOption(options, 'i', '--extract')) return { ...NONE, reads: [...reads, ...archives], writes: orHere(places) }
  return { ...NONE, reads: [...reads, ...places, INPUT], writes: [...archives, ...of('-O'), ...operands] }
}

export const paxUse: Use = (args) => {
  const { options, operands, given } = splitArguments(args, ['-f', '-b', '-s', '-x', '-o', '-p', '-B', '-T', '-U', '-G', '-E'])
  const archives = given.filter(({ name }) => name === '-f').map(({ value }) => value)
  const [isRead, isWrite] = [hasOption(options, 'r'), hasOption(options, 'w')]
  const names = operands.length > (isRead ? 1 : 0) ? [] : [INPUT]
  if (isRead && isWrite) return { ...NONE, reads: [...operands.slice(0, -1), ...names], writes: operands.slice(-1) }
  if (isWrite) return { ...NONE, reads: [...operands, ...names], writes: archives.filter(isFile) }
  return isRead ? { ...NONE, reads: archives, writes: orHere([]) } : { ...NONE, reads: archives }
}

/** What was encrypted or signed gets a name without the suffix, where no other is given. */
export function gpgUse(use: Use): Use {
  return (args): FileUse => {
    const { operands } = splitArguments(args, ['-o', '--output', '-r', '--recipient', '-u', '--local-user'])
    const found = use(args)
    const plain = operands.flatMap((word): readonly Word[] => (word.dynamic ? [word] : named(word)))
    return { ...found, writes: [...found.writes, ...plain] }
  }
}

function named(word: Word): readonly Word[] {
  const suffix = /\.(?:gpg|pgp|asc|sig)$/.exec(word.text)?.[0]
  return suffix === undefined ? [] : [{ ...word, text: word.text.slice(0, -suffix.length), pattern: word.pattern.slice(0, -suffix.length) }]
}

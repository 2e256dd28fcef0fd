/** The files that the arguments of a program name. */
import { unknownWord, type Word } from '../words/word.js'
import { cutWord } from './arguments.js'
import { type FileUse, NONE } from './file-use.js'
import { factsOf } from './table.js'

/** An option that names a file to read, whatever the program. */
const FILE_OPTION = /^--(?:file|from-f[\w-]*|to-f[\w-]*|(?:ex|in)clude-f[\w-]*|ignore-f[\w-]*|ref[a-z]*|files0[\w-]*|files-f[\w-]*)=/
/** An option that names a file in which the names of the files to read stand. */
const LISTS_FILES = /^--?files0-f/
const LISTED = unknownWord('(the names in a file)')

/** How a known program uses its arguments; nothing for others. */
export function filesOf(program: string, args: readonly Word[]): FileUse {
  const use = factsOf(program).files?.(args)
  if (use === undefined) return NONE
  const options = args.flatMap((word) => {
    const length = FILE_OPTION.exec(word.text)?.[0].length
    return length === undefined ? [] : [cutWord(word, length)]
  })
  const lists = args.some((word) => LISTS_FILES.test(word.text)) ? [LISTED] : []
  return { ...use, reads: [...use.reads, ...options, ...lists] }
}

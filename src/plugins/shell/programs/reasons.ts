/** Why arguments of programs need an explicit answer: they run, load or redefine something the line does not show. */
import { isDecisive } from '../../../machines/permission/shell-variables.js'
import { literalOf, plainWord, type Word } from '../words/word.js'
import { cutWord, hasOption, splitArguments } from './arguments.js'
import { isHarmlessAwk } from './awk-script.js'
import { inPlaceSuffix, tarArchives } from './file-use.js'
import { isHarmlessSed } from './sed-script.js'

type Reason = (args: readonly Word[]) => string | undefined

const SAFE_SHOPT = /^(?:nullglob|failglob|globstar|inherit_errexit|nocasematch|-[su])$/
const REREADS = 'it changes how the shell reads commands'
const SAFE_SET =
  /^(?:--|[-+][befhmnuvxCET]*|pipefail|errexit|nounset|xtrace|noclobber|noglob|verbose|errtrace|functrace|-[befhmnuvxCET]*o)$/

const AWK_OPTIONS = /^(?:-[Fv].*|--(?:assign|field-separator)(?:=.*)?|--(?:posix|traditional|version|help))$/s

/** An option that names another program. */
export function programOption(letters: string, ...longs: readonly string[]): Reason {
  return (args) => optionReason(args, letters, ...longs)
}

/** An option that is a whole word with one dash. */
function wordOption(...words: readonly string[]): Reason {
  return (args) => (args.some(({ text }) => words.includes(text)) ? 'an option names a library or another program' : undefined)
}

/** Subcommands whose files `opensslUse` knows. */
const OPENSSL =
  /^(?:asn1parse|base64|ciphers|cms|crl|dgst|dhparam|dsa|ec|ecparam|enc|errstr|gendsa|genpkey|genrsa|help|list|md5|ocsp|passwd|pkcs12|pkcs7|pkcs8|pkey|pkeyutl|prime|rand|req|rsa|rsautl|s_client|sess_id|sha1|sha256|sha384|sha512|smime|speed|spkac|storeutl|verify|version|x509)$/

export function opensslReason(args: readonly Word[]): string | undefined {
  const [first] = args
  if (first !== undefined && (first.dynamic || !OPENSSL.test(first.text))) return 'what this subcommand does with its files is not known'
  return wordOption('-engine', '-engine_impl', '-provider', '-provider-path', '-config')(opensslWords(args))
}

/** `--name=value` means the same as `-name value`. */
export function opensslWords(args: readonly Word[]): readonly Word[] {
  return args.flatMap((word) => {
    const [, name, value] = /^-(-?[\w-]+)(=[\s\S]*)?$/.exec(word.text) ?? []
    if (name === undefined) return [word]
    const option = plainWord(`-${name.replace(/^-/, '')}`)
    return value === undefined ? [word.dynamic ? word : option] : [option, cutWord(word, word.text.length - value.length + 1)]
  })
}

export function always(reason: string): Reason {
  return () => reason
}

function optionReason(args: readonly Word[], letters: string, ...longs: readonly string[]): string | undefined {
  return hasOption(splitArguments(args).options, letters, ...longs) ? 'an option names another program' : undefined
}

export function decisiveNames(args: readonly Word[]): string | undefined {
  const names = args.filter((word) => !word.dynamic).map((word) => word.text.replace(/^-\w/, ''))
  return names.some((name) => isDecisive(name, undefined)) ? 'it sets a variable that decides what programs run' : undefined
}

/** `mapfile`, whose `-C` names a command to call back. */
export function mapfileReason(args: readonly Word[]): string | undefined {
  return hasOption(splitArguments(args).options, 'C') ? 'it names a command to call back' : decisiveNames(args)
}

export function shoptReason(args: readonly Word[]): string | undefined {
  return args.every((word) => SAFE_SHOPT.test(word.text)) ? undefined : REREADS
}

export function setReason(args: readonly Word[]): string | undefined {
  return safeSet(args) ? undefined : REREADS
}

function safeSet(args: readonly Word[]): boolean {
  const end = args.findIndex((word) => word.text === '--' || !/^[-+]/.test(word.text))
  const options = end < 0 ? args : args.slice(0, end + 1)
  return options.every((word) => !word.dynamic && (SAFE_SET.test(word.text) || !/^[-+]/.test(word.text)))
}

export function tarReason(args: readonly Word[]): string | undefined {
  const bundle = /^[A-Za-z]+$/.test(args[0]?.text ?? '') ? (args[0]?.text ?? '') : ''
  const longs = [
    '--to-command',
    '--checkpoint-action',
    '--use-compress-program',
    '--rsh-command',
    '--rmt-command',
    '--info-script',
    '--new-volume-script',
  ]
  if (/[IFP]/.test(bundle) || /[^AcdrtuxzjJZapskmOvwWhlSUGnBiRobNKHLVCfTXg]/.test(bundle))
    return 'an option names another program or absolute paths'
  const archive = tarArchives(args).find(({ text }) => /^[^/]+:/.test(text))
  if (archive !== undefined && !hasOption(splitArguments(args).options, '', '--force-local')) return 'the archive is on another machine'
  return optionReason(args, 'IFP', ...longs, '--absolute-names')
}

export function sedReason(args: readonly Word[]): string | undefined {
  const { options, operands, values } = splitArguments(args, ['-e', '--expression'])
  if (hasOption(options, 'f', '--file')) return 'the script is in a file'
  if (/[*/]/.test(inPlaceSuffix(options))) return 'the name of the copies that are kept is not known'
  // Elsewhere than on Linux an empty word after -i is its value.
  const first = operands[0]?.text === '' && hasOption(options, 'i') ? 2 : 1
  const scripts = hasOption(options, 'e', '--expression') ? values : operands.slice(0, first)
  const harmless = scripts.every((script) => isHarmlessSed(literalOf(script) ?? 'w'))
  return harmless ? undefined : 'the script may write files or start programs'
}

export function awkReason(args: readonly Word[]): string | undefined {
  const { options, operands } = splitArguments(args, ['-v', '--assign', '-F', '--field-separator'])
  if (!options.every((option) => AWK_OPTIONS.test(option))) return 'an option may name a program or a file'
  const [script] = operands
  const text = script === undefined ? '' : literalOf(script)
  if (text === undefined) return 'the program is only known when it runs'
  return isHarmlessAwk(text) ? undefined : 'the program may write files or start programs'
}

/** A filter of `rsync` may be read from a file. */
export function rsyncReason(args: readonly Word[]): string | undefined {
  const { given } = splitArguments(args, ['-f', '--filter'])
  if (given.some(({ value }) => value.dynamic || /^(?:[.:]|merge|dir-merge)/.test(value.text))) return 'a filter names a file with filters'
  return hasOption(splitArguments(args, ['-f', '--filter']).options, 'e', '--rsh', '--rsync-path')
    ? 'an option names another program'
    : undefined
}

/** Verbs of `mlr` run text, and write files; options start programs or change files in place. */
export function mlrReason(args: readonly Word[]): string | undefined {
  const isOpen = (word: Word) =>
    word.dynamic || /^(?:put|filter|tee|split|case|summary|exec|-I|-s|--load|--mload|--prepipex?|--prepipe-.*)$/.test(word.text)
  return args.some(isOpen) ? 'a verb or an option may write files or start programs' : undefined
}

/** An expression of `yq` may read other files. */
export function yqReason(args: readonly Word[]): string | undefined {
  if (hasOption(splitArguments(args).options, 's', '--split-exp', '--split-exp-file'))
    return 'an expression names the files that are written'
  return args.some((word) => word.dynamic || /\bload/.test(word.text)) ? 'an expression may read other files' : undefined
}

/** An archive before whose first slash a colon stands is fetched by another program. */
export function cpioReason(args: readonly Word[]): string | undefined {
  const { given } = splitArguments(args, ['-F', '--file', '-I', '-O'])
  if (given.some(({ value }) => value.dynamic || /^[^/]+:/.test(value.text))) return 'the archive is on another machine'
  return optionReason(args, '', '--rsh-command', '--absolute-filenames', '--rename-batch-file')
}

export function arReason(args: readonly Word[]): string | undefined {
  const isKnown = ({ text }: Word) => !text.startsWith('--') || /^--(?:thin|target=.*|help|version)$/s.test(text)
  return args.every(isKnown) ? undefined : 'an option names a library or a place'
}

const SEVEN_ZIP = /^-(?:[ow].*|[ixt].*|[mvp].*|ao[astu]|bd|bb\d?|bs[oep]\d|r[-0]?|s(?:cc|cs|crc|i|o|lt|nh|nl|ns|sc|sw|ni)\S*|y|an|u\S*|-)$/s

export function sevenZipReason(args: readonly Word[]): string | undefined {
  const other = args.find(({ text }) => text.startsWith('-') && !SEVEN_ZIP.test(text))
  return other === undefined ? undefined : `what its option ${other.text} does is not known`
}

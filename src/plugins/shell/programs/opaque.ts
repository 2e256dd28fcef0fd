/** Programs and options that run, load or redefine something the line does not show: an explicit answer is needed. */
import { hasOption, splitArguments } from './arguments.js'
import { isHarmlessAwk } from './awk-script.js'
import { isHarmlessSed } from './sed-script.js'
import { isDecisive } from '../../../machines/permission/shell-variables.js'
import { literalOf, type Word } from '../judge/word.js'

type Reason = (args: readonly Word[]) => string | undefined

const always = (reason: string): Reason => {
  return () => reason
}

const ELSEWHERE = 'it starts programs in a way that is not analysed'
const SAFE_SHOPT = /^(?:nullglob|failglob|globstar|inherit_errexit|nocasematch|-[su])$/
const SAFE_SET =
  /^(?:--|[-+][befhmnuvxCET]*|pipefail|errexit|nounset|xtrace|noclobber|noglob|verbose|errtrace|functrace|-[befhmnuvxCET]*o)$/

const AWK_OPTIONS = /^(?:-[Fv].*|--(?:assign|field-separator)(?:=.*)?|--(?:posix|traditional|version|help))$/s

const OPAQUE: ReadonlyMap<string, Reason> = new Map<string, Reason>([
  ...each('. source', always('it runs a file in the shell itself')),
  ...each('enable fc bind complete compgen compopt', always('it changes or replays what the shell runs')),
  ...each('ssh slogin mosh', always('it runs a command on another machine')),
  ...each(
    'parallel script su chroot unshare nsenter systemd-run at batch crontab expect strace ltrace flock screen tmux runuser pkexec',
    always(ELSEWHERE),
  ),
  ...each('vi vim nvim ed ex emacs nano view sudoedit gdb lldb', always('it is an interactive program that runs commands')),
  ['alias', (args) => (args.some((word) => word.dynamic || word.text.includes('=')) ? 'it defines an alias' : undefined)],
  ['hash', (args) => (args.length > 0 ? 'it changes where programs are found' : undefined)],
  ['shopt', (args) => (args.every((word) => SAFE_SHOPT.test(word.text)) ? undefined : 'it changes how the shell reads commands')],
  ['set', (args) => (safeSet(args) ? undefined : 'it changes how the shell reads commands')],
  [
    'file',
    (args) =>
      hasOption(splitArguments(args).options, 'mC', '--magic-file', '--compile') ? 'an option names files with its rules' : undefined,
  ],
  ['history', (args) => (args.every((word) => /^\d+$/.test(word.text)) ? undefined : 'it reads, writes or replays commands')],
  ...each('mapfile readarray', (args) =>
    hasOption(splitArguments(args).options, 'C') ? 'it names a command to call back' : decisiveNames(args),
  ),
  ...each('read printf getopts declare local export readonly typeset unset', decisiveNames),
  ...each('tar gtar bsdtar', tarReason),
  ...each('rsync', (args) => optionReason(args, 'e', '--rsh', '--rsync-path')),
  ...each('scp sftp', (args) => optionReason(args, 'SoF')),
  ...each('sort', (args) => optionReason(args, '', '--compress-program')),
  ...each('rg', (args) => optionReason(args, '', '--pre', '--hostname-bin')),
  ...each('fd fdfind', (args) => optionReason(args, 'xX', '--exec', '--exec-batch')),
  ...each('ag bat', (args) => optionReason(args, '', '--pager')),
  ...each('split', (args) => optionReason(args, '', '--filter')),
  ...each('zip', (args) => optionReason(args, 'T', '--unzip-command', '--test')),
  ...each('man', (args) => optionReason(args, 'PH', '--pager', '--html')),
  ...each('sed gsed', sedReason),
  ...each('awk gawk mawk nawk', awkReason),
])

/** Why this program with these arguments needs an explicit answer, or undefined. */
export function opaqueReason(program: string, args: readonly Word[]): string | undefined {
  const reason = OPAQUE.get(program)?.(args)
  return reason === undefined ? undefined : `${program}: ${reason}`
}

function each(names: string, reason: Reason): [string, Reason][] {
  return names.split(' ').map((name) => [name, reason])
}

function optionReason(args: readonly Word[], letters: string, ...longs: readonly string[]): string | undefined {
  return hasOption(splitArguments(args).options, letters, ...longs) ? 'an option names another program' : undefined
}

function decisiveNames(args: readonly Word[]): string | undefined {
  const names = args.filter((word) => !word.dynamic).map((word) => word.text.replace(/^-\w/, ''))
  return names.some((name) => isDecisive(name, undefined)) ? 'it sets a variable that decides what programs run' : undefined
}

function safeSet(args: readonly Word[]): boolean {
  const end = args.findIndex((word) => word.text === '--' || !/^[-+]/.test(word.text))
  const options = end < 0 ? args : args.slice(0, end + 1)
  return options.every((word) => !word.dynamic && (SAFE_SET.test(word.text) || !/^[-+]/.test(word.text)))
}

function tarReason(args: readonly Word[]): string | undefined {
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
  if (/[IFP]/.test(bundle)) return 'an option names another program or absolute paths'
  return optionReason(args, 'IFP', ...longs, '--absolute-names')
}

function sedReason(args: readonly Word[]): string | undefined {
  const { options, operands, values } = splitArguments(args, ['-e', '--expression'])
  if (hasOption(options, 'f', '--file')) return 'the script is in a file'
  const scripts = hasOption(options, 'e', '--expression') ? values : operands.slice(0, 1)
  const harmless = scripts.every((script) => !script.dynamic && !script.approximate && isHarmlessSed(literalOf(script) ?? script.text))
  return harmless ? undefined : 'the script may write files or start programs'
}

function awkReason(args: readonly Word[]): string | undefined {
  const { options, operands } = splitArguments(args, ['-v', '--assign', '-F', '--field-separator'])
  if (!options.every((option) => AWK_OPTIONS.test(option))) return 'an option may name a program or a file'
  const [script] = operands
  if (script?.dynamic === true || script?.approximate === true) return 'the program is only known when it runs'
  return isHarmlessAwk(script?.text ?? '') ? undefined : 'the program may write files or start programs'
}

/** What a version-control command line starts or changes besides itself. */
import { changesConfig } from './config.js'
import { gitFiles } from './files.js'
import { splitArguments } from '../arguments.js'
import { hasActive, type Word } from '../../words/word.js'

export interface GitUse {
  readonly reasons: readonly string[]
  /** Places it looks at besides its repository. */
  readonly reads: readonly Word[]
  /** Read with everything below. */
  readonly trees: readonly Word[]
  /** Written when they exist, or are named like files; else names of commits. */
  readonly changes: readonly Word[]
  /** Files to look into when they exist, wherever they are; else names of commits and of tracked files. */
  readonly compared: readonly Word[]
  readonly writes: readonly Word[]
  /** Written with everything below. */
  readonly wholes: readonly Word[]
  /** Which configuration file it changes. */
  readonly configures: 'repository' | 'user' | undefined
  /** The subcommand; empty when it is not known. */
  readonly command: string
  /** Where it goes before it looks for its repository. */
  readonly directories: readonly Word[]
  /** Where it sends something: the name of a remote, an address, or a place on this machine. */
  readonly receives: readonly Word[]
}

const HARMLESS_KEYS =
  /^(?:(?:user|author|committer)\.(?:name|email)|(?:color|advice|column)\.[\w.-]+|init\.defaultbranch|log\.(?:date|decorate|follow|abbrevcommit)|diff\.(?:noprefix|mnemonicprefix|renames|algorithm|context)|core\.(?:quotepath|autocrlf|abbrev|filemode|fsmonitor=false)|(?:commit|tag)\.gpgsign|pull\.(?:rebase|ff)|push\.(?:default|followtags|autosetupremote)|safe\.directory|gc\.auto|rebase\.(?:autosquash|autostash)|http\.\w+timeout)(?:=|$)/i
const RUNNERS =
  /^(?:filter-branch|difftool|mergetool|instaweb|gui|gitk|daemon|send-email|hook|citool|merge-index|for-each-repo|web--browse|remote-[\w-]+|imap-send|p4|svn|cvs\w+|upload-pack|receive-pack|shell)$/
/** Of any command; git takes their beginnings for the whole. */
const PROGRAM_OPTIONS =
  'upload-pack receive-pack exec exec-path config-env template open-files-in-pager ext-diff textconv extcmd tool'.split(' ')
/** Options of their own that begin like one of those. */
const OTHER_OPTIONS = /^(?:text|e|ex|t|to|o|u|r|c|re|up|in|conf|config)$/
const TELLS = /^(?:--version|-v|--help|-h|--exec-path|--html-path|--man-path)$/
/** Judges the arguments of `git`. */
export function gitUse(args: readonly Word[]): GitUse {
  const reasons: string[] = []
  const directories: Word[] = []
  let at = 0
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? ''
    if (text === '-C') directories.push(...args.slice(++at, at + 1))
    else if (/^--(?:git-dir|work-tree)(?:=|$)/.test(text)) reasons.push(`git: ${text} names a repository`)
    else if (text === '--namespace') at += 1
    else if (text.startsWith('-c')) {
      const setting = text === '-c' ? args[++at] : args[at]
      const key = setting?.text.replace(/^-c/, '') ?? ''
      if (setting?.dynamic === true || !HARMLESS_KEYS.test(key)) reasons.push(`git: the setting ${key} may name a program`)
    } else if (!text.startsWith('-')) break
    else if (namesProgram(text) && text !== '--exec-path') reasons.push(`git: ${text} names a program`)
  }
  const command = args[at]?.text ?? ''
  const rest = args.slice(at + 1).map((word) => word.text)
  if (args[at]?.dynamic === true) reasons.push('git: the command is only known when it runs')
  if (RUNNERS.test(command) || runsProgram(command, rest)) reasons.push(`git ${command}: it starts programs that are named elsewhere`)
  if (rest.some((text) => namesProgram(text) || /^\w[\w+-]*::|^::/.test(text))) reasons.push('git: an option or address names a program')
  const paths = command === 'diff' ? args.slice(at + 1).filter((word) => !word.text.startsWith('-')) : []
  const changes = command === 'config' && changesConfig(args.slice(at + 1))
  const files = gitFiles(command, args.slice(at + 1), changes)
  if (files.reason !== undefined && reasons.length === 0) reasons.push(files.reason)
  const ownFile = rest.some((text) => /^(?:-f|--fi)/.test(text))
  return {
    reasons,
    reads: [...directories, ...files.reads],
    trees: rest.includes('--no-index') ? paths : [],
    compared: [
      ...(paths.length > 1 || paths.some((word) => word.splits || hasActive(word.pattern, '*?[{')) ? paths : []),
      ...files.perhaps,
    ],
    writes: files.writes,
    wholes: files.wholes,
    changes: files.changes,
    command: command === '' && args.length === 1 && TELLS.test(args[0]?.text ?? '') ? 'version' : args[at]?.dynamic === true ? '' : command,
    directories,
    receives: command === 'push' ? receivers(args.slice(at + 1)) : [],
    configures: changes && !ownFile ? (rest.includes('--global') ? 'user' : 'repository') : undefined,
  }
}

function receivers(args: readonly Word[]): readonly Word[] {
  const { operands, given } = splitArguments(args, ['-o', '--push-option', '--repo'])
  return [...operands.slice(0, 1), ...given.filter(({ name }) => name === '--repo').map(({ value }) => value)]
}

function namesProgram(text: string): boolean {
  const [, name] = /^--([a-z-]+)/.exec(text) ?? []
  return (
    name !== undefined && !OTHER_OPTIONS.test(name) && PROGRAM_OPTIONS.some((option) => option.startsWith(name) || name.startsWith(option))
  )
}

function runsProgram(command: string, rest: readonly string[]): boolean {
  if (command === 'clone') return rest.some((text) => /^-[a-z]*[cu]/.test(text) || text.startsWith('--con'))
  if (command === 'submodule') return rest.includes('foreach')
  if (command === 'bisect') return rest[0] === 'run'
  if (command === 'rebase') return rest.some((text) => /^-\w*x/.test(text))
  return command === 'grep' && rest.some((text) => text.startsWith('-O'))
}

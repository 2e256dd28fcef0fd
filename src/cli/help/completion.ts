/** What makes bash, zsh and fish complete `svc`, written from the pages: commands, actions, options, values and paths. */
import { type Completes, type Group, type Option, type Page, VALUES } from '../line/page.js'
import { PAGES } from './pages.js'

interface Place {
  /** Words after `svc`: none, a command, or a command and its action. */
  readonly path: string
  /** Commands or actions that may follow, or choices of the first word. */
  readonly next: readonly (readonly [name: string, help: string])[]
  readonly options: readonly (readonly [name: string, option: Option])[]
  readonly completes: Completes | undefined
}

const HELP: readonly [string, Option] = ['help', { type: 'flag', help: 'show help' }]

function places(): readonly Place[] {
  const commands = PAGES.map(({ name, summary }) => [name, summary] as const)
  const top = {
    path: '',
    next: [...commands, ['help', 'show help'] as const],
    options: [HELP, ['version', { type: 'flag', help: 'print the version' }] as const],
    completes: undefined,
  }
  return [top, { path: 'help', next: commands, options: [], completes: undefined }, ...PAGES.flatMap(placesOf)]
}

function placesOf(each: Page | Group): Place[] {
  if (!('pages' in each)) return [placeOf(each)]
  const next = each.pages.map(({ name, summary }) => [name.slice(each.name.length + 1), summary] as const)
  return [{ path: each.name, next, options: [HELP], completes: undefined }, ...each.pages.map(placeOf)]
}

function placeOf({ name, words, options }: Page): Place {
  const next = (words[0]?.choices ?? []).map((choice) => [choice, ''] as const)
  return { path: name, next, options: [...Object.entries(options), HELP], completes: words.find(({ completes }) => completes)?.completes }
}

/** What asks for values; where no server runs it prints nothing. */
const ASK = 'svc completion values'

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const groups = () => PAGES.flatMap((each) => ('pages' in each ? [each.name] : []))

export function completion(shell: 'bash' | 'zsh' | 'fish'): string {
  if (shell === 'bash') return bashCompletion()
  return shell === 'zsh' ? zshCompletion() : fishCompletion()
}

/** For `~/.bashrc`: needs no other package. */
function bashCompletion(): string {
  const cases = places().map(({ path, next, options, completes }) => {
    const names = options.map(([name]) => `--${name}`).join(' ')
    const words = next.map(([name]) => name).join(' ')
    return `    ${quoted(path)}) words=${quoted(words)} options=${quoted(names)} paths=${quoted(completes ?? '')} ;;`
  })
  const values = places().flatMap(({ path, options }) =>
    options.flatMap(([name, option]) => {
      if (option.type === 'flag') return []
      const { choices = [], completes = '' } = option.type === 'text' ? option : {}
      return [`    ${quoted(`${path} --${name}`)}) words=${quoted(choices.join(' '))} options= paths=${quoted(completes)} ;;`]
    }),
  )
  return `# svc completion for bash: source <(svc completion bash)
_svc() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= words= options= paths= index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case \${COMP_WORDS[index]} in
      -*) ;;
      *)
        case $path in
          '') path=\${COMP_WORDS[index]} ;;
          ${groups().join('|')}) path+=" \${COMP_WORDS[index]}" ;;
        esac
        ;;
    esac
  done
  case $path in
${cases.join('\n')}
  esac
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
  esac
  COMPREPLY=()
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
    return
  fi
  [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
  case $paths in
    directory) compopt -o filenames; mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current") ;;
    file) compopt -o filenames; mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
    ${VALUES.join('|')}) mapfile -t COMPREPLY < <(compgen -W "$(${ASK} "$paths" 2>/dev/null | cut -f1)" -- "$current") ;;
  esac
}
complete -F _svc svc
`
}

/** A function for a folder of \`fpath\`, or to be sourced after \`compinit\`. */
function zshCompletion(): string {
  const described = (entries: readonly (readonly [string, string])[]) =>
    entries.map(([name, help]) => quoted(`${name.replaceAll(':', '\\:')}:${help.replaceAll(':', '\\:')}`)).join(' ')
  const cases = places().map(({ path, next, options, completes }) => {
    const names = options.map(([name, { help }]) => [`--${name}`, help] as const)
    return `    ${quoted(path)}) words_=(${described(next)}) options_=(${described(names)}) paths_=${quoted(completes ?? '')} ;;`
  })
  const values = places().flatMap(({ path, options }) =>
    options.flatMap(([name, option]) => {
      if (option.type === 'flag') return []
      const { choices = [], completes = '' } = option.type === 'text' ? option : {}
      const words = described(choices.map((choice) => [choice, ''] as const))
      return [`    ${quoted(`${path} --${name}`)}) words_=(${words}) options_=() paths_=${quoted(completes)} ;;`]
    }),
  )
  return `#compdef svc
# svc completion for zsh: a file named _svc in a folder of fpath, or source it after compinit
_svc() {
  local path_= paths_= index
  local -a words_ options_
  for ((index = 2; index < CURRENT; index++)); do
    case $words[index] in
      -*) ;;
      *)
        case $path_ in
          '') path_=$words[index] ;;
          ${groups().join('|')}) path_+=" $words[index]" ;;
        esac
        ;;
    esac
  done
  case $path_ in
${cases.join('\n')}
  esac
  case "$path_ $words[CURRENT-1]" in
${values.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe option options_
    return
  fi
  (( \${#words_} )) && _describe word words_
  case $paths_ in
    directory) _files -/ ;;
    file) _files ;;
    ${VALUES.join('|')})
      words_=("\${(@f)$(${ASK} $paths_ 2>/dev/null)}")
      words_=("\${(@)words_//:/\\:}")
      words_=("\${(@)words_/$'\\t'/:}")
      _describe value words_
      ;;
  esac
}
if [ "$funcstack[1]" = _svc ]; then _svc "$@"; else compdef _svc svc; fi
`
}

/** For `~/.config/fish/completions`. */
function fishCompletion(): string {
  const nested = new Set(groups())
  const lines = places().flatMap(({ path, next, options, completes }) => {
    const condition = `-n ${quoted(`test (__svc_path) = ${path === '' ? "''" : `"${path}"`}`)}`
    return [
      ...next.map(([name, help]) => `complete -c svc ${condition} -f -a ${quoted(name)}${help === '' ? '' : ` -d ${quoted(help)}`}`),
      ...options.map(([name, option]) => `complete -c svc ${condition} ${fishOption(name, option)}`),
      ...(completes === undefined
        ? []
        : [`complete -c svc ${condition} ${completes === 'file' ? '-F' : `-f -a ${fishValues(completes)}`}`]),
    ]
  })
  return `# svc completion for fish: ~/.config/fish/completions/svc.fish
function __svc_path
    set -l path
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; and continue
        if test (count $path) -eq 0; or begin; test (count $path) -eq 1; and contains -- $path[1] ${[...nested].join(' ')}; end
            set -a path $word
        end
    end
    echo "$path"
end
complete -c svc -f
${lines.join('\n')}
`
}

function fishOption(name: string, option: Option): string {
  const long = `-l ${name}${option.short === undefined ? '' : ` -s ${option.short}`} -d ${quoted(option.help)}`
  if (option.type === 'flag') return long
  const { choices = [], completes } = option.type === 'text' ? option : {}
  if (choices.length > 0) return `${long} -x -a ${quoted(choices.join(' '))}`
  if (completes === undefined) return `${long} -x`
  return completes === 'file' ? `${long} -r -F` : `${long} -x -a ${fishValues(completes)}`
}

function fishValues(completes: Exclude<Completes, 'file'>): string {
  return quoted(completes === 'directory' ? '(__fish_complete_directories)' : `(${ASK} ${completes} 2>/dev/null)`)
}

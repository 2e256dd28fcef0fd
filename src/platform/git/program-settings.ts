/** Which settings of a repository name a program, and which commands of git start it. Pure. */
import { ENTRY, type Reading } from '../../kernel/work.js'
import type { GitSettings } from './config-text.js'

type Commands = readonly string[] | 'any'

const words = (text: string): readonly string[] => text.split(/\s+/)

const INDEX =
  words(`status diff add stage commit checkout switch restore stash reset ls-files grep describe rm mv merge rebase pull cherry-pick revert am
  apply update-index diff-files diff-index clean worktree submodule sparse-checkout read-tree checkout-index write-tree blame annotate difftool mergetool
  merge-tree bisect`)
const DIFFS = words(
  'diff log show stash diff-files diff-index diff-tree blame annotate grep cat-file range-diff reflog whatchanged add commit status bisect format-patch',
)
/** `receive-pack` runs where something is pushed to, and may update a worktree there. */
const FILTERS = [...INDEX, 'archive', 'cat-file', 'hash-object', 'clone', 'receive-pack']
const NETWORK = words('fetch pull push clone ls-remote remote submodule archive fetch-pack send-pack receive-pack credential maintenance')
const EDITS = words('commit rebase merge tag cherry-pick revert am notes branch pull add config replace stash')
const SIGNS = words(
  'commit tag merge rebase pull push cherry-pick revert am log show whatchanged reflog verify-commit verify-tag stash format-patch',
)
const MERGES = words('merge rebase pull cherry-pick revert stash checkout switch am apply merge-file merge-tree merge-recursive worktree')
const COMMITS = words('commit merge rebase cherry-pick revert pull am')
const MOVES = words('checkout switch worktree clone rebase bisect')

/** Every command that one of the lists knows; what any other does is not known. */
const LISTED =
  words(`config rev-parse rev-list branch init ls-tree merge-base for-each-ref show-ref symbolic-ref shortlog name-rev count-objects fsck
  check-ignore check-attr mktree commit-tree update-ref gc repack prune version help var bundle pack-refs`)
const KNOWN = new Set([...LISTED, ...FILTERS, ...DIFFS, ...NETWORK, ...EDITS, ...SIGNS, ...MERGES, ...MOVES])

/** A pager is started for a terminal only, so it is not here. */
const SETTINGS: readonly (readonly [key: RegExp, commands: Commands, harmless?: RegExp])[] = [
  [/^core\.fsmonitor$/, 'any', /^(?:true|false|yes|no|on|off|0|1)?$/i],
  [/^(?:core|sequence)\.editor$/, EDITS, /^(?:true|:|vim?|nvim|nano|emacs|code --wait)$/],
  [/^diff\.external$|^diff\..+\.(?:command|textconv)$/, DIFFS],
  [/^filter\..+\.(?:clean|smudge|process)$/, FILTERS, /^git[- ]lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?$|^$/],
  [/^merge\..+\.driver$/, MERGES],
  [/^core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand)$/, NETWORK, /^$/],
  [/^credential\.(?:.+\.)?helper$/, [...NETWORK], /^(?:[a-z][a-z-]*)?$/],
  [/^remote\..+\.(?:uploadpack|receivepack)$/, NETWORK, /^git-(?:upload|receive)-pack$/],
  [/^remote\..+\.vcs$/, NETWORK],
  [/^remote\..+\.(?:url|pushurl)$|^submodule\..+\.url$/, NETWORK, /^(?!\w[\w+-]*::)/],
  [/^(?=url\..*::)url\..*\.(?:insteadof|pushinsteadof)$/, NETWORK],
  [/^protocol\.(?:ext\.)?allow$/, NETWORK, /^(?:never|user)$/],
  [/^gpg\.(?:.+\.)?program$|^gpg\.ssh\.defaultkeycommand$/, SIGNS, /^(?:gpg2?|gpgsm|ssh-keygen)$/],
  [/^interactive\.difffilter$/, words('add checkout reset restore stash commit')],
  [/^trailer\..+\.(?:command|cmd)$/, [...EDITS, 'interpret-trailers', 'format-patch']],
  [/^tar\..+\.command$/, ['archive'], /^gzip -cn$/],
  [/^submodule\..+\.update$/, ['submodule', 'clone', 'pull'], /^(?!!)/],
  [/^(?:difftool|mergetool|guitool|browser|man)\..+\.(?:cmd|path)$/, words('difftool mergetool gui help instaweb web--browse')],
  [/^init\.templatedir$/, ['init', 'clone', 'submodule', 'worktree']],
  [/^uploadpack\.packobjectshook$/, NETWORK],
  [/^gc\.recentobjectshook$/, words('gc repack prune maintenance')],
  [/^imap\.tunnel$/, ['imap-send']],
  [/^(?:instaweb\.httpd|sendemail\..+)$/, words('instaweb send-email')],
  [/^lfs\.(?:customtransfer\..+\.path|extension\..+\.(?:clean|smudge)|standalonetransferagent)$/, [...FILTERS, ...NETWORK]],
  [/^alias\./, []],
  [/^include(?:if\..+)?\.path$/, 'any'],
  [/^(?!pager\.|core\.pager$|core\.hookspath$).*(?:command|cmd|program|hook|driver|textconv|helper|editor|askpass)$/, 'any'],
]

const HOOKS: ReadonlyMap<string, Commands> = new Map<string, Commands>([
  ...words('applypatch-msg pre-applypatch post-applypatch').map((name): [string, Commands] => [name, ['am', 'rebase']]),
  ...words('pre-commit prepare-commit-msg commit-msg post-commit').map((name): [string, Commands] => [name, COMMITS]),
  ...words('pre-merge-commit post-merge').map((name): [string, Commands] => [name, ['merge', 'pull']]),
  ['pre-rebase', ['rebase', 'pull']],
  ['post-checkout', MOVES],
  ['post-rewrite', ['commit', 'rebase', 'pull']],
  ['pre-push', ['push']],
  ['pre-auto-gc', [...COMMITS, 'fetch', 'gc', 'maintenance']],
  ['reference-transaction', 'any'],
  ['post-index-change', 'any'],
  ['sendemail-validate', ['send-email']],
  ...words('pre-receive update post-receive post-update push-to-checkout proc-receive').map((name): [string, Commands] => [
    name,
    ['receive-pack'],
  ]),
])

/** `key=value` of every setting that names a program the command may start. */
export function* programSettings(settings: GitSettings, command: string): Reading<string[]> {
  const fetches = settings.some(
    ([key, value]) => key === 'extensions.partialclone' || (/^remote\..+\.promisor$/.test(key) && value !== 'false'),
  )
  const found: string[] = []
  for (const [key, value] of settings) {
    yield key.length * SETTINGS.length + value.length + ENTRY
    const [, commands, harmless] = SETTINGS.find(([pattern]) => pattern.test(key)) ?? []
    if (commands === undefined || harmless?.test(value) === true) continue
    const isAlias = key === `alias.${command}`
    // What is missing in a partial clone is fetched by whatever needs it.
    const isStarted = isAlias || startedBy(commands, command, key.startsWith('alias.')) || (fetches && commands === NETWORK)
    if (isStarted) found.push(`${key}=${value}`)
  }
  return found
}

/** Places on this machine that the remotes of a repository lead to: what is pushed there starts hooks of theirs. */
export function localRemotes(settings: GitSettings): readonly string[] {
  const values = settings.flatMap(([key, value]) => (/^remote\..+\.(?:url|pushurl)$/.test(key) ? [value] : []))
  return [...new Set(values.map((value) => value.replace(/^file:\/\//i, '')))].filter(
    (value) => !/^[a-z][\w+.-]*:\/\/|^[^/]*:/i.test(value) && value !== '',
  )
}

/** Whether the command may run the hook; false for what is no hook. */
export function runsHook(name: string, command: string): boolean {
  const commands = HOOKS.get(name)
  return commands !== undefined && startedBy(commands, command, false)
}

function startedBy(commands: Commands, command: string, isAlias: boolean): boolean {
  return commands === 'any' || commands.includes(command) || (!KNOWN.has(command) && !isAlias)
}

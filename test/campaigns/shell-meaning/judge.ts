/** The permission judgement of a line under the rules of a careful user: what only reads is allowed, wrappers are, nothing may be written. */
import { createNamedPrograms } from '../../../src/platform/git/named-programs.js'
import { createFileView } from '../../../src/plugins/shell/words/file-view.js'
import { commandNeeds } from '../../../src/plugins/shell/judge/needs.js'
import type { FileView } from '../../../src/plugins/shell/words/place.js'
import type { ShellScan } from '../../../src/plugins/shell/judge/scan.js'
import { flattenPermissionConfig, judge } from '../../../src/machines/permission/permission.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { scanner } from '../../plugins/shell/fixture.js'
import type { Place } from './place.js'

const READERS =
  'ls cat head tail less more stat file wc diff cmp du tree realpath readlink md5sum sum cksum od hexdump xxd base64 strings nl tac cut rev fold fmt paste column comm join expand pr shuf tsort look numfmt ptx jq sort uniq grep egrep sed awk find basename dirname date pwd seq expr tr printenv tee split csplit bat'
const SHELL =
  'echo printf : true false test [ read mapfile readarray getopts let export declare typeset local readonly unset set shopt shift wait jobs times exit return break continue type trap eval exec command builtin dirs ulimit umask caller kill hash disown compgen history alias unalias enable fc bind coproc logout'
const WRAPPERS = 'env xargs timeout nice time nohup stdbuf busybox watch'
const COMMANDS = [
  'git status',
  'git log',
  'git diff',
  'git show',
  'git blame',
  'git grep',
  'git ls-files',
  'git rev-parse',
  'bash -c',
  'sh -c',
]

const allowed = [...`${READERS} ${SHELL} ${WRAPPERS}`.split(' '), ...COMMANDS]
const RULES = flattenPermissionConfig({
  bash: Object.fromEntries([
    ['*', 'ask'],
    ...allowed.flatMap((program) => [
      [program, 'allow'],
      [`${program} *`, 'allow'],
    ]),
  ]),
  edit: 'deny',
  external_directory: 'ask',
  read: { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask' },
})

/** What the judge is told of a line; a control leaves something out. */
export type Reading = (scan: ShellScan) => ShellScan

/** Makes a judge: true when the line may run without an answer. The place must not change meanwhile. */
export function createJudge(place: Place, reading: Reading = (scan) => scan): (line: string) => Promise<boolean> {
  const effects = createFakeEffects()
  const context = {
    session: place.repo,
    directory: place.repo,
    home: place.home,
    environment: new Set(Object.keys(place.env)),
    files: remembering(createFileView(effects.files, createNamedPrograms(effects))),
  }
  return async (line) => {
    const scan = reading(await scanner.scan(line, context))
    const needs = await commandNeeds({
      command: line,
      session: place.repo,
      scan,
      protectedFiles: { reasons: async (paths) => paths.map(() => undefined) },
    })
    return needs.every(
      (need) =>
        judge({ layers: { trusted: RULES, untrusted: [] }, approvals: () => [], grants: [], need, bypass: false }).decision === 'allow',
    )
  }
}

function remembering(files: FileView): FileView {
  return { realPath: once(files.realPath), kindOf: once(files.kindOf), list: once(files.list), named: files.named }
}

function once<T>(ask: (path: string) => Promise<T>): (path: string) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (path) => {
    const answer = known.get(path) ?? ask(path)
    known.set(path, answer)
    return answer
  }
}

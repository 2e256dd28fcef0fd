/**
 * What the operands and options of each subcommand of git are. The list is closed: git grows, and what is not listed could
 * write any file, so it needs an explicit answer and its operands count as written.
 *
 * I1 A subcommand without `files` takes names of commits, refs and remotes, patterns, or tracked paths that git keeps inside
 *    its worktree and only reads or notes in its index.
 */
import type { Word } from '../../words/word.js'
import { unknownWord } from '../../words/word.js'
import { type Arguments, hasOption } from '../arguments.js'
import type { GitFiles } from './facts.js'
import { checkedOut, cloned, farPlaces, linkedWorktree, ofSubmodule, restored, stashed } from './operands.js'

export interface Subcommand {
  readonly files?: (args: Arguments, words: readonly Word[]) => Partial<GitFiles>
  /** Options in lists separated by blanks, whose values are files. */
  readonly reads?: string
  readonly writes?: string
  /** Options whose values stand for themselves: no operand. */
  readonly texts?: string
  /** Why these arguments need an explicit answer. */
  readonly explicit?: (args: Arguments) => string | undefined
  /** It changes the paths it is given, also those that stand in a file. */
  readonly changes?: true
}

const MESSAGES = '-F --file'
const TEXTS = '-m --message'
const INPUT = unknownWord('(the names in its input)')

const reading: Subcommand['files'] = ({ operands }) => ({ reads: operands })
const writing: Subcommand['files'] = ({ operands }) => ({ reads: operands, writes: operands })
const remotes: Subcommand['files'] = ({ operands }) => ({ reads: farPlaces(operands) })
const SETS_UP = 'it changes timers and settings of the user'

type Listed = readonly [names: string, facts: Subcommand]

const LISTED: readonly Listed[] = [
  [
    `status add stage branch cherry cherry-pick check-attr check-ignore check-ref-format column count-objects fmt-merge-msg for-each-ref
    fsck fsck-objects gc get-tar-commit-id help merge-base merge-tree mktag mktree name-rev pack-redundant pack-refs patch-id prune
    prune-packed rebase remote rerere reset rev-list rev-parse revert shortlog show-branch show-index show-ref sparse-checkout
    stripspace switch symbolic-ref update-ref update-server-info var verify-commit verify-tag version write-tree cat-file describe
    ls-tree bisect update-index`,
    {},
  ],
  ['log show diff diff-files diff-index diff-tree whatchanged pickaxe range-diff reflog', { reads: '-O', texts: '-S -G -L -n' }],
  ['format-patch', { reads: '-O --signature-file --description-file', writes: '-o --output-directory' }],
  ['commit', { reads: `${MESSAGES} -t --template`, texts: `${TEXTS} -C -c --author --date` }],
  ['tag notes merge commit-tree', { reads: MESSAGES, texts: TEXTS }],
  ['blame annotate', { reads: '--contents -S --ignore-revs-file', texts: '-L' }],
  ['grep', { reads: '-f', texts: '-e -A -B -C -m', files: searched }],
  ['ls-files', { reads: '-X --exclude-from' }],
  ['check-mailmap', { reads: '--mailmap-file' }],
  [
    'apply',
    {
      files: reading,
      reads: '--build-fake-ancestor',
      writes: '--build-fake-ancestor',
      explicit: ({ options }) => (hasOption(options, '', '--unsafe-paths') ? 'it may change files anywhere' : undefined),
    },
  ],
  ['am verify-pack', { files: reading }],
  [
    'hash-object',
    { files: ({ operands, options }) => ({ reads: hasOption(options, '', '--stdin-paths') ? [...operands, INPUT] : operands }) },
  ],
  ['interpret-trailers', { files: writing }],
  ['merge-file mailinfo', { files: writing, texts: '-L --marker-size --diff-algorithm --encoding' }],
  ['mailsplit', { files: ({ operands, values }) => ({ reads: operands, wholes: [...operands, ...values] }), writes: '-o' }],
  ['archive', { reads: '--add-file', writes: '-o --output' }],
  [
    'bundle',
    {
      files: ({ operands: [verb, file] }) => (verb?.text === 'create' ? { writes: some(file) } : { reads: some(file) }),
      explicit: unknownOption(
        /^(?:-q|--quiet|--progress|--all-progress|--all|--branches|--tags|--remotes|--all-progress-implied|--(?:version|since|branches|tags)=.*|-\d+)$/,
      ),
    },
  ],
  ['bugreport diagnose', { writes: '-o --output-directory' }],
  ['fast-export', { reads: '--import-marks --import-marks-if-exists', writes: '--export-marks' }],
  ['repack', { writes: '--filter-to --expire-to' }],
  ['commit-graph multi-pack-index', { writes: '--object-dir' }],
  ['read-tree', { reads: '--exclude-per-directory', writes: '--index-output' }],
  [
    'checkout-index',
    {
      files: ({ operands, options }) => ({ writes: hasOption(options, '', '--stdin') ? [...operands, INPUT] : operands }),
      writes: '--prefix',
      explicit: ({ given }) =>
        given.every(({ name, value }) => name !== '--prefix' || value.text.endsWith('/'))
          ? undefined
          : 'a prefix becomes part of every name',
    },
  ],
  ['config', { reads: '-f --file' }],
  [
    'clone',
    {
      files: cloned,
      reads: '--reference --reference-if-able --bundle-uri',
      writes: '--separate-git-dir',
      texts: '-b --branch -o --origin -j --jobs --depth --shallow-since --shallow-exclude --filter --server-option',
    },
  ],
  [
    'init init-db',
    { files: ({ operands }) => ({ writes: operands }), writes: '--separate-git-dir', texts: '-b --initial-branch --object-format' },
  ],
  ['fetch pull ls-remote', { files: remotes, texts: '-o --server-option -j --depth' }],
  ['request-pull', { files: ({ operands }) => ({ reads: operands.flatMap((word) => farPlaces([word])) }) }],
  ['push', { files: ({ operands }) => ({ wholes: farPlaces(operands) }), texts: '-o --push-option' }],
  ['worktree', { files: linkedWorktree, texts: '-b -B --reason' }],
  ['submodule', { files: ofSubmodule, reads: '--reference', texts: '-b --branch --name --depth -j --jobs' }],
  ['mv', { files: ({ operands }) => ({ reads: operands.slice(0, -1), wholes: operands }) }],
  ['rm', { files: ({ operands, options }) => ({ wholes: hasOption(options, '', '--cached') ? [] : operands }), changes: true }],
  [
    'clean',
    { files: ({ operands, options }) => ({ wholes: hasOption(options, 'n', '--dry-run') ? [] : operands }), texts: '-e --exclude' },
  ],
  ['checkout', { files: checkedOut, texts: '-b -B --orphan --conflict', changes: true }],
  ['restore', { files: restored, texts: '-s --source --conflict', changes: true }],
  ['stash', { files: stashed, reads: '-O', texts: TEXTS, changes: true }],
  ['maintenance', { explicit: ({ operands: [verb] }) => (verb?.text === 'run' ? undefined : SETS_UP) }],
]

const SUBCOMMANDS = new Map(LISTED.flatMap(([names, facts]) => names.split(/\s+/).map((name) => [name, facts] as const)))

export function subcommandOf(name: string): Subcommand | undefined {
  return SUBCOMMANDS.get(name)
}

function searched({ operands, options }: Arguments): Partial<GitFiles> {
  return { perhaps: hasOption(options, 'ef') ? operands : operands.slice(1) }
}

/** An option that is not listed may take the file as its value. */
function unknownOption(known: RegExp): NonNullable<Subcommand['explicit']> {
  return ({ options }) => {
    const other = options.find((option) => !known.test(option))
    return other === undefined ? undefined : `what its option ${other} does is not known`
  }
}

function some(...words: readonly (Word | undefined)[]): readonly Word[] {
  return words.filter((word) => word !== undefined)
}

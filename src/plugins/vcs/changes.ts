/** What differs from the last commit: git compares what it tracks, and lists what it does not (subsystems h). */
import type { Checkout } from '../../actors/plugin/native/native-doors.js'
import { SvcError } from '../../protocol/errors.js'
import type { VcsStatus } from '../../protocol/vcs/vcs.js'

/** A file that differs. */
export interface Change {
  /** From the root of the worktree. */
  readonly path: string
  readonly status: VcsStatus
  /** 0 for binary content. */
  readonly additions: number
  readonly deletions: number
  /** Unified, with its headers; '' when patches were not asked for. */
  readonly patch: string
}

/** Paths that one call of git is given; with more it compares all. */
const NAMED = 200

/** Renames are told as what they are to files, one less and one more; filters and converters that attributes name are not run. */
const PLAIN = [
  '--no-color',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=dirty',
  '--src-prefix=a/',
  '--dst-prefix=b/',
]

/** Tracked files that differ, by path. */
export async function trackedChanges(
  checkout: Checkout,
  signal: AbortSignal,
  wants: { readonly patches: boolean; readonly among?: readonly string[] },
): Promise<readonly Change[]> {
  const { among = [] } = wants
  const paths = among.length > NAMED ? [] : among
  return readChanges(await told(checkout, [...comparison(wants), checkout.base, '--', ...paths], signal))
}

/** What one look at the worktree tells: tracked paths that may differ from the last commit, and those of `untrackedPaths`. */
export async function candidates(
  checkout: Checkout,
  signal: AbortSignal,
): Promise<{ readonly tracked: readonly string[]; readonly untracked: readonly string[] }> {
  const args = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=dirty']
  const entries = new TextDecoder()
    .decode(await told(checkout, args, signal))
    .split('\0')
    .filter((entry) => entry.length > 3)
  const isUntracked = (entry: string) => entry.startsWith('??')
  const pathOf = (entry: string) => entry.slice(3)
  return {
    tracked: entries.filter((entry) => !isUntracked(entry)).map(pathOf),
    untracked: entries.filter(isUntracked).map(pathOf),
  }
}

/** Untracked files as if they had been added, with patches. */
export async function untrackedChanges(checkout: Checkout, signal: AbortSignal): Promise<readonly Change[]> {
  return checkout.withUntracked(signal, async (env) =>
    readChanges(await told(checkout, [...comparison({ patches: true }), '--diff-filter=A', '--'], signal, env)),
  )
}

const comparison = ({ patches }: { readonly patches: boolean }) => [
  'diff',
  ...PLAIN,
  '--raw',
  '--numstat',
  '-z',
  ...(patches ? ['--patch'] : []),
]

/** The same as one patch, as git writes it. */
export async function rawPatch(checkout: Checkout, signal: AbortSignal): Promise<Uint8Array> {
  return told(checkout, ['diff', ...PLAIN, checkout.base, '--'], signal)
}

/** Paths that are neither tracked nor ignored, in the order of git. A repository inside is one path that ends with `/`. */
export async function untrackedPaths(checkout: Checkout, signal: AbortSignal): Promise<readonly string[]> {
  const bytes = await told(checkout, ['ls-files', '--others', '--exclude-standard', '-z', '--'], signal)
  return new TextDecoder()
    .decode(bytes)
    .split('\0')
    .filter((path) => path !== '')
}

async function told(checkout: Checkout, args: readonly string[], signal: AbortSignal, env = {}): Promise<Uint8Array> {
  const { exitCode, stdout, stderr } = await checkout.run(args, { signal, env })
  if (exitCode !== 0)
    throw new SvcError(
      'request.unprocessable',
      `Git could not read the repository: ${stderr === '' ? `it ended with ${exitCode}` : stderr}`,
    )
  return stdout
}

/** What `git diff --raw --numstat -z [--patch]` says: three lists of the same files, in the same order. */
function readChanges(bytes: Uint8Array): readonly Change[] {
  const text = new TextDecoder().decode(bytes)
  const changes = new Map<string, { status: VcsStatus; additions: number; deletions: number; patch: string }>()
  let at = 0
  const field = () => {
    const end = text.indexOf('\0', at)
    const value = text.slice(at, end < 0 ? text.length : end)
    at = end < 0 ? text.length : end + 1
    return value
  }
  while (text.startsWith(':', at)) {
    const letter = field().split(' ')[4]?.charAt(0) ?? ''
    const path = field()
    // An unmerged file is listed twice: as such, and with what its worktree holds.
    if (letter !== 'U' || !changes.has(path))
      changes.set(path, { status: STATUS[letter] ?? 'modified', additions: 0, deletions: 0, patch: '' })
  }
  while (at < text.length && text.charAt(at) !== '\0') {
    const [additions = '', deletions = '', path = ''] = field().split('\t')
    const change = changes.get(path)
    if (change !== undefined) Object.assign(change, { additions: numberOf(additions), deletions: numberOf(deletions) })
  }
  const patches = text
    .slice(at + 1)
    .split(/^(?=diff --(?:git|cc|combined) )/m)
    .filter((patch) => patch.startsWith('diff '))
  const shown = [...changes.values()]
  if (patches.length === shown.length) for (const [index, change] of shown.entries()) change.patch = patches[index] ?? ''
  else
    for (const [path, change] of changes) change.patch = patches.find((patch) => patch.startsWith(`diff --git a/${path} b/${path}\n`)) ?? ''
  return [...changes].map(([path, change]) => ({ path, ...change }))
}

const STATUS: Readonly<Record<string, VcsStatus>> = { A: 'added', D: 'deleted' }

function numberOf(text: string): number {
  return text === '-' ? 0 : Number(text)
}

/** What differs from the last commit: git compares what it tracks, and lists what it does not (subsystems h). */
import type { Checkout, GitArguments } from '../../ports/git.js'
import { SvcError } from '../../protocol/errors.js'
import { beginWork, ENTRY } from '../../kernel/work.js'
import { type Change, fieldsOf, readChanges } from './diff-output.js'

/** What git answers is bounded; it is read with turns for others. */
const ALL = Number.POSITIVE_INFINITY

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
  return beginWork(ALL).read(readChanges(await told(checkout, [...comparison(wants), checkout.base, '--', ...paths], signal)))
}

/** What one look at the worktree tells: tracked paths that may differ from the last commit, and those of `untrackedPaths`. */
export async function candidates(
  checkout: Checkout,
  signal: AbortSignal,
): Promise<{ readonly tracked: readonly string[]; readonly untracked: readonly string[] }> {
  const args = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=dirty'] as const
  const work = beginWork(ALL)
  const decoder = new TextDecoder()
  const found: { readonly tracked: string[]; readonly untracked: string[] } = { tracked: [], untracked: [] }
  for (const field of await work.read(fieldsOf(await told(checkout, args, signal)))) {
    await work.pay(field.length + ENTRY)
    const entry = decoder.decode(field)
    if (entry.length > 3) (entry.startsWith('??') ? found.untracked : found.tracked).push(entry.slice(3))
  }
  return found
}

/**
 * Files that are neither tracked nor ignored as if they had been added, with patches. A repository inside is none: git lists it as a path that
 * ends with `/`, and is not told of it.
 */
export async function untrackedChanges(checkout: Checkout, signal: AbortSignal): Promise<readonly Change[]> {
  const work = beginWork(ALL)
  const listed = await work.read(fieldsOf(await told(checkout, ['ls-files', '--others', '--exclude-standard', '-z', '--'], signal)))
  const paths = listed.filter((path) => path.at(-1) !== SLASH)
  if (paths.length === 0) return []
  return checkout.withAdded(paths, async (env) =>
    work.read(readChanges(await told(checkout, [...comparison({ patches: true }), '--diff-filter=A', '--'], signal, env))),
  )
}

const SLASH = 0x2f

const comparison = ({ patches }: { readonly patches: boolean }) =>
  ['diff', ...PLAIN, '--raw', '--numstat', '-z', ...(patches ? ['--patch'] : [])] as const

/** The same as one patch, as git writes it. */
export async function rawPatch(checkout: Checkout, signal: AbortSignal): Promise<Uint8Array> {
  return told(checkout, ['diff', ...PLAIN, checkout.base, '--'], signal)
}

async function told(checkout: Checkout, args: GitArguments, signal: AbortSignal, env = {}): Promise<Uint8Array> {
  const { exitCode, stdout, stderr } = await checkout.run(args, { signal, env })
  if (exitCode !== 0)
    throw new SvcError(
      'request.unprocessable',
      `Git could not read the repository: ${stderr === '' ? `it ended with ${exitCode}` : stderr}`,
    )
  return stdout
}

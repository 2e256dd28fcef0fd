/**
 * What a command changes in a repository: the files git tells of before or after it, and those of commits it went between
 * (sessions-events §7.3). Files that git ignores are not looked at, unless the command names them.
 */
import type { Checkout, GitArguments } from '../../../ports/git.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Observed } from './observed.js'

const STATUS = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=dirty'] as const
/** Paths of one call of git. */
const CHUNK = 200

/** Absolute paths that differ from the last commit; a repository inside ends with `/`. */
export async function dirtyPaths(checkout: Checkout, signal: AbortSignal): Promise<string[]> {
  const entries = (await told(checkout, STATUS, signal)).split('\0')
  return entries.flatMap((entry) => (entry.length > 3 ? [`${checkout.worktree}/${entry.slice(3)}`] : []))
}

/** Absolute paths that differ between two commits. */
export async function pathsBetween(checkout: Checkout, from: string, to: string, signal: AbortSignal): Promise<string[]> {
  if (from === to) return []
  const names = await told(checkout, ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to], signal)
  return names.split('\0').flatMap((name) => (name === '' ? [] : [`${checkout.worktree}/${name}`]))
}

/**
 * Files as the last commit has them, for those that were clean: absolute path to what stood there, or a sentence why that is not known.
 * What is in no commit was not there. `modes`: permission bits now, since git knows only who may execute.
 */
export async function committed(
  checkout: Checkout,
  paths: readonly string[],
  modes: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<Map<string, Observed | string>> {
  const found = new Map<string, Observed | string>(paths.map((path) => [path, { kind: 'absent' }]))
  for (let at = 0; at < paths.length; at += CHUNK) {
    const names = paths.slice(at, at + CHUNK).map((path) => path.slice(checkout.worktree.length + 1))
    const entries = await treeEntries(checkout, names, signal)
    if (entries.length === 0) continue
    const contents = await blobs(checkout, entries, signal)
    const sizes = await indexSizes(checkout, names, signal)
    const converted = await convertedNames(
      checkout,
      entries.flatMap(({ name, id }) => (sizes.get(`${id} ${name}`) === undefined ? [name] : [])),
      signal,
    )
    for (const [index, { name, mode, id }] of entries.entries()) {
      const path = `${checkout.worktree}/${name}`
      const content = contents[index]
      const size = sizes.get(`${id} ${name}`)
      if (mode === '160000') found.delete(path)
      else if (content === undefined) found.set(path, 'git could not tell what it contained')
      else if (mode === '120000') found.set(path, { kind: 'link', target: new TextDecoder().decode(content) })
      else if (converted.has(name) || (size !== undefined && size !== 0 && size !== content.length))
        found.set(path, 'git converts its content, so what stood there is not known')
      else found.set(path, { kind: 'file', content, mode: modeOf(mode === '100755', modes.get(path)) })
    }
  }
  return found
}

/** As git sets it: execution for whoever may read. */
function modeOf(isExecutable: boolean, now: number | undefined): number {
  if (now === undefined) return isExecutable ? 0o755 : 0o644
  if (((now & 0o100) !== 0) === isExecutable) return now
  return isExecutable ? now | ((now & 0o444) >> 2) : now & ~0o111
}

interface TreeEntry {
  readonly name: string
  readonly mode: string
  readonly id: string
}

async function treeEntries(checkout: Checkout, names: readonly string[], signal: AbortSignal): Promise<TreeEntry[]> {
  const text = await told(checkout, ['ls-tree', '-z', '--full-tree', checkout.base, '--', ...names], signal)
  return text.split('\0').flatMap((line) => {
    const [head = '', name] = line.split('\t')
    const [mode = '', type, id = ''] = head.split(' ')
    return name === undefined || type === 'tree' ? [] : [{ name, mode, id }]
  })
}

async function blobs(checkout: Checkout, entries: readonly TreeEntry[], signal: AbortSignal): Promise<(Uint8Array | undefined)[]> {
  const stdin = `${entries.map(({ id }) => id).join('\n')}\n`
  const { stdout } = await checkout.run(['cat-file', '--batch'], { signal, stdin })
  const contents: (Uint8Array | undefined)[] = []
  for (let at = 0; contents.length < entries.length; ) {
    const end = stdout.indexOf(0x0a, at)
    const [, type, size] = new TextDecoder().decode(stdout.subarray(at, end)).split(' ')
    const isBlob = end !== -1 && type === 'blob' && size !== undefined
    contents.push(isBlob ? stdout.slice(end + 1, end + 1 + Number(size)) : undefined)
    if (end === -1) break
    at = end + 1 + (type !== undefined && size !== undefined ? Number(size) + 1 : 0)
  }
  return contents
}

/** Bytes of clean files on disk by `id name`, as the index remembers them: they tell whether git converts what it keeps. */
async function indexSizes(checkout: Checkout, names: readonly string[], signal: AbortSignal): Promise<Map<string, number>> {
  const text = await told(checkout, ['ls-files', '--stage', '--debug', '-z', '--', ...names], signal)
  const found = text.matchAll(/\d{6} ([0-9a-f]+) \d\t([^\0]*)\0[^\0]*?size: (\d+)/g)
  return new Map([...found].map(([, id = '', name = '', size]) => [`${id} ${name}`, Number(size)]))
}

async function convertedNames(checkout: Checkout, names: readonly string[], signal: AbortSignal): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  const attributes = ['filter', 'working-tree-encoding', 'ident', 'eol']
  const fields = (await told(checkout, ['check-attr', '-z', ...attributes, '--', ...names], signal)).split('\0')
  const converted = new Set<string>()
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [name = '', attribute, value = ''] = fields.slice(at, at + 3)
    const isPlain = value === 'unspecified' || value === 'unset' || (attribute === 'eol' && value !== 'crlf')
    if (!isPlain) converted.add(name)
  }
  return converted
}

async function told(checkout: Checkout, args: GitArguments, signal: AbortSignal): Promise<string> {
  const { exitCode, stdout, stderr } = await checkout.run(args, { signal })
  if (exitCode !== 0) throw new SvcError('request.unprocessable', `Git could not read the repository: ${stderr}`)
  return new TextDecoder().decode(stdout)
}

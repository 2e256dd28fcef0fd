/**
 * What `git diff --raw --numstat -z [--patch]` says: three lists of the same files. Pure.
 *
 * I1 Only a line feed ends a line, and each line of content has a sign before it: so content begins no patch, whatever it is made of.
 * I2 A patch belongs to the path that git listed and its first line names, byte by byte.
 * I3 It costs what it touches (`work.ts`): there may be very many files.
 */
import { SvcError } from '../../protocol/errors.js'
import type { VcsStatus } from '../../protocol/vcs/vcs.js'
import { ENTRY, type Reading } from '../../kernel/work.js'

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

/** A file is looked up several times, and its name taken apart. */
const PER_FILE = 8 * ENTRY
const STATUS: Readonly<Record<string, VcsStatus>> = { A: 'added', D: 'deleted' }
const FIRST = 'diff --git '

export function* readChanges(bytes: Uint8Array): Reading<readonly Change[]> {
  const data = bufferOf(bytes)
  const changes = new Map<string, Omit<Change, 'path' | 'patch'>>()
  let at = 0
  /** Every byte of it is one character. */
  const field = () => {
    const end = data.indexOf(0, at)
    const value = data.toString('latin1', at, end < 0 ? data.length : end)
    at = end < 0 ? data.length : end + 1
    return value
  }
  while (data[at] === COLON) {
    const letter = field().split(' ')[4]?.charAt(0) ?? ''
    const path = field()
    yield path.length + PER_FILE
    // Git tells of it among the patches, in one line that ends nowhere.
    if (letter === 'U' && path.includes('\n'))
      throw new SvcError('request.unprocessable', 'A file with a line break in its name is in conflict: its repository cannot be shown.')
    // An unmerged file is listed twice: as such, and with what its worktree holds.
    if (letter !== 'U' || !changes.has(path)) changes.set(path, { status: STATUS[letter] ?? 'modified', additions: 0, deletions: 0 })
  }
  while (at < data.length && data[at] !== 0) {
    const [additions = '', deletions = '', ...rest] = field().split('\t')
    const path = rest.join('\t')
    yield path.length + PER_FILE
    const change = changes.get(path)
    if (change !== undefined) changes.set(path, { ...change, additions: numberOf(additions), deletions: numberOf(deletions) })
  }
  const patches = yield* patchesOf(data.subarray(at + 1))
  const found: Change[] = []
  for (const [path, change] of changes) {
    yield path.length + PER_FILE
    found.push({ path: Buffer.from(path, 'latin1').toString('utf8'), ...change, patch: patches.get(firstLineOf(path)) ?? '' })
  }
  return found
}

/** By first line; a file that became one of another kind has two. */
function* patchesOf(data: Buffer): Reading<ReadonlyMap<string, string>> {
  const patches = new Map<string, string>()
  yield data.length
  for (let at = data.toString('latin1', 0, FIRST.length) === FIRST ? 0 : nextOf(data, 0); at < data.length; ) {
    const end = nextOf(data, at)
    const line = data.indexOf('\n', at)
    const first = data.toString('latin1', at, line < 0 ? end : line)
    patches.set(first, (patches.get(first) ?? '') + data.toString('utf8', at, end))
    yield end - at + PER_FILE
    at = end
  }
  return patches
}

/** I1. */
function nextOf(data: Buffer, from: number): number {
  const at = data.indexOf(`\n${FIRST}`, from)
  return at < 0 ? data.length : at + 1
}

/** I2. As git writes it: names with control characters, quotes or backslashes in them are quoted. */
function firstLineOf(path: string): string {
  return FIRST + ['a', 'b'].map((side) => quoted(`${side}/${path}`)).join(' ')
}

// oxlint-disable-next-line no-control-regex -- these are what git quotes
const UNSAFE = /[\0-\x1f\x7f"\\]/g
const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '"': '"',
  '\\': '\\',
}

function quoted(name: string): string {
  const text = name.replaceAll(UNSAFE, (each) => `\\${ESCAPES[each] ?? each.charCodeAt(0).toString(8).padStart(3, '0')}`)
  return text === name ? name : `"${text}"`
}

/** What `-z` ends with zeros. */
export function* fieldsOf(bytes: Uint8Array): Reading<readonly Uint8Array[]> {
  const data = bufferOf(bytes)
  const fields: Uint8Array[] = []
  for (let at = 0, end = data.indexOf(0); end >= 0; at = end + 1, end = data.indexOf(0, at)) {
    yield end - at + ENTRY
    if (end > at) fields.push(data.subarray(at, end))
  }
  return fields
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const COLON = 0x3a

function numberOf(text: string): number {
  return text === '-' ? 0 : Number(text)
}

/**
 * What a package holds, in two hashes: the published revision, byte by byte (plugin-protocol §1.5), and a digest of our own.
 *
 * The revision has no lengths and no modes: bytes can be moved between the name of a file and its content, or from one
 * file into another, without a change of it. An approval pins the digest beside it (choices 28).
 */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects, TreeEntry } from '../../../ports/effects.js'
import { messageOf } from '../../../protocol/message-of.js'

interface PackageFile {
  /** Names joined by "/"; bytes that are no UTF-8 are U+FFFD. */
  readonly path: string
  readonly size: number
  readonly executable: boolean
}

export interface HashedPackage {
  /** `sha256:<hex>` */
  readonly revision: string
  /** `sha256:<hex>` over the name, mode, length and content of each file. */
  readonly digest: string
  /** No content holds the byte that ends a content in the revision: among such packages a revision is unique. */
  readonly isPlain: boolean
  /** In the order they were hashed. */
  readonly files: readonly PackageFile[]
  /** Content of all files. */
  readonly bytes: number
}

/** Takes part in hashing one file: gets its content in pieces, then `end`. */
export interface ContentSink {
  write(chunk: Uint8Array): Promise<void>
  end(): Promise<void>
}

const { packageFiles, packageBytes, packageEntries } = LIMITS.plugins
const AFTER_PATH = Uint8Array.of(0x00)
const CONTENT_END = 0xff
const AFTER_CONTENT = Uint8Array.of(CONTENT_END)

/**
 * Hashes every regular file below a canonical directory, in pieces; `open` makes a sink that sees the bytes as they are
 * hashed. Rejects with `plugin.invalid` for links and for packages beyond the limits, and for what cannot be read.
 */
export async function hashPackage(
  effects: Pick<Effects, 'files' | 'hasher'>,
  root: string,
  open?: (entry: TreeEntry) => Promise<ContentSink>,
): Promise<HashedPackage> {
  const hasher = effects.hasher()
  const digest = effects.hasher()
  const files: PackageFile[] = []
  let bytes = 0
  let isPlain = true
  for await (const entry of packageEntriesOf(effects, root)) {
    if (files.length === packageFiles) throw invalid(root, `it holds more than ${packageFiles} files`)
    if (bytes + entry.size > packageBytes) throw invalid(root, `it holds more than ${packageBytes} bytes`)
    const sink = await open?.(entry)
    hasher.update(Buffer.from(entry.path))
    hasher.update(AFTER_PATH)
    const content = effects.hasher()
    let size = 0
    for await (const chunk of contentOf(entry, root)) {
      size += chunk.length
      if (bytes + size > packageBytes) throw invalid(root, `it holds more than ${packageBytes} bytes`)
      hasher.update(chunk)
      content.update(chunk)
      isPlain &&= !chunk.includes(CONTENT_END)
      await sink?.write(chunk)
    }
    hasher.update(AFTER_CONTENT)
    digest.update(Buffer.from(`${JSON.stringify([entry.path, entry.executable, size, content.digest()])}\n`))
    await sink?.end()
    bytes += size
    files.push({ path: entry.path, size, executable: entry.executable })
  }
  return { revision: `sha256:${hasher.digest()}`, digest: `sha256:${digest.digest()}`, isPlain, files, bytes }
}

export interface Fingerprint {
  /** Equal fingerprints of a directory mean equal content, once `changedMs` is some time ago. */
  readonly value: string
  /** Last change of any file, Unix ms; 0 without files. */
  readonly changedMs: number
}

/** What the file system says about every file below a canonical directory, without reading one. Rejects as `hashPackage` does. */
export async function fingerprintPackage(effects: Pick<Effects, 'files' | 'hasher'>, root: string): Promise<Fingerprint> {
  const hasher = effects.hasher()
  let changedMs = 0
  let count = 0
  for await (const entry of packageEntriesOf(effects, root)) {
    if (++count > packageFiles) throw invalid(root, `it holds more than ${packageFiles} files`)
    changedMs = Math.max(changedMs, entry.changedMs)
    hasher.update(Buffer.from(`${entry.path}\0${entry.identity}\0`))
  }
  return { value: hasher.digest(), changedMs }
}

async function* packageEntriesOf({ files }: Pick<Effects, 'files'>, root: string): AsyncGenerator<TreeEntry> {
  const entries = readable(files.walk(root, { maxEntries: packageEntries }), root)
  for await (const entry of entries) {
    if (entry.kind === 'link')
      throw invalid(
        root,
        `"${entry.path}" is a link, and links are not allowed: remove it, or put the file itself there${lockWords(entry.path)}`,
      )
    yield entry
  }
}

/** Of what Emacs leaves while a file is changed. */
function lockWords(path: string): string {
  return /(?:^|\/)\.#[^/]*$/.test(path) ? ' (a lock of an editor; in Emacs "(setq create-lockfiles nil)" keeps it from making them)' : ''
}

function contentOf(entry: TreeEntry, root: string): AsyncIterable<Uint8Array> {
  return readable(entry.chunks(), root)
}

/** Errors of reading as errors of the package; errors of the consumer stay what they are. */
async function* readable<Item>(items: AsyncIterable<Item>, root: string): AsyncGenerator<Item> {
  const iterator = items[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await iterator.next().catch((cause: unknown) => {
        throw invalid(root, messageOf(cause), cause)
      })
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}

function invalid(root: string, reason: string, cause?: unknown): SvcError {
  return new SvcError('plugin.invalid', `The package "${root}" cannot be hashed: ${reason}.`, { root }, { cause })
}

/**
 * The files of a package in memory, from wherever they come (threat-model F4).
 *
 * I1 Regular files only, within the limits of a package; nothing of it runs.
 */
import { gunzipSync, gzipSync } from 'node:zlib'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { hashPackage } from '../../../../actors/plugin/package/revision.js'
import type { Effects } from '../../../../ports/effects.js'
import { SvcError } from '../../../../protocol/errors.js'
import { LIMITS } from '../../../../protocol/limits.js'
import { MiB } from '../../../../protocol/limits/units.js'
import { messageOf } from '../../../../protocol/message-of.js'
import { MANIFEST_FILE } from '../../../../protocol/plugin/plugin.js'
import { type ArchivedFile, readTar } from './tar-read.js'
import { writeTar } from './tar-write.js'

const { packageFiles, packageBytes } = LIMITS.plugins
/** What headers, padding and the files beside a package in its archive may take besides. */
const AROUND = 32 * MiB
/** Archives have one folder, called so by npm. */
export const FOLDER = 'package'

/** As `HashedPackage` reads them: rejects for links, for what cannot be read and beyond the limits. */
export async function filesOfDirectory(effects: Pick<Effects, 'files' | 'hasher'>, root: string): Promise<ArchivedFile[]> {
  const files: ArchivedFile[] = []
  await hashPackage(effects, root, async ({ path, executable }) => {
    const chunks: Uint8Array[] = []
    return {
      write: async (chunk) => void chunks.push(Uint8Array.from(chunk)),
      end: async () => void files.push({ path, executable, content: Buffer.concat(chunks) }),
    }
  })
  return files
}

/** Those of the package that an archive holds: in its outermost folder, or in `below` that. `called`: what a message names it. */
export function filesOfTarball(file: string, below?: string, called = file): ArchivedFile[] {
  if (!existsSync(file)) throw new SvcError('resource.not_found', `${called} does not exist`)
  try {
    if (statSync(file).size > packageBytes + AROUND) throw new Error(`it is larger than ${(packageBytes + AROUND) / MiB} MiB`)
    return packageIn(readTar(unzipped(readFileSync(file)), packageFiles * 4), below)
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw new SvcError('plugin.invalid', `${called} cannot be taken: ${messageOf(error)}.`)
  }
}

/** Folders that a message names. */
const HINTS = 3
const GZIP = 0x1f

function unzipped(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== GZIP) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: packageBytes + AROUND })
  } catch (error) {
    const isLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    throw new Error(isLarge ? `it holds more than ${packageBytes / MiB} MiB` : `it is damaged (${messageOf(error)})`, { cause: error })
  }
}

/** Pure. `below`: a folder of the archive that is the package, seen from its outermost one; without it `package/` may be, as `svc plugin init` has it. */
export function packageIn(files: readonly ArchivedFile[], below?: string): ArchivedFile[] {
  const inner =
    below
      ?.split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/') ?? ''
  const [outermost = ''] = files[0]?.path.split('/') ?? []
  const isWrapped = files.every(({ path }) => path.startsWith(`${outermost}/`))
  const outer = [inner, ...(isWrapped ? [join(outermost, inner)] : [])]
  const roots = below === undefined ? [...outer, ...outer.map((each) => join(each, FOLDER))] : outer
  const root = roots.find((each) => files.some(({ path }) => path === join(each, MANIFEST_FILE)))
  if (root === undefined) {
    const place = inner === '' ? 'in its outermost folder' : `in its folder ${inner}`
    const others = files.flatMap(({ path }) => (path.endsWith(`/${MANIFEST_FILE}`) ? [path.slice(0, -MANIFEST_FILE.length - 1)] : []))
    const hint = others.length === 0 ? '' : `; there is one in ${others.slice(0, HINTS).join(', ')}, which --path takes`
    throw new Error(`there is no ${MANIFEST_FILE} ${place}, so it is no package of a plugin${hint}`)
  }
  const found =
    root === ''
      ? [...files]
      : files.flatMap((file) => (file.path.startsWith(`${root}/`) ? [{ ...file, path: file.path.slice(root.length + 1) }] : []))
  if (found.length > packageFiles) throw new Error(`it holds more than ${packageFiles} files`)
  if (found.reduce((sum, { content }) => sum + content.length, 0) > packageBytes)
    throw new Error(`it holds more than ${packageBytes} bytes`)
  return found
}

function join(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('/')
}

/** The same bytes for the same files; the operating system stands in the tenth byte of what Node zips. */
export function tarballOf(files: readonly ArchivedFile[]): Uint8Array {
  const zipped = gzipSync(writeTar(files.map((file) => ({ ...file, path: `${FOLDER}/${file.path}` }))), { level: 9 })
  zipped[9] = 0xff
  return zipped
}

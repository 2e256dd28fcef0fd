/**
 * Where packages of the installation came from: `installed-plugins.json` beside its configuration, so that the content of a package, and with
 * it its revision, says nothing of that.
 *
 * I1 A file that cannot be read is an error, never an empty one: nothing is forgotten by writing it.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { SvcError } from '../../../../protocol/errors.js'
import { messageOf } from '../../../../protocol/message-of.js'

const Source = z.union([
  z.looseObject({ type: z.literal('directory'), path: z.string() }),
  z.looseObject({ type: z.literal('tarball'), path: z.string(), below: z.string().exactOptional() }),
  z.looseObject({ type: z.literal('npm'), spec: z.string() }),
  z.looseObject({ type: z.literal('git'), url: z.string(), ref: z.string().exactOptional(), below: z.string().exactOptional() }),
])

const Installed = z.looseObject({
  source: Source,
  /** Version and checksum, or commit, of what was taken. */
  resolved: z.string().exactOptional(),
  /** Of the content that was written. */
  revision: z.string(),
  digest: z.string(),
  /** ISO 8601. */
  at: z.string(),
})
export type Installed = z.infer<typeof Installed>

const File = z.record(z.string(), Installed)

const INSTALLED_FILE = 'installed-plugins.json'

/** By the id of the package. */
export function readInstalled(config: string): Readonly<Record<string, Installed>> {
  const file = join(config, INSTALLED_FILE)
  try {
    return File.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw new SvcError(
      'resource.conflict',
      `${file}, which says where packages came from, cannot be read: ${messageOf(error).split('\n')[0] ?? ''}`,
    )
  }
}

export function recordInstalled(config: string, id: string, installed: Installed): void {
  write(config, { ...readInstalled(config), [id]: installed })
}

export function forgetInstalled(config: string, id: string): void {
  const { [id]: forgotten, ...others } = readInstalled(config)
  if (forgotten !== undefined) write(config, others)
}

function write(config: string, all: Readonly<Record<string, Installed>>): void {
  const file = join(config, INSTALLED_FILE)
  const temporary = `${file}.${process.pid}`
  const sorted = Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(temporary, `${JSON.stringify(sorted, null, 2)}\n`, { mode: 0o600 })
  renameSync(temporary, file)
}

/**
 * Writing packages into the root of the installation.
 *
 * I1 A package appears whole: it is written beside the root, where svc looks for none, judged there as svc will, and renamed.
 * I2 What a rename replaces is put back when the next one fails, and when the command was killed before it (`abandoned-rooms.ts`).
 */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { discoverPackages, type FoundPackage } from '../../../../actors/plugin/package/package-files.js'
import { hashPackage, type HashedPackage } from '../../../../actors/plugin/package/revision.js'
import { cut } from '../../../../kernel/cut.js'
import type { Effects } from '../../../../ports/effects.js'
import { SvcError } from '../../../../protocol/errors.js'
import { messageOf } from '../../../../protocol/message-of.js'
import { isBuiltInId } from '../../../../actors/resource/config/entries.js'
import { parseManifest } from '../../../../actors/plugin/package/package-manifest.js'
import { type AgentTarget, MANIFEST_FILE, type PackageManifest } from '../../../../protocol/plugin/plugin.js'
import { escapedText } from '../../../../protocol/text/visible-text.js'
import { withoutAgent } from '../manifest-keys.js'
import { REPLACED, roomPrefix } from '../abandoned-rooms.js'
import type { ArchivedFile } from './tar-read.js'
import { makeDirectoriesSync } from '../../../../store/disk/make-directories.js'

export interface Staged {
  readonly found: FoundPackage
  readonly manifest: PackageManifest
  readonly target: AgentTarget
  readonly content: HashedPackage
}

/** A folder beside the root, for one command; `close` removes it. */
export interface Room {
  readonly path: string
  /** Empty, for what is fetched. */
  readonly fetched: string
  close(): void
}

export function openRoom({ paths }: Pick<Effects, 'paths'>): Room {
  makeDirectoriesSync(join(paths.config, 'plugins'), 0o700)
  const path = realpathSync(mkdtempSync(join(paths.config, roomPrefix(process.pid))))
  const fetched = join(path, 'fetched')
  mkdirSync(fetched)
  return { path, fetched, close: () => rmSync(path, { recursive: true, force: true }) }
}

/** What other systems read as something else, a terminal obeys, or is no text. Archives never hold one. */
const ODD_NAME = /[\\\p{Cc}\u{fffd}]/u
/** What file systems take for the name of a folder; ids have one byte a character. */
const LONGEST_ID = 255

/** Writes files into the room and judges them; throws a sentence for what svc would not run. */
export async function stage(effects: Effects, { path }: Room, files: readonly ArchivedFile[]): Promise<Staged> {
  const place = join(path, 'staged')
  const root = join(place, 'package')
  const odd = files.find(({ path: name }) => ODD_NAME.test(name))
  if (odd !== undefined)
    throw new SvcError('plugin.invalid', `"${escapedText(odd.path.slice(0, 200))}" has a name that is not the same everywhere: rename it`)
  for (const { path: name, executable, content } of files) {
    const file = join(root, name)
    try {
      makeDirectoriesSync(dirname(file))
      writeFileSync(file, content, { flag: 'wx', mode: executable ? 0o755 : 0o644 })
    } catch (error) {
      throw new SvcError('plugin.invalid', `"${name}" of the package cannot be written: ${messageOf(error)}`, {}, { cause: error })
    }
  }
  const [found] = await discoverPackages(effects, place, 'user')
  const { manifest } = found ?? {}
  const problem = found?.problems[0]?.message.replaceAll(root, 'the package')
  if (found === undefined || manifest === undefined || problem !== undefined)
    throw new SvcError('plugin.invalid', problem ?? whyNotFound(files))
  if (manifest.agent === null) throw new SvcError('plugin.invalid', withoutAgent(manifest))
  if (isBuiltInId(found.id)) throw new SvcError('plugin.invalid', `${found.id} has an id that belongs to the built-in plugins`)
  if (found.id.length > LONGEST_ID)
    throw new SvcError(
      'plugin.invalid',
      `${cut(found.id, 40)} is an id of ${found.id.length} characters: at most ${LONGEST_ID}, as a folder has its name`,
    )
  return { found, manifest, target: manifest.agent, content: await hashPackage(effects, found.root) }
}

/** Of what is no package for agents: those alone are found. */
function whyNotFound(files: readonly ArchivedFile[]): string {
  const manifest = files.find(({ path }) => path === MANIFEST_FILE)
  return manifest === undefined ? `there is no ${MANIFEST_FILE}` : withoutAgent(parseManifest(manifest.content))
}

/** Puts what was staged into the root, under its id, in the place of what is there. */
export function settle({ paths }: Pick<Effects, 'paths'>, room: Room, { found }: Staged): string {
  const root = join(paths.config, 'plugins', found.id)
  const before = join(room.path, REPLACED, found.id)
  const isThere = existsSync(root)
  if (isThere) {
    makeDirectoriesSync(dirname(before))
    renameSync(root, before)
  }
  try {
    renameSync(found.root, root)
  } catch (error) {
    if (isThere) renameSync(before, root) // I2
    throw error
  }
  return root
}

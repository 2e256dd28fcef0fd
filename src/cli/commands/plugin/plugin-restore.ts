/** `svc plugin restore`: the folder of a package gets content back that was approved, from the copy svc runs. */
import { chmodSync, cpSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createPackageStore, type PinnedContent } from '../../../actors/plugin/package/package-store.js'
import { parseManifest } from '../../../actors/plugin/package/package-manifest.js'
import { hashPackage } from '../../../actors/plugin/package/revision.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { MANIFEST_FILE } from '../../../protocol/plugin/plugin.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { RestoreOptions } from './plugin-arguments.js'
import { openPluginPlace, pinnedApprovalOf, type PluginPlace, readPackage } from './plugin-place.js'
import { trustPlugin } from './plugin-trust.js'
import { isConfirmed, only } from './plugin-untrust.js'

interface Kept {
  readonly revision: string
  /** Where the copy is. */
  readonly path: string
}

/** After a yes: puts back what serves or was approved last; where that is not approved any more, it is asked about. Answers 0, or 1 when it was declined. */
export async function restorePlugin(options: RestoreOptions): Promise<number> {
  const { id, directory, source, yes, json } = options
  const place = await openPluginPlace(directory)
  const { root } = only(place, id, source)
  const kept = await keptOf(place, id, root)
  if (!yes && !(await isConfirmed(`Replace the content of ${printable(root)} by what was approved (${short(kept.revision)})? [y/N] `))) {
    writeError('svc: not restored\n')
    return 1
  }
  const temporary = join(dirname(root), `.restoring-${id}`)
  rmSync(temporary, { recursive: true, force: true })
  cpSync(kept.path, temporary, { recursive: true })
  makeWritable(temporary)
  rmSync(root, { recursive: true })
  renameSync(temporary, root)
  const { ok: approved } = await approvalNow(options)
  writeOut(
    json
      ? `${jsonText({ id, restored: root, revision: kept.revision, approved })}\n`
      : `restored ${printable(root)} (${short(kept.revision)})\n`,
  )
  if (approved || json) return 0
  return trustPlugin({ id, directory, source, yes, json, capabilities: undefined, scopeId: undefined, native: false })
}

/** Copies are read-only; what is put back is its author's again. */
function makeWritable(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) makeWritable(path)
    else if (entry.isFile()) chmodSync(path, statSync(path).mode | 0o200)
  }
}

async function approvalNow({ id, directory, source }: RestoreOptions) {
  const place = await openPluginPlace(directory)
  return pinnedApprovalOf(place, await readPackage(place, only(place, id, source)))
}

const short = (revision: string) => revision.slice(0, 'sha256:'.length + 12)

/** Approved content that is not what the folder has, and that there is a copy of. */
async function keptOf({ effects, entries, workspace }: PluginPlace, id: string, root: string): Promise<Kept> {
  const store = createPackageStore({ effects, directory: join(effects.paths.state, 'plugins') })
  // A folder that cannot be read any more is worth restoring most of all.
  const present = await hashPackage(effects, root).catch(() => undefined)
  for (const content of [...(await serving(workspace, id, store)), ...entries.package(id).trust.toReversed()]) {
    const digest = content.digest ?? (await store.digestOf(content.revision))
    if (digest === undefined || digest === present?.digest) continue
    const path = await store.path({ revision: content.revision, digest })
    if (path !== undefined) return { revision: content.revision, path }
  }
  const earlier = await latestCopy(effects, id, present?.digest)
  if (earlier !== undefined) return earlier
  throw new SvcError(
    'resource.not_found',
    `there is no other approved content of ${id}: svc keeps what has served, for seven days after it was replaced`,
  )
}

/** The content before, of which a newer approval has taken the place: what is restored of it is asked about again. */
async function latestCopy(
  { files, hasher, paths }: PluginPlace['effects'],
  id: string,
  present: string | undefined,
): Promise<Kept | undefined> {
  const directory = join(paths.state, 'plugins')
  const copies = await Promise.all(
    (await files.readDirectory(directory).catch(() => [])).map(async ({ name }) => {
      const path = join(directory, name, 'content')
      try {
        const manifest = parseManifest(await files.read(join(path, MANIFEST_FILE), LIMITS.plugins.manifestBytes))
        if (manifest.id !== id) return []
        const { revision, digest } = await hashPackage({ files, hasher }, await files.realPath(path))
        return [{ revision, digest, path, madeAt: statSync(join(directory, name)).ctimeMs }]
      } catch {
        return [] // one that is being made, or of a directory of tools
      }
    }),
  )
  const until = copies.flat().find(({ digest }) => digest === present)?.madeAt ?? Infinity
  return copies
    .flat()
    .filter(({ madeAt }) => madeAt < until)
    .toSorted((a, b) => b.madeAt - a.madeAt)[0]
}

/** What the server serves in place of the content it found: the one that runs, or one for the moment. */
async function serving(
  directory: string,
  id: string,
  { digestOf }: Pick<ReturnType<typeof createPackageStore>, 'digestOf'>,
): Promise<PinnedContent[]> {
  const connection = await connect(undefined)
  let revision: string | undefined
  try {
    const packages = await connection.client.plugins.lifecycle({ directory })
    revision = packages.find(({ packageId }) => packageId === id)?.retainedRevision
  } finally {
    await connection.close()
  }
  const digest = revision === undefined ? undefined : await digestOf(revision)
  return revision === undefined || digest === undefined ? [] : [{ revision, digest }]
}

/**
 * `svc plugin untrust` and `remove`: an approval is taken back, and with `remove` the package is deleted.
 *
 * I1 No approval outlives the folder of a package of the installation: whatever is put there later, by any source, nothing of before runs.
 */
import { rmSync } from 'node:fs'
import { createSecretFile } from '../../../actors/plugin/brokers/secrets/secret-file.js'
import type { FoundPackage } from '../../../actors/plugin/package/package-files.js'
import { SvcError } from '../../../protocol/errors.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { askPerson, isAttended, jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { RemoveOptions, SwitchOptions } from './plugin-arguments.js'
import { forgetInstalled } from './install/installed.js'
import { isFor, withdraw } from './plugin-approvals.js'
import { openPluginPlace, type PluginPlace } from './plugin-place.js'

/** Takes back every approval of the package for this workspace, and those for all workspaces; answers 0. */
export async function untrustPlugin({ id, directory, json }: SwitchOptions): Promise<number> {
  const place = await openPluginPlace(directory)
  const count = await withdraw(place, id, isFor(place.workspace))
  if (count === 0) throw new SvcError('resource.not_found', `${id} is not approved for ${place.workspace}; "svc plugin list" shows what is`)
  writeOut(json ? `${jsonText({ id, withdrawn: count })}\n` : `${id} is not approved any more, and nothing of it runs\n`)
  return 0
}

/**
 * After a yes: takes back the approvals and deletes the folder of the package; answers 0, or 1 when it was declined. What the configuration of
 * the installation says of a package of its own, and its secrets, go as well, unless `keepData`: nobody else has it.
 */
export async function removePlugin({ id, directory, json, yes, source, keepData }: RemoveOptions): Promise<number> {
  const place = await openPluginPlace(directory)
  const { root, source: from } = only(place, id, source)
  if (!yes && !(await isConfirmed(`Delete ${printable(root)} for good? [y/N] `))) {
    writeError('svc: not removed\n')
    return 1
  }
  const isAlone = from === 'user' && !place.packages.some((each) => each.id === id && each.source === 'workspace')
  let { entries } = place
  if (isAlone && !keepData) {
    entries = await place.configure({ plugins: { [id]: null } })
    await createSecretFile(place.effects).forget(id)
  }
  await withdraw({ ...place, entries }, id, from === 'user' ? () => true : isFor(place.workspace)) // I1
  rmSync(root, { recursive: true })
  if (from === 'user') forgetInstalled(place.effects.paths.config, id)
  writeOut(json ? `${jsonText({ id, removed: root })}\n` : `removed ${printable(root)}\n`)
  if (isAlone && !keepData) writeError(`its approvals, settings and secrets are gone as well\n`, 'dim')
  return 0
}

/** The one package that is meant. */
export function only({ packages, workspace }: PluginPlace, id: string, source?: FoundPackage['source']): FoundPackage {
  const [found, ...others] = packages.filter((each) => each.id === id && (source === undefined || each.source === source))
  if (found === undefined) {
    throw new SvcError('resource.not_found', `there is no package ${id} for ${workspace}; "svc plugin list" shows what there is`)
  }
  if (others.length === 0) return found
  throw new SvcError('resource.conflict', `there is more than one package ${id}; say which with --source user or workspace`)
}

/** Throws where nobody can be asked. */
export async function isConfirmed(question: string): Promise<boolean> {
  if (!isAttended()) throw new SvcError('request.invalid', 'what is lost by this is asked about: it needs --yes where nobody can be asked')
  return /^y(es)?$/i.test(await askPerson(question, new AbortController().signal))
}

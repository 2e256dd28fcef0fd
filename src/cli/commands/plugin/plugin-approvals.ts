/** Approvals in the configuration of the installation are taken back. */
import type { PinnedContent } from '../../../actors/plugin/package/package-store.js'
import { findPackages } from '../../../actors/plugin/package/tool-directory.js'
import { SvcError } from '../../../protocol/errors.js'
import type { TrustRecord } from '../../../protocol/plugin/plugin.js'
import type { PluginPlace } from './plugin-place.js'

type Meant = (record: TrustRecord) => boolean

/** For a workspace, or for all of them. */
export function isFor(workspace: string): Meant {
  return ({ workspaceId }) => workspaceId === '' || workspaceId === workspace
}

/** Answers how many were taken back. Throws where another file of the installation still has one of them. */
export async function withdraw(place: PluginPlace, id: string, isMeant: Meant): Promise<number> {
  const { trust } = place.entries.package(id)
  const others = trust.filter((record) => !isMeant(record))
  if (others.length === trust.length) return 0
  const after = await place.configure({ plugins: { [id]: { options: { trust: others } } } })
  if (after.package(id).trust.some(isMeant))
    throw new SvcError(
      'resource.conflict',
      `an approval of ${id} stands in another configuration file of the installation, which overrides this one; take it out there`,
    )
  return trust.length - others.length
}

/**
 * Before content gets where nothing of that id is: takes back what was approved of anything else under the id, but in workspaces that
 * have a package of that id themselves. Answers how many.
 */
export async function withdrawEarlier(place: PluginPlace, id: string, content: PinnedContent): Promise<number> {
  const { effects } = place
  const { trust } = place.entries.package(id)
  const isOther = ({ revision, digest = content.digest }: TrustRecord) => revision !== content.revision || digest !== content.digest
  const workspaces = new Set(trust.filter(isOther).flatMap(({ workspaceId }) => (workspaceId === '' ? [] : [workspaceId])))
  const own = new Set<string>()
  for (const workspace of workspaces) {
    const found = await findPackages(effects, effects.paths.config, workspace)
    if (found.some((each) => each.id === id && each.source === 'workspace')) own.add(workspace)
  }
  return withdraw(place, id, (record) => isOther(record) && !own.has(record.workspaceId))
}

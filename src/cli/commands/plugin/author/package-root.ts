/** The folder of a package that is named by its id, or by a folder. */
import { existsSync } from 'node:fs'
import { SvcError } from '../../../../protocol/errors.js'
import { packageFolder } from '../install/fetch-source.js'
import { isFolder } from '../make/plugin-init.js'
import { openPluginPlace } from '../plugin-place.js'
import { only } from '../plugin-untrust.js'

/** Throws a sentence. */
export async function packageRoot(named: string, directory: string | undefined): Promise<string> {
  if (isFolder(named)) return packageFolder(named)
  const place = await openPluginPlace(directory)
  const roots = place.packages.flatMap(({ id, root }) => (id === named ? [root] : []))
  if (roots.length > 1)
    throw new SvcError('resource.conflict', `there is more than one package ${named}; name its folder: ${roots.join(' or ')}`)
  return roots.length === 0 && existsSync(named) ? packageFolder(named) : only(place, named).root
}

/** Directories of tools as packages: found, hashed, approved, copied and started as any other (decision 076). */
import { join } from 'node:path'
import { reachedThrough } from '../../../protocol/text/exposure.js'
import { PackageManifest } from '../../../protocol/plugin/plugin.js'
import { isToolFile, TOOLS_DIRECTORY, type ToolsId } from '../../../protocol/plugin/tool-files.js'
import type { Effects } from '../../../ports/effects.js'
import { PROJECT_DIRECTORY } from '../../resource/config/config-files.js'
import { discoverPackages, type FoundPackage, type PackageSource } from './package-files.js'

type FindEffects = Pick<Effects, 'files' | 'platform'>

/** Packages of the user, then of a workspace: those of the plugin directories, then the directory of tools. Never rejects. */
export async function findPackages(effects: FindEffects, config: string, directory: string): Promise<FoundPackage[]> {
  return [...(await packagesIn(effects, config, 'user')), ...(await packagesIn(effects, join(directory, PROJECT_DIRECTORY), 'workspace'))]
}

async function packagesIn(effects: FindEffects, root: string, source: PackageSource): Promise<FoundPackage[]> {
  const tools = await findTools(effects, join(root, TOOLS_DIRECTORY), source)
  return [...(await discoverPackages(effects, join(root, 'plugins'), source)), ...(tools === undefined ? [] : [tools])]
}

/** What a directory of tools is as a package: there is no manifest in it. */
export function toolsManifest(id: ToolsId): PackageManifest {
  const isOfUser = id === 'user.tools'
  const agent = { runtime: 'process', scope: isOfUser ? 'user' : 'workspace' }
  return PackageManifest.parse({ id, name: isOfUser ? 'Tools of this user' : 'Tools of this workspace', agent })
}

/** Undefined when no file of the directory holds tools. */
async function findTools({ files }: FindEffects, place: string, source: PackageSource): Promise<FoundPackage | undefined> {
  try {
    const entries = await files.readDirectory(place)
    if (!entries.some(({ name, kind }) => kind === 'file' && isToolFile(name))) return undefined
    const id = `${source}.tools` as const
    const root = await files.realPath(place)
    const exposed = await files.exposure(place)
    if (exposed === undefined) return { id, root, source, manifest: toolsManifest(id), problems: [] }
    const how = exposed.path === root ? exposed.how : reachedThrough(exposed)
    const action = 'Take write access away from others.'
    return { id, root, source, problems: [{ code: 'exposed', message: `${place} is not read: it ${how}.`, action }] }
  } catch {
    return undefined
  }
}

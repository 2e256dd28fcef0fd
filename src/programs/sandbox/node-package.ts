/** The package the program is started for, read from its manifest again: the host's word is not taken (plugin-protocol §1.3, §6.1). */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import { fieldsOf } from './frames.js'
import { isContainedPath } from './node-sources.js'

export interface LuaPackage {
  readonly pluginId: string
  /** Canonical directory. */
  readonly root: string
  /** Relative to it. */
  readonly entrypoint: string
}

/** From `--manifest <path>`, which comes first; a sentence when there is no Lua package. */
export function readPackage(args: readonly string[]): LuaPackage | string {
  const [option, path] = args
  if (option !== '--manifest' || path === undefined) return 'usage: lua-sandbox --manifest <path of svc-plugin.json>'
  try {
    return packageAt(path)
  } catch (error) {
    return `the manifest ${basename(path)} cannot be read: ${error instanceof Error ? error.message : 'unknown error'}`
  }
}

function packageAt(path: string): LuaPackage | string {
  if (statSync(path).size > LIMITS.plugins.manifestBytes) return `the manifest has more than ${LIMITS.plugins.manifestBytes} bytes`
  const root = realpathSync(dirname(path))
  const manifest = fieldsOf(JSON.parse(readFileSync(path, 'utf8')))
  const { id: pluginId } = manifest
  const { runtime = 'lua', entrypoint } = fieldsOf(manifest['agent'])
  if (typeof pluginId !== 'string' || pluginId === '') return 'the manifest has no id'
  if (typeof manifest['agent'] !== 'object' || runtime !== 'lua') return `the package ${pluginId} is not a Lua package`
  if (typeof entrypoint !== 'string' || !isContainedPath(entrypoint))
    return `the entrypoint of ${pluginId} is not a path inside the package`
  if (realpathSync(join(root, entrypoint)) !== join(root, entrypoint) || !statSync(join(root, entrypoint)).isFile()) {
    return `the entrypoint of ${pluginId} is not a file of the package`
  }
  return { pluginId, root, entrypoint }
}

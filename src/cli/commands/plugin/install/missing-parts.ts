/** What a package needs and does not hold: nothing is built or installed for it, so it could not start. Pure. */
import type { AgentTarget } from '../../../../protocol/plugin/plugin.js'
import { isRecord } from '../../../../protocol/text/json.js'
import type { ArchivedFile } from './tar-read.js'

const SHOWN = 5

/** A sentence for each. */
export function missingParts(files: readonly ArchivedFile[], target: AgentTarget): string[] {
  return [...missingScript(files, target), ...missingModules(files, target)]
}

const SCRIPT = /^(?!\/|~)[\w./-]+\.(?:[cm]?js|py|rb|pl|sh)$/

/** The first argument that looks like a file of the package. */
function missingScript(files: readonly ArchivedFile[], { runtime, command }: AgentTarget): string[] {
  const script = runtime === 'process' ? command.slice(1).find((argument) => SCRIPT.test(argument)) : undefined
  const path = script?.replace(/^\.\//, '')
  if (path === undefined || files.some((file) => file.path === path)) return []
  return [`its command names ${path}, which is not in it: where that is built from sources beside it, svc plugin test does so`]
}

function missingModules(files: readonly ArchivedFile[], { runtime }: AgentTarget): string[] {
  const dependencies = runtime === 'process' ? dependenciesOf(files.find(({ path }) => path === 'package.json')) : []
  const missing = dependencies.filter((name) => !files.some(({ path }) => path.startsWith(`node_modules/${name}/`)))
  if (missing.length === 0) return []
  const names = missing.slice(0, SHOWN).join(', ')
  return [`its package.json names dependencies that are not in it (${names}): unless its program is bundled, it will not start`]
}

function dependenciesOf(file: ArchivedFile | undefined): string[] {
  try {
    const manifest: unknown = JSON.parse(new TextDecoder().decode(file?.content))
    return isRecord(manifest) && isRecord(manifest['dependencies']) ? Object.keys(manifest['dependencies']) : []
  } catch {
    return []
  }
}

/** What a package says or contributes that nothing here uses: told, never ignored (service.md, Errors; plugin-protocol §1.1, §4.7). Pure. */
import { namedKinds } from '../../../protocol/plugin/contribution-kinds.js'
import { schemaProblem } from '../process/json-schema.js'
import type { PackageDiagnostic, PackageManifest, PluginScope } from '../../../protocol/plugin/plugin.js'
import type { Contributions } from '../../../ports/plugin.js'

const NO_EFFECT = 'no-effect'

export function withoutEffect(
  manifest: PackageManifest | undefined,
  scope: PluginScope,
  contributions: Contributions | undefined,
): PackageDiagnostic[] {
  const told: string[] = []
  const add = (what: string, why: string) => told.push(`${what}: ${why}`)
  if (manifest !== undefined) {
    const { editor, agent } = manifest
    if (editor !== null && agent !== null) add('editor', 'the part for editors is not run here')
    const named = [...namedKinds(manifest), ...(agent === null ? [] : namedKinds(agent).map((kind) => `agent.${kind}`))]
    if (named.length > 0) add(`${named.join(', ')} of the manifest`, 'a plugin says what it contributes when it starts')
  }
  if (contributions !== undefined) {
    const { messageParts = [], mcp = [], unused = [] } = contributions
    const unchecked = messageParts.filter(({ schema }) => schema !== null && schema !== undefined && schemaProblem(schema) !== undefined)
    if (unchecked.length > 0) add(`the schema of messageParts (${idsOf(unchecked)})`, 'it is no JSON Schema, and nothing is checked by it')
    if (mcp.length > 0) add(`mcp (${idsOf(mcp)})`, 'it is listed, and starts no server')
    if (unused.length > 0) add(unused.join(', '), 'nothing here takes it from a plugin, or not where it stands')
    const { config = [] } = contributions
    if (scope === 'session' && config.length > 0)
      add(`config (${idsOf(config)}) of a package of the scope "session"`, 'a session has the configuration of its workspace')
  }
  return told.map((message) => ({ code: NO_EFFECT, message: `has no effect: ${message}` }))
}

function idsOf(list: readonly { readonly id: string }[]): string {
  return list.map(({ id }) => id).join(', ')
}

/** The file `svc-plugin.json` as data (plugin-protocol §1.1). */
import { SvcError } from '../../../protocol/errors.js'
import { isDeeperThan } from '../../../protocol/json-depth.js'
import { asDeclared } from '../../../protocol/leniency.js'
import { PackageManifest } from '../../../protocol/plugin.js'
import { MAX_DEPTH, parseJsonc } from '../../resource/config-parse.js'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const SHOWN = 5

/** Strict UTF-8 and JSON, no key twice, `api_version` read as `apiVersion`. Throws `plugin.invalid` that says what is wrong where. */
export function parseManifest(bytes: Uint8Array): PackageManifest {
  const parsed = PackageManifest.safeParse(asDeclared(PackageManifest, withoutAlias(parseJson(bytes))))
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || 'manifest'}: ${message}`)
  throw invalid(issues.slice(0, SHOWN).join('; ') + (issues.length > SHOWN ? `; and ${issues.length - SHOWN} more` : ''))
}

/** JSON first, because the reader of configuration also takes comments. */
function parseJson(bytes: Uint8Array): object {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw invalid('it is not valid UTF-8')
  }
  if (isDeeperThan(bytes, MAX_DEPTH)) throw invalid(`it is nested deeper than ${MAX_DEPTH} levels`)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('it holds no JSON object')
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw invalid(`it is not valid JSON (${error instanceof Error ? error.message : String(error)})`)
  }
  const read = parseJsonc(text)
  if (read.ok) return read.value
  throw invalid(`${read.message} (line ${read.position.line}, column ${read.position.column})`)
}

function withoutAlias(value: object): object {
  if (!('api_version' in value)) return value
  if ('apiVersion' in value) throw invalid('it has both "apiVersion" and "api_version"')
  const { api_version: apiVersion, ...rest } = value
  return { ...rest, apiVersion }
}

function invalid(reason: string): SvcError {
  return new SvcError('plugin.invalid', reason)
}

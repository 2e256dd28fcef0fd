/** The file `svc-plugin.json` as data (plugin-protocol §1.1). */
import { SvcError } from '../../../protocol/errors.js'
import { isDeeperThan } from '../../../protocol/json-depth.js'
import { LIMITS } from '../../../protocol/limits.js'
import { PackageManifest } from '../../../protocol/plugin.js'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const DEPTH = LIMITS.http.jsonDepth
const SHOWN = 5

/** Strict UTF-8 and JSON, `api_version` read as `apiVersion`. Throws `plugin.invalid` that says what is wrong where. */
export function parseManifest(bytes: Uint8Array): PackageManifest {
  const value = parseJson(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('it holds no JSON object')
  if (isDeeperThan(bytes, DEPTH)) throw invalid(`it is nested deeper than ${DEPTH} levels`)
  const parsed = PackageManifest.safeParse(withoutAlias(value))
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || 'manifest'}: ${message}`)
  throw invalid(issues.slice(0, SHOWN).join('; ') + (issues.length > SHOWN ? `; and ${issues.length - SHOWN} more` : ''))
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw invalid('it is not valid UTF-8')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`it is not valid JSON (${error instanceof Error ? error.message : String(error)})`)
  }
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

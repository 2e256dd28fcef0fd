/** The file `svc-plugin.json` as data (plugin-protocol §1.1). */
import { SvcError } from '../../../protocol/errors.js'
import { firstFault, isLarge } from '../../../protocol/text/first-fault.js'
import { excessOf, REQUEST_BOUNDS } from '../../../protocol/text/json-bounds.js'
import { asDeclared } from '../../../protocol/text/leniency.js'
import { PackageManifest } from '../../../protocol/plugin/plugin.js'
import { MAX_DEPTH, parseJsonc } from '../../resource/config/config-parse.js'
import { messageOf } from '../../../protocol/message-of.js'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const SHOWN = 5
const FAULT_LENGTH = 500

/** Strict UTF-8 and JSON, no key twice, `api_version` read as `apiVersion`. Throws `plugin.invalid` that says what is wrong where. */
export function parseManifest(bytes: Uint8Array): PackageManifest {
  const meant = asDeclared(PackageManifest, withoutAlias(parseJson(bytes)))
  const fault = isLarge(meant) ? firstFault(PackageManifest, meant) : undefined
  if (fault !== undefined) throw invalid(`${fault.path.map(String).join('.') || 'manifest'}: ${fault.message}`.slice(0, FAULT_LENGTH))
  const parsed = PackageManifest.safeParse(meant)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map((issue) => `${issue.path.map(String).join('.') || 'manifest'}: ${wordsOf(issue)}`)
  throw invalid(issues.slice(0, SHOWN).join('; ') + (issues.length > SHOWN ? `; and ${issues.length - SHOWN} more` : ''))
}

function wordsOf({ code, message }: { readonly code: string; readonly message: string }): string {
  return code === 'invalid_type' && message.endsWith('received undefined') ? 'is missing' : message
}

/** JSON first, because the reader of configuration also takes comments. */
function parseJson(bytes: Uint8Array): object {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw invalid('it is not valid UTF-8')
  }
  const excess = excessOf(bytes, { ...REQUEST_BOUNDS, depth: MAX_DEPTH })
  if (excess !== undefined) throw invalid(`it ${excess}`)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('it holds no JSON object')
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw invalid(`it is not valid JSON (${messageOf(error)})`)
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

/** What a client was shown of a configuration, sent back: it says nothing about the credentials that were left out. */
import { isDeepStrictEqual } from 'node:util'
import { publicRecord } from '../../../protocol/text/secrets.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'

/** A patch without the values that are those of `document` as they are shown, and not as they are. */
export function withoutEchoes(patch: JsonRecord, document: JsonRecord): JsonRecord {
  const kept = Object.entries(patch).flatMap(([key, value]): [string, unknown][] => {
    const existing = Object.hasOwn(document, key) ? document[key] : undefined
    if (isRecord(value) && isRecord(existing)) return [[key, withoutEchoes(value, existing)]]
    if (isDeepStrictEqual(value, existing)) return [[key, value]]
    const shown = publicRecord({ [key]: existing })[key]
    return existing !== undefined && isDeepStrictEqual(value, shown) ? [] : [[key, value]]
  })
  return Object.fromEntries(kept)
}

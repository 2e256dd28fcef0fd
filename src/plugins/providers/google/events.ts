/** The events of `streamGenerateContent`, as an answer sees them: whole responses, each with a piece of the content. */
import type { SharedV3ProviderMetadata } from '@ai-sdk/provider'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import type { Growth, Lens, Sight } from '../exchange/answer.js'

/** The vendor gives its parts no ids. */
export function createContentLens(): Lens {
  let parts = 0
  let last: Growth['kind'] | undefined
  let usage: unknown

  const growthOf = (part: JsonRecord): Growth => {
    const { text, thought, thoughtSignature } = part
    const kind = thought === true ? 'reasoning' : 'text'
    // A part without text only signs the one before.
    if (text !== '' || last === undefined) {
      if (kind !== last) parts++
      last = kind
    }
    const metadata: SharedV3ProviderMetadata | undefined =
      typeof thoughtSignature === 'string' ? { google: { thoughtSignature } } : undefined
    return { kind: last, id: `${last}-${parts}`, delta: String(text), ...(metadata === undefined ? {} : { metadata }) }
  }

  function see(event: JsonRecord): Sight {
    if (event['error'] !== undefined && event['error'] !== null) return { error: event['error'] }
    usage = event['usageMetadata'] ?? usage
    const { candidate, texts } = candidateOf(event)
    const feedback = event['promptFeedback']
    const reason = candidate?.['finishReason']
    const isBlocked = isRecord(feedback) && typeof feedback['blockReason'] === 'string'
    const isFinished = isBlocked || (typeof reason === 'string' && reason !== 'CONTINUATION')
    const place = isFinished ? { place: usage === undefined ? ('finished' as const) : ('over' as const) } : {}
    if (texts === undefined) return place
    const rest =
      isFinished || candidate?.['groundingMetadata'] !== undefined ? { rest: withoutTexts({ ...event, usageMetadata: usage }) } : {}
    const grown = texts.filter(({ text, thoughtSignature }) => text !== '' || thoughtSignature !== undefined).map(growthOf)
    return grown.length === 0 ? { isFrame: true, ...rest, ...place } : { grown, ...rest, ...place }
  }

  return { endsTexts: true, see }
}

/** `texts` are the parts, if they are texts and nothing else. */
function candidateOf(event: JsonRecord): { readonly candidate?: JsonRecord; readonly texts?: readonly JsonRecord[] } {
  const first: unknown = Array.isArray(event['candidates']) ? event['candidates'][0] : undefined
  if (!isRecord(first)) return { texts: [] }
  const { content } = first
  const parts: unknown = isRecord(content) ? content['parts'] : undefined
  if (!Array.isArray(parts)) return { candidate: first, texts: [] }
  const texts = parts.filter((part): part is JsonRecord => isRecord(part) && typeof part['text'] === 'string')
  return texts.length === parts.length ? { candidate: first, texts } : { candidate: first }
}

function withoutTexts(event: JsonRecord): JsonRecord {
  const { candidates } = event
  if (!Array.isArray(candidates) || !isRecord(candidates[0])) return event
  return { ...event, candidates: [{ ...candidates[0], content: { role: 'model', parts: [] } }] }
}

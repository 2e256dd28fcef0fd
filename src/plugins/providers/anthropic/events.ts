/** The events of the Messages API, as an answer sees them. */
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import type { Lens, Sight } from '../exchange/answer.js'

const TEXTS = new Set(['text', 'thinking', 'redacted_thinking'])

export function createMessagesLens(): Lens {
  /** Blocks that are no text, by index. */
  const others = new Set<unknown>()

  function see(event: JsonRecord): Sight {
    switch (event['type']) {
      case 'ping':
        return { isFrame: true }
      case 'message_start':
        return { isFrame: true, rest: event }
      case 'content_block_start': {
        const { content_block: block, index } = event
        if (isRecord(block) && TEXTS.has(String(block['type'])))
          return { isFrame: true, rest: event, begins: { kind: block['type'] === 'text' ? 'text' : 'reasoning', id: String(index) } }
        others.add(index)
        return {}
      }
      case 'content_block_delta':
        return delta(event)
      case 'content_block_stop':
        return others.has(event['index']) ? {} : { isFrame: true, rest: event }
      case 'message_delta': {
        const { delta: told } = event
        const hasReason = isRecord(told) && typeof told['stop_reason'] === 'string'
        return { isFrame: true, rest: event, ...(hasReason ? { place: 'finished' } : {}) }
      }
      case 'message_stop':
        return { isFrame: true, rest: event, place: 'over' }
      case 'error':
        return { error: event['error'] ?? event }
      default:
        return {}
    }
  }

  return { endsTexts: false, see }
}

function delta(event: JsonRecord): Sight {
  const { delta: told } = event
  const id = String(event['index'])
  if (!isRecord(told)) return {}
  switch (told['type']) {
    case 'text_delta':
      return { grown: [{ kind: 'text', id, delta: String(told['text']) }] }
    case 'thinking_delta':
      return { grown: [{ kind: 'reasoning', id, delta: String(told['thinking']) }] }
    case 'signature_delta':
    case 'citations_delta':
      return { isFrame: true, rest: event }
    default:
      return {}
  }
}

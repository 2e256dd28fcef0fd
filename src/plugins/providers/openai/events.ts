/** The events of the Responses API, as an answer sees them. */
import type { JsonRecord } from '../../../protocol/text/json.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { Lens, Sight } from '../exchange/answer.js'

/** Repeat what deltas have told, or say nothing. */
const NOISE = new Set([
  'response.output_text.done',
  'response.content_part.added',
  'response.content_part.done',
  'response.reasoning_summary_text.done',
  'keepalive',
])
const FRAMES = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.refusal.done',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
  'response.output_text.annotation.added',
])

export function createResponsesLens(): Lens {
  return { endsTexts: false, see }
}

function see(event: JsonRecord): Sight {
  const { type } = event
  if (typeof type !== 'string') return {}
  if (NOISE.has(type)) return { isFrame: true }
  if (FRAMES.has(type) || isText(event)) return { isFrame: true, rest: event, ...begins(event) }
  switch (type) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return { grown: [{ kind: 'text', id: String(event['item_id']), delta: String(event['delta']) }] }
    case 'response.reasoning_summary_text.delta':
      return {
        grown: [{ kind: 'reasoning', id: `${String(event['item_id'])}:${String(event['summary_index'])}`, delta: String(event['delta']) }],
      }
    case 'error':
      return { error: event['error'] ?? event }
    case 'response.failed':
      return { error: (isRecord(event['response']) ? event['response']['error'] : undefined) ?? { message: 'the response failed' } }
    case 'response.completed':
    case 'response.incomplete':
      return { isFrame: true, rest: withoutOutput(event), place: 'over' }
    default:
      return {}
  }
}

/** A text or reasoning begins or ends. */
function isText({ type, item }: JsonRecord): boolean {
  if (type !== 'response.output_item.added' && type !== 'response.output_item.done') return false
  return isRecord(item) && (item['type'] === 'message' || item['type'] === 'reasoning')
}

function begins({ type, item, item_id: itemId, summary_index: index }: JsonRecord): Pick<Sight, 'begins'> {
  if (type === 'response.reasoning_summary_part.added') return { begins: { kind: 'reasoning', id: `${String(itemId)}:${String(index)}` } }
  if (type !== 'response.output_item.added' || !isRecord(item)) return {}
  const id = String(item['id'])
  return { begins: item['type'] === 'message' ? { kind: 'text', id } : { kind: 'reasoning', id: `${id}:0` } }
}

/** The whole answer is said again at its end; the SDK has it already. */
function withoutOutput(event: JsonRecord): JsonRecord {
  return isRecord(event['response']) ? { ...event, response: { ...event['response'], output: [] } } : event
}

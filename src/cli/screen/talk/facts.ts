/** What the status line tells of a conversation, from its events. Pure. */
import type { SessionQueueInfo } from '../../../protocol/message/message.js'
import type { Session } from '../../../protocol/session/session.js'
import { hasDefaultTitle } from '../../../protocol/session/default-title.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { clip, type Line, span, widthOf } from '../../terminal/span.js'
import type { Heard } from '../story/heard.js'

export interface Facts {
  readonly title?: string
  /** `provider/model`. */
  readonly model?: string
  readonly agent?: string
  /** Tokens that the last answer was made from, and how many fit. */
  readonly context?: number
  readonly limit?: number
  readonly cost: number
  readonly queued: number
}

export const NO_FACTS: Facts = { cost: 0, queued: 0 }

export function withSession(facts: Facts, { title, model, agent }: Session): Facts {
  const { title: _, ...others } = facts
  return {
    ...others,
    ...(!hasDefaultTitle(title) && { title }),
    ...(model !== undefined && { model: `${model.providerId}/${model.id}` }),
    ...(agent !== undefined && { agent }),
  }
}

export function withQueue(facts: Facts, { count }: SessionQueueInfo): Facts {
  return { ...facts, queued: count }
}

/** `sessionId`: of the conversation; the cost is that of its family. */
export function withEvent(facts: Facts, sessionId: string, { type, data }: Heard): Facts {
  switch (type) {
    case 'session.updated':
      return data.sessionID === sessionId ? withSession(facts, data.info) : facts
    case 'session.queue.updated':
      return data.sessionID === sessionId ? withQueue(facts, data.queue) : facts
    case 'session.execution.updated': {
      const { usage } = data.runtime
      return usage === undefined ? facts : { ...facts, cost: usage.cost }
    }
    case 'message.updated': {
      const { info } = data
      if (data.sessionID !== sessionId || info.role !== 'assistant' || info.mode === 'compaction') return facts
      const { input, output, cache, contextLimit } = info.tokens
      const used = input + output + cache.read + cache.write
      return {
        ...facts,
        model: `${info.providerId}/${info.modelId}`,
        agent: info.agent,
        ...(used > 0 && { context: used }),
        ...(contextLimit !== undefined && contextLimit > 0 && { limit: contextLimit }),
      }
    }
    default:
      return facts
  }
}

export interface Standing {
  readonly isAway: boolean
  readonly waiting: number
}

/** Said while nothing else is known. */
const BEGINNING = '/help lists commands, Ctrl-D leaves'

/** One row; what has no room is left out, what matters least first. */
export function statusLine(facts: Facts, { isAway, waiting }: Standing, columns: number): Line {
  const { model, agent, context, limit, cost, queued, title } = facts
  const share =
    context === undefined
      ? undefined
      : limit === undefined
        ? `${thousands(context)} tokens`
        : `${Math.round((100 * context) / limit)} % of ${thousands(limit)}`
  const pieces: readonly (readonly [weight: number, text: string | undefined, style: 'dim' | 'yellow' | 'red'])[] = [
    [1, isAway ? 'the server is away; connecting again' : undefined, 'red'],
    [2, waiting > 0 ? `${waiting} to answer` : undefined, 'yellow'],
    [3, queued > 0 ? `${queued} queued` : undefined, 'yellow'],
    [4, model === undefined ? undefined : printable(model), 'dim'],
    [6, agent === undefined ? undefined : printable(agent), 'dim'],
    [5, share, 'dim'],
    [7, cost > 0 ? `cost ${cost.toFixed(4)}` : undefined, 'dim'],
    [8, title === undefined ? undefined : printable(title), 'dim'],
  ]
  if (model === undefined && !isAway && waiting === 0) return [span(clip(BEGINNING, columns - 1), 'dim')]
  const there = pieces.flatMap(([weight, text, style]) => (text === undefined || text === '' ? [] : [{ weight, text, style }]))
  const fits = new Set<number>()
  let left = columns - 1
  for (const { weight, text } of there.toSorted((a, b) => a.weight - b.weight)) {
    const width = widthOf(text) + (fits.size > 0 ? 3 : 0)
    if (width > left) continue
    fits.add(weight)
    left -= width
  }
  return there
    .filter(({ weight }) => fits.has(weight))
    .flatMap(({ text, style }, index) => (index === 0 ? [span(text, style)] : [span(' · ', 'dim'), span(text, style)]))
}

function thousands(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k`
}

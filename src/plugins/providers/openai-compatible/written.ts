/**
 * The messages of a request as JSON. A conversation grows at its end: what was written for the step before stands, and a step writes what is new.
 *
 * I1 What is kept is the same whoever asks: it has no content that is held for one request, and ends where nothing that follows changes it.
 * I2 The messages of the system, which stand before, are written in each step: they are none of the conversation.
 */
import { createGrown } from '../../../kernel/grown.js'
import type { ModelMessage } from '../../../ports/provider-adapter.js'
import { wellFormed } from '../exchange/json.js'
import { messagesOf } from './messages.js'
import { type PromptRules, toPrompt } from './prompt.js'

export interface Writing extends PromptRules {
  /** Stands in the JSON where something is held. */
  readonly mark: string
  /** Of all that decides how a message is written. */
  readonly key: string
}

/** At the end stands what is said for one step alone: that it is the last, or that the answer was cut off. */
const PASSING = 2

const kept = createGrown<ModelMessage, { readonly key: string; readonly json: string }>()

/** A JSON array. */
export function written(messages: readonly ModelMessage[], writing: Writing): string {
  const start = messages.findIndex(({ role }) => role !== 'system')
  const said = start === -1 ? [] : messages.slice(start)
  const known = kept.of(said)
  const before = known?.made.key === writing.key ? { from: known.length, json: known.made.json } : { from: 0, json: '' }
  const upTo = lastCut(said, before.from)
  const json = joined(before.json, write(said.slice(before.from, upTo), writing))
  const { key, mark } = writing
  if (upTo > before.from && !json.includes(mark, before.json.length)) kept.keep(said.slice(0, upTo), { key, json })
  return `[${joined(write(start === -1 ? messages : messages.slice(0, start), writing), json, write(said.slice(upTo), writing))}]`
}

/** The last place, not before `least`, at which the messages can be parted: after one that is sent for sure, and that nothing is added to. */
function lastCut(messages: readonly ModelMessage[], least: number): number {
  for (let at = messages.length - PASSING; at > least; at--) {
    const before = messages[at - 1]
    const next = messages[at]
    if (next?.role === 'system') continue
    if (before?.role === 'user') return at
    if (before?.role === 'assistant' && before.content.some((part) => part.type === 'text' && part.text !== '')) return at
    if (before?.role === 'assistant' && before.content.some((part) => part.type === 'tool-call')) return at
  }
  return least
}

/** The messages one after the other, without the brackets. */
function write(messages: readonly ModelMessage[], writing: Writing): string {
  return messages.length === 0 ? '' : wellFormed(JSON.stringify(messagesOf(toPrompt(messages, writing))).slice(1, -1))
}

function joined(...pieces: readonly string[]): string {
  return pieces.filter((piece) => piece !== '').join()
}

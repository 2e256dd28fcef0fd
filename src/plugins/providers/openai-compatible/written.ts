/**
 * The messages of a request as JSON. A conversation grows at its end: the bytes written for the step before stand, and a step writes what is new.
 *
 * I1 What is kept is the same whoever asks: it has no content that is held for one request, and ends where nothing that follows changes it.
 * I2 The messages of the system, which stand before, are none of the conversation: they are kept by themselves, for as long as they are the same.
 */
import { createGrown } from '../../../kernel/grown.js'
import type { ModelMessage } from '../../../ports/provider-adapter.js'
import { wellFormed } from '../exchange/json.js'
import { type Bytes, type Growing, grownBy, type Piece, textOf } from '../exchange/pieces.js'
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

const kept = createGrown<ModelMessage, { readonly key: string; readonly json: Growing }>()

/** A JSON array, well-formed. */
export function written(messages: readonly ModelMessage[], writing: Writing): Piece[] {
  const start = messages.findIndex(({ role }) => role !== 'system')
  const systems = start === -1 ? messages : messages.slice(0, start)
  const said = start === -1 ? [] : messages.slice(start)
  const standing = standingOf(said, writing)
  return listOf([systemsIn(systems, writing), ...standing.pieces, write(said.slice(standing.upTo), writing)])
}

const keptSystems = createGrown<ModelMessage, { readonly key: string; readonly bytes: Bytes }>()

function systemsIn(systems: readonly ModelMessage[], writing: Writing): Piece {
  const { key, mark } = writing
  const known = keptSystems.of(systems)
  if (known?.length === systems.length && known.made.key === key) return known.made.bytes
  const json = write(systems, writing)
  if (systems.length === 0 || json.includes(mark)) return json // I1
  const bytes = Buffer.from(json)
  keptSystems.keep(systems, { key, bytes })
  return bytes
}

/** What is written of the beginning of a conversation, and how far it goes. */
function standingOf(said: readonly ModelMessage[], writing: Writing): { readonly pieces: readonly Piece[]; readonly upTo: number } {
  const { key, mark } = writing
  const known = kept.of(said)
  const before = known?.made.key === key ? known : undefined
  const from = before?.length ?? 0
  const stood = before && textOf(before.made.json)
  const upTo = lastCut(said, from)
  if (upTo === from) return { pieces: stood === undefined ? [] : [stood], upTo }
  const further = write(said.slice(from, upTo), writing)
  if (further.includes(mark)) return { pieces: stood === undefined ? [further] : [stood, further], upTo } // I1
  const json = grownBy(before?.made.json, before === undefined ? further : `,${further}`)
  kept.keep(said.slice(0, upTo), { key, json })
  return { pieces: [textOf(json)], upTo }
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

function listOf(pieces: readonly Piece[]): Piece[] {
  const items = pieces.filter(({ length }) => length > 0)
  return ['[', ...items.flatMap((piece, index) => (index === 0 ? [piece] : [',', piece])), ']']
}

/**
 * What a provider said of the parts of its answer, such as signatures and ids, and where its texts stood among them: kept with the parts, and
 * given back unchanged (sessions-events §3.5). A step has one text part before all others, so of an answer that is not of that form the text
 * keeps where each passage belongs.
 */
import { isRecord } from '../../../protocol/text/json.js'
import type { Part, TextPart, ToolPart } from '../../../protocol/message/message.js'

/** A passage of the text of a step. */
interface Passage {
  /** How many reasonings and calls stand before it. */
  readonly at: number
  /** Where it begins in the text, in characters. */
  readonly from: number
  readonly metadata?: unknown
}

export interface Passages {
  start(id: string, at: number, from: number): void
  end(id: string, metadata: unknown): void
  clear(): void
  /** As they are kept with a text of this length; undefined = it is one passage before all others, and nothing was said of it. */
  kept(length: number): readonly Passage[] | undefined
}

export function createPassages(): Passages {
  const passages = new Map<string, Passage>()
  return {
    start(id, at, from) {
      if (!passages.has(id)) passages.set(id, { at, from })
    },
    end(id, metadata) {
      const passage = passages.get(id)
      if (passage !== undefined && metadata !== undefined) passages.set(id, { ...passage, metadata })
    },
    clear: () => passages.clear(),
    kept(length) {
      const all = [...passages.values()]
      const told = all.filter(({ from }, index) => from < (all[index + 1]?.from ?? length))
      const isPlain = told.every(({ at, metadata }) => at === 0 && metadata === undefined)
      return isPlain ? undefined : told
    },
  }
}

/** The passages of a stored text, in order; a text without any is one that stands before all others. */
export function passagesOf(part: TextPart): readonly (Passage & { readonly text: string })[] {
  const kept: unknown = isRecord(part['metadata']) ? part['metadata']['passages'] : undefined
  const known = Array.isArray(kept) ? kept.filter(isPassage) : []
  if (known.length === 0) return [{ at: 0, from: 0, text: part.text }]
  return known.map((passage, index) => ({
    ...passage,
    text: part.text.slice(index === 0 ? 0 : passage.from, known[index + 1]?.from ?? part.text.length),
  }))
}

function isPassage(value: unknown): value is Passage {
  return isRecord(value) && Number.isInteger(value['at']) && Number.isInteger(value['from'])
}

/** What a provider said of a call; `executed` = it made the call itself, and `result` is what it said of the result. */
export interface SaidOfCall {
  readonly call?: unknown
  readonly executed?: true
  readonly result?: unknown
}

export function saidOfCall(part: ToolPart): SaidOfCall {
  const said: unknown = isRecord(part.metadata) ? part.metadata['provider'] : undefined
  return isRecord(said) ? said : {}
}

/** The metadata of a part with what was said of its call; undefined = there is none. */
export function withSaid(metadata: Readonly<Record<string, unknown>>, said: SaidOfCall | undefined): { metadata?: unknown } {
  const whole = said === undefined || Object.keys(said).length === 0 ? metadata : { ...metadata, provider: said }
  return Object.keys(whole).length === 0 ? {} : { metadata: whole }
}

/** Parts before which passages of text are counted. */
export function isCounted(part: Part): boolean {
  return part.type === 'reasoning' || part.type === 'tool'
}

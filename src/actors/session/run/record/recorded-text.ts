/** Text and thoughts of a step, delta by delta. */
import { SvcError } from '../../../../protocol/errors.js'
import { LIMITS } from '../../../../protocol/limits.js'
import type { ReasoningPart, TextPart } from '../../../../protocol/message/message.js'
import { createJoiner, wellFormed } from '../../../../protocol/text/well-formed.js'
import type { Change } from '../../../events/journal.js'
import type { TextReplacement, TextSoFar } from '../../../events/live.js'
import { isCounted } from '../../history/said-by-provider.js'
import { grown, isOpen, now, place, put, record, type Recording, recordAlone, show } from './recording.js'

/** Bytes of a text inside the JSON of its event; the rest of the event has the remaining room. */
const TEXT_BYTES = LIMITS.events.recordBytes - 8192

/** What a delta adds to the text of a part, the same as JSON, and how long the text is by now inside its event. */
export function grow(
  { growth }: Recording,
  id: string,
  delta: string,
): { readonly more: string; readonly json: string; readonly bytes: number } {
  const known = growth.get(id) ?? { joiner: createJoiner(), bytes: 0 }
  growth.set(id, known)
  const more = known.joiner.push(delta)
  const json = JSON.stringify(more)
  known.bytes += Buffer.byteLength(json) - 2
  return { more, json, bytes: known.bytes }
}

export function addText(recording: Recording, delta: string): void {
  const part = textPart(recording)
  if (part !== undefined) append(recording, part, delta)
}

export function startPassage(recording: Recording, id: string): void {
  const before = [...recording.parts.values()].filter(isCounted).length
  recording.passages.start(id, before, textPart(recording)?.text.length ?? 0)
}

/**
 * What is said from here on stands after all that there is, in a part of its own (subsystems l.4). All texts of a step have the room of one event
 * together.
 */
export function startText(recording: Recording): void {
  const { core, parts, growth } = recording
  const before = textPart(recording)
  if (before === undefined || [...parts.keys()].at(-1) === before.id || textsOf(recording).length >= LIMITS.run.textsPerTurn) return
  const at = now(recording)
  const next: TextPart = { ...place(recording), type: 'text', text: '', time: { start: at } }
  core.journal.commit('process', (change) => {
    closeText(recording, change, at)
    change.after(() => {
      recording.dirty.delete(before.id)
      growth.set(next.id, { joiner: createJoiner(), bytes: growth.get(before.id)?.bytes ?? 0 })
      recording.textId = next.id
    })
    put(recording, change, next)
  })
}

function textsOf({ parts }: Recording): readonly TextPart[] {
  return [...parts.values()].filter((part) => part.type === 'text').filter((part) => part['envelope'] === undefined)
}

/** All that was said so far, in order. */
export function saidTexts(recording: Recording): readonly TextSoFar[] {
  return textsOf(recording).map(({ id, text }) => ({ messageId: recording.messageId, partId: id, text }))
}

/** The text so far. */
export function openText(recording: Recording): TextSoFar | undefined {
  const part = textPart(recording)
  return part === undefined ? undefined : { messageId: recording.messageId, partId: part.id, text: part.text }
}

/** See `Live.replaceText`. Where passages stood in the text is forgotten with it: it is one of its own. */
export function replaceText(recording: Recording, { partId, length, text }: TextReplacement): number {
  const part = textsOf(recording).find(({ id }) => id === partId)
  if (part === undefined || !isOpen(recording)) throw new SvcError('resource.conflict', 'the text is closed: it stays as it was recorded')
  if (part.text.length < length)
    throw new SvcError('resource.conflict', `the text has ${part.text.length} characters by now, and not ${length}`)
  const next = { ...part, text: wellFormed(text + part.text.slice(length)) }
  const bytes = Buffer.byteLength(JSON.stringify(next.text)) - 2
  if (bytes > TEXT_BYTES) throw new SvcError('request.unprocessable', 'The text would have more than 1 MiB.')
  const growth = recording.growth.get(part.id)
  if (growth !== undefined) growth.bytes = bytes
  else recording.growth.set(part.id, { joiner: createJoiner(), bytes })
  recording.passages.clear()
  if (part.id !== recording.textId) {
    record(recording, next)
    return next.text.length
  }
  grown(recording, next)
  show(recording, next)
  return next.text.length
}

export function startThought(recording: Recording, id: string): void {
  const { thoughts } = recording
  if (thoughts.has(id) || isFull(recording)) return
  const part: ReasoningPart = { ...place(recording), type: 'reasoning', text: '', time: { start: now(recording) } }
  recordAlone(recording, part, () => {
    thoughts.set(id, part.id)
    recording.lastThought = part.id
  })
}

export function addThought(recording: Recording, id: string, delta: string): void {
  const part = thoughtPart(recording, id)
  if (part !== undefined && part.time.end === undefined) append(recording, part, delta)
}

export function endThought(recording: Recording, id: string, metadata?: unknown): void {
  const part = thoughtPart(recording, id)
  if (part === undefined || part.time.end !== undefined) return
  if (part.id === recording.lastThought && isFull(recording)) return
  recordAlone(recording, endedThought(recording, part, metadata), () => recording.dirty.delete(part.id))
}

/** Thoughts that nobody ended, as they end with the step. */
export function endedThoughts(recording: Recording): readonly ReasoningPart[] {
  return [...recording.thoughts.keys()].flatMap((id) => {
    const part = thoughtPart(recording, id)
    return part === undefined || part.time.end !== undefined ? [] : [endedThought(recording, part)]
  })
}

/** The text as it is in the end; one that says nothing is taken back. Undefined = there is none. */
export function endedText(recording: Recording, at: number): { readonly kept: TextPart } | { readonly taken: TextPart } | undefined {
  const text = textPart(recording)
  if (text === undefined) return undefined
  const whole = text.text + restOf(recording, text.id)
  if (whole === '') return { taken: text }
  const passages = recording.passages.kept(whole.length)
  const time = { start: text.time?.start ?? at, end: at }
  return { kept: { ...text, text: whole, time, ...(passages === undefined ? {} : { metadata: { passages } }) } }
}

/** Inside the caller's commit. */
export function takeBack({ core, sessionId, messageId }: Recording, change: Change, part: TextPart): void {
  core.store.messages.removePart(part.id)
  change.emit('message.part.removed', { sessionID: sessionId, messageID: messageId, partID: part.id })
}

function closeText(recording: Recording, change: Change, at: number): void {
  const ended = endedText(recording, at)
  if (ended === undefined) return
  if ('kept' in ended) return put(recording, change, ended.kept)
  takeBack(recording, change, ended.taken)
  change.after(() => recording.parts.delete(ended.taken.id))
}

function append(recording: Recording, part: TextPart | ReasoningPart, delta: string): void {
  const { more, json, bytes } = grow(recording, part.id, delta)
  if (more === '') return
  if (bytes > TEXT_BYTES) throw new SvcError('request.unprocessable', 'The model wrote more than 1 MiB of text in one step.')
  const { core, sessionId, messageId } = recording
  grown(recording, { ...part, text: part.text + more })
  core.journal.publishDelta(sessionId, messageId, part.id, part.type, json)
}

function textPart({ parts, textId }: Recording): TextPart | undefined {
  const part = parts.get(textId)
  return part?.type === 'text' ? part : undefined
}

function thoughtPart(recording: Recording, id: string): ReasoningPart | undefined {
  const { parts, thoughts, lastThought } = recording
  const part = parts.get(thoughts.get(id) ?? (isFull(recording) ? lastThought : ''))
  return part?.type === 'reasoning' ? part : undefined
}

function endedThought(recording: Recording, part: ReasoningPart, metadata?: unknown): ReasoningPart {
  const time = { ...part.time, end: now(recording) }
  return { ...part, text: part.text + restOf(recording, part.id), time, ...(metadata === undefined ? {} : { metadata }) }
}

function isFull({ thoughts }: Recording): boolean {
  return thoughts.size >= LIMITS.run.thoughtsPerStep
}

function restOf({ growth }: Recording, id: string): string {
  return growth.get(id)?.joiner.rest() ?? ''
}

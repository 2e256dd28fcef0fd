/**
 * The recorder of one run: the only writer of its parts (laws §4.6).
 *
 * I1 Every snapshot and delta of a run passes here in call order, so no snapshot overtakes a delta.
 * I2 Text is flushed to its row when its part closes, before a tool starts, and at most `flushInterval` after it arrived.
 * I3 Once a step is closed nothing writes to it: late deltas and results are dropped.
 * I4 Memory follows the rows: what a commit changes is taken over after it, so a failed commit changes nothing.
 * I5 Text is well-formed and bounded: what one text part says fits into one event.
 */
import { createAlarm } from '../../../kernel/alarm.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { AssistantInfo, Part, ReasoningPart, TextPart, ToolPart, ToolState } from '../../../protocol/message/message.js'
import type { TokenUsage } from '../../../protocol/message/token-usage.js'
import type { Change } from '../../events/journal.js'
import type { ToolResult } from '../../../ports/plugin.js'
import { createJoiner, type Joiner } from '../../../protocol/text/well-formed.js'
import type { SessionCore } from '../state/core.js'
import { fileParts, metadataOf, settledMetadata } from './call-metadata.js'
import { ABORTED_CALL } from '../history/interrupted-part.js'
import { createPassages, isCounted, type SaidOfCall, withSaid } from '../history/said-by-provider.js'

/** Bytes of a text inside the JSON of its event; the rest of the event has the remaining room. */
const TEXT_BYTES = LIMITS.events.recordBytes - 8192

interface StepEnd {
  readonly finish: string
  readonly tokens: TokenUsage
  readonly cost: number
  readonly error?: { readonly message: string; readonly interrupted?: true }
}

/** One assistant message while it is being generated. */
export interface StepRecorder {
  readonly info: AssistantInfo
  /** Throws `request.unprocessable` when the text outgrows one event, as `reasoning` does. */
  text(delta: string): void
  /** Passages of the text, of a provider to which their places matter. */
  textStarted(id: string): void
  textEnded(id: string, metadata?: unknown): void
  reasoningStarted(id: string): void
  reasoning(id: string, delta: string): void
  reasoningEnded(id: string, metadata?: unknown): void
  callStarted(callId: string, tool: string): void
  callInput(callId: string, delta: string): void
  /** What the provider says of a call, before anything else of it is recorded. */
  callSaid(callId: string, said: SaidOfCall): void
  /** False = the call has run or failed already and must not be executed. */
  callAccepted(callId: string, tool: string, input: unknown): boolean
  /** The call is about to change files: kept on its part until it is settled, without an event. */
  callChanging(callId: string): void
  callProgress(callId: string, metadata: Readonly<Record<string, unknown>>): void
  callCompleted(callId: string, result: ToolResult): void
  /** Also for calls that were never accepted. */
  callFailed(callId: string, tool: string, error: string, input?: unknown, metadata?: Readonly<Record<string, unknown>>): void
  readonly calls: number
  /** How many of them the provider made itself. */
  readonly executed: number
  knows(callId: string): boolean
  /** Notes that the provider's stream has ended. */
  streamed(): void
  /** Takes back what a failed attempt produced, in the rows and in the stream, and begins the message anew, under the same id. */
  restart(): void
  /** Ends every open part and the message, inside the caller's commit. */
  close(tx: Change, end: StepEnd): void
  /** Takes the message back, inside the caller's commit: the step is made anew under another id. */
  discard(tx: Change): void
  readonly closed: boolean
}

export function beginStep(core: SessionCore, tx: Change, opened: AssistantInfo): StepRecorder {
  const { store, journal, effects, live } = core
  const { id: messageId, sessionId } = opened
  const now = () => effects.clock.now()
  const place = () => ({ id: effects.ids.next('prt'), sessionId, messageId })
  let info = opened
  /** Over once the step is closed (I3). */
  const flushing = createAlarm(effects.clock, flush)
  /** Parts in order, by id; parts are values and are replaced, never changed. */
  const parts = new Map<string, Part>()
  let textId = ''
  /** Ids of parts by the names the provider uses. */
  const reasonings = new Map<string, string>()
  let lastThought = ''
  const isFull = () => reasonings.size >= LIMITS.run.thoughtsPerStep
  const calls = new Map<string, string>()
  /** Parts whose rows are older than they are. */
  const dirty = new Set<string>()
  const shownInput = new Map<string, number>()
  const passages = createPassages()
  const saidOf = new Map<string, SaidOfCall>()
  const growth = new Map<string, { readonly joiner: Joiner; bytes: number }>()

  let removeLive: () => void = () => undefined
  const stored = store.messages.append(info, open(tx))
  tx.emitMessage(stored.info)
  for (const part of stored.parts) tx.emitPart(part, now())
  tx.after(() => {
    removeLive = live.add(messageId, { sessionId, info: () => info, parts: () => [...parts.values()] })
  })

  /** Begins the message: from here on its parts are these, which the caller stores and tells of. */
  function open(change: Change): Part[] {
    const text: TextPart = { ...place(), type: 'text', text: '', time: { start: now() } }
    const fresh: Part[] = [{ ...place(), type: 'step-start' }, text]
    change.after(() => {
      for (const known of [parts, reasonings, calls, dirty, shownInput, growth, saidOf, passages]) known.clear()
      textId = text.id
      for (const part of fresh) parts.set(part.id, part)
    })
    return fresh
  }

  function textPart(): TextPart | undefined {
    const part = parts.get(textId)
    return part?.type === 'text' ? part : undefined
  }

  function reasoningPart(id: string): ReasoningPart | undefined {
    const part = parts.get(reasonings.get(id) ?? (isFull() ? lastThought : ''))
    return part?.type === 'reasoning' ? part : undefined
  }

  function callPart(callId: string): ToolPart | undefined {
    const part = parts.get(calls.get(callId) ?? '')
    return part?.type === 'tool' ? part : undefined
  }

  const isOpen = (state: ToolState | undefined) => state === undefined || state.status === 'pending' || state.status === 'running'

  function put(change: Change, part: Part, keep?: () => void): void {
    change.emitPart(store.messages.putPart(part), now())
    change.after(() => {
      parts.set(part.id, part)
      keep?.()
    })
  }

  function record(part: Part, keep?: () => void): void {
    if (flushing.isOver) return
    journal.commit('process', (change) => {
      flushRows(change)
      put(change, part, keep)
    })
  }

  /** As `record`, for what starts no tool: the text beside it may wait for its own turn (I2). */
  function recordAlone(part: Part, keep: () => void): void {
    journal.commit('process', (change) => put(change, part, keep))
  }

  /** Text so far into its rows, without an event: for whoever reads after a crash. */
  function flushRows(change: Change): void {
    for (const id of dirty) {
      const part = parts.get(id)
      if (part !== undefined) store.messages.putPart(part)
    }
    change.after(() => dirty.clear())
  }

  function scheduleFlush(): void {
    if (!flushing.isSet) flushing.set(LIMITS.store.flushInterval)
  }

  function flush(): void {
    if (dirty.size === 0) return
    try {
      journal.commit('process', flushRows)
    } catch (error) {
      effects.log.warn('streamed text could not be stored yet', { sessionId, cause: String(error) })
      if (!(error instanceof SvcError && error.code === 'lifecycle.closed')) scheduleFlush()
    }
  }

  /** What a delta adds to the text of a part, the same as JSON, and how long the text is by now inside its event. */
  function grow(id: string, delta: string): { readonly more: string; readonly json: string; readonly bytes: number } {
    const known = growth.get(id) ?? { joiner: createJoiner(), bytes: 0 }
    growth.set(id, known)
    const more = known.joiner.push(delta)
    const json = JSON.stringify(more)
    known.bytes += Buffer.byteLength(json) - 2
    return { more, json, bytes: known.bytes }
  }

  const restOf = (id: string) => growth.get(id)?.joiner.rest() ?? ''

  function append(part: TextPart | ReasoningPart, delta: string): void {
    const { more, json, bytes } = grow(part.id, delta)
    if (more === '') return
    if (bytes > TEXT_BYTES) throw new SvcError('request.unprocessable', 'The model wrote more than 1 MiB of text in one step.')
    parts.set(part.id, { ...part, text: part.text + more })
    dirty.add(part.id)
    journal.publishDelta(sessionId, messageId, part.id, part.type, json)
    scheduleFlush()
  }

  function closeCalls(change: Change): void {
    for (const callId of calls.keys()) {
      const part = callPart(callId)
      if (part === undefined || !isOpen(part.state)) continue
      const start = part.state.status === 'running' ? part.state.time.start : now()
      const metadata = { ...metadataOf(part), interrupted: true }
      put(change, {
        ...part,
        metadata,
        state: { status: 'error', input: part.state.input, error: ABORTED_CALL, time: { start, end: now() } },
      })
    }
  }

  function endedReasoning(part: ReasoningPart, metadata?: unknown): ReasoningPart {
    const time = { ...part.time, end: now() }
    return { ...part, text: part.text + restOf(part.id), time, ...(metadata === undefined ? {} : { metadata }) }
  }

  return {
    get info() {
      return info
    },
    get closed() {
      return flushing.isOver
    },
    get calls() {
      return calls.size
    },
    get executed() {
      return [...saidOf.values()].filter(({ executed }) => executed).length
    },
    knows: (callId) => calls.has(callId),
    textStarted(id) {
      const before = [...parts.values()].filter(isCounted).length
      passages.start(id, before, textPart()?.text.length ?? 0)
    },
    textEnded: (id, metadata) => passages.end(id, metadata),
    callSaid: (callId, said) => void saidOf.set(callId, { ...saidOf.get(callId), ...said }),
    text(delta) {
      const part = textPart()
      if (!flushing.isOver && part !== undefined) append(part, delta)
    },
    reasoningStarted(id) {
      if (flushing.isOver || reasonings.has(id) || isFull()) return
      const part: ReasoningPart = { ...place(), type: 'reasoning', text: '', time: { start: now() } }
      recordAlone(part, () => {
        reasonings.set(id, part.id)
        lastThought = part.id
      })
    },
    reasoning(id, delta) {
      const part = reasoningPart(id)
      if (!flushing.isOver && part !== undefined && part.time.end === undefined) append(part, delta)
    },
    reasoningEnded(id, metadata) {
      const part = reasoningPart(id)
      if (flushing.isOver || part === undefined || part.time.end !== undefined) return
      if (part.id === lastThought && isFull()) return
      recordAlone(endedReasoning(part, metadata), () => dirty.delete(part.id))
    },
    callStarted(callId, tool) {
      if (flushing.isOver || calls.has(callId)) return
      const part: ToolPart = { ...place(), type: 'tool', tool, callId, state: { status: 'pending', input: {}, raw: '' } }
      calls.set(callId, part.id)
      parts.set(part.id, part)
      journal.publish('message.part.updated', { sessionID: sessionId, part, time: now() })
    },
    callInput(callId, delta) {
      const part = callPart(callId)
      if (flushing.isOver || part?.state.status !== 'pending') return
      const { more, bytes } = grow(part.id, delta)
      if (bytes > LIMITS.run.callBytes) return
      const next: ToolPart = { ...part, state: { ...part.state, raw: part.state.raw + more } }
      parts.set(part.id, next)
      const at = now()
      if (at - (shownInput.get(callId) ?? 0) < LIMITS.run.toolInputInterval) return
      shownInput.set(callId, at)
      journal.publish('message.part.updated', { sessionID: sessionId, part: next, time: at })
    },
    callAccepted(callId, tool, input) {
      const part = callPart(callId)
      if (flushing.isOver || (part !== undefined && part.state.status !== 'pending')) return false
      const known = part ?? { ...place(), type: 'tool' as const, tool, callId }
      const said = withSaid(part === undefined ? {} : metadataOf(part), saidOf.get(callId))
      record({ ...known, ...said, state: { status: 'running', input, time: { start: now() } } }, () => calls.set(callId, known.id))
      return true
    },
    callChanging(callId) {
      const part = callPart(callId)
      if (flushing.isOver || part?.state.status !== 'running') return
      const next: ToolPart = { ...part, metadata: { ...metadataOf(part), changing: true } }
      journal.commit('process', (change) => {
        store.messages.putPart(next)
        change.after(() => parts.set(next.id, next))
      })
    },
    callProgress(callId, metadata) {
      const part = callPart(callId)
      if (flushing.isOver || part?.state.status !== 'running') return
      const next: ToolPart = { ...part, metadata: { ...metadataOf(part), ...metadata } }
      parts.set(part.id, next)
      journal.publish('message.part.updated', { sessionID: sessionId, part: next, time: now() })
    },
    callCompleted(callId, result) {
      const part = callPart(callId)
      if (flushing.isOver || part?.state.status !== 'running') return
      const { input, time } = part.state
      const metadata = { ...result.metadata, ...(result.attachments === undefined ? {} : { attachments: fileParts(result) }) }
      const { metadata: _progress, ...settled } = part
      const { output, title } = result
      record({
        ...settled,
        ...withSaid({}, saidOf.get(callId)),
        state: { status: 'completed', input, output, title, metadata, time: { ...time, end: now() } },
      })
    },
    callFailed(callId, tool, error, input, metadata) {
      const known = callPart(callId)
      if (flushing.isOver || !isOpen(known?.state)) return
      const start = known?.state.status === 'running' ? known.state.time.start : now()
      const part = known ?? { ...place(), type: 'tool' as const, tool, callId }
      const told = metadata ?? (known === undefined ? {} : settledMetadata(known))
      const shown = withSaid(told, saidOf.get(callId))
      const state = { status: 'error' as const, input: input ?? known?.state.input ?? {}, error, time: { start, end: now() } }
      record({ ...part, ...shown, state }, () => calls.set(callId, part.id))
    },
    streamed() {
      info = { ...info, time: { ...info.time, streamed: now() } }
    },
    restart() {
      if (flushing.isOver) return
      journal.commit('process', (change) => {
        store.messages.removeParts(messageId)
        for (const partID of parts.keys()) change.emit('message.part.removed', { sessionID: sessionId, messageID: messageId, partID })
        for (const part of open(change)) change.emitPart(store.messages.putPart(part), now())
      })
    },
    discard(change) {
      if (flushing.isOver) return
      store.messages.remove(messageId)
      change.emit('message.removed', { sessionID: sessionId, messageID: messageId })
      change.after(() => {
        flushing.end()
        removeLive()
        core.transcripts.forget(sessionId)
      })
    },
    close(change, end) {
      if (flushing.isOver) return
      const at = now()
      closeCalls(change)
      for (const id of reasonings.keys()) {
        const part = reasoningPart(id)
        if (part !== undefined && part.time.end === undefined) put(change, endedReasoning(part))
      }
      const { error } = end
      const ended: AssistantInfo = {
        ...info,
        finish: end.finish,
        tokens: end.tokens,
        cost: end.cost,
        time: { ...info.time, completed: at },
        ...(error === undefined ? {} : { error }),
      }
      change.emitMessage(store.messages.updateInfo(ended))
      closeText(change, at)
      const reason = error?.interrupted === true ? 'aborted' : end.finish
      put(change, { ...place(), type: 'step-finish', reason, tokens: end.tokens, cost: end.cost })
      change.after(() => {
        info = ended
        flushing.end()
        removeLive()
        core.transcripts.append({ info, parts: [...parts.values()] })
      })
    },
  }

  function closeText(change: Change, at: number): void {
    const text = textPart()
    if (text === undefined) return
    const whole = text.text + restOf(text.id)
    if (whole !== '') {
      const kept = passages.kept(whole.length)
      const time = { start: text.time?.start ?? at, end: at }
      put(change, { ...text, text: whole, time, ...(kept === undefined ? {} : { metadata: { passages: kept } }) })
      return
    }
    store.messages.removePart(text.id)
    change.emit('message.part.removed', { sessionID: sessionId, messageID: messageId, partID: text.id })
    change.after(() => parts.delete(text.id))
  }
}

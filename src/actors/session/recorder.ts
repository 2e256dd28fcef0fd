/**
 * The recorder of one run: the only writer of its parts (architecture §4.6).
 *
 * I1 Every snapshot and delta of a run passes here in call order, so no snapshot overtakes a delta.
 * I2 Text is flushed to its row when its part closes, before a tool starts, and at most `flushInterval` after it arrived.
 * I3 Once a step is closed nothing writes to it: late deltas and results are dropped.
 */
import { LIMITS } from '../../protocol/limits.js'
import type { AssistantInfo, Message, Part, ReasoningPart, TextPart, TokenUsage, ToolPart, ToolState } from '../../protocol/message.js'
import type { Change } from '../journal.js'
import type { ToolResult } from '../plugin/native.js'
import type { SessionCore } from './core.js'

export const ABORTED_CALL = 'The tool call was aborted.'

export interface StepEnd {
  readonly finish: string
  readonly tokens: TokenUsage
  readonly cost: number
  readonly error?: { readonly message: string; readonly interrupted?: true }
}

/** One assistant message while it is being generated. */
export interface StepRecorder {
  readonly info: AssistantInfo
  text(delta: string): void
  reasoningStarted(id: string): void
  reasoning(id: string, delta: string): void
  reasoningEnded(id: string, metadata?: unknown): void
  callStarted(callId: string, tool: string): void
  callInput(callId: string, delta: string): void
  callAccepted(callId: string, tool: string, input: unknown): void
  callProgress(callId: string, metadata: Readonly<Record<string, unknown>>): void
  callCompleted(callId: string, result: ToolResult): void
  /** Also for calls that were never accepted. */
  callFailed(callId: string, tool: string, error: string, input?: unknown, metadata?: Readonly<Record<string, unknown>>): void
  knowsCall(callId: string): boolean
  readonly calls: number
  /** Notes that the provider's stream has ended. */
  streamed(): void
  /** Drops what a failed attempt produced and begins the message anew, under the same id. */
  restart(): void
  /** Ends every open part and the message, inside the caller's commit. */
  close(tx: Change, end: StepEnd): void
  readonly closed: boolean
}

export function beginStep(core: SessionCore, tx: Change, opened: AssistantInfo): StepRecorder {
  const { store, journal, effects, live } = core
  const { id: messageId, sessionId } = opened
  const now = () => effects.clock.now()
  let info = opened
  let closed = false
  let parts: Part[] = []
  const place = () => ({ id: effects.ids.next('prt'), sessionId, messageId })
  let text: TextPart = newText()
  let textDirty = false
  const reasonings = new Map<string, ReasoningPart>()
  const dirtyReasonings = new Set<string>()
  const calls = new Map<string, ToolPart>()
  const shownInput = new Map<string, number>()
  let flushTimer: unknown

  function newText(): TextPart {
    return { ...place(), type: 'text', text: '', time: { start: now() } }
  }

  function open(change: Change): void {
    text = newText()
    parts = [{ ...place(), type: 'step-start' }, text]
    for (const part of parts) change.emit('message.part.updated', { sessionID: sessionId, part, time: now() })
  }

  /** Keeps a part in place; parts are values and are replaced, never changed. */
  function keep(part: Part): void {
    const at = parts.findLastIndex((known) => known.id === part.id)
    if (at === -1) parts.push(part)
    else parts[at] = part
  }

  function store1(change: Change, part: Part): void {
    keep(part)
    store.messages.putPart(part)
    change.emit('message.part.updated', { sessionID: sessionId, part, time: now() })
  }

  function record(part: Part): void {
    if (closed) return
    journal.commit('process', (change) => {
      flushRows()
      store1(change, part)
    })
  }

  /** Text so far into its rows, without an event: for whoever reads after a crash. */
  function flushRows(): void {
    if (textDirty) store.messages.putPart(text)
    textDirty = false
    for (const id of dirtyReasonings) {
      const part = reasonings.get(id)
      if (part !== undefined) store.messages.putPart(part)
    }
    dirtyReasonings.clear()
  }

  function scheduleFlush(): void {
    flushTimer ??= effects.clock.setTimeout(() => {
      flushTimer = undefined
      if (closed) return
      store.transact('process', flushRows)
    }, LIMITS.store.flushInterval)
  }

  function setCall(callId: string, part: ToolPart): void {
    calls.set(callId, part)
    record(part)
  }

  function stateOf(callId: string): ToolState | undefined {
    return calls.get(callId)?.state
  }

  const isOpen = (state: ToolState | undefined) => state === undefined || state.status === 'pending' || state.status === 'running'

  open(tx)
  store.messages.append(info, parts)
  const message: Message = { info, parts }
  const removeLive = live.add(messageId, { sessionId, info: () => info, parts: () => [...parts] })

  function closeCalls(change: Change, error: string): void {
    for (const [callId, part] of calls) {
      if (!isOpen(part.state)) continue
      const start = part.state.status === 'running' ? part.state.time.start : now()
      const metadata = { ...metadataOf(part), interrupted: true }
      const ended: ToolPart = { ...part, metadata, state: { status: 'error', input: part.state.input, error, time: { start, end: now() } } }
      calls.set(callId, ended)
      store1(change, ended)
    }
  }

  return {
    get info() {
      return info
    },
    get closed() {
      return closed
    },
    get calls() {
      return calls.size
    },
    knowsCall: (callId) => calls.has(callId),
    text(delta) {
      if (closed || delta === '') return
      text = { ...text, text: text.text + delta }
      keep(text)
      textDirty = true
      journal.publishDelta(sessionId, messageId, text.id, 'text', delta)
      scheduleFlush()
    },
    reasoningStarted(id) {
      if (closed || reasonings.has(id)) return
      const part: ReasoningPart = { ...place(), type: 'reasoning', text: '', time: { start: now() } }
      reasonings.set(id, part)
      record(part)
    },
    reasoning(id, delta) {
      const part = reasonings.get(id)
      if (closed || part === undefined || delta === '') return
      const next: ReasoningPart = { ...part, text: part.text + delta }
      reasonings.set(id, next)
      keep(next)
      dirtyReasonings.add(id)
      journal.publishDelta(sessionId, messageId, part.id, 'reasoning', delta)
      scheduleFlush()
    },
    reasoningEnded(id, metadata) {
      const part = reasonings.get(id)
      if (closed || part === undefined || part.time.end !== undefined) return
      const next: ReasoningPart = { ...part, time: { ...part.time, end: now() }, ...(metadata === undefined ? {} : { metadata }) }
      reasonings.set(id, next)
      dirtyReasonings.delete(id)
      record(next)
    },
    callStarted(callId, tool) {
      if (closed || calls.has(callId)) return
      const part: ToolPart = { ...place(), type: 'tool', tool, callId, state: { status: 'pending', input: {}, raw: '' } }
      calls.set(callId, part)
      keep(part)
      journal.publish('message.part.updated', { sessionID: sessionId, part, time: now() })
    },
    callInput(callId, delta) {
      const part = calls.get(callId)
      if (closed || part?.state.status !== 'pending') return
      const next: ToolPart = { ...part, state: { ...part.state, raw: part.state.raw + delta } }
      calls.set(callId, next)
      keep(next)
      const at = now()
      if (at - (shownInput.get(callId) ?? 0) < LIMITS.run.toolInputInterval) return
      shownInput.set(callId, at)
      journal.publish('message.part.updated', { sessionID: sessionId, part: next, time: at })
    },
    callAccepted(callId, tool, input) {
      if (!isOpen(stateOf(callId))) return
      const known = calls.get(callId) ?? { ...place(), type: 'tool' as const, tool, callId }
      setCall(callId, { ...known, state: { status: 'running', input, time: { start: now() } } })
    },
    callProgress(callId, metadata) {
      const part = calls.get(callId)
      if (closed || part?.state.status !== 'running') return
      const next: ToolPart = { ...part, metadata: { ...metadataOf(part), ...metadata } }
      calls.set(callId, next)
      keep(next)
      journal.publish('message.part.updated', { sessionID: sessionId, part: next, time: now() })
    },
    callCompleted(callId, result) {
      const part = calls.get(callId)
      if (closed || part?.state.status !== 'running') return
      const { input, time } = part.state
      const metadata = { ...result.metadata, ...(result.attachments === undefined ? {} : { attachments: fileParts(result) }) }
      const { metadata: _progress, ...settled } = part
      const state = {
        status: 'completed' as const,
        input,
        output: result.output,
        title: result.title,
        metadata,
        time: { ...time, end: now() },
      }
      setCall(callId, { ...settled, state })
    },
    callFailed(callId, tool, error, input, metadata) {
      const known = calls.get(callId)
      if (closed || !isOpen(known?.state)) return
      const start = known?.state.status === 'running' ? known.state.time.start : now()
      const part = known ?? { ...place(), type: 'tool' as const, tool, callId }
      const shown = metadata === undefined ? {} : { metadata: { ...metadata } }
      setCall(callId, {
        ...part,
        ...shown,
        state: { status: 'error', input: input ?? known?.state.input ?? {}, error, time: { start, end: now() } },
      })
    },
    streamed() {
      info = { ...info, time: { ...info.time, streamed: now() } }
    },
    restart() {
      if (closed) return
      reasonings.clear()
      dirtyReasonings.clear()
      calls.clear()
      shownInput.clear()
      textDirty = false
      journal.commit('process', (change) => {
        store.messages.removeParts(messageId)
        open(change)
        for (const part of parts) store.messages.putPart(part)
      })
    },
    close(change, end) {
      if (closed) return
      const at = now()
      closeCalls(change, ABORTED_CALL)
      for (const [id, part] of reasonings) {
        if (part.time.end !== undefined) continue
        const ended: ReasoningPart = { ...part, time: { ...part.time, end: at } }
        reasonings.set(id, ended)
        store1(change, ended)
      }
      const { error } = end
      info = {
        ...info,
        finish: end.finish,
        tokens: end.tokens,
        cost: end.cost,
        time: { ...info.time, completed: at },
        ...(error === undefined ? {} : { error }),
      }
      store.messages.updateInfo(info)
      change.emit('message.updated', { sessionID: sessionId, info })
      if (text.text === '') {
        parts = parts.filter((part) => part.id !== text.id)
        store.messages.removePart(text.id)
        change.emit('message.part.removed', { sessionID: sessionId, messageID: messageId, partID: text.id })
      } else {
        text = { ...text, time: { start: text.time?.start ?? at, end: at } }
        store1(change, text)
      }
      const reason = error?.interrupted === true ? 'aborted' : end.finish
      store1(change, { ...place(), type: 'step-finish', reason, tokens: end.tokens, cost: end.cost })
      change.after(() => {
        closed = true
        effects.clock.clearTimeout(flushTimer)
        removeLive()
        core.transcripts.append({ ...message, info, parts })
      })
    },
  }
}

function metadataOf(part: ToolPart): Readonly<Record<string, unknown>> {
  return typeof part.metadata === 'object' && part.metadata !== null ? (part.metadata as Readonly<Record<string, unknown>>) : {}
}

function fileParts(result: ToolResult): readonly unknown[] {
  return (result.attachments ?? []).map((file) => ({ type: 'file', ...file }))
}

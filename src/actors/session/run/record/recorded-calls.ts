/** Tool calls of a step, from the first word of their input to their end. */
import { nextTurn } from '../../../../kernel/pause.js'
import { LIMITS } from '../../../../protocol/limits.js'
import type { TextPart, ToolPart, ToolState } from '../../../../protocol/message/message.js'
import type { ToolResult } from '../../../../ports/plugin.js'
import { ABORTED_CALL } from '../../history/interrupted-part.js'
import { withSaid } from '../../history/said-by-provider.js'
import { fileParts, metadataOf, settledMetadata } from './call-metadata.js'
import { grow } from './recorded-text.js'
import { isOpen, now, place, put, record, type Recording, recordWithEnd, show } from './recording.js'

type Metadata = Readonly<Record<string, unknown>>

export function startCall(recording: Recording, callId: string, tool: string): void {
  if (recording.calls.has(callId)) return
  const part: ToolPart = { ...place(recording), type: 'tool', tool, callId, state: { status: 'pending', input: {}, raw: '' } }
  recording.calls.set(callId, part.id)
  show(recording, part)
}

export function addInput(recording: Recording, callId: string, delta: string): void {
  const part = callPart(recording, callId)
  if (part?.state.status !== 'pending') return
  const { more, bytes } = grow(recording, part.id, delta)
  if (bytes > LIMITS.run.callBytes) return
  const next: ToolPart = { ...part, state: { ...part.state, raw: part.state.raw + more } }
  recording.parts.set(part.id, next)
  const at = now(recording)
  if (at - (recording.shownInput.get(callId) ?? 0) < LIMITS.run.toolInputInterval) return
  recording.shownInput.set(callId, at)
  show(recording, next, at)
}

/** False = it has run or failed already. */
export function acceptCall(recording: Recording, callId: string, tool: string, input: unknown): boolean {
  const part = callPart(recording, callId)
  if (part !== undefined && part.state.status !== 'pending') return false
  const known = part ?? { ...place(recording), type: 'tool' as const, tool, callId }
  const said = withSaid(part === undefined ? {} : metadataOf(part), recording.saidOf.get(callId))
  const state = { status: 'running' as const, input, time: { start: now(recording) } }
  record(recording, { ...known, ...said, state }, () => recording.calls.set(callId, known.id))
  return true
}

/** Kept without an event. */
export function noteChanging(recording: Recording, callId: string): void {
  const part = callPart(recording, callId)
  if (part?.state.status !== 'running') return
  const { core, parts } = recording
  const next: ToolPart = { ...part, metadata: { ...metadataOf(part), changing: true } }
  core.journal.commit('process', (change) => {
    core.store.messages.putPart(next)
    change.after(() => parts.set(next.id, next))
  })
}

export function showProgress(recording: Recording, callId: string, metadata: Metadata): void {
  const part = callPart(recording, callId)
  if (part?.state.status === 'running') show(recording, { ...part, metadata: { ...metadataOf(part), ...metadata } })
}

export function completeCall(recording: Recording, callId: string, result: ToolResult): void {
  const part = callPart(recording, callId)
  if (part?.state.status !== 'running') return
  const { input, time } = part.state
  const metadata = { ...result.metadata, ...(result.attachments === undefined ? {} : { attachments: fileParts(result) }) }
  const { metadata: _progress, ...settled } = part
  const { output, title } = result
  const completed: ToolPart = {
    ...settled,
    ...withSaid({}, recording.saidOf.get(callId)),
    state: { status: 'completed', input, output, title, metadata, time: { ...time, end: now(recording) } },
  }
  if (result.parts === undefined && isLastOpen(recording, callId)) return recordWithEnd(recording, part, completed)
  record(recording, completed)
  for (const shown of result.parts ?? []) record(recording, enveloped(recording, shown))
}

/** The model has ended its answer, and every other call is settled. */
function isLastOpen(recording: Recording, callId: string): boolean {
  if (recording.info.time.streamed === undefined) return false
  return [...recording.calls.keys()].every((other) => other === callId || !isUnsettled(callPart(recording, other)?.state))
}

/** A text for everybody, with what it stands for. */
function enveloped(recording: Recording, { text, ...meant }: NonNullable<ToolResult['parts']>[number]): TextPart {
  const at = place(recording)
  return { ...at, type: 'text', text, envelope: { id: at.id, ...meant } }
}

/** Also one that was never accepted. */
export function failCall(recording: Recording, callId: string, tool: string, error: string, input?: unknown, metadata?: Metadata): void {
  const known = callPart(recording, callId)
  if (!isUnsettled(known?.state)) return
  const start = known?.state.status === 'running' ? known.state.time.start : now(recording)
  const part = known ?? { ...place(recording), type: 'tool' as const, tool, callId }
  const told = metadata ?? (known === undefined ? {} : settledMetadata(known))
  const shown = withSaid(told, recording.saidOf.get(callId))
  const state = { status: 'error' as const, input: input ?? known?.state.input ?? {}, error, time: { start, end: now(recording) } }
  record(recording, { ...part, ...shown, state }, () => recording.calls.set(callId, part.id))
}

/** Calls that nobody settled, as they end with the step. */
export function endedCalls(recording: Recording): readonly ToolPart[] {
  return unsettledCalls(recording).map((part) => interrupted(recording, part))
}

/**
 * Calls that nobody settled, of a step that has more of them than the commit that closes it should: so many in a commit, and a turn of the event loop
 * for each commit. Undefined = it has not.
 */
export function closeManyCalls(recording: Recording): Promise<void> | undefined {
  const unsettled = unsettledCalls(recording)
  return unsettled.length <= AT_ONCE.calls ? undefined : closeInTurns(recording, unsettled)
}

async function closeInTurns(recording: Recording, unsettled: readonly ToolPart[]): Promise<void> {
  for (let at = 0; at < unsettled.length && isOpen(recording); await nextTurn()) {
    let bytes = 0
    recording.core.journal.commit('process', (change) => {
      for (const end = at + AT_ONCE.calls; at < Math.min(end, unsettled.length) && bytes < AT_ONCE.bytes; at++) {
        const part = recording.parts.get(unsettled[at]?.id ?? '')
        if (part?.type !== 'tool' || !isUnsettled(part.state)) continue
        bytes += JSON.stringify(part.state.input).length
        put(recording, change, interrupted(recording, part))
      }
    })
  }
}

/** Calls that are closed in one commit, and characters of their input after which no further one is. */
const AT_ONCE = { calls: 64, bytes: 256 * 1024 }

function unsettledCalls(recording: Recording): readonly ToolPart[] {
  return [...recording.calls.keys()].flatMap((callId) => callPart(recording, callId) ?? []).filter(({ state }) => isUnsettled(state))
}

function interrupted(recording: Recording, part: ToolPart): ToolPart {
  const end = now(recording)
  const start = part.state.status === 'running' ? part.state.time.start : end
  const metadata = { ...metadataOf(part), interrupted: true }
  const { input } = part.state
  return { ...part, metadata, state: { status: 'error', input, error: ABORTED_CALL, time: { start, end } } }
}

function callPart({ parts, calls }: Recording, callId: string): ToolPart | undefined {
  const part = parts.get(calls.get(callId) ?? '')
  return part?.type === 'tool' ? part : undefined
}

function isUnsettled(state: ToolState | undefined): boolean {
  return state === undefined || state.status === 'pending' || state.status === 'running'
}

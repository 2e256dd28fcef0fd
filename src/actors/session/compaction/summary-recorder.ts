/**
 * The two messages of a compaction: the mark, and the summary while it is being written (sessions-events §6.4).
 *
 * I1 The summary counts once its message is closed without an error: before that the conversation is what it was.
 * I2 Text that arrives is published and kept in memory; its row is written at the end.
 */
import { LIMITS } from '../../../protocol/limits.js'
import type { AssistantInfo, Part, TextPart, UserInfo } from '../../../protocol/message/message.js'
import { type TokenUsage, ZERO_USAGE } from '../../../protocol/message/token-usage.js'
import type { Change } from '../../events/journal.js'
import type { ResolvedModel } from '../../../ports/facades.js'
import { createJoiner, type Joiner } from '../../../protocol/text/well-formed.js'
import type { Rows } from '../state/core.js'
import { COMPACTION } from '../history/conversation.js'

const AGENT = 'svc'

interface SummaryOpening {
  readonly sessionId: string
  readonly markId: string
  readonly reason: 'auto' | 'manual'
  readonly tailStart: string | undefined
  /** Who writes the summary. */
  readonly model: ResolvedModel
  readonly path: AssistantInfo['path']
}

export interface SummaryRecorder {
  readonly markId: string
  readonly messageId: string
  /** What was written so far. */
  readonly text: string
  readonly closed: boolean
  add(delta: string): void
  /** What was written is taken back, in the rows and in the stream: it is asked for again. */
  restart(): void
  /** Ends both messages, inside the caller's commit. */
  close(tx: Change, end: { text: string; tokens: TokenUsage; cost: number }): void
  fail(tx: Change, error: NonNullable<AssistantInfo['error']>): void
}

/** What is in hand of a summary that is being written. */
interface Writing {
  readonly core: Rows
  readonly sessionId: string
  readonly holder: Part
  info: AssistantInfo
  text: TextPart
  joiner: Joiner
  removeLive(): void
}

export function openSummary(
  core: Rows,
  tx: Change,
  { sessionId, markId, reason, tailStart, model, path }: SummaryOpening,
): SummaryRecorder {
  const { store, effects, live, transcripts } = core
  const messageId = effects.ids.next('msg')
  const tail = tailStart === undefined ? {} : { tailStartMessageId: tailStart }
  const { id: modelId, ...ref } = model.ref
  const mark: UserInfo = { role: 'user', id: markId, sessionId, time: { created: now(core) }, agent: AGENT, model: { ...ref, modelId } }
  const marks: Part[] = [{ ...place(core, sessionId, markId), type: 'compaction', reason, summary: false, ...tail }]
  const info: AssistantInfo = {
    role: 'assistant',
    id: messageId,
    sessionId,
    time: { created: now(core) },
    parentId: markId,
    mode: COMPACTION,
    agent: AGENT,
    path,
    cost: 0,
    tokens: ZERO_USAGE,
    modelId,
    providerId: model.ref.providerId,
    finish: 'stop',
  }
  const holder: Part = { ...place(core, sessionId, messageId), type: 'compaction', reason: 'summary', summary: true, ...tail }
  const text = emptyText(core, info)
  const writing: Writing = { core, sessionId, holder, info, text, joiner: createJoiner(), removeLive: () => undefined }

  const tell = ({ info: opened, parts }: ReturnType<typeof store.messages.append>) => {
    tx.emitMessage(opened)
    for (const part of parts) tx.emitPart(part, now(core))
  }
  tell(store.messages.append(mark, marks))
  tx.emit('session.next.compaction.started', { sessionID: sessionId, messageID: markId, timestamp: now(core), reason })
  tell(store.messages.append(info, [holder, text]))
  tx.after(() => {
    transcripts.append({ info: mark, parts: marks })
    writing.removeLive = live.add(messageId, { sessionId, info: () => writing.info, parts: () => [holder, writing.text] })
  })
  return {
    markId,
    messageId,
    get text() {
      return writing.text.text
    },
    get closed() {
      return isClosed(writing)
    },
    add: (delta) => add(writing, delta),
    restart() {
      if (!isClosed(writing)) restart(writing)
    },
    close(change, { text: summary, tokens, cost }) {
      if (!isClosed(writing)) end(writing, change, { ...endedInfo(writing), tokens, cost }, endedText(writing, summary))
    },
    fail(change, error) {
      if (isClosed(writing)) return
      end(writing, change, { ...endedInfo(writing), finish: 'error', error }, endedText(writing, writing.text.text))
    },
  }
}

function now({ effects }: Rows): number {
  return effects.clock.now()
}

function place({ effects }: Rows, sessionId: string, messageId: string): Pick<Part, 'id' | 'sessionId' | 'messageId'> {
  return { id: effects.ids.next('prt'), sessionId, messageId }
}

function emptyText(core: Rows, { id, sessionId }: AssistantInfo): TextPart {
  return { ...place(core, sessionId, id), type: 'text', text: '', synthetic: true, time: { start: now(core) } }
}

function isClosed({ info }: Writing): boolean {
  return info.time.completed !== undefined
}

function add(writing: Writing, delta: string): void {
  const { core, sessionId, text, joiner, info } = writing
  const room = LIMITS.compaction.answer - text.text.length
  const more = joiner.push(delta).slice(0, Math.max(0, room))
  if (isClosed(writing) || more === '') return
  writing.text = { ...text, text: text.text + more }
  core.journal.publishDelta(sessionId, info.id, text.id, 'text', JSON.stringify(more))
  core.journal.publish('session.next.compaction.delta', { sessionID: sessionId, text: more })
}

function restart(writing: Writing): void {
  const { core, info, text } = writing
  const fresh = emptyText(core, info)
  core.journal.commit('process', (change) => {
    takeBack(writing, change, text)
    change.emitPart(core.store.messages.putPart(fresh), now(core))
    change.after(() => {
      writing.text = fresh
      writing.joiner = createJoiner()
    })
  })
}

function takeBack({ core, sessionId, info }: Writing, change: Change, { id: partID }: TextPart): void {
  core.store.messages.removePart(partID)
  change.emit('message.part.removed', { sessionID: sessionId, messageID: info.id, partID })
}

function endedText({ core, text }: Writing, value: string): TextPart {
  return { ...text, text: value, time: { start: text.time?.start ?? now(core), end: now(core) } }
}

function endedInfo({ core, info }: Writing): AssistantInfo {
  return { ...info, time: { ...info.time, completed: now(core) } }
}

function end(writing: Writing, change: Change, ended: AssistantInfo, last: TextPart): void {
  const { core, sessionId, holder } = writing
  const { messages } = core.store
  const finish: Part = {
    ...place(core, sessionId, ended.id),
    type: 'step-finish',
    reason: ended.error?.interrupted === true ? 'aborted' : (ended.finish ?? 'stop'),
    tokens: ended.tokens,
    cost: ended.cost,
  }
  const isEmpty = last.text === ''
  change.emitMessage(messages.updateInfo(ended))
  if (isEmpty) takeBack(writing, change, last)
  const kept = isEmpty ? [finish] : [last, finish]
  for (const part of kept) change.emitPart(messages.putPart(part), now(core))
  change.after(() => {
    writing.info = ended
    writing.text = last
    writing.removeLive()
    core.transcripts.append({ info: ended, parts: [holder, ...kept] })
  })
}

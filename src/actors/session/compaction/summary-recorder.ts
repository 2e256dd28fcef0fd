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
import { createJoiner } from '../../../protocol/text/well-formed.js'
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

export function openSummary(core: Rows, tx: Change, opening: SummaryOpening): SummaryRecorder {
  const { store, effects, live, journal, transcripts } = core
  const { sessionId, markId, model, reason, tailStart } = opening
  const now = () => effects.clock.now()
  const messageId = effects.ids.next('msg')
  const place = (message: string) => ({ id: effects.ids.next('prt'), sessionId, messageId: message })
  const tail = tailStart === undefined ? {} : { tailStartMessageId: tailStart }
  const { id: modelId, ...ref } = model.ref
  const mark: UserInfo = { role: 'user', id: markId, sessionId, time: { created: now() }, agent: AGENT, model: { ...ref, modelId } }
  const marks: Part[] = [{ ...place(markId), type: 'compaction', reason, summary: false, ...tail }]
  let info: AssistantInfo = {
    role: 'assistant',
    id: messageId,
    sessionId,
    time: { created: now() },
    parentId: markId,
    mode: COMPACTION,
    agent: AGENT,
    path: opening.path,
    cost: 0,
    tokens: ZERO_USAGE,
    modelId,
    providerId: model.ref.providerId,
    finish: 'stop',
  }
  const holder: Part = { ...place(messageId), type: 'compaction', reason: 'summary', summary: true, ...tail }
  const emptyText = (): TextPart => ({ ...place(messageId), type: 'text', text: '', synthetic: true, time: { start: now() } })
  let text = emptyText()
  let joiner = createJoiner()
  let removeLive = (): void => undefined

  const tell = ({ info: opened, parts }: ReturnType<typeof store.messages.append>) => {
    tx.emitMessage(opened)
    for (const part of parts) tx.emitPart(part, now())
  }
  tell(store.messages.append(mark, marks))
  tx.emit('session.next.compaction.started', { sessionID: sessionId, messageID: markId, timestamp: now(), reason })
  tell(store.messages.append(info, [holder, text]))
  const isClosed = () => info.time.completed !== undefined
  tx.after(() => {
    transcripts.append({ info: mark, parts: marks })
    removeLive = live.add(messageId, { sessionId, info: () => info, parts: () => [holder, text] })
  })

  function takeBack(change: Change, { id: partID }: TextPart): void {
    store.messages.removePart(partID)
    change.emit('message.part.removed', { sessionID: sessionId, messageID: messageId, partID })
  }

  function end(change: Change, ended: AssistantInfo, last: TextPart): void {
    const finish: Part = {
      ...place(messageId),
      type: 'step-finish',
      reason: ended.error?.interrupted === true ? 'aborted' : (ended.finish ?? 'stop'),
      tokens: ended.tokens,
      cost: ended.cost,
    }
    const isEmpty = last.text === ''
    change.emitMessage(store.messages.updateInfo(ended))
    if (isEmpty) takeBack(change, last)
    const kept = isEmpty ? [finish] : [last, finish]
    for (const part of kept) change.emitPart(store.messages.putPart(part), now())
    change.after(() => {
      info = ended
      text = last
      removeLive()
      transcripts.append({ info, parts: [holder, ...kept] })
    })
  }

  const endedText = (value: string): TextPart => ({ ...text, text: value, time: { start: text.time?.start ?? now(), end: now() } })
  const endedInfo = (): AssistantInfo => ({ ...info, time: { ...info.time, completed: now() } })

  return {
    markId,
    messageId,
    get text() {
      return text.text
    },
    get closed() {
      return isClosed()
    },
    add(delta) {
      const room = LIMITS.compaction.answer - text.text.length
      const more = joiner.push(delta).slice(0, Math.max(0, room))
      if (isClosed() || more === '') return
      text = { ...text, text: text.text + more }
      journal.publishDelta(sessionId, messageId, text.id, 'text', JSON.stringify(more))
      journal.publish('session.next.compaction.delta', { sessionID: sessionId, text: more })
    },
    restart() {
      if (isClosed()) return
      const fresh = emptyText()
      journal.commit('process', (change) => {
        takeBack(change, text)
        change.emitPart(store.messages.putPart(fresh), now())
        change.after(() => {
          text = fresh
          joiner = createJoiner()
        })
      })
    },
    close(change, { text: summary, tokens, cost }) {
      if (!isClosed()) end(change, { ...endedInfo(), tokens, cost }, endedText(summary))
    },
    fail(change, error) {
      if (!isClosed()) end(change, { ...endedInfo(), finish: 'error', error }, endedText(text.text))
    },
  }
}

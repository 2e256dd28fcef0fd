/** A prompt becomes a user message: agent and model are settled, the session record follows (sessions-events §4.7–4.9). */
import { LIMITS } from '../../../protocol/limits.js'
import type { ModelRef, Part, UserInfo, UserModel } from '../../../protocol/message/message.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'
import { sessionOrThrow, type Rows } from '../state/core.js'
import { hasDefaultTitle } from '../../../protocol/session/default-title.js'
import { isNotice } from '../../../protocol/text/runtime-marks.js'
import { continuesAfter } from './continued.js'
import type { RunTarget } from './target.js'

function userModelOf({ id: modelId, ...rest }: ModelRef): UserModel {
  return { ...rest, modelId }
}

/** The execution that works for a session (sessions-events §2.1). */
type Membership = Pick<Session, 'executionID' | 'executionRootSessionID'>

/** Appends the user message and updates the session, inside the caller's commit. Answers the session after it. */
export function appendPrompt(
  core: Rows,
  tx: Change,
  sessionId: string,
  prompt: QueuedPrompt,
  target: RunTarget,
  member: Membership = {},
): Session {
  const { store, effects } = core
  const now = effects.clock.now()
  const before = sessionOrThrow(core, sessionId)
  const { revert: _revert, continues: _continues, ...kept } = before
  const title = before.parentId === undefined && hasDefaultTitle(before.title) ? fallbackTitle(prompt) : undefined
  const answering = target.obstacle === undefined ? { agent: before.agent ?? target.agent.record.name, model: target.model.ref } : {}
  const session: Session = {
    ...kept,
    ...answering,
    ...continuesAfter(prompt, before),
    ...(title === undefined ? {} : { title }),
    ...member,
    time: { ...before.time, updated: now },
  }
  if (before['revert'] !== undefined) store.messages.discard(sessionId)
  tx.emitSession('session.updated', store.sessions.update(session))
  appendMessage(core, tx, sessionId, prompt, target, now)
  return session
}

/** Appends only the message: for prompts that join a run (sessions-events §4.6). */
export function appendMessage(core: Rows, tx: Change, sessionId: string, prompt: QueuedPrompt, target: RunTarget, now: number): void {
  const { store, effects, transcripts } = core
  const info: UserInfo = {
    role: 'user',
    id: prompt.messageId,
    sessionId,
    time: { created: now },
    agent: target.agent.record.name,
    model: userModelOf(target.model.ref),
    ...(prompt.system === undefined ? {} : { system: prompt.system }),
    ...(prompt.tools === undefined ? {} : { tools: { ...prompt.tools } }),
    ...(prompt.author === undefined ? {} : { author: prompt.author }),
  }
  const parts = prompt.parts.map((part): Part => {
    const copy = { ...part, id: effects.ids.next('prt'), sessionId, messageId: info.id }
    store.contents.follow(copy, part)
    return copy
  })
  const stored = store.messages.append(info, parts)
  tx.emitMessage(stored.info)
  const author = prompt.author === undefined ? {} : { author: prompt.author }
  const told = isNotice(prompt.system) ? { system: prompt.system } : {}
  for (const part of stored.parts) tx.emitPart(part, now, { role: 'user', ...author, ...told })
  tx.after(() => transcripts.append({ info, parts }))
}

/** The first line of what was asked, cut to `titleLength` characters (sessions-events §2.8). */
function fallbackTitle(prompt: QueuedPrompt): string | undefined {
  for (const part of prompt.parts) {
    const text = part.type === 'text' ? part.text : part.type === 'agent' ? part.name : part.type === 'subtask' ? part.prompt : ''
    const line = /\S[^\n]*/.exec(text)?.[0].trimEnd()
    if (line === undefined) continue
    // A character has two units at most.
    const start = line.slice(0, 2 * LIMITS.sessions.titleLength + 2)
    const characters = [...start]
    return characters.length <= LIMITS.sessions.titleLength ? line : `${characters.slice(0, LIMITS.sessions.titleLength).join('')}...`
  }
  return undefined
}

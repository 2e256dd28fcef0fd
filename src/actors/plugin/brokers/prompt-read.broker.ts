/**
 * What was asked in the sessions of a workspace (`host.prompt.read`).
 *
 * I1 A plugin of a workspace reads those of its sessions, a plugin of a session those of its family, any other those of sessions it serves.
 * I2 What the runtime, a file or an agent has put beside a prompt is none.
 */
import { cut } from '../../../kernel/cut.js'
import { LOCAL_TENANT } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message } from '../../../protocol/message/message.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import { isNotice } from '../../../protocol/text/runtime-marks.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Effects } from '../../../ports/effects.js'
import type { Store } from '../../../store/store.js'
import { type Broker, type BrokerLease, defineBroker } from './broker.js'
import { type Redact, redactor } from './message-view.js'
import { foreign, isInPlace, mustMeanSession, ownSession } from './own-sessions.js'

export interface PromptBrokerDeps {
  readonly store: Pick<Store, 'sessions' | 'messages' | 'queue'>
  readonly effects: Pick<Effects, 'env'>
}

interface Prompt {
  readonly sessionId: string
  readonly messageId: string | null
  readonly text: string
  readonly cut: boolean
  readonly agent: string | null
  readonly createdAt: number | null
}

const { textBytes, answerBytes, pageMost } = LIMITS.pluginReads
/** Messages that are looked at for one page: of a long answer nothing else is a prompt. */
const LOOKED = 2000
const PIECE = 100

export function promptBroker({ store, effects }: PromptBrokerDeps): Broker {
  const redact = redactor(effects.env)

  /** I1 */
  const sessionOf = (lease: BrokerLease, wanted: string | undefined): Session => {
    if (wanted === undefined || lease.place.scope !== 'workspace') return mustMeanSession(store.sessions, lease, wanted)
    const session = store.sessions.get(wanted)
    if (session === undefined || !isInPlace(session, lease.place)) throw foreign(wanted)
    return session
  }

  return defineBroker('prompt-read', (lease) => ({
    operations: {
      current(input) {
        const { id } = sessionOf(lease, input?.sessionId)
        const [prompt = null] = page(store, redact, { sessionId: id, cursor: undefined, limit: 1 }).prompts
        return { prompt }
      },
      list({ sessionId, cursor, limit }) {
        const { id } = sessionOf(lease, sessionId)
        if (cursor !== undefined && store.messages.getInfo(cursor)?.sessionId !== id) throw strangeCursor()
        return page(store, redact, { sessionId: id, cursor, limit })
      },
      waiting(input) {
        const { id } = sessionOf(lease, input?.sessionId)
        const rows = store.queue.list(id).slice(0, pageMost)
        const prompts = rows.flatMap((head): Prompt[] => {
          const request = store.queue.get(head.id)?.request
          return request === undefined || isNotice(request.system) ? [] : [promptOfRow(redact, id, request)]
        })
        return { prompts: within(prompts) }
      },
      sessions: ({ cursor, limit }) => sessionsOf(store, lease, { cursor, limit }),
    },
  }))
}

interface Page {
  readonly sessionId: string
  readonly cursor: string | undefined
  readonly limit: number
}

function page(store: PromptBrokerDeps['store'], redact: Redact, { sessionId, cursor, limit }: Page) {
  const prompts: Prompt[] = []
  let after: string | number | undefined = cursor
  let last: string | null = null
  let size = 0
  for (let looked = 0; looked < LOOKED; ) {
    const { items, next } = store.messages.slice({ sessionId, order: 'desc', after, limit: PIECE, characters: answerBytes * 4 })
    for (const { id, json } of items) {
      const prompt = promptOf(redact, JSON.parse(json) as Message)
      const more = prompt === undefined ? 0 : sizeOf(prompt)
      if (prompts.length >= limit || size + more > answerBytes) return { prompts, cursor: last }
      if (prompt !== undefined) prompts.push(prompt)
      size += more
      last = id
    }
    if (next === undefined) return { prompts, cursor: null }
    after = next
    looked += items.length
  }
  return { prompts, cursor: last }
}

/** I2 */
function promptOf(redact: Redact, { info, parts }: Message): Prompt | undefined {
  if (info.role !== 'user' || isNotice(info.system)) return undefined
  const texts = parts.flatMap((part) => (part.type === 'text' && part.synthetic !== true ? [part.text] : []))
  return { sessionId: info.sessionId, messageId: info.id, ...shown(redact, texts), agent: info.agent, createdAt: info.time.created }
}

function promptOfRow(redact: Redact, sessionId: string, { messageId, parts, agent }: QueuedPrompt): Prompt {
  const texts = parts.flatMap((part) => (part.type === 'text' && !('synthetic' in part && part.synthetic === true) ? [part.text] : []))
  return { sessionId, messageId, ...shown(redact, texts), agent: agent ?? null, createdAt: null }
}

function shown(redact: Redact, texts: readonly string[]): Pick<Prompt, 'text' | 'cut'> {
  const text = redact(texts.join('\n'))
  return { text: cut(text, textBytes), cut: text.length > textBytes }
}

function within(prompts: readonly Prompt[]): Prompt[] {
  let size = 0
  return prompts.filter((prompt, index) => (size += sizeOf(prompt)) <= answerBytes || index === 0)
}

function sizeOf(prompt: Prompt): number {
  return Buffer.byteLength(JSON.stringify(prompt))
}

function sessionsOf(store: PromptBrokerDeps['store'], lease: BrokerLease, { cursor, limit }: Omit<Page, 'sessionId'>) {
  const { scope, workspace } = lease.place
  if (scope !== 'workspace' || workspace === undefined) {
    const roots = scope === 'session' && lease.place.scopeId !== undefined ? [lease.place.scopeId] : lease.served.current()
    const members = [...new Set(roots.flatMap((root) => store.sessions.family(ownSession(store.sessions, lease, root).id)))]
    return { sessions: members.flatMap((id) => itemOf(store.sessions.get(id))).slice(0, limit), cursor: null }
  }
  const after = cursor === undefined ? undefined : keyOf(cursor)
  const rows = store.sessions.list({ tenantId: LOCAL_TENANT, directory: workspace, includeArchived: true, limit, after })
  const last = rows.at(-1)
  return {
    sessions: rows.flatMap(({ json }) => itemOf(JSON.parse(json) as Session)),
    cursor: rows.length < limit || last === undefined ? null : `${last.updated}:${last.id}`,
  }
}

function itemOf(session: Session | undefined) {
  if (session === undefined) return []
  const { id, parentId = null, title, time } = session
  return [{ sessionId: id, parentId, title, updatedAt: time.updated }]
}

function keyOf(cursor: string): { readonly updated: number; readonly id: string } {
  const at = cursor.indexOf(':')
  const updated = Number(cursor.slice(0, at))
  if (at < 1 || !Number.isSafeInteger(updated)) throw strangeCursor()
  return { updated, id: cursor.slice(at + 1) }
}

function strangeCursor(): SvcError {
  return new SvcError('request.unprocessable', 'the cursor is none of an earlier answer')
}

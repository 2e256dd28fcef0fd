/**
 * What the journal tells, as runs, steps and calls. It hears of everything once somebody listens, and of nothing before: nobody who
 * works is asked, and no part of the program tells it anything besides.
 */
import { createLru } from '../../kernel/lru.js'
import type { EventData, EventType } from '../../protocol/event/event.js'
import type { AssistantInfo, TextPart, UserInfo } from '../../protocol/message/message.js'
import type { RunEnd, WatchedRun, Witness } from './witness.js'

interface Told {
  readonly type: string
  readonly sessionId: string | undefined
  readonly data: unknown
}

export interface Heard {
  subscribe(deliver: (record: Told) => void, onFault: () => void): () => void
}

interface Session {
  run: WatchedRun | undefined
  prompt: UserInfo | undefined
  step: AssistantInfo | undefined
  readonly calls: Set<string>
  /** Texts of the prompt and of the step, by part. */
  readonly asked: Map<string, string>
  readonly said: Map<string, string>
  cause: string | undefined
  /** How it ends if nothing fails. */
  ending: Exclude<RunEnd, 'error'>
}

/** Sessions that are followed at a time; of those that rest nothing is kept but what was said to them last. */
const SESSIONS = 10_000

type Handlers = { readonly [T in EventType]?: (data: EventData<T>) => void }

/** Answers the function that ends it. */
export function observe(
  bus: Heard,
  witness: Witness,
  { now, onFault, keepsTexts = false }: { readonly now: () => number; onFault(): void; readonly keepsTexts?: boolean },
): () => void {
  // Data of events of our own types was made by us, and that of deltas is not looked at.
  const handlers = new Map(Object.entries(handlersOf(witness, now, keepsTexts)) as [string, (data: unknown) => void][])
  return bus.subscribe(({ type, data }) => {
    if (data !== undefined) handlers.get(type)?.(data)
  }, onFault)
}

function handlersOf(witness: Witness, now: () => number, keepsTexts: boolean): Handlers {
  const sessions = createLru<string, Session>(SESSIONS)

  function of(id: string): Session {
    const known = sessions.get(id)
    if (known !== undefined) return known
    const made = newSession()
    sessions.set(id, made)
    return made
  }

  function endRun(session: Session): void {
    const { run, cause, ending } = session
    if (run === undefined) return
    const end: RunEnd = cause === undefined ? ending : 'error'
    session.run = undefined
    witness.runEnded?.(run, end, now(), cause)
  }

  function stepChanged(sessionId: string, session: Session, info: AssistantInfo): void {
    const isOpen = info.time.completed === undefined
    const said = () => textOf(session.said)
    if (session.step?.id !== info.id && isOpen) {
      session.said.clear()
      witness.stepStarted?.({ sessionId, info, said })
    }
    session.step = isOpen ? info : undefined
    if (isOpen) return
    session.ending = info.error?.interrupted === true ? 'interrupted' : 'completed'
    witness.stepEnded?.({ sessionId, info, said })
  }

  return {
    'session.prompt.admitted'({ sessionID, request }) {
      if (request.messageId !== undefined) witness.promptArrived?.(sessionID, request.messageId)
    },
    'message.updated'({ sessionID, info }) {
      const session = of(sessionID)
      if (info.role === 'user') {
        session.prompt = info
        session.asked.clear()
      } else stepChanged(sessionID, session, info)
    },
    'message.part.updated'({ sessionID, part }) {
      if (part.type === 'text' && keepsTexts) keepText(of(sessionID), part)
      if (part.type !== 'tool') return
      const { status } = part.state
      if (status === 'pending') return
      const { calls } = of(sessionID)
      const call = { sessionId: sessionID, messageId: part.messageId, part }
      const key = `${part.messageId} ${part.callId}`
      if (status === 'running') {
        if (calls.has(key)) witness.callShown?.(call)
        else witness.callStarted?.(call)
        calls.add(key)
      } else {
        calls.delete(key)
        witness.callEnded?.(call)
      }
    },
    'session.error'({ sessionID, error }) {
      const { cause } = error.details ?? {}
      of(sessionID).cause = typeof cause === 'string' ? cause : error.code
    },
    'session.status'({ sessionID, status, runID, startedAt, parentSessionID }) {
      const session = of(sessionID)
      if (session.run?.runId !== runID) endRun(session)
      if (status.type === 'retry') witness.stepRetried?.(sessionID)
      if (runID !== undefined && session.run === undefined) {
        session.cause = undefined
        session.ending = 'completed'
        session.run = {
          sessionId: sessionID,
          runId: runID,
          startedAt: startedAt ?? now(),
          prompt: session.prompt,
          parentId: parentSessionID,
          said: () => textOf(session.asked),
        }
        witness.runStarted?.(session.run)
      }
      if (runID === undefined && status.type === 'idle') sessions.delete(sessionID)
    },
    'session.deleted'({ sessionID }) {
      const session = sessions.get(sessionID)
      if (session === undefined) return
      session.ending = 'interrupted'
      endRun(session)
      sessions.delete(sessionID)
    },
    ...othersOf(witness),
  }
}

function keepText({ prompt, asked, said }: Session, { id, messageId, text }: TextPart): void {
  const texts = messageId === prompt?.id ? asked : said
  texts.set(id, text)
}

function textOf(parts: ReadonlyMap<string, string>): string {
  return [...parts.values()].join('\n')
}

function othersOf(witness: Witness): Handlers {
  return {
    'session.next.compaction.ended'({ status }) {
      witness.compacted?.(status ?? 'completed')
    },
    'permission.asked': () => witness.asked?.('permission'),
    'permission.replied': ({ reply }) => witness.answered?.('permission', reply),
    'question.asked': () => witness.asked?.('question'),
    'question.replied': () => witness.answered?.('question', 'answered'),
    'question.rejected': () => witness.answered?.('question', 'rejected'),
  }
}

function newSession(): Session {
  return {
    run: undefined,
    prompt: undefined,
    step: undefined,
    calls: new Set(),
    asked: new Map(),
    said: new Map(),
    cause: undefined,
    ending: 'completed',
  }
}

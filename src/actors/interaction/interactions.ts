/**
 * Permission and question requests: asked by tool calls, answered over HTTP (sessions-events §8.10–8.11, §9).
 *
 * I1 A request is a row, and listed, before anybody hears of it; it is settled at most once, and listed no more when that is heard.
 * I2 A request lives no longer than the call that asked: aborting the call withdraws it.
 * I3 A request that cannot be settled because the store fails stays pending until the end of its run is recorded.
 * I4 What an unattended run asks is denied after `unattendedWait`; every other request waits until it is answered or its call ends (decision 25).
 */
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import type { Approval, PermissionReply, PermissionRequest, QuestionRequest } from '../../protocol/interaction/interaction.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Session } from '../../protocol/session/session.js'
import { widerPatterns } from '../../protocol/interaction/wider-patterns.js'
import type { InteractionRow, Store } from '../../store/store.js'
import type { Effects } from '../effects.js'
import type { Interactions } from '../facades.js'
import type { Change, Journal } from '../events/journal.js'
import type { Owners } from '../tenancy/owners.js'
import { wellFormed } from '../well-formed.js'
import { approve } from './approvals.js'
import { sourceOf } from '../session/state/statuses.js'

type PermissionAnswer = { readonly granted: true } | { readonly granted: false; readonly message: string }
type QuestionAnswer = { readonly answers: readonly (readonly string[])[] } | { readonly rejected: string }

interface PermissionAsk {
  readonly session: Session
  /** See `Project.approvals`. */
  readonly approvals: string
  readonly runId: string
  readonly request: {
    readonly messageId: string
    readonly title: string
    readonly permission: string
    readonly patterns: string[]
    readonly always: string[]
    readonly metadata: Readonly<Record<string, unknown>>
    readonly tool: { readonly messageID: string; readonly callID: string }
  }
  /** Asked again after an `always` answer to another request: is this one now allowed? */
  isAllowedBy(approvals: readonly Approval[]): boolean
}

export interface InteractionBroker extends Interactions {
  /** Resolves with the answer; rejects when `signal` aborts, after the request was withdrawn. */
  askPermission(ask: PermissionAsk, signal: AbortSignal): Promise<PermissionAnswer>
  askQuestion(
    ask: { session: Session; runId: string; messageId: string; callId: string; questions: readonly unknown[] },
    signal: AbortSignal,
  ): Promise<QuestionAnswer>
  /** Sessions with a pending request. */
  waitingSessions(): Iterable<string>
  /** Withdraws everything a session still asks, inside the caller's commit. */
  withdraw(tx: Change, sessionId: string): void
  /** Withdraws what an earlier process left pending. */
  recover(tx: Change): void
}

const REJECTED = 'The user rejected this action.'
const UNANSWERED = 'Nobody answered the request in time, so it was denied.'

interface Waiter {
  readonly row: InteractionRow
  readonly ask: PermissionAsk | undefined
  settle(answer: PermissionAnswer | QuestionAnswer | Error): void
}

export function createInteractions(deps: {
  store: Pick<Store, 'interactions' | 'approvals' | 'runs'>
  journal: Journal
  effects: Pick<Effects, 'clock' | 'ids' | 'log'>
  owners: Pick<Owners, 'mayUse'>
}): InteractionBroker {
  const { store, journal, effects, owners } = deps
  const waiters = new Map<string, Waiter>()

  function settleRow(tx: Change, row: InteractionRow, state: 'answered' | 'withdrawn', response: unknown): boolean {
    if (!store.interactions.settle(row.id, state, JSON.stringify(response), effects.clock.now())) return false
    tx.after(() => waiters.delete(row.id))
    return publishEnd(tx, row, response)
  }

  function publishEnd(tx: Change, row: InteractionRow, response: unknown): true {
    const reply = response as { reply?: string; answers?: string[][]; reason?: string }
    if (row.kind === 'permission') {
      const info = row.request as PermissionRequest
      tx.emit('permission.replied', { ...info, requestID: row.id, reply: reply.reply ?? 'cancelled', info })
    } else if (reply.answers !== undefined) {
      tx.emit('question.replied', {
        requestID: row.id,
        sessionID: row.sessionId,
        reply: { answers: reply.answers },
        info: row.request as QuestionRequest,
      })
    } else {
      const reason = reply.reason === undefined ? {} : { reason: reply.reason }
      tx.emit('question.rejected', { requestID: row.id, sessionID: row.sessionId, info: row.request as QuestionRequest, ...reason })
    }
    return true
  }

  function answerTo<Answer extends PermissionAnswer | QuestionAnswer>(
    row: InteractionRow,
    ask: PermissionAsk | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      let timer: unknown
      const cancel = () => {
        try {
          journal.commit('process', (tx) => settleRow(tx, row, 'withdrawn', { reply: 'cancelled', reason: 'cancelled' }))
        } catch (error) {
          effects.log.warn('a request could not be withdrawn yet', { requestId: row.id, cause: String(error) })
          release(new Error('the call was aborted'))
          return
        }
        settle(new Error('the request was withdrawn'))
      }
      const expire = () => {
        try {
          journal.commit('power', (tx) => settleRow(tx, row, 'withdrawn', { reply: 'reject', reason: 'timeout' }))
        } catch (error) {
          effects.log.warn('a request could not be denied yet', { requestId: row.id, cause: String(error) })
          timer = effects.clock.setTimeout(expire, LIMITS.sessions.faultRetryMax)
          return
        }
        settle(row.kind === 'permission' ? { granted: false, message: UNANSWERED } : { rejected: UNANSWERED })
      }
      /** Lets the asker go; the request stays listed until its row is settled. */
      const release = (answer: PermissionAnswer | QuestionAnswer | Error) => {
        effects.clock.clearTimeout(timer)
        signal.removeEventListener('abort', cancel)
        if (answer instanceof Error) reject(answer)
        else resolve(answer as Answer)
      }
      const settle = (answer: PermissionAnswer | QuestionAnswer | Error) => {
        waiters.delete(row.id)
        release(answer)
      }
      insert(row, { row, ask, settle })
      // Whoever hears of it may answer at once.
      if (!waiters.has(row.id)) return
      if (store.runs.isUnattended(row.runId)) timer = effects.clock.setTimeout(expire, LIMITS.run.unattendedWait)
      if (signal.aborted) cancel()
      else signal.addEventListener('abort', cancel, { once: true })
    })
  }

  function answer(requestId: string, kind: InteractionRow['kind'], settle: (tx: Change, waiter: Waiter) => (() => void)[]): true {
    const waiter = waiters.get(requestId)
    if (waiter === undefined || waiter.row.kind !== kind) return true
    const wakes = journal.commit('power', (tx) => settle(tx, waiter))
    for (const wake of wakes) wake()
    return true
  }

  const pending = (caller: Caller, kind: InteractionRow['kind'], sessionId: string | undefined) =>
    [...waiters.values()].flatMap(({ row }) => {
      const isAsked = row.kind === kind && (sessionId === undefined || row.sessionId === sessionId)
      return isAsked && owners.mayUse(caller, row.sessionId) ? [row] : []
    })

  const ofSession = (sessionId: string, except: string) =>
    [...waiters.values()].filter(({ row }) => row.kind === 'permission' && row.sessionId === sessionId && row.id !== except)

  function grantAlways(
    tx: Change,
    waiter: Waiter,
    { session, approvals: place, request }: PermissionAsk,
    wider: readonly string[],
  ): (() => void)[] {
    const approvals = approve(store, { session, approvals: place }, { permission: request.permission, asked: request.always, wider })
    const covered = ofSession(session.id, waiter.row.id).filter((other) => other.ask?.isAllowedBy(approvals) === true)
    return covered.flatMap((other) =>
      settleRow(tx, other.row, 'answered', { reply: 'always' }) ? [() => other.settle({ granted: true })] : [],
    )
  }

  return {
    permissions: (caller, sessionId) => pending(caller, 'permission', sessionId).map((row) => row.request as PermissionRequest),
    questions: (caller, sessionId) => pending(caller, 'question', sessionId).map((row) => row.request as QuestionRequest),
    replyPermission(requestId, body) {
      const reply = replyOf(body)
      return answer(requestId, 'permission', (tx, waiter) => {
        const wider = body.alwaysPatterns ?? []
        const offered = waiter.ask === undefined ? [] : widerPatterns(waiter.ask.request)
        const strange = wider.filter((pattern) => !offered.includes(pattern))
        if (strange.length > 0) throw notOffered(strange, offered)
        if (!settleRow(tx, waiter.row, 'answered', { reply, ...(body.message === undefined ? {} : { message: body.message }) })) return []
        if (reply === 'reject') {
          const message = body.message === undefined || body.message.trim() === '' ? REJECTED : wellFormed(body.message)
          const others = ofSession(waiter.row.sessionId, requestId).filter((other) =>
            settleRow(tx, other.row, 'answered', { reply: 'reject' }),
          )
          return [
            () => waiter.settle({ granted: false, message }),
            ...others.map((other) => () => other.settle({ granted: false, message: REJECTED })),
          ]
        }
        const covered = reply === 'always' && waiter.ask !== undefined ? grantAlways(tx, waiter, waiter.ask, wider) : []
        return [() => waiter.settle({ granted: true }), ...covered]
      })
    },
    replyQuestion(requestId, body) {
      return answer(requestId, 'question', (tx, waiter) =>
        settleRow(tx, waiter.row, 'answered', { answers: body.answers }) ? [() => waiter.settle({ answers: body.answers })] : [],
      )
    },
    rejectQuestion(requestId) {
      return answer(requestId, 'question', (tx, waiter) =>
        settleRow(tx, waiter.row, 'answered', {}) ? [() => waiter.settle({ rejected: 'The user declined to answer.' })] : [],
      )
    },
    owner: (requestId) => store.interactions.get(requestId)?.sessionId,
    askPermission(ask, signal) {
      const { session } = ask
      const deniedAfter = store.runs.isUnattended(ask.runId) ? { deniedAfterMs: LIMITS.run.unattendedWait } : {}
      const request: PermissionRequest = {
        ...ask.request,
        metadata: { ...ask.request.metadata, ...deniedAfter },
        id: effects.ids.next('per'),
        sessionId: session.id,
        ...sourceOf(session),
        sourceSessionID: session.id,
        sourceTitle: session.title,
      }
      return answerTo<PermissionAnswer>(rowOf(ask.runId, 'permission', request), ask, signal)
    },
    askQuestion({ session, runId, messageId, callId, questions }, signal) {
      const request: QuestionRequest = {
        id: effects.ids.next('que'),
        sessionId: session.id,
        messageId,
        questions: [...questions],
        tool: { messageID: messageId, callID: callId },
      }
      return answerTo<QuestionAnswer>(rowOf(runId, 'question', request), undefined, signal)
    },
    *waitingSessions() {
      for (const { row } of waiters.values()) yield row.sessionId
    },
    withdraw(tx, sessionId) {
      for (const waiter of [...waiters.values()].filter(({ row }) => row.sessionId === sessionId)) {
        settleRow(tx, waiter.row, 'withdrawn', { reply: 'cancelled', reason: 'cancelled' })
        tx.after(() => waiter.settle(new Error('the request was withdrawn')))
      }
    },
    recover(tx) {
      for (const row of store.interactions.pending()) settleRow(tx, row, 'withdrawn', { reply: 'cancelled', reason: 'restart' })
    },
  }

  function insert(row: InteractionRow, waiter: Waiter): void {
    journal.commit('process', (tx) => {
      store.interactions.insert(row)
      tx.after(() => waiters.set(row.id, waiter))
      if (row.kind === 'permission') tx.emit('permission.asked', row.request as PermissionRequest)
      else tx.emit('question.asked', row.request as QuestionRequest)
    })
  }

  function rowOf(runId: string, kind: InteractionRow['kind'], request: PermissionRequest | QuestionRequest): InteractionRow {
    return { id: request.id, kind, sessionId: request.sessionId, runId, state: 'pending', request, created: effects.clock.now() }
  }
}

function replyOf(body: PermissionReply): 'once' | 'always' | 'reject' {
  if (body.reply !== undefined && body.response !== undefined && body.reply !== body.response) {
    throw new SvcError('request.invalid', '"reply" and "response" say different things; give one of them.')
  }
  const reply = body.reply ?? body.response
  if (reply === undefined) throw new SvcError('request.invalid', 'Give "reply": "once", "always" or "reject".')
  if (reply !== 'always' && body.alwaysPatterns !== undefined && body.alwaysPatterns.length > 0) {
    throw new SvcError('request.unprocessable', `"alwaysPatterns" is remembered only with the reply "always", not with "${reply}".`)
  }
  return reply
}

function notOffered(strange: readonly string[], offered: readonly string[]): SvcError {
  const rest = offered.length === 0 ? 'It offers none.' : `It offers ${offered.join(', ')}.`
  return new SvcError('request.unprocessable', `The request does not offer to remember ${strange.join(', ')}. ${rest}`, {
    alwaysPatterns: offered,
  })
}

/**
 * Permission and question requests: asked by tool calls, answered over HTTP (sessions-events §8.10–8.11, §9).
 *
 * I1 A request is a row, and listed, before anybody hears of it; it is settled at most once, and listed no more when that is heard.
 * I2 A request lives no longer than the call that asked: aborting the call withdraws it.
 * I3 A request that cannot be settled because the store fails stays pending until the end of its run is recorded.
 * I4 What an unattended run asks is denied after `unattendedWait`; every other request waits until it is answered or its call ends (choice 25).
 */
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import type { InteractionEnd } from '../../machines/interaction/interaction.machine.js'
import type { Approval, PermissionReply, PermissionRequest, QuestionRequest } from '../../protocol/interaction/interaction.js'
import { LIMITS } from '../../protocol/limits.js'
import { type Session, sourceOf } from '../../protocol/session/session.js'
import { widerPatterns } from '../../protocol/interaction/wider-patterns.js'
import type { InteractionRow, Store } from '../../store/store.js'
import type { Effects } from '../../ports/effects.js'
import type { Interactions } from '../../ports/interactions.js'
import type { Change, Journal } from '../events/journal.js'
import type { Owners } from '../tenancy/owners.js'
import type { ActorRegistry } from '../../kernel/roots.js'
import { type PermissionAnswer, permissionAnswer, type QuestionAnswer, questionAnswer, responseOf, type StoredResponse } from './answers.js'
import { approve } from './approvals.js'
import { permissionOutcome, questionOutcome } from './outcomes.js'
import { forget, rememberedAs, rememberedIn } from './remembered.js'
import { type Asked, createRequests, type Requests } from './requests.js'

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

export interface InteractionBroker extends Omit<Interactions, 'explain'> {
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

/** Kept with what nobody answered in time. */
const EXPIRED: StoredResponse = { reply: 'reject', reason: 'timeout' }
const CANCELLED: StoredResponse = { reply: 'cancelled', reason: 'cancelled' }

interface InteractionDeps {
  readonly store: Pick<Store, 'interactions' | 'approvals' | 'runs'>
  readonly journal: Journal
  readonly effects: Pick<Effects, 'clock' | 'ids' | 'log'>
  readonly owners: Pick<Owners, 'mayUse'>
  readonly projects: { identify(directory: string): Promise<{ readonly approvals: string }> }
  readonly actors: ActorRegistry
}

/** What settles requests. */
interface Settling extends InteractionDeps {
  readonly requests: Requests<PermissionAsk>
}

export function createInteractions(deps: InteractionDeps): InteractionBroker {
  const { store, journal, effects, actors } = deps
  const requests = createRequests<PermissionAsk>({
    effects,
    actors,
    record(row, end) {
      const durability = end === 'expired' ? 'power' : 'process'
      journal.commit(durability, (tx) => settleRow(settling, tx, row, end, end === 'expired' ? EXPIRED : CANCELLED))
    },
  })
  const settling: Settling = { ...deps, requests }
  return {
    permissions: (caller, sessionId) => pending(settling, caller, 'permission', sessionId).map((row) => row.request as PermissionRequest),
    questions: (caller, sessionId) => pending(settling, caller, 'question', sessionId).map((row) => row.request as QuestionRequest),
    permission: (requestId) => permissionOutcome(store, requestId),
    question: (requestId) => questionOutcome(store, requestId),
    remembered: (caller, directory) => rememberedIn(deps, caller, directory),
    forget: (caller, directory, id) => forget(deps, caller, directory, id),
    replyPermission: (requestId, body, caller) => replyPermission(settling, requestId, body, caller),
    replyQuestion: (requestId, { answers }, caller) =>
      answer(settling, requestId, 'question', (tx, { row }) => void settleRow(settling, tx, row, 'answered', { answers, ...byOf(caller) })),
    rejectQuestion: (requestId, caller) =>
      answer(settling, requestId, 'question', (tx, { row }) => void settleRow(settling, tx, row, 'answered', byOf(caller))),
    owner: (requestId) => store.interactions.get(requestId)?.sessionId,
    async askPermission(ask, signal) {
      const { session, runId } = ask
      const isUnattended = store.runs.isUnattended({ id: runId, sessionId: session.id })
      const request: PermissionRequest = {
        ...ask.request,
        metadata: { ...ask.request.metadata, ...(isUnattended && { deniedAfterMs: LIMITS.run.unattendedWait }) },
        id: effects.ids.next('per'),
        sessionId: session.id,
        ...sourceOf(session),
        sourceSessionID: session.id,
        sourceTitle: session.title,
      }
      const end = await endOf(settling, { row: rowOf(settling, runId, 'permission', request), ask }, isUnattended, signal)
      return permissionAnswer(end, responseOf(store.interactions.get(request.id)))
    },
    async askQuestion({ session, runId, messageId, callId, questions }, signal) {
      const request: QuestionRequest = {
        id: effects.ids.next('que'),
        sessionId: session.id,
        messageId,
        questions: [...questions],
        tool: { messageID: messageId, callID: callId },
      }
      const row = rowOf(settling, runId, 'question', request)
      const end = await endOf(settling, { row, ask: undefined }, store.runs.isUnattended({ id: runId, sessionId: session.id }), signal)
      return questionAnswer(end, responseOf(store.interactions.get(request.id)))
    },
    *waitingSessions() {
      for (const { row } of requests.all()) yield row.sessionId
    },
    withdraw(tx, sessionId) {
      for (const { row } of requests.all()) if (row.sessionId === sessionId) settleRow(settling, tx, row, 'withdrawn', CANCELLED)
    },
    recover(tx) {
      for (const row of store.interactions.pending()) settleRow(settling, tx, row, 'withdrawn', { reply: 'cancelled', reason: 'restart' })
    },
  }
}

/** False when it was settled before. */
function settleRow(
  { store, effects, requests }: Settling,
  tx: Change,
  row: InteractionRow,
  end: InteractionEnd,
  response: StoredResponse,
): boolean {
  const state = end === 'answered' ? 'answered' : 'withdrawn'
  if (!store.interactions.settle(row.id, state, JSON.stringify(response), effects.clock.now())) return false
  tx.after(() => requests.ended(row.id, end))
  publishEnd(tx, row, response)
  return true
}

function publishEnd(tx: Change, row: InteractionRow, { reply, answers, reason }: StoredResponse): void {
  const { id: requestID, sessionId: sessionID } = row
  if (row.kind === 'permission') {
    const info = row.request as PermissionRequest
    tx.emit('permission.replied', { ...info, requestID, reply: reply ?? 'cancelled', info, ...(reason !== undefined && { reason }) })
    return
  }
  const info = row.request as QuestionRequest
  if (answers === undefined) tx.emit('question.rejected', { requestID, sessionID, info, ...(reason === undefined ? {} : { reason }) })
  else tx.emit('question.replied', { requestID, sessionID, reply: { answers }, info })
}

/** Resolves with how a request ended, once that is committed. Rejects when nobody waits for it any more. */
async function endOf(
  { store, journal, requests }: Settling,
  asked: Asked<PermissionAsk>,
  isUnattended: boolean,
  signal: AbortSignal,
): Promise<'answered' | 'expired'> {
  const { row } = asked
  const request = requests.create(asked, isUnattended)
  journal.commit('process', (tx) => {
    store.interactions.insert(row)
    tx.after(() => request.start())
    if (row.kind === 'permission') tx.emit('permission.asked', row.request as PermissionRequest)
    else tx.emit('question.asked', row.request as QuestionRequest)
  })
  const end = await request.end(signal)
  if (end === 'abandoned') throw new Error('the call was aborted')
  if (end === 'withdrawn') throw new Error('the request was withdrawn')
  return end
}

function answer(
  { journal, requests }: Settling,
  requestId: string,
  kind: InteractionRow['kind'],
  settle: (tx: Change, asked: Asked<PermissionAsk>) => void,
): true {
  const asked = requests.get(requestId)
  if (asked?.row.kind === kind) journal.commit('power', (tx) => settle(tx, asked))
  return true
}

function replyPermission(settling: Settling, requestId: string, body: PermissionReply, caller: Pick<Caller, 'subject'> | undefined): true {
  const by = byOf(caller)
  const reply = replyOf(body)
  return answer(settling, requestId, 'permission', (tx, { row, ask }) => {
    const wider = body.alwaysPatterns ?? []
    const offered = ask === undefined ? [] : widerPatterns(ask.request)
    const strange = wider.filter((pattern) => !offered.includes(pattern))
    if (strange.length > 0) throw notOffered(strange, offered)
    const told = body.message === undefined ? {} : { message: body.message }
    if (!settleRow(settling, tx, row, 'answered', { reply, ...told, ...by })) return
    if (reply === 'always' && ask !== undefined) grantAlways(settling, tx, requestId, ask, { wider, by })
    if (reply !== 'reject') return
    for (const other of ofSession(settling, row.sessionId, requestId)) settleRow(settling, tx, other.row, 'answered', { reply, ...by })
  })
}

function pending(
  { requests, owners }: Settling,
  caller: Caller,
  kind: InteractionRow['kind'],
  sessionId: string | undefined,
): InteractionRow[] {
  return [...requests.all()].flatMap(({ row }) => {
    const isAsked = row.kind === kind && (sessionId === undefined || row.sessionId === sessionId)
    return isAsked && owners.mayUse(caller, row.sessionId) ? [row] : []
  })
}

function ofSession({ requests }: Settling, sessionId: string, except: string): Asked<PermissionAsk>[] {
  return [...requests.all()].filter(({ row }) => row.kind === 'permission' && row.sessionId === sessionId && row.id !== except)
}

/** Remembers an answer, and gives it to what else is pending and allowed by now. */
function grantAlways(settling: Settling, tx: Change, requestId: string, ask: PermissionAsk, { wider, by }: Always): void {
  const { session, approvals: place, request } = ask
  const given = { at: settling.effects.clock.now(), sessionId: session.id, ...by }
  const { permission, always: asked } = request
  const { all: approvals, added } = approve(settling.store, { session, approvals: place }, { permission, asked, wider, given })
  if (added.length > 0)
    tx.emit('permission.remembered', { sessionID: session.id, answers: added.map((approval) => rememberedAs(place, approval)) })
  for (const other of ofSession(settling, session.id, requestId)) {
    if (other.ask?.isAllowedBy(approvals) === true) settleRow(settling, tx, other.row, 'answered', { reply: 'always', ...by })
  }
}

function rowOf(
  { effects }: Settling,
  runId: string,
  kind: InteractionRow['kind'],
  request: PermissionRequest | QuestionRequest,
): InteractionRow {
  return { id: request.id, kind, sessionId: request.sessionId, runId, state: 'pending', request, created: effects.clock.now() }
}

interface By {
  readonly by?: string
}

interface Always {
  readonly wider: readonly string[]
  readonly by: By
}

function byOf(caller: Pick<Caller, 'subject'> | undefined): By {
  return caller === undefined ? {} : { by: caller.subject }
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

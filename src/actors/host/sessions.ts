/** Sessions as native plugins use them: as a local caller, through the same doors as HTTP. */
import { type Caller, LOCAL_TENANT, PLUGIN_CALLER } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { refusalOf } from '../../protocol/interaction/refusal-of.js'
import { LIMITS } from '../../protocol/limits.js'
import { Message } from '../../protocol/message/message.js'
import type { ChangeNotes } from '../../protocol/session/snapshot.js'
import type { Sessions } from '../../ports/facades.js'
import type { Change } from '../events/journal.js'
import type { Rows, Work, Sources } from '../session/state/core.js'
import { familyChanges } from '../session/history/family-changes.js'
import { isOfCompaction } from '../session/history/conversation.js'
import { appendNotice, tellSession } from '../session/admission/notices.js'
import { clearQueue } from '../session/admission/queue.js'
import { isQuiet, untilQuiet } from '../session/state/quiet.js'
import { noteMove } from '../session/state/moves.js'
import { createSession } from '../session/state/records.js'
import { noteOnSession, writeNotes } from '../session/state/session-notes.js'
import { ownerOf } from '../tenancy/hosted-session.js'
import { ABORTED } from '../session/run/closing.js'
import type { RunEnd, SessionDoor, SessionOutcome, SessionSequel } from '../../ports/doors.js'
import { rowsChange } from './rows.js'

export function createSessionDoor(
  core: Rows & Work & Sources,
  pluginId: string,
  sessions: Pick<Sessions, 'submitPrompt' | 'abort' | 'wait'>,
  wake: (sessionId: string) => void,
): SessionDoor {
  return {
    create: (directory, request, extra, along) =>
      createSession(core, callerFor(core, request.parentId), directory, request, {
        ...(extra !== undefined && { extra }),
        ...(along !== undefined && { along: (tx, session) => along(rowsChange(core.store, pluginId, tx), session) }),
      }),
    prompt: (sessionId, request) => sessions.submitPrompt(PLUGIN_CALLER, sessionId, request, 'prompt'),
    abort: (sessionId) => sessions.abort(sessionId),
    clearQueue: (sessionId, all) => clearQueue(core, sessionId, all).removed,
    tell: (sessionId, notice, along) =>
      tellSession(core, sessionId, notice, {
        wake: () => wake(sessionId),
        along: along && ((tx) => along(rowsChange(core.store, pluginId, tx))),
      }),
    follow: (ask) =>
      core.sequels.add((sessionId) => {
        const sequel = ask(sessionId)
        return sequel && ((tx) => writeSequel(core, pluginId, tx, sessionId, sequel))
      }),
    begin: core.outstanding.begin,
    backgroundTasks: (sessionId, but) => backgroundTasks(core, sessionId, but),
    endJobs: (sessionId) => core.outstanding.end(sessionId, 'job'),
    isQuiet: (sessionId) => isQuiet(core, sessionId),
    quiet: (sessionId, signal) => untilQuiet(core, sessionId, signal),
    usage: (sessionId) => core.store.messages.usage(core.store.sessions.family(sessionId)),
    changes: (sessionId, { since, keeper }) => changesFor(core, sessionId, since, keeper),
    get: (sessionId) => core.store.sessions.get(sessionId),
    isBusy: (sessionId) => !core.statuses.isIdle(sessionId),
    settled: (sessionId, signal) => sessions.wait(sessionId, signal),
    outcome: (sessionId) => outcomeOf(core, sessionId),
    refusals: (sessionId) =>
      core.store.interactions
        .expired(core.store.sessions.family(sessionId), LIMITS.run.toldRefusals)
        .map(({ request }) => refusalOf(request)),
    lastEnd: (sessionId) => lastEnd(core, sessionId),
    answers: (sessionId, from) => answersOf(core, sessionId, from),
    move: (sessionId, wanted, signal) => noteMove(core, sessionId, wanted, signal),
    note: (sessionId, name, value, along) =>
      noteOnSession(core, sessionId, { [name]: value }, along && ((tx) => along(rowsChange(core.store, pluginId, tx)))),
  }
}

/** A child is of the tenant of its parent. */
function callerFor({ store }: Rows, parentId: string | undefined): Caller {
  const parent = parentId === undefined ? undefined : store.sessions.get(parentId)
  return parent === undefined || (parent.svcTenantId ?? LOCAL_TENANT) === LOCAL_TENANT ? PLUGIN_CALLER : ownerOf(parent, PLUGIN_CALLER)
}

function writeSequel(core: Rows & Work, pluginId: string, tx: Change, sessionId: string, { notice, notes, along }: SessionSequel): void {
  along(rowsChange(core.store, pluginId, tx))
  if (notes !== undefined) writeNotes(core, tx, sessionId, notes)
  if (notice !== undefined) appendNotice(core, tx, sessionId, notice)
}

function changesFor(core: Rows, sessionId: string, since: number, keeper: string): ChangeNotes {
  const members = core.store.sessions.family(sessionId)
  core.store.transact('process', () => members.forEach((member) => core.store.keptContents.share(member, keeper)))
  return familyChanges(core, sessionId, since)
}

function backgroundTasks({ outstanding }: Work, sessionID: string, but: string | undefined) {
  const jobs = outstanding.of(sessionID).filter(({ kind }) => kind === 'job')
  const running = jobs.filter(({ id }) => id !== but)
  return {
    sessionID,
    runningBackgroundTasks: running.map(({ id: jobID, startedAt }) => ({ jobID, sessionID, startedAt })),
    backgroundJobsEpoch: outstanding.jobs.epoch,
    backgroundJobsRevision: outstanding.jobs.revision + jobs.length - running.length,
  }
}

export function outcomeOf(core: Pick<Rows, 'store' | 'transcripts'>, sessionId: string): SessionOutcome {
  if (core.store.sessions.get(sessionId) === undefined) throw new SvcError('resource.not_found', `There is no session "${sessionId}".`)
  const last = lastSaid(core.transcripts, sessionId)
  if (last?.info.role !== 'assistant') return { ok: false, error: 'the prompt was not answered', text: '' }
  const text = last.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const { error } = last.info
  return error === undefined ? { ok: true, text } : { ok: false, error: error.message, text }
}

function lastSaid(transcripts: Rows['transcripts'], sessionId: string): Message | undefined {
  return transcripts.of(sessionId).findLast((message) => !isOfCompaction(message))
}

const ENDS = { completed: 'completed', error: 'failed' } as const

function lastEnd({ store, transcripts }: Pick<Rows, 'store' | 'transcripts'>, sessionId: string): RunEnd | undefined {
  const run = store.runs.last(sessionId)
  if (run === undefined || run.status === 'running') return undefined
  const { id: runId, status, error, unattended } = run
  const end = status === 'interrupted' ? (error === ABORTED ? 'aborted' : 'stopped') : ENDS[status]
  const isUnanswered = lastSaid(transcripts, sessionId)?.info.role === 'user'
  return { runId, end, unattended, isUnanswered, ...(error !== undefined && { error }) }
}

/** Messages that are read at a time. */
const PAGE = 20

function answersOf({ store }: Rows, sessionId: string, { after, most }: Parameters<SessionDoor['answers']>[1]): readonly Message[] {
  const answers: Message[] = []
  let cursor: string | undefined
  while (answers.length < most) {
    const { items, next } = store.messages.page({ sessionId, order: 'desc', limit: Math.min(PAGE, most), cursor })
    for (const item of items) {
      const message = Message.parse(JSON.parse(item))
      const { info } = message
      if (info.id === after) return answers
      const isAnswer = info.role === 'assistant' && info.time.completed !== undefined
      if (isAnswer && answers.length < most && !isOfCompaction(message) && !isGiven(message)) answers.unshift(message)
    }
    if (next === undefined) break
    cursor = next
  }
  return answers
}

/** What was typed for the shell, which no model answered. */
function isGiven({ info, parts }: Message): boolean {
  const calls = parts.filter((part) => part.type === 'tool')
  return (
    info.role === 'assistant' && info.finish === 'stop' && calls.length > 0 && calls.every(({ callId }) => callId.startsWith(`${info.id}_`))
  )
}

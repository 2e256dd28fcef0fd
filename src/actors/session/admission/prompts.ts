/**
 * Admission of prompts (sessions-events §4.1–4.6).
 *
 * I1 A prompt is acknowledged after its row and `session.prompt.admitted` are durable, never before.
 * I2 One message id is one message: a repeat with equal content changes nothing, other content is a conflict;
 *    the comparison and the insert are one uninterrupted turn.
 * I3 A prompt that nobody could answer is refused with the reason: its agent and its model are looked at before it is acknowledged (§4.7).
 */
import { nextTurn } from '../../../kernel/pause.js'
import type { Caller } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { PromptPart, PromptRequest } from '../../../protocol/message/message.js'
import type { GivenCall, QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import { wellFormedValue } from '../../../protocol/text/well-formed.js'
import { refuseUnknownVariant } from '../../provider/unknown.js'
import type { QueueRow } from '../../../store/store.js'
import type { Change } from '../../events/journal.js'
import { appendPrompt } from './append.js'
import { refuseNested, type RunTarget, resolveTarget } from './target.js'
import { sessionOrThrow, type Rows, type Work, type Sources } from '../state/core.js'
import { releaseHeld } from './held.js'
import { isLongPrompt, isSilent, publishWaiting, queueInfo, toldRequest } from './queue.js'
import { repeatOf } from './repeats.js'
import { RUNTIME_MARKER } from '../state/runtime-marker.js'
import { keepAttached } from '../state/shown-files.js'
import { notePrompted } from '../state/imported.js'
import { noteParticipant } from './sharing.js'

/** Text of one prompt as JSON; its events need some room as well. */
export const TEXT_BYTES = LIMITS.events.recordBytes - 8192

/** `calls`: see `QueuedPrompt`. No client can give them. */
export type PromptContent = PromptRequest & Pick<QueuedPrompt, 'calls'>

/** What claims a prompt inside the change that admits it; asked there before anything of it is stored: undefined = that is not possible any more. */
export type Early = () => ((tx: Change, row: QueueRow) => void) | undefined

/** How the work on a prompt begins. */
export interface Beginning {
  /** There is work to look for. */
  wake(): void
  /** What claims the prompt in the commit that admits it; undefined = it is claimed when the session looks for work. */
  early?(prompt: QueuedPrompt, target: RunTarget): Promise<Early | undefined>
}

/** Admits a prompt durably. */
export async function submitPrompt(
  core: Rows & Work & Sources,
  caller: Caller,
  sessionId: string,
  request: PromptContent,
  delivery: 'steer' | 'queue',
  beginning: Beginning,
): Promise<void> {
  const { directory } = sessionOrThrow(core, sessionId)
  const given = settle(core, caller, request)
  await refuseSubtasks(core, directory, sessionId, given)
  const fresh = await refuseUnanswerable(core, sessionId, given)
  if (!isLongPrompt(given)) {
    const early = fresh && (await beginning.early?.(given, fresh.target))
    return place(core, caller, sessionId, given, delivery, { wake: beginning.wake, early, newAt: fresh?.commits })
  }
  await nextTurn()
  const prompt = await keepAttached(core, sessionId, given).catch((error: unknown) => {
    sessionOrThrow(core, sessionId) // It may have been deleted meanwhile.
    throw error
  })
  const { store } = core
  try {
    await place(core, caller, sessionId, prompt, delivery, { wake: beginning.wake, early: undefined, newAt: undefined })
  } catch (error) {
    store.contents.release(prompt.parts)
    store.transact('process', () => store.messages.sweepContents(sessionId))
    throw error
  }
  store.contents.release(prompt.parts)
}

/**
 * Throws when the agent or the model that would answer is not there or cannot be used, or what the prompt names does not exist (I3). What was
 * accepted before is told so, whatever became of its model; of others this answers who they are, and after how many commits they were new.
 */
async function refuseUnanswerable(
  core: Rows & Sources,
  sessionId: string,
  prompt: QueuedPrompt,
): Promise<{ readonly target: RunTarget; readonly commits: number } | undefined> {
  const { store } = core
  const { commits } = core.journal
  if (store.queue.byMessageId(prompt.messageId) !== undefined || store.messages.get(prompt.messageId) !== undefined) return undefined
  refuseNested(core, sessionId)
  const target = await resolveTarget(core, sessionId, prompt)
  if (prompt.model !== undefined) refuseUnknownVariant(target.model)
  return { target, commits }
}

/** `newAt`: after so many commits the prompt was a new one, which it is until the next. */
async function place(
  core: Rows & Work & Sources,
  caller: Caller,
  sessionId: string,
  prompt: QueuedPrompt,
  delivery: 'steer' | 'queue',
  { wake, early, newAt }: { readonly wake: () => void; readonly early: Early | undefined; readonly newAt: number | undefined },
): Promise<void> {
  const target = isSilent(prompt) ? await resolveTarget(core, sessionId, prompt) : undefined
  const repeat = newAt === core.journal.commits ? undefined : repeatOf(core, sessionId, prompt, delivery)
  if (repeat?.type === 'held') {
    if (!isOfPerson(caller, prompt)) throw heldPrompt(prompt)
    releaseHeld(core, caller, repeat.row)
    wake()
  }
  if (repeat !== undefined) return core.journal.synced()
  if (target !== undefined && core.statuses.isIdle(sessionId) && core.store.queue.count(sessionId) === 0) {
    appendNow(core, caller, sessionId, prompt, target)
    return core.journal.synced()
  }
  admit(core, { caller, sessionId, prompt, delivery, early })
  wake()
  await core.journal.synced()
}

function settle(core: Rows, caller: Caller, request: PromptContent): QueuedPrompt {
  const parts = contentOf(request)
  const calls = [...callsOf(parts, request.noReply ?? false), ...(request.calls ?? [])]
  if (request.system?.includes(RUNTIME_MARKER)) {
    throw new SvcError('request.invalid', '"system" contains a marker that is reserved for runtime notifications.')
  }
  refuseLongText([request.system, calls], parts)
  const author = caller.authenticated ? caller.subject : request.author?.trim()
  return wellFormedValue({
    messageId: request.messageId ?? core.effects.ids.next('msg'),
    parts,
    noReply: request.noReply ?? false,
    ...(request.model === undefined
      ? {}
      : { model: { ...request.model, ...(request.variant === undefined ? {} : { variant: request.variant }) } }),
    ...(request.agent === undefined ? {} : { agent: request.agent }),
    ...(request.system === undefined ? {} : { system: request.system }),
    ...(request.tools === undefined ? {} : { tools: request.tools }),
    ...(author === undefined || author === '' ? {} : { author }),
    ...(request.unattended === true ? { unattended: true as const } : {}),
    ...(calls.length === 0 ? {} : { calls }),
  })
}

/** Text travels in one event; contents of attached files do not count. */
function refuseLongText(others: readonly unknown[], parts: readonly PromptPart[]): void {
  const texts = [...others, ...parts.map((part) => (part.type === 'file' ? part.filename : part))]
  const bytes = Buffer.byteLength(JSON.stringify(texts))
  if (bytes <= TEXT_BYTES) return
  throw new SvcError('request.unprocessable', 'The text of a prompt is at most 1 MiB. Put longer text into a file and name the file.', {
    bytes,
  })
}

function contentOf(request: PromptRequest): readonly PromptPart[] {
  if (request.parts !== undefined) return request.parts
  if (request.prompt === undefined || request.prompt.trim() === '') {
    throw new SvcError('request.invalid', 'Give "prompt" with some text or "parts" with at least one part.')
  }
  return [{ type: 'text', text: request.prompt }]
}

/** A resource of an MCP server is attached by its address, `mcp:<server>/<address>`, and read before anything is answered. */
function resourceOf(url: string) {
  const [, server, uri] = /^mcp:([^/]+)\/(.+)$/s.exec(url) ?? []
  return server === undefined || uri === undefined ? undefined : { server, uri }
}

/** A subtask is delegated before anything else of its prompt is answered (sessions-events §10.12); a prompt that is only stored delegates nothing. */
function callsOf(parts: readonly PromptPart[], noReply: boolean): GivenCall[] {
  return parts.flatMap((part): GivenCall[] => {
    const resource = part.type === 'file' ? resourceOf(part.url) : undefined
    if (resource !== undefined) return [{ tool: 'mcp_resource', input: resource }]
    if (part.type !== 'subtask' || noReply) return []
    const { prompt, description, agent, model, command } = part
    const input = {
      description,
      prompt,
      subagent_type: agent,
      background: true,
      ...(command !== undefined && { command }),
      ...(model && { model }),
    }
    return [{ tool: 'task', input }]
  })
}

async function refuseSubtasks({ plugins }: Sources, directory: string, sessionId: string, { parts }: QueuedPrompt): Promise<void> {
  if (!parts.some(({ type }) => type === 'subtask')) return
  const { tools } = await plugins.ready(directory, sessionId)
  if (tools.some(({ contribution }) => contribution.id === 'task')) return
  throw new SvcError('request.invalid', 'Subtask parts need subagents, which are switched off here.')
}

/** Nobody attends what is unattended. */
function isOfPerson(caller: Caller, { unattended }: QueuedPrompt): boolean {
  return caller.isAutomatic !== true && unattended !== true
}

function heldPrompt({ messageId }: QueuedPrompt): SvcError {
  return new SvcError('resource.conflict', `The prompt "${messageId}" is held until a person releases it.`, { messageId })
}

function noteCaller(
  core: Rows,
  tx: Change,
  { caller, sessionId, prompt }: { readonly caller: Caller; readonly sessionId: string; readonly prompt: QueuedPrompt },
): void {
  noteParticipant(core, caller, sessionId)
  if (isOfPerson(caller, prompt)) notePrompted(core, tx, caller, sessionId)
}

function appendNow(core: Rows, caller: Caller, sessionId: string, prompt: QueuedPrompt, target: RunTarget): void {
  core.journal.commit('process', (tx) => {
    noteCaller(core, tx, { caller, sessionId, prompt })
    appendPrompt(core, tx, sessionId, prompt, target)
  })
}

/** What waits is bounded in bytes as well: a prompt with attached files may have 3 MiB. */
function refuseCrowded({ store }: Rows, sessionId: string, prompt: QueuedPrompt): void {
  const waiting = store.queue.bytes(sessionId)
  if (waiting + LIMITS.http.promptBody <= LIMITS.sessions.queueBytes) return
  const bytes = Buffer.byteLength(JSON.stringify(prompt))
  if (waiting + bytes <= LIMITS.sessions.queueBytes) return
  const message = `The prompts that wait in this session have ${waiting} bytes; with this one they would have more than ${LIMITS.sessions.queueBytes}. Send it when some of them have been taken, or remove some.`
  throw new SvcError('quota.exceeded', message, { sessionId, waiting, bytes })
}

function admit(
  core: Rows & Work,
  {
    caller,
    sessionId,
    prompt,
    delivery,
    early,
  }: {
    readonly caller: Caller
    readonly sessionId: string
    readonly prompt: QueuedPrompt
    readonly delivery: 'steer' | 'queue'
    readonly early: Early | undefined
  },
): void {
  const { store, journal, effects } = core
  sessionOrThrow(core, sessionId)
  if (store.queue.size(sessionId) >= LIMITS.sessions.queueRows) {
    throw new SvcError('quota.exceeded', `The queue of this session holds ${LIMITS.sessions.queueRows} prompts already.`, { sessionId })
  }
  refuseCrowded(core, sessionId, prompt)
  journal.commit('process', (tx) => {
    noteCaller(core, tx, { caller, sessionId, prompt })
    const row = { id: effects.ids.next('evt'), sessionId, delivery, request: prompt, created: effects.clock.now(), held: false }
    const claim = early?.()
    if (claim === undefined) store.queue.append(row)
    else store.queue.pass(row)
    const request = toldRequest(prompt)
    const written = store.contents.writtenPrompt(sessionId, request)
    tx.emitWith('session.prompt.admitted', { sessionID: sessionId, delivery, request }, 'request', written)
    const queue = queueInfo(core, sessionId)
    tx.emit('session.queue.updated', {
      sessionID: sessionId,
      action: 'enqueue',
      removed: 0,
      queue,
      messageID: prompt.messageId,
      delivery,
      // Admitted just before: what is long is not repeated.
      ...(isLongPrompt(prompt) ? {} : { request }),
    })
    publishWaiting(core, tx, sessionId)
    claim?.(tx, row)
  })
}

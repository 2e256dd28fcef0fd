/**
 * The recorder of one run: the only writer of its parts (laws §4.6).
 *
 * I1 Every snapshot and delta of a run passes here in call order, so no snapshot overtakes a delta.
 * I2 Text is flushed to its row when its part closes, before a tool starts, and at most `flushInterval` after it arrived.
 * I3 Once a step is closed nothing writes to it: late deltas and results are dropped.
 * I4 Memory follows the rows: what a commit changes is taken over after it, so a failed commit changes nothing.
 * I5 Text is well-formed and bounded: what one text part says fits into one event.
 */
import { LIMITS } from '../../../../protocol/limits.js'
import type { AssistantInfo, FilePart } from '../../../../protocol/message/message.js'
import type { ToolResult } from '../../../../ports/plugin.js'
import type { Change } from '../../../events/journal.js'
import type { TextReplacement, TextSoFar } from '../../../events/live.js'
import type { SaidOfCall } from '../../history/said-by-provider.js'
import { type Ending, endingOf, type StepEnd } from './ending.js'
import { acceptCall, addInput, closeManyCalls, completeCall, failCall, noteChanging, showProgress, startCall } from './recorded-calls.js'
import {
  addText,
  addThought,
  endThought,
  openText,
  replaceText,
  saidTexts,
  startPassage,
  startText,
  startThought,
} from './recorded-text.js'
import { begin, isOpen, now, openRecording, place, record, type Recording, type RecordingCore } from './recording.js'

/** One assistant message while it is being generated. */
export interface StepRecorder {
  info(): AssistantInfo
  /** Throws `request.unprocessable` when the text outgrows one event, as `reasoning` does. */
  text(delta: string): void
  /** Passages of the text, of a provider to which their places matter. */
  textStarted(id: string): void
  textEnded(id: string, metadata?: unknown): void
  /** Of an agent that works by itself: what is said from here on stands after all there is. */
  textOpened(): void
  /** What it has said so far, in order; none once it is closed. */
  texts(): readonly TextSoFar[]
  /** See `Live.replaceText`. */
  replaceText(replacement: TextReplacement): number
  reasoningStarted(id: string): void
  reasoning(id: string, delta: string): void
  reasoningEnded(id: string, metadata?: unknown): void
  callStarted(callId: string, tool: string): void
  callInput(callId: string, delta: string): void
  /** What the provider says of a call, before anything else of it is recorded. */
  callSaid(callId: string, said: SaidOfCall): void
  /** False = the call has run or failed already and must not be executed. */
  callAccepted(callId: string, tool: string, input: unknown): boolean
  /** The call is about to change files: kept on its part until it is settled, without an event. */
  callChanging(callId: string): void
  callProgress(callId: string, metadata: Readonly<Record<string, unknown>>): void
  callCompleted(callId: string, result: ToolResult): void
  /** Also for calls that were never accepted. */
  callFailed(callId: string, tool: string, error: string, input?: unknown, metadata?: Readonly<Record<string, unknown>>): void
  /** A file that the model made; of many in one step the first ones are kept. */
  fileMade(file: Pick<FilePart, 'mime' | 'url' | 'filename'>): void
  calls(): number
  /** How many of them the provider made itself. */
  executed(): number
  knows(callId: string): boolean
  /** Notes that the provider's stream has ended. */
  streamed(): void
  /** Takes back what a failed attempt produced, in the rows and in the stream, and begins the message anew, under the same id. */
  restart(): void
  /** Before `close`: of more open calls than belong into one commit each is ended. Undefined = there are no more. */
  closeMany(): Promise<void> | undefined
  /** Ends every open part and the message, inside the caller's commit. */
  close(tx: Change, end: StepEnd): void
  /** As `close`, for whoever stores it later: from here on nothing is written. Undefined = it is closed. */
  seal(end: StepEnd): Ending | undefined
  /** Takes the message back, inside the caller's commit: the step is made anew under another id. */
  discard(tx: Change): void
}

/** Opens the message of a step, inside the caller's commit. */
export function beginStep(core: RecordingCore, tx: Change, opened: AssistantInfo): StepRecorder {
  const recording = openRecording(core, opened)
  const { parts, calls, saidOf, passages, sessionId, messageId } = recording
  let removeLive = (): void => undefined
  const stored = core.store.messages.append(opened, begin(recording, tx))
  tx.emitMessage(stored.info)
  for (const part of stored.parts) tx.emitPart(part, now(recording))
  const text = {
    current: () => (isOpen(recording) ? openText(recording) : undefined),
    replace: (replacement: TextReplacement) => replaceText(recording, replacement),
  }
  tx.after(() => {
    removeLive = core.live.add(messageId, { sessionId, info: () => recording.info, parts: () => [...parts.values()], text })
  })

  /** I3 */
  const whileOpen =
    <Given extends unknown[]>(write: (recording: Recording, ...given: Given) => void) =>
    (...given: Given): void => {
      if (isOpen(recording)) write(recording, ...given)
    }

  function end(): void {
    if (isOpen(recording)) recording.life.send({ type: 'closed' })
    removeLive()
  }

  /** `store` ends the record as well. */
  function endingBy(given: StepEnd): Ending {
    const { message, store } = endingOf(recording, given)
    return {
      message,
      store(change) {
        store(change)
        change.after(() => {
          end()
          core.transcripts.append(message)
        })
      },
    }
  }

  return {
    info: () => recording.info,
    calls: () => calls.size,
    executed: () => [...saidOf.values()].filter(({ executed }) => executed).length,
    knows: (callId) => calls.has(callId),
    textStarted: (id) => startPassage(recording, id),
    textEnded: (id, metadata) => passages.end(id, metadata),
    callSaid: (callId, said) => void saidOf.set(callId, { ...saidOf.get(callId), ...said }),
    text: whileOpen(addText),
    textOpened: whileOpen(startText),
    texts: () => (isOpen(recording) ? saidTexts(recording) : []),
    replaceText: text.replace,
    reasoningStarted: whileOpen(startThought),
    reasoning: whileOpen(addThought),
    reasoningEnded: whileOpen(endThought),
    callStarted: whileOpen(startCall),
    callInput: whileOpen(addInput),
    callAccepted: (callId, tool, input) => isOpen(recording) && acceptCall(recording, callId, tool, input),
    callChanging: whileOpen(noteChanging),
    callProgress: whileOpen(showProgress),
    callCompleted: whileOpen(completeCall),
    callFailed: whileOpen(failCall),
    fileMade: whileOpen(addFile),
    streamed() {
      recording.info = { ...recording.info, time: { ...recording.info.time, streamed: now(recording) } }
    },
    restart: whileOpen(restart),
    discard: whileOpen((_, change: Change) => {
      core.store.messages.remove(messageId)
      change.emit('message.removed', { sessionID: sessionId, messageID: messageId })
      change.after(() => {
        end()
        core.transcripts.forget(sessionId)
      })
    }),
    closeMany: () => (isOpen(recording) ? closeManyCalls(recording) : undefined),
    close: whileOpen((_, change: Change, given: StepEnd) => endingBy(given).store(change)),
    seal(given) {
      if (!isOpen(recording)) return undefined
      const ending = endingBy(given)
      recording.life.send({ type: 'closed' })
      return ending
    },
  }
}

function addFile(recording: Recording, file: Pick<FilePart, 'mime' | 'url' | 'filename'>): void {
  const made = [...recording.parts.values()].filter(({ type }) => type === 'file').length
  if (made < LIMITS.run.filesPerStep) record(recording, { ...place(recording), type: 'file', ...file })
}

function restart(recording: Recording): void {
  const { core, parts, sessionId, messageId } = recording
  core.journal.commit('process', (change) => {
    core.store.messages.removeParts(messageId)
    for (const partID of parts.keys()) change.emit('message.part.removed', { sessionID: sessionId, messageID: messageId, partID })
    for (const part of begin(recording, change)) change.emitPart(core.store.messages.putPart(part), now(recording))
  })
}

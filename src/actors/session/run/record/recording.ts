/**
 * What the recorder of a step has in hand: its message, the parts of it, and how they are put into rows and told.
 *
 * I1 Memory follows the rows: what a commit changes is taken over after it, so a failed commit changes nothing.
 * I2 Whoever writes asks first whether the record is open (`isOpen`).
 * I3 The result that ends the last open call of a step waits for the commit that closes the step, as nothing lies between the two; no longer
 *    than this turn of the event loop, and where it cannot be stored then, the call is as open as before (I1).
 */
import { chartOf } from '../../../../kernel/machine/chart.js'
import { type ActorRefFrom, createActor, fromPromise, initialTransition, transition } from 'xstate'
import { setImmediate } from 'node:timers'
import { nextTurn } from '../../../../kernel/pause.js'
import { laidOut } from '../../../../kernel/machine/laid-out.js'
import { stepRecorderMachine } from '../../../../machines/session/step-recorder.machine.js'
import { SvcError } from '../../../../protocol/errors.js'
import type { AssistantInfo, Part, TextPart } from '../../../../protocol/message/message.js'
import type { Joiner } from '../../../../protocol/text/well-formed.js'
import type { Change } from '../../../events/journal.js'
import { createPassages, type Passages, type SaidOfCall } from '../../history/said-by-provider.js'
import type { Rows } from '../../state/core.js'

export type RecordingCore = Pick<Rows, 'effects' | 'journal' | 'live' | 'store' | 'transcripts'>

export interface Recording {
  readonly core: RecordingCore
  readonly sessionId: string
  readonly messageId: string
  readonly life: Life
  info: AssistantInfo
  /** In order, by id; parts are values and are replaced, never changed. */
  readonly parts: Map<string, Part>
  textId: string
  /** Ids of parts by the names the provider uses. */
  readonly thoughts: Map<string, string>
  lastThought: string
  readonly calls: Map<string, string>
  /** Parts whose rows are older than they are. */
  readonly dirty: Set<string>
  /** The record is told at the end of this turn that something was said. */
  isToldSoon: boolean
  /** Parts that wait for the commit that closes the step, as they were before, by id (I3). */
  readonly waiting: Map<string, Part>
  /** When the input of a call was shown. */
  readonly shownInput: Map<string, number>
  readonly passages: Passages
  readonly saidOf: Map<string, SaidOfCall>
  /** How long texts are by now inside their events, by part. */
  readonly growth: Map<string, { readonly joiner: Joiner; bytes: number }>
}

type StepRecorder = ActorRefFrom<typeof stepRecorderMachine>

type Life = Pick<StepRecorder, 'getSnapshot' | 'send'>

/** By the system of its actor, of which that is the root. */
const recordings = new WeakMap<object, Recording>()

/** Made once: there is a record for each step. */
const logic = laidOut(
  chartOf(stepRecorderMachine).provide({
    actors: {
      store: fromPromise(async ({ system }) => {
        const recording = recordings.get(system)
        if (recording !== undefined) flush(recording)
      }),
    },
  }),
)

const [OPENED] = initialTransition(logic)
const [CLOSED] = transition(logic, OPENED, { type: 'closed' })

/** Many a step says nothing. Its record has an actor, which costs more than a row, from its first text on. */
function createLife(begin: () => StepRecorder): Life {
  let actor: StepRecorder | undefined
  let unsaid: ReturnType<StepRecorder['getSnapshot']> = OPENED
  return {
    getSnapshot: () => actor?.getSnapshot() ?? unsaid,
    send(event) {
      if (actor === undefined && event.type === 'closed') unsaid = CLOSED
      if (actor === undefined && unsaid === CLOSED) return
      actor ??= begin()
      actor.send(event)
    },
  }
}

export function openRecording(core: RecordingCore, info: AssistantInfo): Recording {
  const recording: Recording = {
    core,
    sessionId: info.sessionId,
    messageId: info.id,
    life: createLife(() => {
      const actor = createActor(logic, { clock: core.effects.clock })
      recordings.set(actor.system, recording)
      return actor.start()
    }),
    info,
    parts: new Map(),
    textId: '',
    thoughts: new Map(),
    lastThought: '',
    calls: new Map(),
    dirty: new Set(),
    isToldSoon: false,
    waiting: new Map(),
    shownInput: new Map(),
    passages: createPassages(),
    saidOf: new Map(),
    growth: new Map(),
  }
  return recording
}

export function isOpen({ life }: Recording): boolean {
  return life.getSnapshot().hasTag('open')
}

export function now({ core }: Recording): number {
  return core.effects.clock.now()
}

/** Where a new part of the message stands. */
export function place({ core, sessionId, messageId }: Recording): Pick<Part, 'id' | 'sessionId' | 'messageId'> {
  return { id: core.effects.ids.next('prt'), sessionId, messageId }
}

/** Begins the message: from here on its parts are these, which the caller stores and tells of. */
export function begin(recording: Recording, change: Change): Part[] {
  const { parts, thoughts, calls, dirty, waiting, shownInput, growth, saidOf, passages } = recording
  const text: TextPart = { ...place(recording), type: 'text', text: '', time: { start: now(recording) } }
  const fresh: Part[] = [{ ...place(recording), type: 'step-start' }, text]
  change.after(() => {
    for (const known of [parts, thoughts, calls, dirty, waiting, shownInput, growth, saidOf, passages]) known.clear()
    recording.textId = text.id
    for (const part of fresh) parts.set(part.id, part)
  })
  return fresh
}

export function put(recording: Recording, change: Change, part: Part, keep?: () => void): void {
  change.emitPart(recording.core.store.messages.putPart(part), now(recording))
  change.after(() => {
    recording.parts.set(part.id, part)
    keep?.()
  })
}

/** Text so far goes into its rows as well, before whatever the part begins. */
export function record(recording: Recording, part: Part, keep?: () => void): void {
  recording.core.journal.commit('process', (change) => {
    flushRows(recording, change)
    put(recording, change, part, keep)
  })
}

/** As `record`, for what closes the step with it (I3). */
export function recordWithEnd(recording: Recording, before: Part, part: Part): void {
  recording.parts.set(part.id, part)
  recording.waiting.set(part.id, before)
  void nextTurn().then(() => storeWaiting(recording))
}

/** What waits for the end of the step (I3). */
export function waitingParts({ parts, waiting }: Recording): readonly Part[] {
  return [...waiting.keys()].flatMap((id) => parts.get(id) ?? [])
}

function storeWaiting(recording: Recording): void {
  const { core, parts, waiting, sessionId } = recording
  if (waiting.size === 0 || !isOpen(recording)) return
  try {
    core.journal.commit('process', (change) => {
      flushRows(recording, change)
      for (const part of waitingParts(recording)) put(recording, change, part)
      change.after(() => waiting.clear())
    })
  } catch (error) {
    core.effects.log.warn('the result of a tool could not be recorded', { sessionId, cause: String(error) })
    for (const [id, before] of waiting) parts.set(id, before)
    waiting.clear()
  }
}

/** As `record`, for what starts no tool: the text beside it may wait for its own turn. */
export function recordAlone(recording: Recording, part: Part, keep: () => void): void {
  recording.core.journal.commit('process', (change) => put(recording, change, part, keep))
}

/** A part has grown: its row follows. Of an answer that comes as a whole the record has ended by the end of the turn, and nothing follows. */
export function grown(recording: Recording, part: Part): void {
  recording.parts.set(part.id, part)
  recording.dirty.add(part.id)
  if (recording.isToldSoon || recording.life.getSnapshot().hasTag('behind')) return
  recording.isToldSoon = true
  setImmediate(() => {
    recording.isToldSoon = false
    if (recording.dirty.size > 0 && isOpen(recording)) recording.life.send({ type: 'said' })
  })
}

/** A part is shown as it is, and not stored. */
export function show(recording: Recording, part: Part, time: number = now(recording)): void {
  recording.parts.set(part.id, part)
  recording.core.journal.publish('message.part.updated', { sessionID: recording.sessionId, part, time })
}

/** Text so far into its rows, without an event: for whoever reads after a crash. */
function flushRows({ core, parts, dirty }: Recording, change: Change): void {
  for (const id of dirty) {
    const part = parts.get(id)
    if (part !== undefined) core.store.messages.putPart(part)
  }
  change.after(() => dirty.clear())
}

function flush(recording: Recording): void {
  const { dirty, core, sessionId } = recording
  if (dirty.size === 0) return
  try {
    core.journal.commit('process', (change) => flushRows(recording, change))
  } catch (error) {
    core.effects.log.warn('streamed text could not be stored yet', { sessionId, cause: String(error) })
    if (!(error instanceof SvcError && error.code === 'lifecycle.closed')) throw error
  }
}

/**
 * Replays a recorded actor with the machine of today: its recorded input and events, and no effect at all.
 *
 * I1 What effects answered is in the trace, as events; the machine is only asked where each event leads.
 * I2 The first state that is not the recorded one ends the replay with both in words.
 */
import { type AnyEventObject, type AnyMachineSnapshot, type AnyStateMachine, initialTransition, transition } from 'xstate'
import { statesOf } from '../../../actors/inspector/actors.js'
import { ERRORS, type ErrorCode, SvcError } from '../../../protocol/errors.js'
import { type Life, livesOf, machineOf } from './recorded.js'
import type { RecordedActors, ReplayActor, ReplayedStep, Trace, TraceRecord } from './replay-types.js'
import { messageOf } from '../../../protocol/message-of.js'

const RECORD_ANEW =
  'Start the server with "svc serve --inspect-payloads", open the inspector before the actor starts, and save the trace again.'

export const recordedActors: RecordedActors = (trace) => livesOf(trace).map(({ actor, life, machine }) => ({ actor, life, machine }))

export const replay: ReplayActor = (trace, { actor, life = 1 }) => {
  const found = lifeOf(trace, actor, life)
  const machine = machineOf(found.machine)
  if (machine === undefined) throw new Error(`${actor} ran the machine "${found.machine}", which this version of svc does not have.`)
  const moves = movesOf(found)
  const input = payloadOf(found.start, 'input of its start')
  let snapshot = attempt(found, found.start, () => initialTransition(machine, input)[0])
  const initial = statesOf(snapshot)
  compare(found, found.start, { recorded: found.start.after ?? [], now: initial })
  const steps: ReplayedStep[] = []
  for (const record of found.records.filter(({ type }) => type === 'event')) {
    const before = statesOf(snapshot)
    const event = eventOf(record)
    snapshot = attempt(found, record, () => next(machine, snapshot, event))
    const after = statesOf(snapshot)
    compare(found, record, { recorded: moves.get(record.sequence) ?? before, now: after })
    steps.push({ sequence: record.sequence, event: event.type, before, after })
  }
  compareEnd(found, snapshot)
  const output: unknown = snapshot.output
  return { actor, life, machine: machine.id, initial, steps, state: statesOf(snapshot), done: snapshot.status === 'done', output }
}

function lifeOf(trace: Trace, actor: string, life: number): Life {
  const lives = livesOf(trace)
  const found = lives.find((each) => each.actor === actor && each.life === life)
  if (found !== undefined) return found
  const count = lives.filter((each) => each.actor === actor).length
  if (count > 0) throw new Error(`The trace holds ${count} ${count === 1 ? 'life' : 'lives'} of ${actor}, and not number ${life}.`)
  if (!trace.records.some(({ actorId }) => actorId === actor)) throw new Error(`The trace holds nothing of an actor ${actor}.`)
  if (trace.records.some(({ actorId, type }) => actorId === actor && type === 'start'))
    throw new Error(`${actor} is an effect: it has no states to replay.`)
  const lost = trace.dropped > 0 ? `, or it is among the ${trace.dropped} records that were dropped` : ''
  throw new Error(
    `The start of ${actor} is not in the trace: it was older than the inspector${lost}. ${RECORD_ANEW} checkTrace() can check what is there.`,
  )
}

/** Recorded states by the record of the event that led to them. */
function movesOf({ actor, records }: Life): ReadonlyMap<number, readonly string[]> {
  return new Map(
    records
      .filter(({ type }) => type === 'transition')
      .map(({ sequence, cause, event, after }) => {
        if (cause === undefined)
          throw new Error(
            `Record ${sequence}, a transition of ${actor} on "${event ?? ''}", does not say which event caused it. ${RECORD_ANEW}`,
          )
        return [cause, after ?? []]
      }),
  )
}

function payloadOf({ sequence, actorId, payload }: TraceRecord, what: string): unknown {
  const where = `Record ${sequence}, the ${what} of ${actorId},`
  if (payload === undefined)
    throw new Error(`${where} has no payload, and payloads decide where a machine goes. ${RECORD_ANEW} checkTrace() needs no payloads.`)
  if (payload === 'undefined') return undefined
  try {
    return JSON.parse(payload)
  } catch (error) {
    throw new Error(`${where} was cut when it was recorded (${payload.length} characters), and cannot be replayed.`, { cause: error })
  }
}

function eventOf(record: TraceRecord): AnyEventObject {
  const { event: type = '' } = record
  const payload = payloadOf(record, `event "${type}"`)
  const event = { ...(typeof payload === 'object' ? payload : {}), type }
  return 'error' in event ? { ...event, error: thrown(event.error) } : event
}

/** Errors are recorded as what they said. */
function thrown(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('error' in error) || typeof error.error !== 'string') return error
  return 'code' in error && isCode(error.code) ? new SvcError(error.code, error.error) : new Error(error.error)
}

function isCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code)
}

function next(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: AnyEventObject): AnyMachineSnapshot {
  return transition(machine, snapshot, event)[0]
}

/** What a machine throws, it throws for a reason of the record. */
function attempt(life: Life, record: TraceRecord, step: () => AnyMachineSnapshot): AnyMachineSnapshot {
  try {
    return step()
  } catch (error) {
    throw difference(life, record, `the machine of today fails: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

function compare(life: Life, record: TraceRecord, { recorded, now }: { recorded: readonly string[]; now: readonly string[] }): void {
  if (recorded.join() === now.join()) return
  throw difference(life, record, `the recorded actor was in ${inWords(recorded)} then; the machine of today is in ${inWords(now)}.`)
}

function compareEnd(life: Life, snapshot: AnyMachineSnapshot): void {
  const last = life.records.at(-1)
  if (last?.type !== 'stop' || last.end !== 'done' || snapshot.status === 'done') return
  throw difference(life, last, `the recorded actor was done; the machine of today goes on in ${inWords(statesOf(snapshot))}.`)
}

function difference({ actor, machine }: Life, { sequence, type, event }: TraceRecord, what: string, options?: ErrorOptions): Error {
  const moment = type === 'start' ? 'its start' : type === 'stop' ? 'its end' : `"${event ?? ''}"`
  return new Error(`${actor} (${machine}) differs at record ${sequence}, ${moment}: ${what}`, options)
}

function inWords(states: readonly string[]): string {
  return states.length === 0 ? 'no state' : `"${states.join(', ')}"`
}

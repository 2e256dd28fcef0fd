/** What holds of every server at any time, in the words of the specification. Each answers what it found wrong; undefined = it holds. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import type { Message } from '../../src/protocol/message/message.js'
import { LIMITS } from '../../src/protocol/limits.js'
import { TRANSIENT_EVENTS } from '../../src/protocol/event/event.js'
import { LONG } from './acts.js'
import { WAITING_SCALE } from './faults.js'
import { unfinished } from '../e2e/server/transcript.js'
import { GOAL_INVARIANTS } from './invariants-goals.js'
import { LODGER_INVARIANTS } from './invariants-lodger.js'
import { OUTSIDE_INVARIANTS } from './invariants-outside.js'
import { TENANT_INVARIANTS } from './invariants-tenants.js'
import { WORK_INVARIANTS } from './invariants-work.js'
import { caughtUp, createReader, isOfMessage, logOf, type Reader } from './reader.js'
import type { World } from './world.js'

export interface Invariant {
  readonly says: string
  /** `always`: after every step; `calm`: when nothing is under way any more. */
  readonly when: 'always' | 'calm'
  fault(world: World): string | undefined | Promise<string | undefined>
}

const TRANSIENT: ReadonlySet<string> = TRANSIENT_EVENTS

const INVARIANTS: readonly Invariant[] = [
  { says: 'no actor goes round for ever', when: 'always', fault: ({ endless }) => endless && `one of the machine ${endless} does` },
  ...TENANT_INVARIANTS,
  { says: 'a session that was acknowledged is there', when: 'always', fault: sessionsThere },
  { says: 'a session whose deletion was acknowledged is gone', when: 'always', fault: deletedGone },
  { says: 'a prompt that was acknowledged is there exactly once', when: 'always', fault: acknowledgedOnce },
  {
    says: 'sequences on the wire only grow, and each is a cursor',
    when: 'always',
    fault: ({ witness, readers }) => [witness, ...readers].flatMap(({ faults }) => faults)[0],
  },
  { says: 'no durable event is missing or doubled on the wire', when: 'always', fault: wireIsLog },
  { says: 'a client that folded the events has what REST answers', when: 'always', fault: foldIsRest },
  { says: 'a client that came back has what one has that never left', when: 'calm', fault: foldIsRest },
  { says: 'no part is open in a message that has ended', when: 'always', fault: noOpenPart },
  { says: 'an abort that was acknowledged ends its run', when: 'always', fault: abortEnds },
  { says: 'a request is answered once', when: 'always', fault: answeredOnce },
  { says: 'a session has one run at a time', when: 'always', fault: oneRun },
  { says: 'the queue of a session is bounded', when: 'always', fault: boundedQueue },
  { says: 'every request ends', when: 'calm', fault: requestsEnd },
  { says: 'no run is left busy with nobody behind it', when: 'calm', fault: nobodyBusy },
  { says: 'every prompt that was acknowledged gets its turn', when: 'calm', fault: everyTurn },
  { says: 'the log alone tells what REST answers', when: 'calm', fault: logIsRest },
  ...WORK_INVARIANTS,
  ...LODGER_INVARIANTS,
  ...OUTSIDE_INVARIANTS,
  ...GOAL_INVARIANTS,
]

/** The first that does not hold, with what was found. */
export async function firstFault(world: World, moment: 'always' | 'calm'): Promise<string | undefined> {
  for (const { says, when, fault } of INVARIANTS) {
    if (when === 'calm' && moment === 'always') continue
    const found = await fault(world)
    if (found !== undefined) return `${says}: ${found}`
  }
  return undefined
}

function sessionsThere({ life, sessions }: World): string | undefined {
  const lost = sessions.find((id) => life.store.sessions.get(id) === undefined)
  return lost && `${lost} is nowhere`
}

function deletedGone({ life, deleted }: World): string | undefined {
  const left = [...deleted].find((id) => life.store.sessions.get(id) !== undefined)
  return left && `${left} is there`
}

function acknowledgedOnce({ life, sessions, prompts, removed, messages }: World): string | undefined {
  const places = new Map<string, string[]>()
  const note = (id: string | undefined, place: string) => id !== undefined && places.set(id, [...(places.get(id) ?? []), place])
  for (const id of sessions) {
    for (const { info } of messages(id)) if (info.role === 'user') note(info.id, 'a message')
    for (const { messageId } of life.runtime.sessions.queue(id).items) note(messageId, 'in the queue')
  }
  for (const { name, messageId, acknowledged } of prompts.values()) {
    const found = places.get(messageId) ?? []
    if (found.length > 1) return `p${name} is ${found.join(' and ')}`
    if (found.length === 0 && acknowledged && !removed.has(messageId)) return `p${name} is nowhere`
  }
  return undefined
}

/** Of the events that no baseline supersedes. Those of tenants are not for local readers, until their session is gone: then they are nobody's. */
function wireIsLog({ life, witness, readers, tenants }: World): string | undefined {
  const isOfTenant = ({ sessionId }: { readonly sessionId: string | null }) =>
    sessionId !== null && tenants.some(({ sessions, family }) => family.has(sessionId) || sessions.includes(sessionId))
  const all = logOf(life.store).filter(({ type }) => !isOfMessage(type) && !TRANSIENT.has(type))
  const rows = all.filter((row) => !isOfTenant(row))
  const stored = rows.map(({ sequence }) => sequence)
  const foreign = rows.length === all.length ? undefined : new Set(all.filter(isOfTenant).map(({ sequence }) => sequence))
  for (const { isThere, others } of [witness, ...readers]) {
    if (!isThere) continue
    const told = foreign === undefined ? others : others.filter((sequence) => !foreign.has(sequence))
    const missing = stored.find((sequence, index) => told[index] !== sequence)
    if (missing === undefined && told.length <= stored.length) continue
    const row = rows.find(({ sequence }) => sequence === missing)
    return `of the log the ${row?.type ?? 'end'} with sequence ${missing ?? 'none'} was not told, or told twice`
  }
  return undefined
}

function foldIsRest({ life, sessions, witness, readers, messages }: World): string | undefined {
  const busy = life.runtime.sessions.status(TRUSTED_CALLER)
  for (const id of sessions) {
    if (busy[id] !== undefined) continue
    const rest = textOf(messages(id))
    for (const reader of [witness, ...readers]) {
      if (!reader.isThere) continue
      const folded = foldedBy(reader, id)
      if (folded !== rest) return difference(folded, rest)
    }
  }
  return undefined
}

const texts = new WeakMap<readonly Message[], string>()

/** JSON of what nobody changes. */
function textOf(messages: readonly Message[]): string {
  const text = texts.get(messages) ?? JSON.stringify(messages)
  texts.set(messages, text)
  return text
}

const foldings = new WeakMap<Reader, Map<string, { readonly seen: number; readonly text: string }>>()

/** JSON of what a reader has, of a session. */
function foldedBy(reader: Reader, sessionId: string): string {
  const { seen } = reader
  const known = foldings.get(reader) ?? new Map<string, { readonly seen: number; readonly text: string }>()
  foldings.set(reader, known)
  const last = known.get(sessionId)
  if (last?.seen === seen) return last.text
  const text = JSON.stringify(reader.transcripts.messages(sessionId))
  known.set(sessionId, { seen, text })
  return text
}

async function logIsRest(world: World): Promise<string | undefined> {
  const newcomer = createReader()
  newcomer.come(world.life.runtime)
  await caughtUp(world.life.store)
  try {
    for (const id of world.sessions) {
      const [folded, rest] = [JSON.stringify(newcomer.transcripts.messages(id)), JSON.stringify(world.messages(id))]
      if (folded !== rest) return difference(folded, rest)
    }
    return undefined
  } finally {
    newcomer.leave()
  }
}

function difference(folded: string, rest: string): string {
  let at = 0
  while (at < folded.length && folded[at] === rest[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 160), at + 160)
  return `folded … ${around(folded)} … where REST has … ${around(rest)} …`
}

function noOpenPart({ life, sessions, messages }: World): string | undefined {
  const busy = life.runtime.sessions.status(TRUSTED_CALLER)
  for (const id of sessions) {
    const all = messages(id)
    const ended = busy[id] === undefined ? all : all.filter(({ info }) => info.role === 'assistant' && info.time.completed !== undefined)
    const open = unfinished(ended)
    if (open.length > 0) return open.join(', ')
  }
  return undefined
}

function abortEnds({ life, aborted, isShaken }: World): string | undefined {
  // What cannot be recorded just now is recorded later.
  if (isShaken) return undefined
  const statuses = life.runtime.sessions.status(TRUSTED_CALLER)
  const left = aborted.find(({ sessionId, runId }) => (statuses[sessionId] as { readonly runID?: unknown } | undefined)?.runID === runId)
  return left && `the run ${left.runId} goes on`
}

function answeredOnce({ answers }: World): string | undefined {
  const twice = [...answers].find(([, count]) => count > 1)
  return twice && `the end of ${twice[0]} was told ${twice[1]} times`
}

function oneRun({ life, sessions }: World): string | undefined {
  const running = life.store.runs.running()
  const twice = sessions.find((id) => running.filter(({ sessionId }) => sessionId === id).length > 1)
  return twice && `the session ${twice} has more`
}

/** Bytes of a prompt with all that belongs to it: the last that is let in counts as what it is. */
const LONGEST = 1.5 * LONG

function boundedQueue({ life, sessions }: World): string | undefined {
  const { queueRows, queueBytes } = LIMITS.sessions
  const { queue } = life.store
  const most = queueBytes / WAITING_SCALE + LONGEST
  const long = sessions.find((id) => queue.size(id) > queueRows || queue.bytes(id) > most)
  return long && `of the session ${long} wait ${queue.size(long)} prompts with ${queue.bytes(long)} bytes`
}

function requestsEnd({ life }: World): string | undefined {
  const { interactions } = life.runtime
  const open = [...interactions.permissions(TRUSTED_CALLER, undefined), ...interactions.questions(TRUSTED_CALLER, undefined)]
  return open[0] && `${open[0].id} of ${open[0].sessionId} is open`
}

function nobodyBusy({ life }: World): string | undefined {
  const [busy] = Object.entries(life.runtime.sessions.status(TRUSTED_CALLER))
  if (busy !== undefined) return `the session ${busy[0]} is ${JSON.stringify(busy[1])}`
  const running = life.store.runs.running()[0]
  return running && `the run ${running.id} of the session ${running.sessionId} is running`
}

function everyTurn({ life, sessions }: World): string | undefined {
  for (const id of sessions) {
    const waiting = life.runtime.sessions.queue(id).items.find(({ held }) => held !== true)
    if (waiting !== undefined) return `${waiting.text ?? ''} waits`
  }
  return undefined
}

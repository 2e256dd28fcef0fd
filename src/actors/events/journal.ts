/**
 * The journal: the only place that publishes. State and the durable events that describe it commit together;
 * only then do subscribers hear of it (architecture law 2).
 *
 * I1 Sequence order = commit order = publish order: stamping, committing and publishing are one uninterrupted turn.
 * I2 A change that throws publishes nothing; the numbers it drew are never used again.
 */
import { type EventData, type EventType, TRANSIENT_EVENTS } from '../../protocol/event/event.js'
import { eventSource } from '../../protocol/event/event-source.js'
import type { MessageInfo, Part } from '../../protocol/message/message.js'
import type { Session } from '../../protocol/session/session.js'
import type { Written } from '../../store/contents.js'
import type { Durability, Store, Stored } from '../../store/store.js'
import type { Effects } from '../../ports/effects.js'
import type { Emit } from '../../ports/doors.js'
import type { Bus, BusRecord } from './bus.js'
import { createGroups, type Together } from './groups.js'
import { createSequence } from './sequence.js'
import { createStamps, type Draft, type OpenEvent, ownDraft } from './stamps.js'
import { type CommitMark, createSyncs } from './syncs.js'

/** What a change may do besides writing rows. */
export interface Change {
  /** Adds a durable event to the transaction. */
  readonly emit: Emit
  /** Adds an event of the session that was just stored, whose JSON is not written again. */
  emitSession(type: 'session.created' | 'session.updated', stored: Stored<Session>): void
  /** Adds `message.updated` of what was just stored, whose JSON is not written again. */
  emitMessage(stored: Stored<MessageInfo>): void
  /** Adds `message.part.updated`, likewise; `more` is told of the part besides what is stored of it. */
  emitPart(stored: Stored<Part>, time: number, more?: object): void
  /** Adds an event of a session with one member of its data, `name`, that is JSON already. */
  emitWith<T extends EventType>(type: T, data: EventData<T> & { readonly sessionID: string }, name: string, written: Written): void
  /** Adds a durable event of a plugin to the transaction. */
  emitOpen(event: OpenEvent): void
  /** Runs once the transaction is committed and before anything is published: for state kept in memory. */
  after(run: () => void): void
}

export interface Journal {
  /** Runs `change` in one transaction; the events it emits are stored with it and published after it. */
  commit<T>(durability: Durability, change: (tx: Change) => T): T
  /** Commits, as `process`, with whatever else is to be committed so before the next sync; settled once it survives power loss. */
  readonly together: Together<Change>
  /** What is committed so far. */
  mark(): CommitMark
  /** Resolves once everything committed so far, or up to the mark, survives power loss; whoever waits in one turn of the loop, or while a sync is under way, shares one sync. */
  synced(upTo?: CommitMark): Promise<void>
  /** Publishes an event that is not stored. */
  publish<T extends EventType>(type: T, data: EventData<T>): void
  /** Publishes a text delta, given as JSON text: the hot path of a run. */
  publishDelta(sessionId: string, messageId: string, partId: string, partType: 'text' | 'reasoning', deltaJson: string): void
  /** An envelope outside the order, for one subscriber: carries the head sequence and is not stored. */
  baseline<T extends EventType>(type: T, data: EventData<T>): Uint8Array
  /** The highest sequence handed out. */
  head(): number
  /** How many there were. */
  readonly commits: number
}

const MESSAGE_SOURCE = eventSource('message.part.delta')
const OPEN_NAME = /^[\w.-]{1,600}$/

/** Members of the data of an event, as they are stored, and as they are told where that differs. */
interface Jsons {
  readonly stored: string
  readonly told?: () => string
}

export function createJournal(deps: { store: Store; bus: Bus; effects: Pick<Effects, 'clock' | 'ids'> }): Journal {
  const { store, bus, effects } = deps
  const sequence = createSequence(store)
  const { stamp, baseline } = createStamps(effects, sequence)
  const syncs = createSyncs(store)
  /** What the change that is under way has told. */
  let open: BusRecord[] | undefined
  let commits = 0

  /** What a change tells is stored behind what it changes, in few statements. */
  function keep(records: readonly BusRecord[]): void {
    if (records.length === 0) return
    const created = effects.clock.now()
    store.events.insert(
      ...records.map(({ sequence: number, type, sessionId = null, json }) => ({ sequence: number, type, sessionId, json, created })),
    )
  }

  const journal: Omit<Journal, 'together'> = {
    commit(durability, change) {
      if (open !== undefined) throw new Error('commits do not nest: pass the change on instead')
      const records: BusRecord[] = []
      const afterwards: (() => void)[] = []
      sequence.prepare()
      open = records
      try {
        const emitted = changeOf(
          (draft) => void records.push(stamp(draft, true)),
          (run) => void afterwards.push(run),
        )
        const result = store.transact(durability, () => {
          const made = change(emitted)
          keep(records)
          return made
        })
        open = undefined
        commits++
        syncs.committed(durability)
        try {
          for (const run of afterwards) run()
        } finally {
          const last = records.some(isEnd) ? records.at(-1) : undefined
          for (const record of records) bus.publish(record, record === last)
        }
        return result
      } finally {
        open = undefined
      }
    },
    mark: syncs.mark,
    synced: syncs.synced,
    publish(type, data) {
      if (open !== undefined) throw new Error('transient events are published outside commits')
      if (!TRANSIENT_EVENTS.has(type)) throw new Error(`"${type}" is durable and needs a commit`)
      bus.publish(stamp(ownDraft(type, data), false))
    },
    publishDelta(sessionId, messageId, partId, partType, deltaJson) {
      const json = `{"sessionID":"${sessionId}","messageID":"${messageId}","partID":"${partId}","partType":"${partType}","field":"text","delta":${deltaJson}}`
      bus.publish(
        stamp(
          { type: 'message.part.delta', source: MESSAGE_SOURCE, data: undefined, sessionId, directory: undefined, dataJson: json },
          false,
        ),
      )
    },
    baseline,
    head: () => sequence.last(),
    get commits() {
      return commits
    },
  }
  return Object.assign(journal, { together: createGroups(journal, syncs) })
}

/** Whoever has asked something waits for it. */
function isEnd({ type, data }: BusRecord): boolean {
  return type === 'session.status' && (data as EventData<'session.status'>).status.type === 'idle'
}

/** What a change is handed: `keep` stores an event and gives it its number. */
function changeOf(keep: (draft: Draft) => void, after: Change['after']): Change {
  function emitStored(type: EventType, sessionID: string, data: object, { stored, told }: Jsons): void {
    const dataOf = (json: string) => `{"sessionID":${JSON.stringify(sessionID)},${json}}`
    const wholeJson = told && (() => dataOf(told()))
    keep({ type, source: eventSource(type), data, sessionId: sessionID, directory: undefined, dataJson: dataOf(stored), wholeJson })
  }
  return {
    emit: (type, data) => keep(ownDraft(type, data)),
    emitSession(type, { value: info, json }) {
      emitStored(type, info.id, { sessionID: info.id, info }, { stored: `"info":${json}` })
    },
    emitMessage({ value: info, json }) {
      emitStored('message.updated', info.sessionId, { sessionID: info.sessionId, info }, { stored: `"info":${json}` })
    },
    emitPart({ value, json, whole }, time, more) {
      const part = more === undefined ? value : { ...value, ...more }
      const rest = more === undefined ? '' : JSON.stringify(more).slice(1, -1)
      const told = (text: string) => `"part":${rest === '' ? text : `${text.slice(0, -1)},${rest}}`},"time":${time}`
      const jsons = { stored: told(json), ...(whole && { told: () => told(whole()) }) }
      emitStored('message.part.updated', part.sessionId, { sessionID: part.sessionId, part, time }, jsons)
    },
    emitWith(type, data, name, { json, whole }) {
      const { sessionID, ...others } = data
      const rest = JSON.stringify({ ...others, [name]: undefined }).slice(1, -1)
      const told = (text: string) => `${rest === '' ? '' : `${rest},`}${JSON.stringify(name)}:${text}`
      emitStored(type, sessionID, data, { stored: told(json), ...(whole && { told: () => told(whole()) }) })
    },
    emitOpen({ type, source, data, sessionId, directory }) {
      if (!OPEN_NAME.test(type) || !OPEN_NAME.test(source)) throw new Error('names of open events have letters, digits, ".", "_" and "-"')
      keep({ type, source, data, sessionId, directory, dataJson: JSON.stringify(data) ?? 'null' })
    },
    after,
  }
}

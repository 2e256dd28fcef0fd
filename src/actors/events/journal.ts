/**
 * The journal: the only place that publishes. State and the durable events that describe it commit together;
 * only then do subscribers hear of it (architecture law 2).
 *
 * I1 Sequence order = commit order = publish order: stamping, committing and publishing are one uninterrupted turn.
 * I2 A change that throws publishes nothing; the numbers it drew are never used again.
 */
import { setImmediate } from 'node:timers'
import { type EventData, type EventType, SCHEMA_VERSION, TRANSIENT_EVENTS } from '../../protocol/event/event.js'
import { eventSource } from '../../protocol/event/event-source.js'
import type { MessageInfo, Part } from '../../protocol/message/message.js'
import type { Written } from '../../store/contents.js'
import type { Durability, Store, Stored } from '../../store/store.js'
import { type Bus, type BusRecord, encodeFrame, sseFrame } from './bus.js'
import type { Effects } from '../../ports/effects.js'
import type { Emit } from '../../ports/doors.js'
import { createSequence } from './sequence.js'

/** An event whose type and data are none of ours: what plugins publish. */
interface OpenEvent {
  /** Letters, digits, ".", "_" and "-". */
  readonly type: string
  /** Id of the plugin. */
  readonly source: string
  /** JSON. */
  readonly data: unknown
  readonly sessionId: string | undefined
  /** The workspace it belongs to; undefined = none. */
  readonly directory: string | undefined
}

/** What a change may do besides writing rows. */
export interface Change {
  /** Adds a durable event to the transaction. */
  readonly emit: Emit
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
  /** Resolves once everything committed so far survives power loss; whoever waits in one turn of the loop, or while a sync is under way, shares one sync. */
  synced(): Promise<void>
  /** Publishes an event that is not stored. */
  publish<T extends EventType>(type: T, data: EventData<T>): void
  /** Publishes a text delta, given as JSON text: the hot path of a run. */
  publishDelta(sessionId: string, messageId: string, partId: string, partType: 'text' | 'reasoning', deltaJson: string): void
  /** An envelope outside the order, for one subscriber: carries the head sequence and is not stored. */
  baseline<T extends EventType>(type: T, data: EventData<T>): Uint8Array
  /** The highest sequence handed out. */
  head(): number
}

const MESSAGE_SOURCE = eventSource('message.part.delta')
const OPEN_NAME = /^[\w.-]{1,600}$/

/** An event before it has its number. */
interface Draft extends OpenEvent {
  readonly dataJson: string
  /** What is told, where that is more than what is stored. */
  readonly wholeJson?: (() => string) | undefined
}

/** Members of the data of an event, as they are stored, and as they are told where that differs. */
interface Jsons {
  readonly stored: string
  readonly told?: () => string
}

function ownDraft(type: string, data: unknown, sessionId: string | undefined): Draft {
  return { type, source: eventSource(type), data, sessionId, directory: undefined, dataJson: JSON.stringify(data) }
}

export function createJournal(deps: { store: Store; bus: Bus; effects: Pick<Effects, 'clock' | 'ids'> }): Journal {
  const { store, bus, effects } = deps
  const sequence = createSequence(store)

  function envelope({ type, sessionId, source, dataJson }: Draft, id: string, number: number, at: number): string {
    const subject = sessionId === undefined ? '' : `"subject":{"kind":"session","id":${JSON.stringify(sessionId)}},`
    return `{"id":"${id}","sequence":${number},"type":"${type}","source":"${source}","schemaVersion":"${SCHEMA_VERSION}","timestamp":${at},${subject}"data":${dataJson}}`
  }

  function stamp(draft: Draft, durable: boolean): BusRecord {
    const { type, sessionId, data, directory } = draft
    const id = effects.ids.next('evt')
    const number = sequence.next()
    const at = effects.clock.now()
    const json = envelope(draft, id, number, at)
    const told = () => (draft.wholeJson === undefined ? json : envelope({ ...draft, dataJson: draft.wholeJson() }, id, number, at))
    let frame: Uint8Array | undefined
    return {
      id,
      sequence: number,
      type,
      sessionId,
      directory,
      json,
      durable,
      data,
      frame: () => (frame ??= encodeFrame(sseFrame(type, told(), number))),
    }
  }

  let open: BusRecord[] | undefined
  let waiting: { resolve(): void; reject(error: unknown): void }[] = []
  let isSyncing = false
  let commits = 0
  /** Commits that survive power loss. */
  let synced = 0

  function settle(waiters: typeof waiting, error?: unknown): void {
    for (const waiter of waiters) {
      if (error === undefined) waiter.resolve()
      else waiter.reject(error)
    }
  }

  /** What is committed meanwhile may have missed the sync, and waits for the next. */
  async function syncNow(): Promise<void> {
    const waiters = waiting
    const covered = commits
    waiting = []
    try {
      if (waiters.length > 0) {
        await store.sync()
        synced = Math.max(synced, covered)
      }
      settle(waiters)
    } catch (error) {
      settle(waiters, error)
    }
    isSyncing = waiting.length > 0
    if (isSyncing) void syncNow()
  }

  return {
    commit(durability, change) {
      if (open !== undefined) throw new Error('commits do not nest: pass the change on instead')
      const records: BusRecord[] = []
      const afterwards: (() => void)[] = []
      sequence.prepare()
      open = records
      const keep = (draft: Draft): void => {
        const record = stamp(draft, true)
        const row = {
          sequence: record.sequence,
          type: record.type,
          sessionId: record.sessionId ?? null,
          json: record.json,
          created: effects.clock.now(),
        }
        store.events.insert(row)
        records.push(record)
      }
      const emit: Emit = (type, data) => keep(ownDraft(type, data, sessionOf(data)))
      const emitStored = (type: EventType, sessionID: string, data: object, jsons: Jsons): void => {
        const dataOf = (json: string) => `{"sessionID":${JSON.stringify(sessionID)},${json}}`
        const { stored, told } = jsons
        const wholeJson = told && (() => dataOf(told()))
        keep({ type, source: eventSource(type), data, sessionId: sessionID, directory: undefined, dataJson: dataOf(stored), wholeJson })
      }
      const emitMessage: Change['emitMessage'] = ({ value: info, json }) =>
        emitStored('message.updated', info.sessionId, { sessionID: info.sessionId, info }, { stored: `"info":${json}` })
      const emitPart: Change['emitPart'] = ({ value, json, whole }, time, more) => {
        const part = more === undefined ? value : { ...value, ...more }
        const rest = more === undefined ? '' : JSON.stringify(more).slice(1, -1)
        const told = (text: string) => `"part":${rest === '' ? text : `${text.slice(0, -1)},${rest}}`},"time":${time}`
        const jsons = { stored: told(json), ...(whole && { told: () => told(whole()) }) }
        emitStored('message.part.updated', part.sessionId, { sessionID: part.sessionId, part, time }, jsons)
      }
      const emitWith: Change['emitWith'] = (type, data, name, { json, whole }) => {
        const { sessionID, ...others } = data
        const rest = JSON.stringify({ ...others, [name]: undefined }).slice(1, -1)
        const told = (text: string) => `${rest === '' ? '' : `${rest},`}${JSON.stringify(name)}:${text}`
        emitStored(type, sessionID, data, { stored: told(json), ...(whole && { told: () => told(whole()) }) })
      }
      const emitOpen = ({ type, source, data, sessionId, directory }: OpenEvent): void => {
        if (!OPEN_NAME.test(type) || !OPEN_NAME.test(source)) throw new Error('names of open events have letters, digits, ".", "_" and "-"')
        keep({ type, source, data, sessionId, directory, dataJson: JSON.stringify(data) ?? 'null' })
      }
      try {
        const result = store.transact(durability, () =>
          change({ emit, emitMessage, emitPart, emitWith, emitOpen, after: (run) => afterwards.push(run) }),
        )
        open = undefined
        commits++
        if (durability === 'power') {
          synced = commits
          settle(waiting)
          waiting = []
        }
        try {
          for (const run of afterwards) run()
        } finally {
          for (const record of records) bus.publish(record)
        }
        return result
      } finally {
        open = undefined
      }
    },
    synced() {
      if (synced === commits) return Promise.resolve()
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        if (isSyncing) return
        isSyncing = true
        setImmediate(() => void syncNow())
      })
    },
    publish(type, data) {
      if (open !== undefined) throw new Error('transient events are published outside commits')
      if (!TRANSIENT_EVENTS.has(type)) throw new Error(`"${type}" is durable and needs a commit`)
      bus.publish(stamp(ownDraft(type, data, sessionOf(data)), false))
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
    baseline(type, data) {
      const json = envelope(ownDraft(type, data, sessionOf(data)), effects.ids.next('evt'), sequence.last(), effects.clock.now())
      return encodeFrame(sseFrame(type, json))
    },
    head: () => sequence.last(),
  }
}

/** The session an event belongs to: wrappers say `sessionID`, embedded requests `sessionId` (http-contract §4.1). */
function sessionOf(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  if ('sessionID' in data && typeof data.sessionID === 'string') return data.sessionID
  if ('sessionId' in data && typeof data.sessionId === 'string') return data.sessionId
  if ('info' in data) return sessionOf(data.info)
  return undefined
}

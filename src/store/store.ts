/**
 * The store: rows of one service, behind one interface (sessions-events §14). Synchronous; the only writer.
 *
 * I1 Every change happens inside `transact`; a throw rolls everything back.
 * I2 `power` transactions are synced before they return; `process` ones survive the death of the process.
 * I3 JSON columns hold exactly the text that goes on the wire, so that readers need not parse it again.
 */
import type { Artifact } from '../protocol/system/artifact.js'
import type { Approval, PermissionRequest, QuestionRequest } from '../protocol/interaction/interaction.js'
import type { Message, MessageInfo, Part } from '../protocol/message/message.js'
import type { QueuedPrompt } from '../protocol/message/queued-prompt.js'
import type { ExecutionActivitySnapshot, Session, SessionUsage, Todo } from '../protocol/session/session.js'
import type { AuditEntry } from '../protocol/system/system.js'
import type { ContentTable } from './contents.js'
import type { PluginRowTable } from './plugin-rows.js'
import type { SearchIndex } from './found.js'
import type { SharingTable } from './sharing.js'

/** Promise classes D1 and D2 of the threat model. */
export type Durability = 'power' | 'process'

export interface SessionFilter {
  readonly tenantId: string
  /** Only sessions at or below one of these canonical directories; undefined = all. */
  readonly prefixes?: readonly string[] | undefined
  readonly workspaceId?: string | undefined
  readonly directory?: string | undefined
  readonly path?: string | undefined
  readonly rootsOnly?: boolean
  readonly includeArchived?: boolean
  readonly updatedSince?: number | undefined
  /** Case-insensitive substring of the title. */
  readonly search?: string | undefined
  readonly limit: number
  /** Keyset: rows after this one in `updated DESC, id DESC`. */
  readonly after?: { readonly updated: number; readonly id: string } | undefined
}

export interface SessionSummaryRow {
  readonly id: string
  readonly updated: number
  /** JSON of the compact record: no `permission`, no runtime extras. */
  readonly json: string
}

export interface SessionTable {
  insert(session: Session): Stored<Session>
  update(session: Session): Stored<Session>
  get(id: string): Session | undefined
  /** JSON text as stored. */
  getJson(id: string): string | undefined
  delete(id: string): void
  list(filter: SessionFilter): SessionSummaryRow[]
  children(id: string): Session[]
  /** undefined = no such session; null = a root. */
  parentOf(id: string): string | null | undefined
  /** The session and all its descendants, parents before children. */
  family(rootId: string): string[]
  count(tenantId: string): number
}

/** A value and the JSON that was stored of it. */
export interface Stored<Value> {
  readonly value: Value
  readonly json: string
  /** The JSON that is told, where contents are stored apart. */
  readonly whole?: () => string
}

export interface MessagePageQuery {
  readonly sessionId: string
  readonly order: 'asc' | 'desc'
  readonly limit?: number | undefined
  /** Message id; rows after it in the given order; unknown = ignored. */
  readonly cursor?: string | undefined
}

/** Where the undone part of a history begins. */
export interface HistoryMark {
  readonly messageID: string
  readonly partID?: string | undefined
}

/** From one mark to another: what a restore of files and history is to do. */
export interface HistoryMove {
  readonly from: HistoryMark | undefined
  readonly to: HistoryMark | undefined
  /** How far the messages of a long history have come, once a part of them has moved. */
  readonly at?: HistoryMark
}

/** Restores that were begun and have not ended; at most one of a session. */
export interface RestoreTable {
  put(sessionId: string, move: HistoryMove): void
  get(sessionId: string): HistoryMove | undefined
  remove(sessionId: string): void
  sessions(): string[]
}

/** Which session refers to which content that is kept beside its parts. */
export interface KeptContentTable {
  add(sha256: string, sessionId: string): void
  all(): string[]
  /** A session whose parts were copied from another refers to the same contents. */
  share(from: string, to: string): void
}

export interface MessageSliceQuery {
  readonly sessionId: string
  readonly order: 'asc' | 'desc'
  /** A message or part, or the place `next` that the slice before has told; undefined or unknown = from the first on. */
  readonly after?: string | number | undefined
  readonly limit?: number | undefined
  readonly characters: number
  /** The undone ones and all their parts are included; files then name what is kept beside them, and do not hold it. */
  readonly undone?: boolean
}

export interface MessageText {
  readonly id: string
  readonly json: string
}

export interface MessageTable {
  /** Appends a message at the end of its session with its parts in order. Answers what it stored: I3, so that nobody need write it again. */
  append(info: MessageInfo, parts: readonly Part[]): { readonly info: Stored<MessageInfo>; readonly parts: readonly Stored<Part>[] }
  updateInfo(info: MessageInfo): Stored<MessageInfo>
  /** Inserts a part at the end of its message, or replaces it in place. */
  putPart(part: Part): Stored<Part>
  removePart(partId: string): void
  removeParts(messageId: string): void
  remove(messageId: string): void
  /** Forgets large contents of the session that no part shows any more. */
  sweepContents(sessionId: string): void
  getInfo(messageId: string): MessageInfo | undefined
  get(messageId: string): Message | undefined
  getPart(partId: string): Part | undefined
  /** Whether a tool call of the session, not undone, kept its whole output under this id. */
  hasOutput(sessionId: string, id: string): boolean
  /** What the answers of these sessions have cost. */
  usage(sessionIds: readonly string[]): SessionUsage
  /** All messages, oldest first, parsed. */
  all(sessionId: string): Message[]
  /** A page as JSON texts of whole messages; `next` = id of the last one when the page is full. */
  page(query: MessagePageQuery): { readonly items: string[]; readonly next: string | undefined }
  /** Some of the messages as JSON texts of whole ones: the next after a place, until they have so many characters together. */
  slice(query: MessageSliceQuery): { readonly items: readonly MessageText[]; readonly next: number | undefined }
  /** Hides what begins at a message, or at one of its parts, and shows everything before it; without a beginning all is shown. */
  conceal(sessionId: string, from: HistoryMark | undefined): void
  /** The same of a part of a long move: looks only at what lies between the two beginnings. */
  concealNext(sessionId: string, from: HistoryMark): void
  /** A whole message, be it hidden. */
  recall(messageId: string): Message | undefined
  /** Deletes what is hidden. */
  discard(sessionId: string): void
  /** Ids of assistant messages without `time.completed`. */
  unfinished(): { readonly id: string; readonly sessionId: string }[]
}

export interface QueueRow {
  readonly id: string
  readonly sessionId: string
  readonly delivery: 'steer' | 'queue' | 'continue'
  readonly request: QueuedPrompt
  readonly created: number
  /** It has no turn before somebody releases it (choice 35). */
  readonly held: boolean
}

/** A waiting prompt without what it asks, which may be long. */
export type QueueHead = Omit<QueueRow, 'request'>

/** Rows that are held are listed, found and removed like all others, and are no work: no look for work finds them. */
export interface QueueTable {
  /** A row is held only where that is said. */
  append(row: Omit<QueueRow, 'held'> & { readonly held?: boolean }): void
  /** As `append`, of a row that is removed in the same transaction: until then it is listed and found by its id, and it is never stored. */
  pass(row: QueueRow): void
  /** Oldest first. */
  list(sessionId: string): readonly QueueHead[]
  get(id: string): QueueRow | undefined
  /** Bytes of all prompts of a session, as JSON. */
  bytes(sessionId: string): number
  /** The id of the oldest row that is work, whose request may be long to read. */
  oldest(sessionId: string): string | undefined
  /** The oldest row that is work, of the given deliveries if named. */
  first(sessionId: string, deliveries?: readonly QueueRow['delivery'][]): QueueRow | undefined
  /** A row whose prompt carries this message id, in any session. */
  byMessageId(messageId: string): QueueRow | undefined
  remove(id: string): void
  setHeld(id: string, held: boolean): void
  /** Rows that are work. */
  count(sessionId: string): number
  /** All rows. */
  size(sessionId: string): number
  /** Those with rows that are work. */
  sessionsWithRows(): string[]
}

/** What finds a run. */
interface RunName {
  readonly id: string
  readonly sessionId: string
}

export interface RunRow extends RunName {
  readonly status: 'running' | 'completed' | 'error' | 'interrupted'
  readonly startedAt: number
  /** Nobody is there to answer what it asks. */
  readonly unattended: boolean
  readonly error?: string | undefined
}

export interface RunTable {
  /** Of the run of a session that started last. */
  latest(sessionId: string): RunRow['status'] | undefined
  begin(row: Pick<RunRow, 'id' | 'sessionId' | 'startedAt' | 'unattended'>): void
  /** A run that has ended stays as it is. */
  finish(run: RunName, status: Exclude<RunRow['status'], 'running'>, finishedAt: number, error?: string): void
  running(): Pick<RunRow, 'id' | 'sessionId' | 'startedAt'>[]
  isUnattended(run: RunName): boolean
  /** The run of a session that started last. */
  last(sessionId: string): Pick<RunRow, 'id' | 'status' | 'error' | 'unattended'> | undefined
  /** How a run ended; undefined = there is no such run. */
  end(run: RunName): Pick<RunRow, 'status' | 'error'> | undefined
}

export interface InteractionRow {
  readonly id: string
  readonly kind: 'permission' | 'question'
  readonly sessionId: string
  readonly runId: string
  readonly state: 'pending' | 'answered' | 'withdrawn'
  readonly request: PermissionRequest | QuestionRequest
  /** JSON of the reply. */
  readonly response?: string | undefined
  readonly created: number
  /** When it ended. */
  readonly settled?: number | undefined
}

export interface InteractionTable {
  insert(row: InteractionRow): void
  get(id: string): InteractionRow | undefined
  /** Moves a pending row to its end; false when it was not pending. */
  settle(id: string, state: 'answered' | 'withdrawn', response: string | undefined, at: number): boolean
  /** What nobody answered in time, of these sessions, oldest first; at most so many. */
  expired(sessionIds: readonly string[], most: number): InteractionRow[]
  pending(filter?: { readonly sessionId?: string | undefined; readonly kind?: InteractionRow['kind'] }): InteractionRow[]
}

export interface ApprovalTable {
  get(tenantId: string, projectId: string): Approval[]
  put(tenantId: string, projectId: string, approvals: readonly Approval[]): void
}

export interface TodoTable {
  get(sessionId: string): Todo[]
  put(sessionId: string, todos: readonly Todo[]): void
}

export interface ExecutionTable {
  put(snapshot: ExecutionActivitySnapshot): void
  get(rootSessionId: string): ExecutionActivitySnapshot | undefined
  /** Latest execution of every root, unfinished first. */
  all(): ExecutionActivitySnapshot[]
  unfinished(): ExecutionActivitySnapshot[]
}

export interface EventRow {
  readonly sequence: number
  readonly type: string
  readonly sessionId: string | null
  /** The whole envelope as sent. */
  readonly json: string
  readonly created: number
}

export interface EventTable {
  /** In order. */
  insert(...rows: readonly EventRow[]): void
  /** Rows with `sequence > after`, ascending: at most `limit`, and no more than until their envelopes have `characters`. */
  after(sequence: number, limit: number, characters?: number): EventRow[]
  /** The same for some sessions only (walks an index, not the log). */
  afterFor(sequence: number, limit: number, sessionIds: readonly string[], characters?: number): EventRow[]
  /** The number this store began after: one up to it, and not 0, is of a store that was there before. */
  begunAfter(): number
  /** Highest sequence ever removed by retention, or the number this store began after; cursors below it are expired. */
  prunedThrough(): number
  last(): number
}

export interface AuditTable {
  insert(entry: AuditEntry & { readonly subject: string }): void
  list(filter: { readonly tenantId: string; readonly limit: number; readonly subject?: string }): AuditEntry[]
}

export interface ArtifactTable {
  insert(artifact: Artifact, tenantId: string): void
  get(id: string, tenantId: string): Artifact | undefined
  /** Whether there is such an artifact, whoever has it. */
  isKnown(id: string): boolean
  /** Newest first. */
  list(tenantId: string, sessionId?: string): Artifact[]
  /** How many a tenant has, and their bytes. */
  usage(tenantId: string): { readonly count: number; readonly bytes: number }
  /** Bytes of all tenants. */
  bytes(): number
  /** What was made at that time or before it goes, whoever has it. */
  removeMadeUntil(created: number): number
  /** The oldest of those of a tenant that were made at that time or before it. */
  madeUntil(tenantId: string, created: number, limit: number): string[]
  remove(id: string): void
  ids(): string[]
}

export interface Retention {
  /** Events created before this are removed. */
  readonly before: number
  readonly maxRows: number
  readonly maxBytes: number
  /** Rows removed per call at most, so that no call stalls the loop. */
  readonly batch: number
  readonly auditRows: number
}

export interface Store {
  /**
   * Runs `change` (synchronous) in one immediate transaction; nested calls join the outer one, and one that throws
   * fails the outer one too. Throws `store.unavailable` for a full, broken, read-only or foreign-locked disk.
   */
  transact<T>(durability: Durability, change: () => T): T
  readonly sessions: SessionTable
  readonly messages: MessageTable
  readonly contents: ContentTable
  readonly restores: RestoreTable
  readonly keptContents: KeptContentTable
  readonly queue: QueueTable
  readonly runs: RunTable
  readonly interactions: InteractionTable
  readonly approvals: ApprovalTable
  readonly todos: TodoTable
  readonly executions: ExecutionTable
  readonly events: EventTable
  readonly audit: AuditTable
  readonly artifacts: ArtifactTable
  readonly pluginRows: PluginRowTable
  readonly sharing: SharingTable
  /** The index of what was said, in a file of its own; nothing is opened before it is asked to. */
  readonly search: SearchIndex
  /** Syncs every commit so far, beside the event loop: once it resolves they survive power loss as well. One at a time. */
  sync(): Promise<void>
  /** Reserves `count` sequence numbers durably; answers the first. Numbers are never handed out twice. Not inside `transact`. */
  reserveSequences(count: number): number
  /** One bounded step of retention; true while more is left to remove. */
  prune(retention: Retention): boolean
  /** Commits something of no meaning. Throws `store.unavailable` while nothing can be written. */
  tryWrite(): void
  /** Moves the log into the database file; called when idle. */
  checkpoint(): void
  /** Checkpoints, closes and releases the lock. */
  close(): void
}

/**
 * The outside world as svc sees it. `node-effects.ts` is the one real implementation; tests pass fakes.
 * Nothing else in the program reads a clock, randomness, the environment, files, processes or the network.
 */
import type { ChildPipe, PipeOptions } from './child-pipe.js'
import type { PlainAnswer, PlainRequest } from './plain-request.js'
import type { LeftProcess, LocalPeer, Placeholder } from './process-facts.js'
import type { Ids } from '../protocol/ids.js'

export type { ChildPipe, PipeOptions } from './child-pipe.js'
export type { PlainAnswer } from './plain-request.js'

export interface Clock {
  /** Wall clock, Unix ms. */
  now(): number
  /** Monotonic ms, for deadlines. */
  monotonic(): number
  /** How long the machine has been on, ms: as the monotonic clock, and goes on while the machine sleeps. */
  elapsed(): number
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(handle: unknown): void
  /**
   * `who` asks the wall clock again and again whether it is `at`, Unix ms; undefined = no longer. Only a clock that is played needs to
   * know: it passes over times in which nothing is due.
   */
  expects?(who: object, at: number | undefined): void
}

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other'
  readonly size: number
  readonly modifiedMs: number
  /** Identity of the underlying file: device, inode, size, times. Equal identity = unchanged content. */
  readonly identity: string
  readonly mode: number
  /** What lets others write it; undefined = only the user this server runs as and the administrator can. */
  readonly exposure: Exposure | undefined
}

export type Exposure = 'belongs to another user' | 'can be written by everybody' | 'can be written by a group'

export interface Exposed {
  /** A directory or link that leads to what was asked about, or that itself. */
  readonly path: string
  readonly how: Exposure
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link' | 'other'
}

/** A regular file or a link below a directory. */
export interface TreeEntry {
  /** Names joined by "/", relative to the directory; bytes that are no UTF-8 are U+FFFD. */
  readonly path: string
  readonly kind: 'file' | 'link'
  readonly size: number
  /** As in `FileStat`. */
  readonly identity: string
  /** When content, mode or name last changed, Unix ms. */
  readonly changedMs: number
  readonly executable: boolean
  /** Content of the file; rejects with `request.unprocessable` when what is opened is not the file that was found. */
  chunks(): AsyncIterable<Uint8Array>
}

/** What stands at a path itself; a link is not followed. */
export interface EntryStat {
  readonly kind: DirectoryEntry['kind']
  readonly size: number
  /** As in `FileStat`. */
  readonly identity: string
  readonly mode: number
  /** When content, mode or name last changed, Unix ms. */
  readonly changedMs: number
}

export interface AccessOptions {
  /** The path came from `realPath` and was approved: a link found anywhere in it since then is refused, not followed. */
  readonly canonical?: boolean
}

export interface WriteOptions extends AccessOptions {
  readonly mode?: number
}

/** All paths absolute. Missing files reject with a Node error whose `code` is `ENOENT`. */
export interface DiskRoom {
  readonly free: number
  readonly total: number
}

export interface Files {
  /** Canonical path with links resolved. */
  realPath(path: string): Promise<string>
  /** Follows links; undefined when absent. */
  stat(path: string): Promise<FileStat | undefined>
  /** Does not follow a link; undefined when absent. */
  entry(path: string, options?: AccessOptions): Promise<EntryStat | undefined>
  /** Where a link leads, as it is written; undefined when that is no UTF-8. */
  readLink(path: string, options?: AccessOptions): Promise<string | undefined>
  /** Puts a link in the place of a file or a link, in one step; on disk when it settles. Parent directories are made. */
  makeLink(path: string, target: string, options?: AccessOptions): Promise<void>
  /** The first place on the way to a path, links included, where others could change what is read there; undefined = nowhere, or nothing is there. */
  exposure(path: string): Promise<Exposed | undefined>
  readDirectory(path: string): Promise<DirectoryEntry[]>
  /** Bytes of the disk a path lies on, and those this user may still write; undefined where that cannot be told. */
  room(path: string): Promise<DiskRoom | undefined>
  /** Whole file; rejects with `request.unprocessable` beyond `maxBytes`. Regular files only, never blocks on special files. */
  read(path: string, maxBytes: number, options?: AccessOptions): Promise<Uint8Array>
  /** At most `length` bytes from `offset`, fewer where the file ends. Regular files only, never blocks on special files. */
  readRange(path: string, offset: number, length: number, options?: AccessOptions): Promise<Uint8Array>
  /** Bytes of the file in chunks; stops at `signal`. */
  readChunks(path: string, signal: AbortSignal, options?: AccessOptions): AsyncIterable<Uint8Array>
  /** Temporary file + sync + rename + directory sync, not following a link at `path`; parent directories are made. Keeps the mode of an existing file. */
  writeAtomic(path: string, data: Uint8Array | string, options?: WriteOptions): Promise<void>
  makeDirectory(path: string, options?: { readonly mode?: number }): Promise<void>
  /** A file, a link (not what it leads to) or an empty directory; no error when absent. */
  remove(path: string, options?: AccessOptions): Promise<void>
  /** Replaces `to`; on disk when it settles. */
  rename(from: string, to: string): Promise<void>
  /** Opens a new file for streamed writing (mode 0600, or `mode`), to be synced and closed by the caller. */
  createFile(path: string, options?: { readonly mode?: number }): Promise<FileSink>
  /**
   * Files and links below a canonical directory, depth first, the names of a directory in the order of their bytes. Links
   * are not followed, special files neither reported nor opened. Rejects with `request.unprocessable` beyond `maxEntries` names.
   */
  walk(directory: string, options: { readonly maxEntries: number }): AsyncIterable<TreeEntry>
  /** A directory with everything in it, links not followed; no error when absent. */
  removeTree(path: string): Promise<void>
  /**
   * Calls `onChange` soon after something below `directory` changed, with the absolute paths that may have; a hint, not a
   * record: events may be lost, doubled or early. A report that names `directory` itself may be the last, because it is
   * gone. Resolves with the function that ends it, until which the program does not end by itself; undefined where it
   * cannot be had.
   */
  watch(directory: string, onChange: (paths: readonly string[]) => void): Promise<(() => void) | undefined>
  /**
   * Calls `onChange` with the name of an entry of the directory `path` that came, went, moved or changed, not of what is below
   * these; with undefined when it may be any of them. `isMove`: another one may stand there now. Answers the function that ends
   * it, without which the program may end as well, or why it cannot be had: there is no such directory, it may not be listed,
   * or the system does not tell (any more).
   */
  watchFolder(path: string, onChange: (name: string | undefined, isMove: boolean) => void): FolderWatch
  /** What happens in a folder that is watched is told before the second turn of the event loop after it. */
  readonly tellsAtOnce: boolean
}

type FolderWatch = (() => void) | 'absent' | 'forbidden' | 'refused'

export interface FileSink {
  write(chunk: Uint8Array): Promise<void>
  /** Syncs and closes. */
  close(): Promise<void>
  /** Closes and deletes. */
  discard(): Promise<void>
}

export interface SpawnOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment of the child: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** Aborting ends the whole process group (SIGTERM, then SIGKILL after `killGrace`). */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Kept per stream; the rest is drained and dropped. */
  readonly captureBytes: number
  readonly stdin?: string
  /** Names that are taken while it runs, parents first: what the sandbox mounts must be there. */
  readonly holds?: readonly Placeholder[]
  /** Called once before the program runs, with the process that becomes it; must not throw. */
  readonly onStart?: (pid: number) => void
  /** Called with decoded text as it arrives (whole UTF-8 characters). */
  readonly onStdout?: (text: string) => void
  readonly onStderr?: (text: string) => void
}

export interface ProcessResult {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly aborted: boolean
  readonly stdout: string
  readonly stderr: string
  readonly captureTruncated: boolean
  /** What it has left behind, out of reach of this server: the system protects or hides it. */
  readonly left: readonly LeftProcess[]
  readonly durationMs: number
}

/** A long-lived child that talks over its standard streams: a plugin, a language server. */
export interface Processes {
  /** Whether a program that `run` or `open` has started is a process, or one that it started is. A hint. */
  hasStarted(pid: number): boolean
  /** Whether such a program holds the other end of a connection. A hint. */
  holdsConnection(peer: LocalPeer): Promise<boolean>
  /**
   * Starts a long-lived program in a process group of its own, under the guarantees of `run`: when the child has exited,
   * the rest of its family is ended, and all of it ends when this server dies. Rejects only when it cannot be started.
   */
  open(options: PipeOptions): Promise<ChildPipe>
  /**
   * Runs a program in a process group of its own until it exits; the group and what left it are gone when the promise
   * settles, and also when this server is killed. Rejects only when the program cannot be started.
   */
  run(options: SpawnOptions): Promise<ProcessResult>
  /** Absolute path of a program on the search path, or undefined. */
  find(program: string): Promise<string | undefined>
  /** Number of children alive, for counters. */
  readonly alive: number
  /** Kills every group at once (last step of a stop); resolves when all of them are gone. Bounded. */
  killAll(): Promise<void>
}

/** A program behind a terminal of its own. */
export interface TerminalOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment of the program: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly cols: number
  readonly rows: number
  /** What the program wrote, as it arrives. The bytes are good for the time of the call; must not throw. */
  onData(bytes: Uint8Array): void
}

export interface Terminal {
  readonly pid: number
  /** Queues input; nothing once the program has ended. The bytes are taken as they are, without a copy. */
  write(bytes: Uint8Array): void
  /** Bytes of input that the program has not read yet. */
  readonly waiting: number
  /** Resolves when no input waits any more, or the program has ended. */
  taken(): Promise<void>
  resize(cols: number, rows: number): void
  /** Stops reading the output until `resume`, so that the program has to wait. What it wrote before its end is delivered all the same. */
  pause(): void
  resume(): void
  /** The program has ended, all it wrote was delivered, and nothing it started runs. Never rejects. */
  readonly ended: Promise<{ readonly exitCode: number | null }>
  /** SIGHUP and SIGTERM to the whole session, SIGKILL after `killGrace`. Idempotent. */
  end(): void
  /** SIGKILL to the whole session, now. */
  kill(): void
}

export interface Terminals {
  /** Why there are none on this machine; undefined when there are. */
  unavailable(): Promise<string | undefined>
  /**
   * Starts a program behind a new terminal, which is its controlling one. Its session is gone when `ended` settles, and
   * also when this server is killed. Rejects when it cannot be started: `request.unprocessable`, `feature.not_implemented`.
   */
  open(options: TerminalOptions): Promise<Terminal>
  /** Number of programs alive, for counters. */
  readonly alive: number
  /** Kills every session at once (last step of a stop); resolves when all of them are gone. Bounded. */
  killAll(): Promise<void>
}

export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

export interface Paths {
  readonly home: string
  readonly temp: string
  /** Installation configuration root. */
  readonly config: string
  readonly state: string
  readonly cache: string
  /** Working directory of the server. */
  readonly cwd: string
}

/** A request to an address that somebody else chose. */
export interface GuardedRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A body that comes in pieces is sent once: a redirect that would send it again is refused. */
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  readonly signal: AbortSignal
  /** Hosts, with or without port, that the installation lists: they may be this machine or in its networks. */
  readonly allowHosts?: readonly string[]
  /** 5 unless told otherwise. */
  readonly maxRedirects?: number
  /** Asked before each redirect is followed: why it is not, as the end of a sentence that begins with the address; undefined = it is. */
  readonly refusesRedirect?: (to: URL) => string | undefined
}

/**
 * As `fetch`, for addresses others choose (threat-model N1): http and https to public addresses and listed hosts only, the address that
 * was checked is the one that is dialled, redirects are followed under the same rules and lose what was for one origin. `url` is where
 * the answer came from. Rejects with `request.invalid`, `request.forbidden` or `request.unprocessable`, and as `fetch` does.
 */
export type GuardedFetch = (address: string, request: GuardedRequest) => Promise<{ readonly response: Response; readonly url: string }>

/** Requests of svc to others since its start; those that broke are `failed`. */
export interface NetworkCounts {
  readonly started: number
  readonly ended: number
  readonly failed: number
  readonly open: number
  /** Received in bodies. */
  readonly bytes: number
}

/** A page that is shown once to a browser that was sent here. */
export interface RedirectPage {
  readonly status: number
  /** Escaped HTML. */
  readonly html: string
}

export interface RedirectListener {
  readonly port: number
  close(): void
}

/** A connection to a program that the configuration names, which is no child of ours. */
export interface SocketOptions {
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
  /** Ends the attempt; of no effect once it is open. */
  readonly signal: AbortSignal
  /** Bytes that may wait for a peer that does not read. */
  readonly backlog: number
  onData(chunk: Uint8Array): void
}

export interface SocketPipe {
  /** Queues bytes; false, with nothing queued, when the backlog would be exceeded or the connection is closed. */
  write(data: Uint8Array): boolean
  pause(): void
  resume(): void
  /** Why it is closed, as the end of a sentence; what came before was delivered. Never rejects. */
  readonly closed: Promise<string>
  /** Closes it, now. Idempotent. */
  close(): void
}

interface Network {
  readonly guardedFetch: GuardedFetch
  /** For addresses of the configuration only, which are not checked. Rejects when it cannot be opened. */
  openSocket(options: SocketOptions): Promise<SocketPipe>
  /**
   * Waits on 127.0.0.1 for a browser that is sent to `path`: `onArrival` gets the address it came by. Everything else is refused. Port 0 is
   * any free one. Rejects with `resource.conflict` when the port is taken.
   */
  listenForRedirect(port: number, path: string, onArrival: (address: URL) => RedirectPage): Promise<RedirectListener>
  counts(): NetworkCounts
}

export interface Effects {
  readonly clock: Clock
  readonly ids: Ids
  readonly random: { bytes(size: number): Uint8Array }
  readonly files: Files
  readonly processes: Processes
  readonly terminals: Terminals
  /**
   * What model calls need of `fetch`: 10 s to connect, no other limit; callers bound it with signals. Never follows a redirect. Goes
   * through the proxy of the environment.
   */
  readonly fetch: typeof globalThis.fetch
  /** As `fetch` posts, without the platform's objects and streams, which cost more than a short answer; absent = by `fetch`. */
  readonly post?: (address: string, request: PlainRequest) => Promise<PlainAnswer>
  readonly network: Network
  /** Environment of the server, read once at start (credentials included; never handed to children). */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Environment for children: an allow-list of `env`. */
  readonly childEnv: Readonly<Record<string, string>>
  readonly paths: Paths
  readonly platform: { readonly os: string; readonly arch: string; readonly user: string }
  readonly log: Log
  /** `bound` keeps the room for short-lived objects small, cheaply; `collect` gives memory back, for quiet times only. */
  readonly memory: { bound(): void; collect(): void }
  readonly sha256: (data: Uint8Array | string) => string
  /** SHA-256 of bytes that come in pieces; `digest` answers lower-case hex, once. */
  readonly hasher: () => { update(data: Uint8Array): void; digest(): string }
}

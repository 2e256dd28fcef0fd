/** What is watched on disk: read once, and again when something that was read changed. Made by `src/platform/watched`. */
import type { Work } from '../kernel/work.js'
import type { DirectoryEntry, FileStat } from './effects.js'

/** What reads files, and remembers each as something that the value depends on, those that are not there included. */
export interface FileProbe {
  /** Kind of what is there, following links; later changes inside it do not matter. */
  kind(path: string): Promise<FileStat['kind'] | undefined>
  /** Which state of which file is there; undefined when there is none. */
  identity(path: string): Promise<string | undefined>
  /** Entries by name; empty when it is not a readable directory. */
  list(path: string): Promise<readonly DirectoryEntry[]>
  readText(path: string, options: ReadOptions): Promise<TextOutcome>
  /** Canonical path, or undefined when there is nothing. */
  canonical(path: string): Promise<string | undefined>
  /** Pays for what is made of the files. */
  readonly work: Work
}

export interface ReadOptions {
  readonly maxBytes: number
  /** Canonical directory that the file must really lie in, whatever links say; undefined = anywhere. */
  readonly within: string | undefined
}

export type TextOutcome =
  | { readonly type: 'absent' }
  /** Not taken as configuration, on purpose. */
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'text'; readonly text: string; readonly canonical: string; readonly bytes: Uint8Array; readonly modifiedMs: number }

/** Values of places, each kept until one of the files that it was made of changes. */
export interface Watched<Input, Value> {
  /** `input` is what it depends on besides files; `fresh` means everything that happened before it was asked for. */
  get(place: string, input: Input, options?: { readonly fresh?: boolean }): Promise<Value>
  /** What `get` would answer to the input of the last look; undefined = it would have to look first. Cheap. */
  latest(place: string): Value | undefined
  /** svc has written something of the place; the next look tells so. */
  noteWrite(place: string): void
  /** Whether changes are looked for because they are not told. */
  isDeaf(place: string): boolean
  /** Nobody uses the place any more. */
  forget(place: string): void
}

export interface Watching<Input, Value> {
  read(probe: FileProbe, place: string, at: { readonly input: Input; readonly before: Value | undefined }): Promise<Value>
  /** A value that says the same as the one before is the one before. */
  isSame(value: Value, before: Value): boolean
  /** Without it, the same object is the same input. */
  readonly isSameInput?: (input: Input, before: Input) => boolean
  /** With it, what changes is looked at soon, also when nobody asks. */
  readonly onChanged?: ((place: string) => void) | undefined
}

/** One for the whole service: folders are watched once for all who use it, and within one bound. */
export type Watcher = <Input, Value>(how: Watching<Input, Value>) => Watched<Input, Value>

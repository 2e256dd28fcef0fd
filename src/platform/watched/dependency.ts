/** What is asked of a file, and what comes of it. */

/** A path and what it must still be: its whole identity, only its kind, or as safe from others as it was. */
export interface Dependency {
  readonly path: string
  readonly by: 'identity' | 'kind' | 'exposure'
  readonly value: string
}

export type TextOutcome =
  | { readonly type: 'absent' }
  /** Not taken as configuration, on purpose. */
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'text'; readonly text: string; readonly canonical: string; readonly bytes: Uint8Array; readonly modifiedMs: number }

export interface ReadOptions {
  readonly maxBytes: number
  /** Canonical directory that the file must really lie in, whatever links say; undefined = anywhere. */
  readonly within: string | undefined
}

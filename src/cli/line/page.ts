/**
 * What can be typed, as data: the command line is read by it, and help, shell completion and the manual page are written from it, so that
 * none of them can say something else.
 */

interface Described {
  /** A few words for help, in lower case, without a full stop. */
  readonly help: string
  /** What holds without it, in words. */
  readonly otherwise?: string
  readonly short?: string
  /** Another spelling that is understood and not shown. */
  readonly alias?: string
}

/** Values that the running server knows. */
export const VALUES = ['model', 'agent', 'command', 'skill', 'tool', 'session', 'provider', 'plugin'] as const
export type Value = (typeof VALUES)[number]

export type Completes = 'file' | 'directory' | Value

export type Option =
  | (Described & { readonly type: 'flag' })
  | (Described & { readonly type: 'number'; readonly value: string; readonly least: number; readonly most: number })
  | (Described & {
      readonly type: 'text'
      /** What stands for the value in help. */
      readonly value: string
      readonly choices?: readonly string[]
      readonly multiple?: true
      readonly completes?: Completes
    })

/** An argument that is no option. */
export interface Word {
  readonly name: string
  /** What is said when it is absent: "the id of a session". Without this it may be absent. */
  readonly needs?: string
  readonly many?: true
  readonly completes?: Completes
  readonly choices?: readonly string[]
}

export interface Page {
  /** As it is typed after `svc`: `run`, `session list`. */
  readonly name: string
  readonly summary: string
  readonly words: readonly Word[]
  readonly options: Readonly<Record<string, Option>>
  /** Lines to type, and what each does. */
  readonly examples: readonly (readonly [line: string, does: string])[]
  /** Paragraphs. */
  readonly notes?: readonly string[]
}

/** Commands that share their first word. */
export interface Group {
  readonly name: string
  /** Another spelling, which lists when no action follows: `agents`. */
  readonly alias?: string
  readonly summary: string
  readonly pages: readonly Page[]
  readonly notes?: readonly string[]
}

export const JSON_OUT = { type: 'flag', help: 'print the result as JSON' } as const satisfies Option
export const SERVER = {
  type: 'text',
  value: 'url',
  help: 'ask this server; its token comes from SVC_AGENT_TOKEN',
} as const satisfies Option
export const DIRECTORY = {
  type: 'text',
  value: 'directory',
  help: 'of this directory',
  otherwise: 'the current one',
  alias: 'directory',
  completes: 'directory',
} as const satisfies Option

/** The command line of `svc session` as data. Pure; throws a sentence when it cannot be understood. */
import { parseArgs } from 'node:util'

interface Common {
  /** undefined = the running server, or one of our own. */
  readonly server: string | undefined
  readonly json: boolean
}

export interface ListOptions extends Common {
  /** undefined = the current directory. */
  readonly directory: string | undefined
  /** Of every directory. */
  readonly all: boolean
  readonly limit: number
}

export interface ShowOptions extends Common {
  readonly id: string
  /** So many of the latest messages. */
  readonly messages: number
}

export interface ForkOptions extends Common {
  readonly id: string
  /** Up to this message; undefined = whole. */
  readonly message: string | undefined
}

export interface UndoOptions extends Common {
  readonly id: string
  /** Undo from this message on, redo up to it; undefined = one turn. */
  readonly message: string | undefined
}

export interface ExportOptions extends Common {
  /** undefined = every session of the directory. */
  readonly id: string | undefined
  readonly directory: string | undefined
}

export interface ImportOptions extends Common {
  readonly file: string
  /** Where their paths lie from then on. */
  readonly directory: string | undefined
}

export interface DeleteOptions extends Common {
  readonly id: string
  readonly yes: boolean
}

export type SessionOptions =
  | ({ readonly action: 'list' } & ListOptions)
  | ({ readonly action: 'show' } & ShowOptions)
  | ({ readonly action: 'fork' } & ForkOptions)
  | ({ readonly action: 'undo' | 'redo' } & UndoOptions)
  | ({ readonly action: 'export' } & ExportOptions)
  | ({ readonly action: 'import' } & ImportOptions)
  | ({ readonly action: 'delete' } & DeleteOptions)

const ACTIONS = ['list', 'show', 'fork', 'undo', 'redo', 'export', 'import', 'delete'] as const
const LIST_DEFAULT = 20
const LIST_MOST = 200
const MESSAGES_DEFAULT = 4
const MESSAGES_MOST = 100

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const COMMON = { server: text, output: text } as const

/** `readUrl` checks the address of a server. */
export function readSessionArguments(args: readonly string[], readUrl: (value: string) => string): SessionOptions {
  const [action, ...rest] = args
  const common = (values: { readonly server?: string | undefined; readonly output?: string | undefined }): Common => ({
    server: values.server === undefined ? undefined : readUrl(values.server),
    json: readOutput(values.output ?? 'text') === 'json',
  })
  switch (action) {
    case 'list': {
      const { values, positionals } = read(rest, { ...COMMON, dir: text, all: flag, limit: text })
      nothingElse(action, positionals)
      if (values.all === true && values.dir !== undefined) throw new Error('--all needs no --dir')
      const limit = readNumber('--limit', values.limit ?? String(LIST_DEFAULT), LIST_MOST)
      return { action, ...common(values), directory: values.dir, all: values.all ?? false, limit }
    }
    case 'show': {
      const { values, positionals } = read(rest, { ...COMMON, messages: text })
      const messages = readNumber('--messages', values.messages ?? String(MESSAGES_DEFAULT), MESSAGES_MOST)
      return { action, ...common(values), id: only(action, positionals), messages }
    }
    case 'fork':
    case 'undo':
    case 'redo': {
      const { values, positionals } = read(rest, { ...COMMON, message: text })
      return { action, ...common(values), id: only(action, positionals), message: values.message }
    }
    case 'export': {
      const { values, positionals } = read(rest, { server: text, dir: text })
      const [id, ...others] = positionals
      nothingElse(action, others)
      if (id !== undefined && values.dir !== undefined) throw new Error('svc session export takes an id or --dir, not both')
      return { action, ...common(values), id, directory: values.dir }
    }
    case 'import': {
      const { values, positionals } = read(rest, { ...COMMON, dir: text })
      return { action, ...common(values), file: only(action, positionals, 'a file'), directory: values.dir }
    }
    case 'delete': {
      const { values, positionals } = read(rest, { ...COMMON, yes: flag })
      return { action, ...common(values), id: only(action, positionals), yes: values.yes ?? false }
    }
    default:
      throw new Error(`svc session needs one of ${ACTIONS.join(', ')}${action === undefined ? '' : `, not "${action}"`}`)
  }
}

function read<const O extends Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>>(args: readonly string[], options: O) {
  return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
}

function only(action: string, [first, ...rest]: readonly string[], what = 'the id of a session; see svc session list'): string {
  if (first === undefined || first === '') throw new Error(`svc session ${action} needs ${what}`)
  nothingElse(action, rest)
  return first
}

function nothingElse(action: string, rest: readonly string[]): void {
  if (rest[0] !== undefined) throw new Error(`svc session ${action} does not know what to do with "${rest[0]}"`)
}

function readOutput(value: string): 'json' | 'text' {
  if (value === 'json' || value === 'text') return value
  throw new Error(`--output must be json or text, not "${value}"`)
}

function readNumber(option: string, value: string, most: number): number {
  const number = Number(value)
  if (/^\d{1,6}$/.test(value) && number >= 1 && number <= most) return number
  throw new Error(`${option} must be a number from 1 to ${most}, not "${value}"`)
}

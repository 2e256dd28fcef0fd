/** The command line of `svc session` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import { SESSION } from './session-pages.js'

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
  /** Of conversations; what came from one stands below it and is not counted. */
  readonly limit: number
  /** Where the page before has ended. */
  readonly cursor: string | undefined
}

export interface ShowOptions extends Common {
  readonly id: string
  /** So many of the latest messages. */
  readonly messages: number
}

export interface RenameOptions extends Common {
  readonly id: string
  readonly title: string
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

export interface ReleaseOptions extends Common {
  readonly id: string
  /** undefined = the oldest that is held. */
  readonly message: string | undefined
  /** Every one that is held. */
  readonly all: boolean
}

export interface ExportOptions extends Common {
  /** undefined = every session of the directory. */
  readonly id: string | undefined
  readonly directory: string | undefined
  /** With what was uploaded to them. */
  readonly artifacts: boolean
}

export interface ImportOptions extends Common {
  readonly file: string
  /** Where their paths lie from then on. */
  readonly directory: string | undefined
}

export interface DeleteOptions extends Common {
  readonly id: string
  readonly yes: boolean
  readonly keepForks: boolean
}

export type SessionOptions =
  | ({ readonly action: 'list' } & ListOptions)
  | ({ readonly action: 'show' } & ShowOptions)
  | ({ readonly action: 'rename' } & RenameOptions)
  | ({ readonly action: 'fork' } & ForkOptions)
  | ({ readonly action: 'undo' | 'redo' } & UndoOptions)
  | ({ readonly action: 'release' } & ReleaseOptions)
  | ({ readonly action: 'export' } & ExportOptions)
  | ({ readonly action: 'import' } & ImportOptions)
  | ({ readonly action: 'delete' } & DeleteOptions)

const LIST_DEFAULT = 20
const MESSAGES_DEFAULT = 4

/** `readUrl` checks the address of a server. */
export function readSessionArguments(args: readonly string[], readUrl: (value: string) => string): SessionOptions {
  const [action, ...rest] = args
  const page = pageOf(SESSION, action)
  const common = ({ server, json }: { readonly server: string | undefined; readonly json: boolean }): Common => ({
    server: server === undefined ? undefined : readUrl(server),
    json,
  })
  switch (page.name) {
    case 'session list': {
      const { values } = readLine(page, rest)
      if (values.all && values.dir !== undefined) throw new Error('--all needs no --dir')
      const { dir, all, limit, cursor } = values
      return { action: 'list', ...common(values), directory: dir, all, limit: limit ?? LIST_DEFAULT, cursor }
    }
    case 'session show': {
      const { values, first } = readLine(page, rest)
      return { action: 'show', ...common(values), id: first, messages: values.messages ?? MESSAGES_DEFAULT }
    }
    case 'session rename': {
      const { values, words, first } = readLine(page, rest)
      return { action: 'rename', ...common(values), id: first, title: words.slice(1).join(' ') }
    }
    case 'session fork': {
      const { values, first } = readLine(page, rest)
      return { action: 'fork', ...common(values), id: first, message: values.message }
    }
    case 'session undo': {
      const { values, first } = readLine(page, rest)
      return { action: 'undo', ...common(values), id: first, message: values.message }
    }
    case 'session redo': {
      const { values, first } = readLine(page, rest)
      return { action: 'redo', ...common(values), id: first, message: values.message }
    }
    case 'session release': {
      const { values, first } = readLine(page, rest)
      if (values.all && values.message !== undefined) throw new Error('--all needs no --message')
      return { action: 'release', ...common(values), id: first, message: values.message, all: values.all }
    }
    case 'session export': {
      const { values, words } = readLine(page, rest)
      const [id] = words
      if (id !== undefined && values.dir !== undefined) throw new Error('svc session export takes an id or --dir, not both')
      return { action: 'export', ...common(values), id, directory: values.dir, artifacts: values.artifacts }
    }
    case 'session import': {
      const { values, first } = readLine(page, rest)
      return { action: 'import', ...common(values), file: first, directory: values.dir }
    }
    case 'session delete': {
      const { values, first } = readLine(page, rest)
      return { action: 'delete', ...common(values), id: first, yes: values.yes, keepForks: values['keep-forks'] }
    }
  }
}

/** The command line of `svc auth` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import { AUTH } from './auth-pages.js'

export interface AuthPlace {
  /** undefined = the local one, or one inside this process. */
  readonly server: string | undefined
  readonly json: boolean
}

export interface LoginOptions extends AuthPlace {
  readonly provider: string
  /** undefined = the first that is offered. */
  readonly method: string | undefined
  readonly label: string | undefined
  /** Answers to what the provider asks before, each `name=value`. */
  readonly inputs: readonly string[]
  readonly isPrinted: boolean
}

export interface SetOptions extends AuthPlace {
  readonly provider: string
  /** undefined = the default connection. */
  readonly label: string | undefined
}

export interface RemoveOptions extends AuthPlace {
  readonly provider: string
  /** Id or label; undefined = the default connection. */
  readonly connection: string | undefined
}

export type AuthOptions =
  | ({ readonly action: 'list' } & AuthPlace)
  | ({ readonly action: 'login' } & LoginOptions)
  | ({ readonly action: 'set' } & SetOptions)
  | ({ readonly action: 'remove' } & RemoveOptions)

/** `readUrl` checks the address of a server. */
export function readAuthArguments(args: readonly string[], readUrl: (value: string) => string): AuthOptions {
  const [action, ...rest] = args
  const page = pageOf(AUTH, action)
  const place = ({ server, json }: { readonly server: string | undefined; readonly json: boolean }): AuthPlace => ({
    server: server === undefined ? undefined : readUrl(server),
    json,
  })
  switch (page.name) {
    case 'auth list':
      return { action: 'list', ...place(readLine(page, rest).values) }
    case 'auth login': {
      const { values, first } = readLine(page, rest)
      const { method, label, input, print } = values
      return { action: 'login', ...place(values), provider: first, method, label, inputs: input, isPrinted: print }
    }
    case 'auth set': {
      const { values, first } = readLine(page, rest)
      return { action: 'set', ...place(values), provider: first, label: values.label }
    }
    case 'auth remove': {
      const { values, first } = readLine(page, rest)
      return { action: 'remove', ...place(values), provider: first, connection: values.connection }
    }
  }
}

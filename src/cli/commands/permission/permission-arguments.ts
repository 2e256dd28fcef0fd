/** The command line of `svc permission` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import { PERMISSION } from './permission-pages.js'

interface Common {
  /** undefined = the current one. */
  readonly directory: string | undefined
  readonly server: string | undefined
  readonly json: boolean
}

export interface ExplainOptions extends Common {
  /** A command; with `kind` what that is asked for. */
  readonly text: string
  readonly kind: string | undefined
  readonly agent: string | undefined
  readonly session: string | undefined
}

export interface RevokeOptions extends Common {
  /** An id, how one begins, or a pattern; undefined = all of them. */
  readonly named: string | undefined
}

export type PermissionOptions =
  | ({ readonly action: 'list' } & Common)
  | ({ readonly action: 'explain' } & ExplainOptions)
  | ({ readonly action: 'revoke' } & RevokeOptions)

/** `readUrl` checks the address of a server. */
export function readPermissionArguments([action, ...rest]: readonly string[], readUrl: (value: string) => string): PermissionOptions {
  const page = pageOf(PERMISSION, action)
  const common = ({
    dir,
    server,
    json,
  }: {
    readonly dir: string | undefined
    readonly server: string | undefined
    readonly json: boolean
  }) => ({
    directory: dir,
    server: server === undefined ? undefined : readUrl(server),
    json,
  })
  switch (page.name) {
    case 'permission list':
      return { action: 'list', ...common(readLine(page, rest).values) }
    case 'permission explain': {
      const { values, words } = readLine(page, rest)
      const { kind, agent, session } = values
      return { action: 'explain', ...common(values), text: words.join(' '), kind, agent, session }
    }
    case 'permission revoke': {
      const { values, words } = readLine(page, rest)
      if (values.all === words.length > 0) throw new Error('svc permission revoke needs an answer, or --all')
      return { action: 'revoke', ...common(values), named: values.all ? undefined : words.join(' ') }
    }
  }
}

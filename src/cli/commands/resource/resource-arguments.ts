/** The command line of `svc agent`, `svc command`, `svc skill` and `svc tool` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import { type ResourceKind, RESOURCES } from './resource-pages.js'

export interface ResourceOptions {
  readonly kind: ResourceKind
  /** Which one is shown; undefined = all are listed. */
  readonly shown: string | undefined
  readonly directory: string | undefined
  readonly server: string | undefined
  readonly json: boolean
}

/** `readUrl` checks the address of a server. */
export function readResourceArguments(kind: ResourceKind, args: readonly string[], readUrl: (value: string) => string): ResourceOptions {
  const group = RESOURCES.find(({ name }) => name === kind) ?? RESOURCES[0]
  const [action, ...rest] = args
  const page = pageOf(group, action)
  const { values, words } = readLine(page, rest)
  const server = values.server === undefined ? undefined : readUrl(values.server)
  return { kind, shown: words[0], directory: values.dir, server, json: values.json }
}

/** The command line of `svc plugin` as data. Pure; throws a sentence when it cannot be understood. */
import { parseArgs } from 'node:util'

const LANGUAGES = ['lua', 'typescript', 'javascript', 'python'] as const
type Language = (typeof LANGUAGES)[number]

const SCOPES = ['workspace', 'session', 'user', 'global'] as const
export type Scope = (typeof SCOPES)[number]

interface Common {
  /** The workspace; undefined = the current directory. */
  readonly directory: string | undefined
  readonly json: boolean
}

export interface InitOptions extends Common {
  readonly id: string
  readonly language: Language
  readonly scope: Scope
}

export interface ListOptions extends Common {
  /** undefined = the one that uses our state directory, if there is one. */
  readonly server: string | undefined
}

export interface TrustOptions extends Common {
  readonly id: string
  /** undefined = what the package asks for. */
  readonly capabilities: readonly string[] | undefined
  /** Which of two packages of this id is meant. */
  readonly source: 'user' | 'workspace' | undefined
  /** Session of a package with the scope `session`, user of one with the scope `user`. */
  readonly scopeId: string | undefined
  readonly yes: boolean
}

export interface SwitchOptions extends Common {
  readonly id: string
}

export interface PluginDoctorOptions extends ListOptions {
  /** undefined = every package. */
  readonly id: string | undefined
}

export type PluginOptions =
  | ({ readonly action: 'init' } & InitOptions)
  | ({ readonly action: 'list' } & ListOptions)
  | ({ readonly action: 'trust' } & TrustOptions)
  | ({ readonly action: 'disable' | 'enable' } & SwitchOptions)
  | ({ readonly action: 'doctor' } & PluginDoctorOptions)

const ACTIONS = ['init', 'list', 'trust', 'disable', 'enable', 'doctor'] as const

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const COMMON = { directory: text, json: flag } as const

/** `readUrl` checks the address of a server. */
export function readPluginArguments(args: readonly string[], readUrl: (value: string) => string): PluginOptions {
  const [action, ...rest] = args
  switch (action) {
    case 'init': {
      const { values, positionals } = read(rest, { ...COMMON, language: text, scope: text })
      const language = oneOf('--language', LANGUAGES, values.language ?? 'lua')
      const scope = oneOf('--scope', SCOPES, values.scope ?? 'workspace')
      return { action, ...common(values), id: onlyId(action, positionals), language, scope }
    }
    case 'list': {
      const { values, positionals } = read(rest, { ...COMMON, server: text })
      nothingElse(action, positionals)
      return { action, ...common(values), server: values.server === undefined ? undefined : readUrl(values.server) }
    }
    case 'trust': {
      const options = { ...COMMON, capabilities: text, source: text, session: text, user: text, yes: flag }
      const { values, positionals } = read(rest, options)
      return {
        action,
        ...common(values),
        id: onlyId(action, positionals),
        capabilities: values.capabilities?.split(',').filter((name) => name !== ''),
        source: values.source === undefined ? undefined : oneOf('--source', ['user', 'workspace'] as const, values.source),
        scopeId: values.session ?? values.user,
        yes: values.yes ?? false,
      }
    }
    case 'disable':
    case 'enable': {
      const { values, positionals } = read(rest, COMMON)
      return { action, ...common(values), id: onlyId(action, positionals) }
    }
    case 'doctor': {
      const { values, positionals } = read(rest, { ...COMMON, server: text })
      nothingElse(action, positionals.slice(1))
      const server = values.server === undefined ? undefined : readUrl(values.server)
      return { action, ...common(values), server, id: positionals[0] }
    }
    default:
      throw new Error(`svc plugin needs one of ${ACTIONS.join(', ')}${action === undefined ? '' : `, not "${action}"`}`)
  }
}

function read<const O extends Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>>(args: readonly string[], options: O) {
  return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
}

function common(values: { readonly directory?: string | undefined; readonly json?: boolean | undefined }): Common {
  return { directory: values.directory, json: values.json ?? false }
}

function onlyId(action: string, [id, ...rest]: readonly string[]): string {
  if (id === undefined) throw new Error(`svc plugin ${action} needs the id of a plugin, such as dev.example.hello`)
  nothingElse(action, rest)
  return id
}

function nothingElse(action: string, rest: readonly string[]): void {
  if (rest[0] !== undefined) throw new Error(`svc plugin ${action} does not know what to do with "${rest[0]}"`)
}

function oneOf<const T extends string>(option: string, allowed: readonly T[], value: string): T {
  const found = allowed.find((each) => each === value)
  if (found === undefined) throw new Error(`${option} must be one of ${allowed.join(', ')}, not "${value}"`)
  return found
}

/** The command line of `svc plugin` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import { PLUGIN } from './plugin-pages.js'
import { messageOf } from '../../../protocol/message-of.js'

type Language = 'lua' | 'typescript' | 'javascript' | 'python'
export type Scope = 'workspace' | 'session' | 'user' | 'global'

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

export interface RemoveOptions extends SwitchOptions {
  readonly source: 'user' | 'workspace' | undefined
  readonly yes: boolean
}

export interface ConfigureOptions extends SwitchOptions {
  readonly source: 'user' | 'workspace' | undefined
  /** The alias of a secret that is given, or taken back. */
  readonly set: string | undefined
  readonly unset: string | undefined
}

export interface TestOptions extends SwitchOptions {
  readonly tool: string
  readonly input: unknown
  readonly server: string | undefined
}

export interface PluginDoctorOptions extends ListOptions {
  /** undefined = every package. */
  readonly id: string | undefined
}

export type PluginOptions =
  | ({ readonly action: 'init' } & InitOptions)
  | ({ readonly action: 'list' } & ListOptions)
  | ({ readonly action: 'trust' } & TrustOptions)
  | ({ readonly action: 'disable' | 'enable' | 'untrust' | 'dev' } & SwitchOptions)
  | ({ readonly action: 'remove' | 'restore' } & RemoveOptions)
  | ({ readonly action: 'configure' } & ConfigureOptions)
  | ({ readonly action: 'test' } & TestOptions)
  | ({ readonly action: 'doctor' } & PluginDoctorOptions)

const SHORT = { ts: 'typescript', js: 'javascript', py: 'python' } as const

/** `readUrl` checks the address of a server. */
export function readPluginArguments(args: readonly string[], readUrl: (value: string) => string): PluginOptions {
  const [action, ...rest] = args
  const page = pageOf(PLUGIN, action)
  switch (page.name) {
    case 'plugin init': {
      const { values, first } = readLine(page, rest)
      const named = values.language ?? 'lua'
      const language = named === 'ts' || named === 'js' || named === 'py' ? SHORT[named] : named
      return { action: 'init', ...common(values), id: first, language, scope: values.scope ?? 'workspace' }
    }
    case 'plugin list': {
      const { values } = readLine(page, rest)
      return { action: 'list', ...common(values), server: values.server === undefined ? undefined : readUrl(values.server) }
    }
    case 'plugin trust': {
      const { values, first } = readLine(page, rest)
      return {
        action: 'trust',
        ...common(values),
        id: first,
        capabilities: values.capabilities?.split(',').filter((name) => name !== ''),
        source: values.source,
        scopeId: values.session ?? values.user,
        yes: values.yes,
      }
    }
    case 'plugin configure': {
      const { values, first } = readLine(page, rest)
      const { set, unset, source } = values
      if (set !== undefined && unset !== undefined) throw new Error('--set and --unset are not for the same call')
      return { action: 'configure', ...common(values), id: first, source, set, unset }
    }
    case 'plugin untrust': {
      const { values, first } = readLine(page, rest)
      return { action: 'untrust', ...common(values), id: first }
    }
    case 'plugin remove':
    case 'plugin restore': {
      const { values, first } = readLine(page, rest)
      return {
        action: page.name === 'plugin remove' ? 'remove' : 'restore',
        ...common(values),
        id: first,
        source: values.source,
        yes: values.yes,
      }
    }
    case 'plugin dev': {
      const { values, first } = readLine(page, rest)
      return { action: 'dev', directory: values.dir, json: false, id: first }
    }
    case 'plugin test': {
      const { values, words } = readLine(page, rest)
      const [id = '', tool = '', text = '{}'] = words
      const server = values.server === undefined ? undefined : readUrl(values.server)
      return { action: 'test', ...common(values), server, id, tool, input: readJson(text) }
    }
    case 'plugin disable':
    case 'plugin enable': {
      const { values, first } = readLine(page, rest)
      return { action: page.name === 'plugin enable' ? 'enable' : 'disable', ...common(values), id: first }
    }
    case 'plugin doctor': {
      const { values, words } = readLine(page, rest)
      const server = values.server === undefined ? undefined : readUrl(values.server)
      return { action: 'doctor', ...common(values), server, id: words[0] }
    }
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`the input of a tool is JSON, such as '{"name": "Ada"}': ${messageOf(cause)}`, {
      cause,
    })
  }
}

function common({ dir, json }: { readonly dir: string | undefined; readonly json: boolean }): Common {
  return { directory: dir, json }
}

/** The command line of `svc plugin` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import { type Kind, KINDS } from './plugin-kinds.js'
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
  /** The id of a package in its place, or a folder for one of its own. */
  readonly target: string
  /** Of a package in a folder; undefined = made from the name of that. */
  readonly id: string | undefined
  readonly language: Language
  readonly scope: Scope
  readonly kinds: readonly Kind[]
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
  /** Its native part is what is approved, in the place of its runtime. */
  readonly native: boolean
  readonly yes: boolean
}

export interface SwitchOptions extends Common {
  readonly id: string
}

export interface RestoreOptions extends SwitchOptions {
  readonly source: 'user' | 'workspace' | undefined
  readonly yes: boolean
}

export interface RemoveOptions extends RestoreOptions {
  /** Its entry in the configuration stays, and its secrets. */
  readonly keepData: boolean
}

interface Approving {
  /** Approve it at once, after the question. */
  readonly trust: boolean
  readonly yes: boolean
}

export interface AddOptions extends Common, Approving {
  readonly source: string
  /** The folder in an archive or a repository that is the package. */
  readonly path: string | undefined
}

export interface UpdateOptions extends SwitchOptions, Approving {
  /** As of `add`; undefined = where it came from. */
  readonly source: string | undefined
  readonly path: string | undefined
  /** The whole difference, not only the names of files. */
  readonly diff: boolean
  readonly force: boolean
}

/** `id` may be the folder of the package. */
export interface PackOptions extends SwitchOptions {
  readonly output: string | undefined
  readonly force: boolean
}

export interface ConfigureOptions extends SwitchOptions {
  readonly source: 'user' | 'workspace' | undefined
  /** The alias of a secret that is given, or taken back. */
  readonly set: string | undefined
  readonly unset: string | undefined
}

export interface TestOptions extends SwitchOptions {
  /** undefined = the whole package is checked; `id` may be its folder then. */
  readonly tool: string | undefined
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
  | ({ readonly action: 'remove' } & RemoveOptions)
  | ({ readonly action: 'restore' } & RestoreOptions)
  | ({ readonly action: 'add' } & AddOptions)
  | ({ readonly action: 'update' } & UpdateOptions)
  | ({ readonly action: 'pack' } & PackOptions)
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
      const kinds: readonly Kind[] = values.with.length === 0 ? ['tool'] : KINDS.filter((kind) => values.with.includes(kind))
      return { action: 'init', ...common(values), target: first, id: values.id, language, scope: values.scope ?? 'workspace', kinds }
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
        native: values.native,
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
    case 'plugin remove': {
      const { values, first } = readLine(page, rest)
      return { action: 'remove', ...common(values), id: first, source: values.source, yes: values.yes, keepData: values['keep-data'] }
    }
    case 'plugin restore': {
      const { values, first } = readLine(page, rest)
      return { action: 'restore', ...common(values), id: first, source: values.source, yes: values.yes }
    }
    case 'plugin add': {
      const { values, first } = readLine(page, rest)
      return { action: 'add', ...common(values), source: first, path: values.path, ...approving(values) }
    }
    case 'plugin update': {
      const { values, words, first } = readLine(page, rest)
      const from = { source: words[1], path: values.path }
      return { action: 'update', ...common(values), id: first, ...from, diff: values.diff, force: values.force, ...approving(values) }
    }
    case 'plugin pack': {
      const { values, first } = readLine(page, rest)
      return { action: 'pack', id: first, directory: values.dir, output: values.output, force: values.force, json: values.json }
    }
    case 'plugin dev': {
      const { values, first } = readLine(page, rest)
      return { action: 'dev', directory: values.dir, json: false, id: first }
    }
    case 'plugin test': {
      const { values, words } = readLine(page, rest)
      const [id = '', tool, text = '{}'] = words
      if (tool === undefined && values.server !== undefined) throw new Error('--server is for one call: name a tool as well')
      if (tool !== undefined && id.includes('/')) throw new Error('one call names its package by the id; a folder is checked as a whole')
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

function approving({ trust, yes }: { readonly trust: boolean; readonly yes: boolean }): Approving {
  if (yes && !trust) throw new Error('--yes goes with --trust: without that nothing is asked')
  return { trust, yes }
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

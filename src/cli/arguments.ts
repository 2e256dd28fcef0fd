/** The command line as data: what was asked for, or why it cannot be understood (service.md, Commands). Pure. */
import { type AuthOptions, readAuthArguments } from './commands/auth/auth-arguments.js'
import { ACP, type AcpOptions } from './commands/acp/acp-page.js'
import { CHAT, type ChatOptions, SCREEN, type ScreenOptions } from './commands/chat/chat-page.js'
import type { CleanupOptions } from './commands/cleanup/cleanup-page.js'
import { type ConfigOptions, readConfigArguments } from './commands/config/config-arguments.js'
import { DOCTOR, type DoctorOptions } from './commands/doctor/doctor-page.js'
import { INSPECT, type InspectOptions } from './commands/inspect/inspect-page.js'
import { type ProgramOptions, readProgramArguments } from './commands/acceptance/program-arguments.js'
import { FORMATTER } from './commands/formatter/formatter-pages.js'
import { LSP } from './commands/lsp/lsp-pages.js'
import type { AuditOptions } from './commands/audit/audit-page.js'
import type { LogsOptions } from './commands/logs/logs-page.js'
import type { McpOptions } from './commands/mcp/mcp-options.js'
import { readMcpArguments } from './commands/mcp/mcp-arguments.js'
import type { ModelsOptions, ProvidersOptions } from './commands/models/models-options.js'
import { MODELS, PROVIDERS } from './commands/models/models-pages.js'
import { type PluginOptions, readPluginArguments } from './commands/plugin/plugin-arguments.js'
import { RUN, type RunOptions } from './commands/run/run-page.js'
import type { ServeOptions } from '../server/serve-options.js'
import { SERVE } from './commands/serve/serve-page.js'
import { type PermissionOptions, readPermissionArguments } from './commands/permission/permission-arguments.js'
import { readRequestArguments, type RequestOptions } from './commands/request/request-arguments.js'
import { readResourceArguments, type ResourceOptions } from './commands/resource/resource-arguments.js'
import { readSessionArguments, type SessionOptions } from './commands/session/session-arguments.js'
import { type Option, type Value, VALUES } from './line/page.js'
import { COMPLETION, MAN, OPENAPI, PAGES } from './help/pages.js'
import { type Line, readLine } from './line/read-line.js'
import { readAudit, readBackup, readCleanup, readLogs, readRestore, readUpgrade, readUsage } from './upkeep-arguments.js'
import { readTokenArguments, type TokenOptions } from './commands/token/token-arguments.js'
import type { BackupCommand, RestoreCommand } from './commands/backup/backup-pages.js'
import type { UpgradeOptions } from './commands/upgrade/upgrade-page.js'
import type { UsageOptions } from './commands/usage/usage-page.js'
import { readWorkflowArguments, type WorkflowOptions } from './commands/workflow/workflow-arguments.js'
import { messageOf } from '../protocol/message-of.js'
import { unknownCommand } from './unknown-command.js'

export type Command =
  | { readonly name: 'serve'; readonly options: ServeOptions }
  | { readonly name: 'run'; readonly options: RunOptions }
  | { readonly name: 'chat'; readonly options: ChatOptions }
  /** What `svc` alone opens. */
  | { readonly name: 'screen'; readonly options: ScreenOptions }
  | { readonly name: 'acp'; readonly options: AcpOptions }
  | { readonly name: 'doctor'; readonly options: DoctorOptions }
  | { readonly name: 'models'; readonly options: ModelsOptions }
  | { readonly name: 'mcp'; readonly options: McpOptions }
  | { readonly name: 'lsp'; readonly options: ProgramOptions }
  | { readonly name: 'formatter'; readonly options: ProgramOptions }
  | { readonly name: 'providers'; readonly options: ProvidersOptions }
  | { readonly name: 'auth'; readonly options: AuthOptions }
  | { readonly name: 'token'; readonly options: TokenOptions }
  | { readonly name: 'plugin'; readonly options: PluginOptions }
  | { readonly name: 'config'; readonly options: ConfigOptions }
  | { readonly name: 'workflow'; readonly options: WorkflowOptions }
  | { readonly name: 'session'; readonly options: SessionOptions }
  | { readonly name: 'inspect'; readonly options: InspectOptions }
  | { readonly name: 'audit'; readonly options: AuditOptions }
  | { readonly name: 'logs'; readonly options: LogsOptions }
  | { readonly name: 'spending'; readonly options: UsageOptions }
  | { readonly name: 'cleanup'; readonly options: CleanupOptions }
  | { readonly name: 'backup'; readonly options: BackupCommand }
  | { readonly name: 'restore'; readonly options: RestoreCommand }
  | { readonly name: 'upgrade'; readonly options: UpgradeOptions }
  | { readonly name: 'resource'; readonly options: ResourceOptions }
  | { readonly name: 'permission'; readonly options: PermissionOptions }
  | { readonly name: 'request'; readonly options: RequestOptions }
  | { readonly name: 'openapi' }
  | { readonly name: 'completion'; readonly shell: Shell }
  /** What a shell may complete. */
  | { readonly name: 'values'; readonly of: Value }
  | { readonly name: 'man' }
  | { readonly name: 'version' }
  | { readonly name: 'help'; readonly topic: string | undefined }
  /** `topic`: the page that helps. */
  | { readonly name: 'usage'; readonly problem: string; readonly topic: string | undefined }

type Shell = 'bash' | 'zsh' | 'fish'

/** Reads the arguments after the program name. Never throws: what is wrong comes back as `usage`. */
export function readArguments(typed: readonly string[]): Command {
  const argv = withoutAlias(typed)
  const [first, ...rest] = argv
  if (first === undefined || isOfScreen(first)) return readScreen(argv)
  if (first === '--version' || first === '-v') return { name: 'version' }
  if (first === '--help' || first === '-h') return { name: 'help', topic: undefined }
  const topic = topicOf(first === 'help' ? rest : argv)
  try {
    if (first === 'help') {
      if (rest[0] !== undefined && topic === undefined) throw new Error(unknownCommand(rest[0]))
      return { name: 'help', topic }
    }
    const end = rest.indexOf('--')
    if ((end < 0 ? rest : rest.slice(0, end)).some((arg) => arg === '--help' || arg === '-h')) return { name: 'help', topic }
    return readCommand(first, rest)
  } catch (error) {
    return { name: 'usage', problem: messageOf(error), topic }
  }
}

/** `svc -c`, `svc --session …`: options of the conversation that `svc` alone opens. */
function isOfScreen(first: string): boolean {
  const [name = ''] = first.split('=')
  return Object.entries<Option>(SCREEN.options).some(
    ([long, { short }]) => name === `--${long}` || (short !== undefined && name === `-${short}`),
  )
}

function readScreen(args: readonly string[]): Command {
  try {
    const { values } = readLine(SCREEN, args)
    return { name: 'screen', options: { ...readConversation(values), isPlain: values.plain } }
  } catch (error) {
    return { name: 'usage', problem: messageOf(error), topic: undefined }
  }
}

/** `agents` is `agent list`, and `agents show build` is `agent show build`, as is `agents build`; after `help` too. */
function withoutAlias(argv: readonly string[]): readonly string[] {
  if (argv[0] === 'help')
    return ['help', ...PAGES.filter((each) => 'alias' in each && each.alias === argv[1]).map(({ name }) => name), ...argv.slice(1)]
  const group = PAGES.find((each) => 'alias' in each && each.alias === argv[0])
  if (group === undefined || !('pages' in group)) return argv
  const hasPage = (action: string | undefined) => group.pages.some(({ name }) => name === `${group.name} ${action}`)
  const [, next = '-'] = argv
  const isNamed = !next.startsWith('-') && hasPage('show')
  return [group.name, ...(hasPage(next) ? [] : [isNamed ? 'show' : 'list']), ...argv.slice(1)]
}

/** The name of the page that words name: of an action, or of its command. */
function topicOf([command, action]: readonly string[]): string | undefined {
  const found = PAGES.find(({ name }) => name === command)
  if (found === undefined || !('pages' in found)) return found?.name
  return found.pages.find(({ name }) => name === `${command} ${action}`)?.name ?? found.name
}

function readCommand(name: string, args: string[]): Command {
  switch (name) {
    case 'serve':
      return { name, options: readServe(args) }
    case 'run':
      return { name, options: readRun(args) }
    case 'acp':
      return { name, options: readAcp(args) }
    case 'chat':
      return { name, options: readChat(args) }
    case 'doctor':
      return { name, options: readDoctor(args) }
    case 'mcp':
      return { name, options: readMcpArguments(args, readServerUrl) }
    case 'lsp':
      return { name, options: readProgramArguments(LSP, args, readServerUrl) }
    case 'formatter':
      return { name, options: readProgramArguments(FORMATTER, args, readServerUrl) }
    case 'models':
      return { name, options: readModels(args) }
    case 'providers':
      return { name, options: readProviders(args) }
    case 'auth':
      return { name, options: readAuthArguments(args, readServerUrl) }
    case 'token':
      return { name, options: readTokenArguments(args) }
    case 'plugin':
      return { name, options: readPluginArguments(args, readServerUrl) }
    case 'session':
      return { name, options: readSessionArguments(args, readServerUrl) }
    case 'permission':
      return { name, options: readPermissionArguments(args, readServerUrl) }
    case 'request':
      return { name, options: readRequestArguments(args, readServerUrl) }
    case 'config':
      return { name, options: readConfigArguments(args) }
    case 'workflow':
      return { name, options: readWorkflowArguments(args, readServerUrl) }
    case 'inspect':
      return { name, options: readInspect(args) }
    case 'logs':
      return { name, options: readLogs(args) }
    case 'audit':
      return { name, options: readAudit(args, Date.now()) }
    case 'usage':
      return { name: 'spending', options: readUsage(args) }
    case 'cleanup':
      return { name, options: readCleanup(args) }
    case 'backup':
      return { name, options: readBackup(args) }
    case 'restore':
      return { name, options: readRestore(args) }
    case 'upgrade':
      return { name, options: readUpgrade(args) }
    case 'agent':
    case 'command':
    case 'skill':
    case 'tool':
      return { name: 'resource', options: readResourceArguments(name, args, readServerUrl) }
    case 'openapi':
      readLine(OPENAPI, args)
      return { name }
    case 'completion':
      if (args[0] === 'values') return { name: 'values', of: readValue(args[1]) }
      return { name, shell: readShell(readLine(COMPLETION, args).first) }
    case 'man':
      readLine(MAN, args)
      return { name }
    default:
      throw new Error(unknownCommand(name))
  }
}

function readValue(of: string | undefined): Value {
  const found = VALUES.find((each) => each === of)
  if (found === undefined) throw new Error(`svc completion values is for ${VALUES.join(', ')}`)
  return found
}

function readShell(name: string): Shell {
  if (name === 'bash' || name === 'zsh' || name === 'fish') return name
  throw new Error(`svc completion is for bash, zsh and fish, not "${name}"`)
}

function readServe(args: string[]): ServeOptions {
  const { values } = readLine(SERVE, args)
  if (values['control-plane'] && values['worker-bootstrap'] !== undefined)
    throw new Error('a server is a control plane or a worker: leave --control-plane or --worker-bootstrap out')
  return {
    port: values.port ?? 4096,
    hostname: readHostname(values.hostname ?? '127.0.0.1'),
    origins: values.cors.map(readOrigin),
    hosts: values['allow-host'].map(readHostname),
    ...(values['inspect-payloads'] && { inspectPayloads: true }),
    ...(values['control-plane'] && { controlPlane: true }),
    ...workerOf(
      values['worker-bootstrap'],
      values['worker-verification-key-file'],
      brokerOf(values['worker-broker'], values['worker-broker-token-file']),
    ),
  }
}

function workerOf(
  bootstrap: string | undefined,
  verificationKey: string | undefined,
  broker: Pick<NonNullable<ServeOptions['worker']>, 'broker'>,
): Pick<ServeOptions, 'worker'> {
  if (bootstrap !== undefined && verificationKey !== undefined) return { worker: { bootstrap, verificationKey, ...broker } }
  if (bootstrap === undefined && verificationKey === undefined) {
    if (broker.broker !== undefined) throw new Error('--worker-broker is for a worker: --worker-bootstrap is missing')
    return {}
  }
  throw new Error(missing('--worker-bootstrap', bootstrap, '--worker-verification-key-file'))
}

function brokerOf(url: string | undefined, tokenFile: string | undefined): Pick<NonNullable<ServeOptions['worker']>, 'broker'> {
  if (url !== undefined && tokenFile !== undefined) return { broker: { url, tokenFile } }
  if (url === undefined && tokenFile === undefined) return {}
  throw new Error(missing('--worker-broker', url, '--worker-broker-token-file'))
}

function missing(one: string, value: string | undefined, other: string): string {
  return `a worker needs ${one} and ${other} together, and ${value === undefined ? one : other} is missing`
}

function readAcp(args: string[]): AcpOptions {
  const { values } = readLine(ACP, args)
  const isNamed = values.port !== undefined || values.hostname !== undefined
  if (isNamed && values.server !== undefined) throw new Error('--server needs no --port and no --hostname')
  const host = values.hostname === undefined ? '127.0.0.1' : readHostname(values.hostname)
  return {
    server: values.server === undefined ? undefined : readServerUrl(values.server),
    usual: isNamed ? readServerUrl(`http://${host.includes(':') ? `[${host}]` : host}:${values.port ?? 4096}`) : undefined,
    directory: values.cwd,
  }
}

function readRun(args: string[]): RunOptions {
  const { values, words } = readLine(RUN, args)
  const prompt = words.join(' ')
  if (values.continue && values.session !== undefined) throw new Error('--continue needs no --session')
  if (values.variant !== undefined && values.model === undefined) throw new Error('--variant needs --model')
  if (values.quiet && values.verbose) throw new Error('--quiet needs no --verbose')
  if (values.server !== undefined && (values.ephemeral || values.config.length > 0))
    throw new Error(`--${values.ephemeral ? 'ephemeral' : 'config'} needs no --server: it has a server of its own`)
  if (values.ephemeral && (values.continue || values.session !== undefined))
    throw new Error(`--ephemeral begins anew, and needs no --${values.continue ? 'continue' : 'session'}`)
  if (values.continue && isSetting(words[0])) throw new Error(`-c is short for --continue; write --config "${words[0]}"`)
  if (values.json && values.output !== undefined) throw new Error('--json is short for --output json, and needs no --output')
  return {
    prompt: prompt === '' || prompt === '-' ? undefined : prompt,
    server: values.server === undefined ? undefined : readServerUrl(values.server),
    directory: values.dir,
    session: values.session,
    continues: values.continue,
    model: values.model === undefined ? undefined : readModel(values.model),
    agent: values.agent,
    variant: values.variant,
    output: values.output ?? (values.json ? 'json' : 'text'),
    lastMessage: values['output-last-message'],
    schema: values['output-schema'],
    files: values.file,
    images: values.image,
    isQuiet: values.quiet,
    isVerbose: values.verbose,
    isThinking: values.thinking,
    config: values.config,
    ephemeral: values.ephemeral,
    allow: values.allow ?? 'ask',
    unattended: values.unattended,
  }
}

/** As other agents of the terminal take it behind `-c`. */
function isSetting(word: string | undefined): boolean {
  return word !== undefined && /^[A-Za-z][\w-]*(?:\.[\w"-]+)*=\S+$/.test(word)
}

function readChat(args: string[]): ChatOptions {
  const { values } = readLine(CHAT, args)
  if (values.json) throw new Error('svc chat is for people; svc run --json is for programs')
  return readConversation(values)
}

function readConversation(values: Omit<Line<typeof CHAT>['values'], 'json'>): ChatOptions {
  if (values.continue && values.session !== undefined) throw new Error('--continue needs no --session')
  return {
    server: values.server === undefined ? undefined : readServerUrl(values.server),
    directory: values.dir,
    session: values.session,
    continues: values.continue,
    model: values.model === undefined ? undefined : readModel(values.model),
    agent: values.agent,
    isVerbose: values.verbose,
    isThinking: values.thinking,
  }
}

function readDoctor(args: string[]): DoctorOptions {
  const { values } = readLine(DOCTOR, args)
  return { ...readPlace(values), online: values.online }
}

function readPlace(values: { dir: string | undefined; server: string | undefined; json: boolean }) {
  const server = values.server === undefined ? undefined : readServerUrl(values.server)
  return { directory: values.dir, server, json: values.json }
}

function readModels(args: string[]): ModelsOptions {
  const { values, words } = readLine(MODELS, args)
  return { ...readPlace(values), provider: words[0], verbose: values.verbose }
}

function readProviders(args: string[]): ProvidersOptions {
  const { values } = readLine(PROVIDERS, args)
  return { ...readPlace(values), all: values.all }
}

function readInspect(args: string[]): InspectOptions {
  const { values } = readLine(INSPECT, args)
  if (values.trace !== undefined && values.server !== undefined) throw new Error('--trace needs no --server')
  return {
    server: values.server === undefined ? undefined : readServerUrl(values.server),
    trace: values.trace,
    open: values.open,
    json: values.json,
  }
}

function readHostname(value: string): string {
  const name = value.startsWith('[') && value.endsWith(']') ? value.slice(1, -1) : value
  if (!/^[\w.:%-]+$/.test(name)) throw new Error(`"${value}" is not a host name or address`)
  return name.toLowerCase()
}

/** An origin exactly as a browser sends it: scheme, host and port, nothing after. */
function readOrigin(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || (url.origin !== value && `${url.origin}/` !== value) || !url.protocol.startsWith('http')) {
    throw new Error(`--cors must be an origin such as https://app.example:8443, not "${value}"`)
  }
  return url.origin
}

function readServerUrl(value: string): string {
  // `localhost:4096` parses as a scheme.
  const address = /^[a-z][\w+.-]*:\/\//i.test(value) ? value : `http://${value}`
  const url = URL.canParse(address) && /^[^\s/?#]/.test(value) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Error(`--server must be a URL such as http://127.0.0.1:4096, or host:port, not "${value}"`)
  }
  return url.origin
}

function readModel(value: string): string {
  if (/^[^/\s]+(\/[^\s]+)?$/.test(value)) return value
  throw new Error(`--model must be provider/model, such as svc/offline, or the id of a model, not "${value}"`)
}

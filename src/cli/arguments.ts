/** The command line as data: what was asked for, or why it cannot be understood (service.md, Commands). Pure. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type PluginOptions, readPluginArguments } from './plugin/plugin-arguments.js'
import { readSessionArguments, type SessionOptions } from './session/session-arguments.js'
import { readWorkflowArguments, type WorkflowOptions } from './workflow/workflow-arguments.js'

export interface ServeOptions {
  readonly port: number
  readonly hostname: string
  /** Origins a browser page may call from. */
  readonly origins: readonly string[]
  /** Host names this server answers to besides the loopback ones. */
  readonly hosts: readonly string[]
  /** The inspector may show payloads, prompts included. */
  readonly inspectPayloads?: true
}

/** What `run` answers when the agent asks for a permission. */
export type AllowPolicy = 'ask' | 'once' | 'always' | 'reject'

export interface RunOptions {
  /** undefined = read the prompt from standard input. */
  readonly prompt: string | undefined
  /** undefined = the running server, or one inside this process. */
  readonly server: string | undefined
  readonly directory: string | undefined
  readonly session: string | undefined
  /** Goes on in the latest session of the directory. */
  readonly continues: boolean
  readonly model: { readonly providerId: string; readonly modelId: string } | undefined
  readonly agent: string | undefined
  readonly variant: string | undefined
  readonly json: boolean
  readonly allow: AllowPolicy
  /** Nobody will answer: what stays open is denied after a while. */
  readonly unattended: boolean
}

export interface DoctorOptions {
  readonly directory: string | undefined
  readonly server: string | undefined
  readonly json: boolean
}

export interface InspectOptions {
  readonly server: string | undefined
  /** A saved trace to look at, instead of a server. */
  readonly trace: string | undefined
  readonly open: boolean
}

export type Command =
  | { readonly name: 'serve'; readonly options: ServeOptions }
  | { readonly name: 'run'; readonly options: RunOptions }
  | { readonly name: 'doctor'; readonly options: DoctorOptions }
  | { readonly name: 'plugin'; readonly options: PluginOptions }
  | { readonly name: 'workflow'; readonly options: WorkflowOptions }
  | { readonly name: 'session'; readonly options: SessionOptions }
  | { readonly name: 'inspect'; readonly options: InspectOptions }
  | { readonly name: 'openapi' }
  | { readonly name: 'version' }
  | { readonly name: 'help'; readonly topic: string | undefined }
  | { readonly name: 'usage'; readonly problem: string }

const COMMANDS = ['serve', 'run', 'session', 'doctor', 'plugin', 'workflow', 'inspect', 'openapi'] as const

/** Reads the arguments after the program name. Never throws: what is wrong comes back as `usage`. */
export function readArguments(argv: readonly string[]): Command {
  const [first, ...rest] = argv
  if (first === undefined) return { name: 'usage', problem: 'a command is needed' }
  if (first === '--version' || first === '-v') return { name: 'version' }
  if (first === '--help' || first === '-h') return { name: 'help', topic: undefined }
  if (first === 'help') return { name: 'help', topic: rest[0] }
  if (rest.includes('--help') || rest.includes('-h')) return { name: 'help', topic: first }
  try {
    return readCommand(first, rest)
  } catch (error) {
    return { name: 'usage', problem: error instanceof Error ? error.message : String(error) }
  }
}

function readCommand(name: string, args: string[]): Command {
  switch (name) {
    case 'serve':
      return { name, options: readServe(args) }
    case 'run':
      return { name, options: readRun(args) }
    case 'doctor':
      return { name, options: readDoctor(args) }
    case 'plugin':
      return { name, options: readPluginArguments(args, readServerUrl) }
    case 'session':
      return { name, options: readSessionArguments(args, readServerUrl) }
    case 'workflow':
      return { name, options: readWorkflowArguments(args, readServerUrl) }
    case 'inspect':
      return { name, options: readInspect(args) }
    case 'openapi':
      readFlags(args, {}, false)
      return { name }
    default:
      throw new Error(`there is no command "${name}"; the commands are ${COMMANDS.join(', ')}`)
  }
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const list = { type: 'string', multiple: true } as const

function readServe(args: string[]): ServeOptions {
  const { values } = readFlags(args, { port: text, hostname: text, cors: list, 'allow-host': list, 'inspect-payloads': flag }, false)
  return {
    port: readPort(values.port ?? '4096'),
    hostname: readHostname(values.hostname ?? '127.0.0.1'),
    origins: (values.cors ?? []).map(readOrigin),
    hosts: (values['allow-host'] ?? []).map(readHostname),
    ...(values['inspect-payloads'] === true && { inspectPayloads: true }),
  }
}

function readRun(args: string[]): RunOptions {
  const options = {
    server: text,
    dir: text,
    session: text,
    continue: { ...flag, short: 'c' },
    model: text,
    agent: text,
    variant: text,
    json: flag,
    allow: text,
    unattended: flag,
  }
  const { values, positionals } = readFlags(args, options, true)
  const prompt = positionals.join(' ')
  if (values.continue === true && values.session !== undefined) throw new Error('--continue needs no --session')
  if (values.variant !== undefined && values.model === undefined) throw new Error('--variant needs --model')
  return {
    prompt: prompt === '' || prompt === '-' ? undefined : prompt,
    server: values.server === undefined ? undefined : readServerUrl(values.server),
    directory: values.dir,
    session: values.session,
    continues: values.continue ?? false,
    model: values.model === undefined ? undefined : readModel(values.model),
    agent: values.agent,
    variant: values.variant,
    json: values.json ?? false,
    allow: readPolicy(values.allow ?? 'ask'),
    unattended: values.unattended ?? false,
  }
}

function readDoctor(args: string[]): DoctorOptions {
  const { values } = readFlags(args, { dir: text, server: text, json: flag }, false)
  return {
    directory: values.dir,
    server: values.server === undefined ? undefined : readServerUrl(values.server),
    json: values.json ?? false,
  }
}

function readInspect(args: string[]): InspectOptions {
  const { values } = readFlags(args, { open: flag, server: text, trace: text }, false)
  if (values.trace !== undefined && values.server !== undefined) throw new Error('--trace needs no --server')
  return {
    server: values.server === undefined ? undefined : readServerUrl(values.server),
    trace: values.trace,
    open: values.open ?? false,
  }
}

function readFlags<const O extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: O, allowPositionals: boolean) {
  return parseArgs({ args, options, allowPositionals, strict: true })
}

function readPort(value: string): number {
  const port = Number(value)
  if (!/^\d{1,5}$/.test(value) || port > 65_535) throw new Error(`--port must be a number from 0 to 65535, not "${value}"`)
  return port
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
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Error(`--server must be a URL such as http://127.0.0.1:4096, not "${value}"`)
  }
  return url.origin
}

function readModel(value: string): { providerId: string; modelId: string } {
  const slash = value.indexOf('/')
  if (slash < 1 || slash === value.length - 1) throw new Error(`--model must be provider/model, such as svc/offline, not "${value}"`)
  return { providerId: value.slice(0, slash), modelId: value.slice(slash + 1) }
}

function readPolicy(value: string): AllowPolicy {
  if (value === 'ask' || value === 'once' || value === 'always' || value === 'reject') return value
  throw new Error(`--allow must be ask, once, always or reject, not "${value}"`)
}

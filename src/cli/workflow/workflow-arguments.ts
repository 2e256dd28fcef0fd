/** The command line of `svc workflow` as data. Pure; throws a sentence when it cannot be understood. */
import { parseArgs } from 'node:util'
import { daysOf, DAY, parseDate, parseInstant } from '../../machines/schedule/civil.js'
import { LIMITS } from '../../protocol/limits.js'

interface Common {
  /** The workspace; undefined = the current directory. */
  readonly directory: string | undefined
  readonly json: boolean
}

export interface OnServer extends Common {
  /** undefined = the one that uses our state directory. */
  readonly server: string | undefined
}

export interface PreviewOptions extends Common {
  /** A file, or the id of one in `.svc/workflows` of the workspace. */
  readonly file: string
  readonly count: number
  /** Unix milliseconds; undefined = now. */
  readonly from: number | undefined
}

export interface ValidateOptions extends Common {
  /** Files and directories; none = the workflow directories of the workspace. */
  readonly paths: readonly string[]
}

export interface RunOptions extends OnServer {
  readonly id: string
}

export interface RunsOptions extends OnServer {
  readonly id: string
  readonly limit: number
}

export interface NewOptions extends Common {
  readonly id: string
  /** For every workspace, in the configuration of the installation. */
  readonly global: boolean
}

export type WorkflowOptions =
  | ({ readonly action: 'list' } & OnServer)
  | ({ readonly action: 'preview' } & PreviewOptions)
  | ({ readonly action: 'validate' } & ValidateOptions)
  | ({ readonly action: 'accept' } & RunOptions)
  | ({ readonly action: 'run' } & RunOptions)
  | ({ readonly action: 'runs' } & RunsOptions)
  | ({ readonly action: 'new' } & NewOptions)

const ACTIONS = ['list', 'preview', 'validate', 'accept', 'run', 'runs', 'new'] as const

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const COMMON = { directory: text, json: flag } as const
const ON_SERVER = { ...COMMON, server: text } as const

/** `readUrl` checks the address of a server. */
export function readWorkflowArguments(args: readonly string[], readUrl: (value: string) => string): WorkflowOptions {
  const [action, ...rest] = args
  const common = (values: { readonly directory?: string | undefined; readonly json?: boolean | undefined }): Common => ({
    directory: values.directory,
    json: values.json ?? false,
  })
  const onServer = (values: Parameters<typeof common>[0] & { readonly server?: string | undefined }): OnServer => ({
    ...common(values),
    server: values.server === undefined ? undefined : readUrl(values.server),
  })
  switch (action) {
    case 'list': {
      const { values, positionals } = read(rest, ON_SERVER)
      nothingElse(action, positionals)
      return { action, ...onServer(values) }
    }
    case 'preview': {
      const { values, positionals } = read(rest, { ...COMMON, count: text, from: text })
      const count = readNumber('--count', values.count ?? String(LIMITS.workflows.preview), LIMITS.workflows.previewMax)
      const from = values.from === undefined ? undefined : readMoment(values.from)
      return { action, ...common(values), file: only(action, positionals, 'a workflow file'), count, from }
    }
    case 'validate': {
      const { values, positionals } = read(rest, COMMON)
      return { action, ...common(values), paths: positionals }
    }
    case 'accept':
    case 'run': {
      const { values, positionals } = read(rest, ON_SERVER)
      return { action, ...onServer(values), id: only(action, positionals, 'the id of a workflow') }
    }
    case 'runs': {
      const { values, positionals } = read(rest, { ...ON_SERVER, limit: text })
      const limit = readNumber('--limit', values.limit ?? String(LIMITS.workflows.historyDefault), LIMITS.workflows.historyMax)
      return { action, ...onServer(values), id: only(action, positionals, 'the id of a workflow'), limit }
    }
    case 'new': {
      const { values, positionals } = read(rest, { ...COMMON, global: flag })
      return {
        action,
        ...common(values),
        id: only(action, positionals, 'the id of the new workflow, such as daily-report'),
        global: values.global ?? false,
      }
    }
    default:
      throw new Error(`svc workflow needs one of ${ACTIONS.join(', ')}${action === undefined ? '' : `, not "${action}"`}`)
  }
}

function read<const O extends Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>>(args: readonly string[], options: O) {
  return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
}

function only(action: string, [first, ...rest]: readonly string[], what: string): string {
  if (first === undefined || first === '') throw new Error(`svc workflow ${action} needs ${what}`)
  nothingElse(action, rest)
  return first
}

function nothingElse(action: string, rest: readonly string[]): void {
  if (rest[0] !== undefined) throw new Error(`svc workflow ${action} does not know what to do with "${rest[0]}"`)
}

function readNumber(option: string, value: string, most: number): number {
  const number = Number(value)
  if (/^\d{1,6}$/.test(value) && number >= 1 && number <= most) return number
  throw new Error(`${option} must be a number from 1 to ${most}, not "${value}"`)
}

/** A day is its first moment in UTC. */
function readMoment(value: string): number {
  const date = parseDate(value)
  const moment = date === undefined ? parseInstant(value) : daysOf(date) * DAY
  if (moment !== undefined) return moment
  throw new Error(`--from must be a day such as 2026-05-04 or a moment such as 2026-05-04T09:00:00+02:00, not "${value}"`)
}

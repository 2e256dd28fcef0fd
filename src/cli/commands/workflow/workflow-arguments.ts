/** The command line of `svc workflow` as data. Pure; throws a sentence when it cannot be understood. */
import { daysOf, DAY, parseDate, parseInstant } from '../../../machines/workflows/schedule/civil.js'
import { LIMITS } from '../../../protocol/limits.js'
import { pageOf, readLine } from '../../line/read-line.js'
import { WORKFLOW } from './workflow-pages.js'

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

export interface NowOptions extends RunOptions {
  /** Until it has ended. */
  readonly waits: boolean
}

export interface RetryOptions extends RunOptions {
  /** undefined = the latest that can be. */
  readonly run: string | undefined
}

export interface DeleteOptions extends RunOptions {
  readonly yes: boolean
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
  | ({ readonly action: 'accept' | 'activate' | 'pause' | 'show' } & RunOptions)
  | ({ readonly action: 'run' } & NowOptions)
  | ({ readonly action: 'retry' } & RetryOptions)
  | ({ readonly action: 'delete' } & DeleteOptions)
  | ({ readonly action: 'runs' } & RunsOptions)
  | ({ readonly action: 'new' } & NewOptions)

/** `readUrl` checks the address of a server. */
export function readWorkflowArguments(args: readonly string[], readUrl: (value: string) => string): WorkflowOptions {
  const [action, ...rest] = args
  const page = pageOf(WORKFLOW, action)
  const common = ({ dir, json }: { readonly dir: string | undefined; readonly json: boolean }): Common => ({ directory: dir, json })
  const onServer = (values: Parameters<typeof common>[0] & { readonly server: string | undefined }): OnServer => ({
    ...common(values),
    server: values.server === undefined ? undefined : readUrl(values.server),
  })
  switch (page.name) {
    case 'workflow list':
      return { action: 'list', ...onServer(readLine(page, rest).values) }
    case 'workflow preview': {
      const { values, first } = readLine(page, rest)
      const from = values.from === undefined ? undefined : readMoment(values.from)
      return { action: 'preview', ...common(values), file: first, count: values.count ?? LIMITS.workflows.preview, from }
    }
    case 'workflow validate': {
      const { values, words } = readLine(page, rest)
      return { action: 'validate', ...common(values), paths: words }
    }
    case 'workflow accept':
    case 'workflow activate':
    case 'workflow pause':
    case 'workflow show': {
      const { values, first } = readLine(page, rest)
      return { action: ACTIONS[page.name], ...onServer(values), id: first }
    }
    case 'workflow run': {
      const { values, first } = readLine(page, rest)
      return { action: 'run', ...onServer(values), id: first, waits: values.wait }
    }
    case 'workflow retry': {
      const { values, words, first } = readLine(page, rest)
      return { action: 'retry', ...onServer(values), id: first, run: words[1] }
    }
    case 'workflow delete': {
      const { values, first } = readLine(page, rest)
      return { action: 'delete', ...onServer(values), id: first, yes: values.yes }
    }
    case 'workflow runs': {
      const { values, first } = readLine(page, rest)
      return { action: 'runs', ...onServer(values), id: first, limit: values.limit ?? LIMITS.workflows.historyDefault }
    }
    case 'workflow new': {
      const { values, first } = readLine(page, rest)
      return { action: 'new', ...common(values), id: first, global: values.global }
    }
  }
}

const ACTIONS = {
  'workflow accept': 'accept',
  'workflow activate': 'activate',
  'workflow pause': 'pause',
  'workflow show': 'show',
} as const

/** A day is its first moment in UTC. */
function readMoment(value: string): number {
  const date = parseDate(value)
  const moment = date === undefined ? parseInstant(value) : daysOf(date) * DAY
  if (moment !== undefined) return moment
  throw new Error(`--from must be a day such as 2026-05-04 or a moment such as 2026-05-04T09:00:00+02:00, not "${value}"`)
}

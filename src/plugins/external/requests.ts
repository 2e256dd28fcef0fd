/**
 * What an agent asks of us while it works: files and permissions, through the rules and the tools of its session (subsystems l.4).
 *
 * I1 Files are those inside the directory of the session, links resolved; nothing else is read or written.
 * I2 What it may is judged by the rules of the session, and asked where they say so. An answer that is kept is kept here, and not by the agent.
 */
import * as z from 'zod'
import { cut } from '../../kernel/cut.js'
import type { NativeHost, PermissionNeed, ToolContribution } from '../../ports/plugin.js'
import type { StepDesk } from '../../ports/provider-adapter.js'
import { defineTool } from '../../ports/plugin.js'
import { isWithin } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import { dirname, joinPath } from '../../protocol/text/paths.js'
import { canonicalPath } from '../../protocol/text/canonical-path.js'
import { ToolCall, type Updates } from './updates.js'

const { readBytes, text: SHOWN } = LIMITS.external
const Read = z.looseObject({
  path: z.string().min(1).max(4096),
  line: z.number().int().min(0).nullish(),
  limit: z.number().int().min(0).nullish(),
})
const Write = z.looseObject({ path: z.string().min(1).max(4096), content: z.string() })
const Permission = z.looseObject({
  toolCall: ToolCall,
  options: z
    .array(z.looseObject({ optionId: z.string(), name: z.string().catch(''), kind: z.string() }))
    .min(1)
    .max(64),
})
const Nothing = z.strictObject({})
/** What a pattern may not have in it: it would stand for more than was shown. */
const WIDE = /[*?]/

/** Kinds of options that mean yes, and no, the narrowest first. */
const YES = ['allow_once', 'allow_always']
const NO = ['reject_once', 'reject_always']

export interface RequestsOptions {
  readonly host: Pick<NativeHost, 'effects'>
  readonly desk: StepDesk<ToolContribution>
  readonly updates: Pick<Updates, 'call'>
  /** Canonical, of the session. */
  readonly directory: string
  readonly agent: string
  /** Of the turn. */
  readonly signal: AbortSignal
  /** The agent had a file written here. */
  onWritten(path: string): void
}

/** Answers by method; what is not here is answered that there is no such method. */
export type Requests = Readonly<Record<string, (params: unknown) => Promise<object>>>

export function createRequests(options: RequestsOptions): Requests {
  return {
    'fs/read_text_file': (params) => readFile(options, Read.parse(params)),
    'fs/write_text_file': (params) => writeFile(options, Write.parse(params)),
    'session/request_permission': (params) => ask(options, Permission.parse(params)),
  }
}

async function readFile({ host, desk, directory }: RequestsOptions, { path, line, limit }: z.infer<typeof Read>): Promise<object> {
  const { files } = host.effects
  const place = await inside({ host, directory }, path)
  let content = ''
  const tool = defineTool({
    id: 'read',
    description: '',
    input: z.strictObject({ filePath: z.string() }),
    permission: 'read',
    needs: async () => [{ permission: 'read', patterns: spellings(place, path, directory), title: `Read ${shown(place, directory)}` }],
    async invoke() {
      const bytes = await files.read(place, readBytes, { canonical: true })
      content = linesOf(new TextDecoder('utf-8', { fatal: true }).decode(bytes), line, limit)
      return {
        title: shown(place, directory),
        output: `Given to the agent: ${bytes.length} bytes.`,
        metadata: { path: shown(place, directory) },
      }
    },
  })
  const end = await desk.call({ tool, input: { filePath: place } })
  if (!end.ok) throw new Error(end.error)
  return { content }
}

async function writeFile({ host, desk, directory, onWritten }: RequestsOptions, { path, content }: z.infer<typeof Write>): Promise<object> {
  const place = await inside({ host, directory }, path)
  const end = await desk.call({ tool: 'write', input: { filePath: path, content } })
  if (!end.ok) throw new Error(end.error)
  if (hasChanged(end.metadata)) for (const each of [path, place]) onWritten(each)
  return {}
}

async function ask(
  { host, desk, updates, directory, agent, signal }: RequestsOptions,
  { toolCall, options }: z.infer<typeof Permission>,
): Promise<object> {
  updates.call(toolCall)
  const tool = defineTool({
    id: 'external_agent',
    description: '',
    input: Nothing,
    permission: 'external_agent',
    needs: () => needsOf(host, toolCall, directory, agent),
    invoke: async () => ({ title: 'Allowed', output: '' }),
  })
  const { ok } = await desk.call({ tool, input: {}, of: toolCall.toolCallId })
  const kinds = signal.aborted ? [] : ok ? YES : NO
  const [chosen] = kinds.flatMap((kind) => options.filter((option) => option.kind === kind))
  return { outcome: chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId } }
}

/** The agent's own question, and what the rules say of what it is about, where that can be told. */
async function needsOf(
  host: RequestsOptions['host'],
  { kind, title, locations, rawInput }: ToolCallOf,
  directory: string,
  agent: string,
): Promise<readonly PermissionNeed[]> {
  const what = cut(title ?? kind ?? 'something', SHOWN)
  const pattern = `${kind ?? 'other'}: ${what}`
  const wide = WIDE.test(pattern) ? { explicit: 'what the agent calls it would stand for more than it says' } : {}
  const question = { permission: 'external_agent', patterns: [pattern], title: `${agent}: ${what}`, ...wide }
  const places = await Promise.all(
    (locations ?? []).map(({ path }) => placeOf(host, path.startsWith('/') ? path : joinPath(directory, path))),
  )
  const paths = places.map((place) => shown(place, directory))
  const group = kind === 'edit' || kind === 'delete' || kind === 'move' ? 'edit' : kind === 'read' ? 'read' : undefined
  const outside = [...new Set(paths.filter((path) => path.startsWith('/')).map((path) => joinPath(dirname(path), '*')))]
  const command = z.looseObject({ command: z.string().min(1) }).safeParse(rawInput).data?.command
  return [
    question,
    ...(group !== undefined && paths.length > 0 ? [{ permission: group, patterns: paths, title: question.title }] : []),
    ...(outside.length > 0 ? [{ permission: 'external_directory', patterns: outside, title: question.title }] : []),
    ...(kind === 'execute' && command !== undefined ? [{ permission: 'bash', patterns: [command], title: question.title }] : []),
  ]
}
type ToolCallOf = z.infer<typeof ToolCall>

/** An agent that wrote the file itself before it had it written here left nothing to keep: undo knows of no other content. */
function hasChanged({ created, additions, deletions }: Readonly<Record<string, unknown>> = {}): boolean {
  return created === true || additions !== 0 || deletions !== 0
}

/** The canonical path; throws when it is not inside the directory (I1). */
async function inside({ host, directory }: Pick<RequestsOptions, 'host' | 'directory'>, path: string): Promise<string> {
  if (!path.startsWith('/')) throw new Error(`"${path}" is not an absolute path.`)
  const place = await placeOf(host, path)
  if (isWithin(directory, place) && place !== directory) return place
  throw new Error(`${path} lies outside the directory of the session.`)
}

/** Where it is, links and steps upwards resolved; what is not there yet lies where it would be. */
function placeOf({ effects: { files } }: RequestsOptions['host'], path: string): Promise<string> {
  return canonicalPath((each) => files.realPath(each), path)
}

function shown(path: string, directory: string): string {
  return isWithin(directory, path) ? path.slice(directory === '/' ? 1 : directory.length + 1) || '.' : path
}

function spellings(place: string, path: string, directory: string): string[] {
  return [...new Set([shown(place, directory), ...(isWithin(directory, path) ? [shown(path, directory)] : [])])]
}

/** From a line on, counted from one. */
function linesOf(text: string, line: number | null | undefined, limit: number | null | undefined): string {
  if (line == null && limit == null) return text
  const first = Math.max(0, (line ?? 1) - 1)
  const lines = text.split('\n')
  return lines.slice(first, limit == null ? undefined : first + limit).join('\n')
}

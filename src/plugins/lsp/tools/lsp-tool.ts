/**
 * Tool `lsp`: what language servers know about a place or a file (sessions-events §10.2). It changes nothing.
 *
 * I1 A server that waits for an act is asked for in the run, once for what it would start; the answer is that act (choice 34). Nobody is
 *    asked where a rule of the run denies the line, or where nobody answers.
 */
import { cut } from '../../../kernel/cut.js'
import * as z from 'zod'
import {
  defineTool,
  type NativeHost,
  type PermissionNeed,
  type ToolContext,
  type ToolContribution,
  ToolError,
} from '../../../ports/plugin.js'
import type { ProjectProgram } from '../../../ports/programs.js'
import { lineText } from '../../../machines/acceptance/standing.js'
import { isWithin, TRUSTED_CALLER } from '../../../protocol/caller.js'
import type { LspStatus } from '../../../protocol/lsp/lsp.js'
import { createLru, type Lru } from '../../../kernel/lru.js'
import { updated } from '../acceptances.js'
import type { Clients } from '../clients/clients.js'
import type { FileTarget, Queries } from '../queries.js'
import { documentSymbols, placeQuestions, workspaceSymbols } from '../operations.js'

const AT_PLACE = [
  'hover',
  'goToDefinition',
  'findReferences',
  'goToImplementation',
  'prepareCallHierarchy',
  'incomingCalls',
  'outgoingCalls',
] as const
const OF_FILE = ['documentSymbol', 'diagnostics'] as const
const OF_ALL = ['workspaceSymbol', 'status'] as const

const Input = z.strictObject({
  operation: z.enum([...AT_PLACE, ...OF_FILE, ...OF_ALL]),
  filePath: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('Absolute, or relative to the session directory; not needed for workspaceSymbol and status.'),
  query: z.string().max(200).optional().describe('Name of a symbol, or a part of it; for workspaceSymbol.'),
  line: z.number().int().min(0).optional().describe('Counted from zero; for questions at a place.'),
  character: z.number().int().min(0).optional().describe('Byte in the line, counted from zero.'),
})
type Input = z.infer<typeof Input>

const DESCRIPTION = `Asks language servers: hover, goToDefinition, findReferences, goToImplementation, prepareCallHierarchy, incomingCalls and outgoingCalls at a place; documentSymbol and diagnostics of a file; workspaceSymbol for symbols by name, of the servers of a file or of all that run; status tells which servers fit the directory.
- Lines and columns of the question are counted from zero, columns in bytes of UTF-8. Ranges in the answer are counted from one.
- An empty answer means that no server is there, that it may not start here (status says so), or that it knows nothing.`

const MOST = 30_000
const REMEMBERED = 256

export interface LspToolDeps {
  readonly effects: Pick<NativeHost['effects'], 'files'>
  readonly programs: Pick<NativeHost['programs'], 'accept'>
  readonly clients: Pick<Clients, 'waiting' | 'obstacles'>
  readonly queries: Queries
  status(directory: string, signal: AbortSignal): Promise<readonly LspStatus[]>
}

/** The tool, and what is remembered between the judgement of a call and its run. */
interface LspTool extends LspToolDeps {
  /** What was judged is what is read. */
  readonly judged: Lru<string, string>
  /** What the call asked for, of what waited. */
  readonly wanted: Lru<string, readonly ProjectProgram[]>
  readonly places: ReturnType<typeof placeQuestions>
  readonly symbols: ReturnType<typeof documentSymbols>
  readonly named: ReturnType<typeof workspaceSymbols>
}

export function lspTool(deps: LspToolDeps): ToolContribution {
  const { queries } = deps
  const tool: LspTool = {
    ...deps,
    judged: createLru(REMEMBERED),
    wanted: createLru(REMEMBERED),
    places: placeQuestions(queries),
    symbols: documentSymbols(queries),
    named: workspaceSymbols(queries),
  }
  return defineTool<Input>({
    id: 'lsp',
    description: DESCRIPTION,
    input: Input,
    permission: 'lsp',
    needs: (input, context) => needsOf(tool, input, context),
    async invoke(input, context) {
      const found = await answer(tool, input, context)
      context.signal.throwIfAborted()
      const text = found.length === 0 ? await nothing(tool, input, context) : JSON.stringify(found, null, 1)
      return {
        title: [input.operation, input.filePath ?? input.query].filter((each) => each !== undefined).join(' '),
        output: cut(text, MOST, '\n… (cut)'),
        metadata: { lsp: { operation: input.operation, results: found.length } },
      }
    },
  })
}

function targetOf({ queries }: LspTool, filePath: string, { directory, signal }: ToolContext): Promise<FileTarget> {
  return queries.target(TRUSTED_CALLER, directory, filePath, signal)
}

async function needsOf(tool: LspTool, { operation, filePath }: Input, context: ToolContext): Promise<readonly PermissionNeed[]> {
  const { directory, callId } = context
  const own = { permission: 'lsp', patterns: [operation], title: `Ask language servers: ${operation}` }
  if (filePath === undefined || operation === 'status') return [own]
  const { path } = await targetOf(tool, filePath, context)
  tool.judged.set(`${callId} ${filePath}`, path)
  const inside = isWithin(directory, path)
  const read = { permission: 'read', patterns: [inside ? path.slice(directory.length + 1) : path], title: `Read ${filePath}` }
  const outside = {
    permission: 'external_directory',
    patterns: [`${path.slice(0, path.lastIndexOf('/'))}/*`],
    title: `Read ${filePath}`,
  }
  const starting = await startNeeds(tool, path, context)
  return inside ? [own, read, ...starting] : [own, read, outside, ...starting]
}

/** I1 */
async function startNeeds({ clients, wanted }: LspTool, path: string, context: ToolContext): Promise<readonly PermissionNeed[]> {
  const { directory, unattended } = context
  const waiting = unattended === true ? [] : await clients.waiting(directory, path, context)
  wanted.set(keyOf(context), waiting)
  return waiting.map((program) => ({
    permission: 'bash',
    patterns: program.commands.map(lineText),
    title: `Start the language server "${program.name}", now and later: ${program.commands.map(lineText).join('; ')}`,
    explicit: 'it loads code of this workspace, and nobody has accepted that',
    metadata: { command: program.commands.map(lineText).join('\n'), acceptance: { kind: program.kind, name: program.name, directory } },
  }))
}

async function answer(tool: LspTool, input: Input, context: ToolContext): Promise<readonly unknown[]> {
  const { effects, programs, queries, judged, wanted } = tool
  const { directory, signal, callId } = context
  const { operation, filePath, query = '' } = input
  if (operation === 'status') return (await tool.status(directory, signal)).map(brief)
  if (filePath === undefined) {
    if (operation !== 'workspaceSymbol') throw new ToolError(`"${operation}" needs "filePath".`)
    return queries.symbols(directory, query, signal)
  }
  const file = await targetOf(tool, filePath, context)
  if (judged.get(`${callId} ${filePath}`) !== file.path) throw new ToolError('The path leads elsewhere than when access was checked.')
  if ((await effects.files.stat(file.path))?.kind !== 'file') throw new ToolError(`There is no file ${filePath}.`)
  for (const program of wanted.get(keyOf(context)) ?? []) programs.accept(program, { along: updated })
  wanted.delete(keyOf(context))
  return ofFile(tool, input, { ...file, run: context })
}

function ofFile(
  { queries, places, symbols, named }: LspTool,
  { operation, line, character, query = '' }: Input,
  file: FileTarget,
): Promise<unknown[]> {
  switch (operation) {
    case 'documentSymbol':
      return symbols(file)
    case 'diagnostics':
      return queries.diagnostics(file)
    case 'workspaceSymbol':
      return named(file, query)
    case 'status':
      return Promise.resolve([])
    default: {
      if (line === undefined || character === undefined) throw new ToolError(`"${operation}" needs "line" and "character".`)
      const question = {
        hover: places.hover,
        goToDefinition: places.definition,
        findReferences: places.references,
        goToImplementation: places.implementation,
        prepareCallHierarchy: places.prepare,
        incomingCalls: places.incoming,
        outgoingCalls: places.outgoing,
      }[operation]
      return question(file, { line, character })
    }
  }
}

async function nothing(tool: LspTool, { filePath }: Input, context: ToolContext): Promise<string> {
  const file = filePath === undefined ? undefined : await targetOf(tool, filePath, context)
  const why = file === undefined ? [] : await tool.clients.obstacles(context.directory, file.path, context)
  return ['Nothing was found.', ...why].join('\n')
}

/** Ids of calls are the model's own. */
function keyOf({ sessionId, callId }: ToolContext): string {
  return `${sessionId}\0${callId}`
}

/** What a model needs of a row. */
function brief({ id, status, language, workspace: { root }, detected: { message } }: LspStatus) {
  return { id, status, language, root, ...(message !== null && { message }) }
}

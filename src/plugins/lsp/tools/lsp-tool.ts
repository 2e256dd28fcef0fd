/** Tool `lsp`: what language servers know about a place or a file (sessions-events §10.2). It changes nothing. */
import * as z from 'zod'
import { defineTool, type NativeHost, type ToolContribution, ToolError } from '../../../actors/plugin/native/native.js'
import { isWithin, TRUSTED_CALLER } from '../../../protocol/caller.js'
import { createLru } from '../../../protocol/lru.js'
import type { FileTarget, Queries } from '../queries.js'
import { documentSymbols, placeQuestions } from '../operations.js'

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

const Input = z.strictObject({
  operation: z.enum([...AT_PLACE, ...OF_FILE]),
  filePath: z.string().min(1).max(4096).describe('Absolute, or relative to the session directory.'),
  line: z.number().int().min(0).optional().describe('Counted from zero; for everything but documentSymbol and diagnostics.'),
  character: z.number().int().min(0).optional().describe('Byte in the line, counted from zero.'),
})

const DESCRIPTION = `Asks the language servers of a file: hover, goToDefinition, findReferences, goToImplementation, prepareCallHierarchy, incomingCalls and outgoingCalls at a place; documentSymbol and diagnostics of a file.
- Lines and columns of the question are counted from zero, columns in bytes of UTF-8. Ranges in the answer are counted from one.
- An empty answer means that no server is there, or that it knows nothing.`

const MOST = 30_000
const REMEMBERED = 256

export function lspTool(effects: Pick<NativeHost['effects'], 'files'>, queries: Queries): ToolContribution {
  /** What was judged is what is read. */
  const judged = createLru<string, string>(REMEMBERED)
  const places = placeQuestions(queries)
  const symbols = documentSymbols(queries)
  const target = (filePath: string, directory: string, signal: AbortSignal) => queries.target(TRUSTED_CALLER, directory, filePath, signal)

  function answer({ operation, line, character }: z.infer<typeof Input>, file: FileTarget): Promise<unknown[]> {
    if (operation === 'documentSymbol') return symbols(file)
    if (operation === 'diagnostics') return queries.diagnostics(file)
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

  return defineTool<z.infer<typeof Input>>({
    id: 'lsp',
    description: DESCRIPTION,
    input: Input,
    permission: 'lsp',
    async needs({ operation, filePath }, { directory, signal, callId }) {
      const { path } = await target(filePath, directory, signal)
      judged.set(`${callId} ${filePath}`, path)
      const own = { permission: 'lsp', patterns: [operation], title: `Ask language servers: ${operation}` }
      const inside = isWithin(directory, path)
      const read = { permission: 'read', patterns: [inside ? path.slice(directory.length + 1) : path], title: `Read ${filePath}` }
      const outside = {
        permission: 'external_directory',
        patterns: [`${path.slice(0, path.lastIndexOf('/'))}/*`],
        title: `Read ${filePath}`,
      }
      return inside ? [own, read] : [own, read, outside]
    },
    async invoke(input, { directory, signal, callId }) {
      const file = await target(input.filePath, directory, signal)
      if (judged.get(`${callId} ${input.filePath}`) !== file.path)
        throw new ToolError('The path leads elsewhere than when access was checked.')
      if ((await effects.files.stat(file.path))?.kind !== 'file') throw new ToolError(`There is no file ${input.filePath}.`)
      const found = await answer(input, file)
      signal.throwIfAborted()
      const text = found.length === 0 ? 'Nothing was found.' : JSON.stringify(found, null, 1)
      return {
        title: `${input.operation} ${input.filePath}`,
        output: text.length > MOST ? `${text.slice(0, MOST)}\n… (cut)` : text,
        metadata: { lsp: { operation: input.operation, results: found.length } },
      }
    },
  })
}

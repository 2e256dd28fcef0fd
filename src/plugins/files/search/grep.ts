/** Tool `grep`: searches the contents of files (sessions-events §10.10). */
import * as z from 'zod'
import type { NativeHost, ToolContext, ToolContribution } from '../../../ports/plugin.js'
import { defineTool, ToolError } from '../../../ports/plugin.js'
import { isStricter } from '../../../machines/permission/permission.js'
import { type GrepQuery, grepQuery } from './grep-query.js'
import { renderMatches } from './grep-output.js'
import { joinPath } from '../../../protocol/text/paths.js'
import { displayFound, globList, listOf, sharedInput, timedOut, treeOf } from './search-input.js'
import type { Turn } from '../../../kernel/sort.js'
import type { FoundFile, SearchEngine, TextAnswer, Tree } from './search.js'
import { describe, type Targets } from '../places/targets.js'

const pattern = z
  .string()
  .min(1)
  .max(1000)
  .refine((text) => !/[\n\0]/.test(text), 'must not contain a newline: matches lie within one line')

const Input = z.strictObject({
  pattern: z
    .union([pattern, z.array(pattern).min(1).max(50)])
    .describe('What to find: a literal or a regular expression, or a list of literals of which any may match.'),
  path: sharedInput.path,
  include: globList.optional().describe('Only files that match a glob, e.g. "*.ts" or "src/**/*.{ts,tsx}".'),
  exclude: globList.optional().describe('Leave out files and directories that match a glob.'),
  includeHidden: sharedInput.includeHidden,
  limit: z.int().min(1).max(1000).optional().describe('Most matching lines to show. Default 100.'),
  context: z.int().min(0).max(20).optional().describe('Lines to show before and after each match. Default 0.'),
  caseSensitive: z.boolean().optional().describe('Default false.'),
  mode: z
    .enum(['auto', 'plain', 'regex', 'fuzzy'])
    .optional()
    .describe(
      '"plain": literal text. "regex": regular expression without look-around and back-references. "fuzzy": the words of the pattern in order on one line. Default "auto": regex when the pattern has special characters, else plain.',
    ),
  timeout: sharedInput.timeout,
})
type Input = z.infer<typeof Input>

const DESCRIPTION = `Searches the contents of files line by line.
- Results are grouped by file, most recently changed files first.
- Version control, dependencies, build output (.git, node_modules, target, dist) and hidden files are left out.
- Files that need an answer before they are read, such as .env, are left out unless "path" names one.
- Use "glob" to find files by name, and "read" to see more of a file.`

const DEFAULT_LIMIT = 100

export interface SearchTools {
  readonly files: NativeHost['effects']['files']
  readonly targets: Targets
  readonly engine: SearchEngine
  /** Begins a long piece of work: answers what it waits for between its parts. */
  readonly slices: () => Turn
}

export function grepTool({ files, targets, engine }: SearchTools): ToolContribution {
  return defineTool<Input>({
    id: 'grep',
    description: DESCRIPTION,
    input: Input,
    permission: 'grep',
    needs: async (input, context) =>
      targets.judgeShowing(input.path ?? '.', context, { permission: 'grep', verb: 'Search', changes: false }),
    async invoke(input, context) {
      const tree = await treeOf(files, await targets.confirm(input.path ?? '.', context), { input, context })
      const wanted = grepQuery({
        patterns: listOf(input.pattern),
        isList: Array.isArray(input.pattern),
        mode: input.mode ?? 'auto',
        caseSensitive: input.caseSensitive === true,
        context: input.context ?? 0,
      })
      const { answer, mode } = await find(engine, tree, wanted)
      if (answer.status === 'timed-out') throw timedOut(tree)
      if (answer.status === 'invalid') throw new ToolError(answer.message.slice(0, 1000))
      const displayed = (path: string) => displayFound(tree, path, context.directory)
      const found = (await newestFirst(files, tree, readable(tree, answer.files, context))).map((file) => ({
        ...file,
        path: displayed(file.path),
      }))
      const shown = renderMatches(found, input.limit ?? DEFAULT_LIMIT)
      const matches = found.reduce((sum, file) => sum + file.matches, 0)
      const truncated = shown.shown < matches || answer.incomplete !== undefined
      const notes = [
        ...(shown.shown < matches
          ? [`Showing ${shown.shown} of ${matches} matching lines. Narrow the pattern or the path, or raise the limit.`]
          : []),
        ...(answer.incomplete === undefined ? [] : [`Not everything was searched: ${answer.incomplete}.`]),
      ].map((note) => `\n\n(${note})`)
      const heading = `Found ${count(matches, 'matching line')} in ${count(found.length, 'file')}`
      return {
        title: listOf(input.pattern).join(' | '),
        output: (matches === 0 ? 'No files found' : `${heading}\n${shown.text}`) + notes.join(''),
        metadata: {
          patterns: listOf(input.pattern),
          include: tree.include,
          exclude: tree.exclude,
          mode,
          engine: engine.name,
          matches,
          filesWithMatches: found.length,
          truncated,
          timedOut: false,
          items: shown.items,
        },
      }
    },
  })
}

async function find(engine: SearchEngine, tree: Tree, { query, fallback, mode }: GrepQuery): Promise<{ answer: TextAnswer; mode: string }> {
  const answer = await engine.findText(tree, query)
  if (answer.status !== 'invalid' || fallback === undefined) return { answer, mode }
  return { answer: await engine.findText(tree, fallback), mode: 'plain' }
}

/** Without the files of a tree that the rules for reading judge more strictly than the tree itself: those are only read by name. */
function readable(tree: Tree, found: readonly FoundFile[], context: ToolContext): readonly FoundFile[] {
  if (tree.file !== undefined) return found
  const shown = found.map(({ path }) => displayFound(tree, path, context.directory))
  const [whole = 'deny', ...each] = context.decisions('read', [describe(tree.root, context.directory).display, ...shown])
  return found.filter((_, index) => each[index] !== 'deny' && !isStricter(each[index] ?? 'deny', whole))
}

async function newestFirst(files: SearchTools['files'], tree: Tree, found: readonly FoundFile[]): Promise<FoundFile[]> {
  const dated = await Promise.all(
    found.map(async (file) => {
      const stat = await files.stat(joinPath(tree.root, file.path)).catch(() => undefined)
      return { file, modified: stat?.modifiedMs ?? 0 }
    }),
  )
  return dated.toSorted((a, b) => b.modified - a.modified || (a.file.path < b.file.path ? -1 : 1)).map(({ file }) => file)
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

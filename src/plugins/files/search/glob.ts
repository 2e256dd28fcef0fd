/** Tool `glob`: finds files by name (sessions-events §10.10). */
import * as z from 'zod'
import type { ToolContribution } from '../../../ports/plugin.js'
import { defineTool } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { SearchTools } from './grep.js'
import { displayFound, sharedInput, timedOut, treeOf } from './search-input.js'

const Input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(1000)
    .describe('A glob such as "src/**/*.ts" or "*.md", or words of a path to look for in any spelling, best match first.'),
  path: sharedInput.path,
  includeHidden: sharedInput.includeHidden,
  limit: z
    .int()
    .min(1)
    .max(LIMITS.tools.outputLines / 2)
    .optional()
    .describe('Most files to list. Default 50.'),
  offset: z.int().min(0).optional().describe('Files to skip, for further pages. Default 0.'),
  timeout: sharedInput.timeout,
})

const DESCRIPTION = `Finds files by name or path, one path per line.
- Version control, dependencies, build output (.git, node_modules, target, dist) and hidden files are left out.
- A pattern without "/" is about file names at any depth. Use "grep" to search contents.`

const DEFAULT_LIMIT = 50

export function globTool({ files, targets, engine, slices }: SearchTools): ToolContribution {
  return defineTool<z.infer<typeof Input>>({
    id: 'glob',
    description: DESCRIPTION,
    input: Input,
    permission: 'glob',
    needs: async (input, context) => targets.judge(input.path ?? '.', context, { permission: 'glob', verb: 'List', changes: false }),
    async invoke(input, context) {
      const target = await targets.confirm(input.path ?? '.', context)
      const tree = await treeOf(files, target, { input, context })
      const answer = tree.file === undefined ? await engine.listPaths(tree) : ({ status: 'found', paths: [tree.file] } as const)
      if (answer.status === 'timed-out') throw timedOut(tree)
      const { rankPaths } = await import('./rank.js')
      const ranked = await rankPaths(answer.paths, relativeTo(tree.root, input.pattern), slices())
      const offset = input.offset ?? 0
      const limit = input.limit ?? DEFAULT_LIMIT
      const page = ranked.slice(offset, offset + limit).map((path) => displayFound(tree, path, context.directory))
      const next = offset + page.length
      const incomplete = 'incomplete' in answer ? answer.incomplete : undefined
      const notes = [
        ...(next < ranked.length && page.length > 0
          ? [`Files ${offset + 1}-${next} of ${ranked.length}. Continue with offset=${next}.`]
          : []),
        ...(incomplete === undefined ? [] : [`Not everything was listed: ${incomplete}.`]),
      ].map((note) => `\n\n(${note})`)
      return {
        title: input.pattern,
        output: (page.length === 0 ? 'No files found' : page.join('\n')) + notes.join(''),
        metadata: {
          pattern: input.pattern,
          path: target.display,
          engine: engine.name,
          count: page.length,
          total: ranked.length,
          offset,
          limit,
          truncated: next < ranked.length || incomplete !== undefined,
        },
      }
    },
  })
}

/** A pattern that begins with the path of the search root means what lies below it. */
function relativeTo(root: string, pattern: string): string {
  return pattern.startsWith(`${root}/`) ? pattern.slice(root.length) : pattern
}

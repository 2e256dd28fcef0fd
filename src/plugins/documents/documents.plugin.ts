/** The tool `docs`: the documents of svc itself, which were built beside the program (sessions-events §10.4). */
import * as z from 'zod'
import { defineTool, type NativeHost, type NativePlugin, type ToolContribution, ToolError } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { excerptOf, ranked, type Section, sectionsOf } from './sections.js'

const { file: FILE, results, query: QUERY } = LIMITS.documents

const DocsInput = z.strictObject({
  operation: z.enum(['list', 'search', 'read']).describe('list: what there is; search: sections about `query`; read: the text at `path`.'),
  query: z.string().max(QUERY).optional().describe('Words to look for.'),
  path: z.string().max(QUERY).optional().describe('A document, "operations.md", or a section of one, "operations.md#the-way-out".'),
  limit: z.number().int().min(1).max(results).default(10).describe('Sections at most that a search shows.'),
})

/** `directory`: absolute path of the documents. */
export function documentsPlugin({ directory }: { readonly directory: string }): NativePlugin {
  return {
    id: 'dev.svc.documentation',
    name: 'Documentation',
    capability: { id: 'svc.tools.documentation', apiPrefix: '/v2/tools' },
    start: ({ effects }) => ({ tools: [docsTool(effects, directory)] }),
  }
}

function docsTool({ files }: Pick<NativeHost['effects'], 'files'>, directory: string): ToolContribution {
  let loaded: Promise<readonly Section[]> | undefined
  const sections = () => (loaded ??= load(files, directory))
  return defineTool<z.infer<typeof DocsInput>>({
    id: 'docs',
    description:
      'The documents of svc, the program you run in: how it is configured, extended, operated. Use it for questions about svc itself.',
    input: DocsInput,
    permission: 'docs',
    needs: async ({ path, query }) => [{ permission: 'docs', patterns: [path ?? query ?? '*'], title: 'Look into the documents of svc' }],
    async invoke({ operation, query = '', path = '', limit }) {
      const all = await sections()
      if (operation === 'list') return listed(all)
      if (operation === 'read') return read(all, path)
      if (query.trim() === '') throw new ToolError('A search needs a "query".')
      const found = ranked(all, query, limit)
      const output = found.map((section) => `${section.path} (${section.heading})\n${excerptOf(section, query)}`).join('\n\n')
      return { title: query, output: output || 'No section has these words.', metadata: { results: found.map((section) => section.path) } }
    },
  })
}

async function load(files: NativeHost['effects']['files'], directory: string): Promise<readonly Section[]> {
  const names = await documentsIn(files, directory)
  const texts = await Promise.all(names.toSorted().map(async (name) => ({ name, bytes: await files.read(`${directory}/${name}`, FILE) })))
  return texts.flatMap(({ name, bytes }) => sectionsOf(name, new TextDecoder().decode(bytes)))
}

/** Names of the documents of a directory and of the folders in it. */
async function documentsIn(files: NativeHost['effects']['files'], directory: string): Promise<string[]> {
  const entries = await files.readDirectory(directory).catch(() => [])
  const below = entries
    .filter(({ kind }) => kind === 'directory')
    .map(async ({ name: folder }) => (await documentsIn(files, `${directory}/${folder}`)).map((name) => `${folder}/${name}`))
  const here = entries.filter(({ kind, name }) => kind === 'file' && name.endsWith('.md')).map(({ name }) => name)
  return [...here, ...(await Promise.all(below)).flat()]
}

const fileOf = ({ path }: Section) => path.split('#')[0] ?? ''

function listed(all: readonly Section[]) {
  const names = [...new Set(all.map(fileOf))]
  const lines = names.map((name) => `${name}: ${all.find((section) => fileOf(section) === name && section.path !== name)?.heading ?? name}`)
  return {
    title: `${names.length} documents`,
    output: lines.join('\n') || 'There are none in this installation.',
    metadata: { documents: names },
  }
}

function read(all: readonly Section[], path: string) {
  const found = path.includes('#') ? all.filter((section) => section.path === path) : all.filter((section) => fileOf(section) === path)
  if (found.length === 0) throw new ToolError(`There is no "${path}". Use the operation "list" or "search".`)
  return { title: path, output: found.map(({ text }) => text).join('\n\n'), metadata: { path } }
}

/**
 * Knows where the code of the workspace declares what: the tool `find_declaration` says it, and a section before the conversation tells the
 * model what there is to find. The index is made when it is first asked for, and again after a tool has run.
 */
import { createIndex, type Index } from './index-of-code.js'
import { definePlugin, type PluginEvent } from './svc-plugin.js'

const FOUND = 50
const FOLDERS = 20

interface Wanted {
  readonly name: string
  readonly exact?: boolean
}

const index = createIndex()

/** What a tool has done may have changed files. */
function heard({ properties }: PluginEvent): void {
  const { part } = properties as { readonly part?: { readonly type?: string } }
  if (part?.type === 'tool') index.forget()
}

function found({ files, declarations }: Index, { name, exact = false }: Wanted) {
  const wanted = name.toLowerCase()
  const all = declarations.filter((each) => (exact ? each.name === name : each.name.toLowerCase().includes(wanted)))
  const shown = all.slice(0, FOUND).map(({ path, line, text }) => `${path}:${line}: ${text}`)
  const rest = all.length > FOUND ? [`and ${all.length - FOUND} more; give more of the name`] : []
  return {
    title: `declarations of ${name}`,
    output: all.length === 0 ? `Nothing in ${files} files is called like that.` : [...shown, ...rest].join('\n'),
    metadata: { found: all.length },
  }
}

function overview({ files, declarations }: Index): string {
  const folders = new Map<string, number>()
  for (const { path } of declarations) {
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.'
    folders.set(folder, (folders.get(folder) ?? 0) + 1)
  }
  const most = [...folders].sort(([, a], [, b]) => b - a).slice(0, FOLDERS)
  const lines = most.map(([folder, count]) => `- ${folder}: ${count}`)
  return [`${declarations.length} declarations in ${files} files; find_declaration says where. By folder:`, ...lines].join('\n')
}

export const plugin = definePlugin({
  name: 'Code search',
  version: '1.0.0',
  events: { namespaces: ['message.part.'], handler: heard },
  services: {
    systemContext: [
      {
        id: 'code-overview',
        async handler(_request, call) {
          const now = await index.of(call)
          return now.declarations.length === 0 ? [] : [{ id: 'code', title: 'Code of this workspace', content: overview(now) }]
        },
      },
    ],
  },
  tools: [
    {
      id: 'find_declaration',
      description: 'Says in which file and line a function, class, type or constant is declared. Use it before searching through files.',
      parameters: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The name, or a part of it', minLength: 1 },
          exact: { type: 'boolean', description: 'The whole name, as it is written' },
        },
        required: ['name'],
      },
      execute: async (input: Wanted, call) => found(await index.of(call), input),
    },
  ],
})

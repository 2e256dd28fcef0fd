/** The tools of a directory: each file by itself, so that what is wrong with one is not wrong with the others. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PluginTool } from '../../published/kit/plugin-types.js'
import { LIMITS } from '../../protocol/limits.js'
import { isToolFile } from '../../protocol/plugin/tool-files.js'
import { faultOf, type Exported, toolsIn } from './exported-tools.js'

export interface LoadedTools {
  readonly tools: readonly PluginTool[]
  /** What is wrong with files, each with its name and, where it is known, its line. */
  readonly problems: readonly string[]
}

export interface Loading {
  /** Canonical. */
  readonly directory: string
  /** Names in the directory. */
  readonly names: readonly string[]
  /** Evaluates a module once. */
  load(url: string): Promise<Exported>
  /** Line of a file that cannot be parsed: Node tells it to people only. */
  lineOf(file: string): Promise<string | undefined>
  /** Resolves when the time that files have is over. */
  readonly overdue: Promise<void>
}

/** By file name; of tools with the same id the first. Never rejects. */
export async function loadTools(loading: Loading): Promise<LoadedTools> {
  const found = new Map<string, { readonly tool: PluginTool; readonly file: string }>()
  const problems: string[] = []
  const files = loading.names.filter(isToolFile).toSorted()
  const loaded = await Promise.all(files.map(async (file) => ({ file, tools: await toolsOf(loading, file) })))
  for (const { file, tools } of loaded) {
    if (typeof tools === 'string') problems.push(`${file}${tools}`)
    else
      for (const [id, value] of tools) {
        const first = found.get(id)?.file
        const fault = faultOf(id, value) ?? (first === undefined ? undefined : `${first} has a tool "${id}" already`)
        if (fault === undefined) found.set(id, { tool: toolOf(id, value), file })
        else problems.push(`${file}: ${fault}`)
      }
  }
  return { tools: [...found.values()].map(({ tool }) => tool), problems }
}

/** What a file exports, by the ids; or what is wrong with the file, to be read after its name. */
async function toolsOf({ directory, load, lineOf, overdue }: Loading, file: string): Promise<readonly [string, Exported][] | string> {
  const path = join(directory, file)
  try {
    const module = await Promise.race([load(pathToFileURL(path).href), overdue])
    if (module === undefined) return `: it was not loaded within ${LIMITS.plugins.toolFile / 1000} s`
    const tools = toolsIn(module, file.replace(/\.[^.]+$/, ''))
    return tools.length === 0 ? ': it exports no tool, which is an object with description, parameters and execute' : tools
  } catch (error) {
    const { line, message } = thrownIn(path, error)
    const at = line ?? (error instanceof SyntaxError ? await lineOf(path) : undefined)
    return `${at === undefined ? '' : `:${at}`}: ${message}`
  }
}

/** What was found without fault is what its author wrote for the library, but for the id. */
function toolOf(id: string, value: Exported): PluginTool {
  const tool = value as unknown as PluginTool
  const { description, parameters, outputSchema, permission } = tool
  const optional = { ...(outputSchema === undefined ? {} : { outputSchema }), ...(permission === undefined ? {} : { permission }) }
  return { id, description, parameters, ...optional, execute: (input, context) => tool.execute(input, context) }
}

const NO_PACKAGES = 'tools import modules of Node and files of their own directory; what needs packages is a plugin'

/** What was thrown while a file was loaded, and the line of the file. */
function thrownIn(file: string, error: unknown): { readonly line: string | undefined; readonly message: string } {
  if (!(error instanceof Error)) return { line: undefined, message: String(error) }
  const { stack = '', name } = error
  const [said = ''] = error.message.replace('Error transforming ', '').replaceAll(`${file}: `, '').split('\n', 1)
  const at = stack.indexOf(`${file}:`)
  const line = at === -1 ? undefined : /^\d+/.exec(stack.slice(at + file.length + 1))?.[0]
  const [parsed, ofParser] = / \((\d+):\d+\)$/.exec(said) ?? ['', undefined]
  const isMissing = 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' && said.startsWith('Cannot find package')
  const plain = said.slice(0, said.length - parsed.length)
  const message = `${name === 'Error' ? '' : `${name}: `}${isMissing ? `${plain.replace(/ imported from .*/, '')} (${NO_PACKAGES})` : plain}`
  return { line: line ?? ofParser, message }
}

/** The tool `skill`: the text of a skill, and which files lie beside it (sessions-events §10.4; subsystems b.10). */
import { cut } from '../../kernel/cut.js'
import * as z from 'zod'
import { defineTool, type NativeHost, type ToolContribution, ToolError } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { nearest } from '../../protocol/text/nearest.js'
import type { Skill } from '../../protocol/resource/resource.js'

const { name: NAME, description: DESCRIPTION, overview: OVERVIEW, files: FILES, lookedAt: LOOKED_AT } = LIMITS.skills

const SkillInput = z.strictObject({ name: z.string().min(1).max(NAME).describe('The skill, as it is listed.') })

const INTRODUCTION = `Loads a skill: instructions for one kind of task, with files that belong to it. Load one when the task at hand is what it is for, before you begin.
Skills:`

const FRONT_MATTER = /^---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/

type Host = Pick<NativeHost, 'skills'> & { readonly effects: Pick<NativeHost['effects'], 'files'> }

/** `skills`: those its description names. A call looks again, so that it finds what is there by then. */
export function skillTool(host: Host, skills: readonly Skill[]): ToolContribution {
  const { files } = host.effects
  return defineTool<z.infer<typeof SkillInput>>({
    id: 'skill',
    description: `${INTRODUCTION}\n${overview(skills)}`,
    input: SkillInput,
    permission: 'skill',
    needs: async ({ name }) => [{ permission: 'skill', patterns: [name], title: `Load the skill ${name}`, metadata: { name } }],
    async invoke({ name }, { directory, sessionId, signal }) {
      const known = await host.skills(directory, sessionId)
      const found = known.find((each) => each.name === name)
      if (found?.path === undefined) throw new ToolError(unknown(name, known))
      const { path, folder } = await placeOf(files, found.path)
      const text = await textOf(files, path, name)
      const beside = await filesBeside(files, folder, { skip: path, signal })
      return {
        title: name,
        output: `<skill name="${name}">\n${text}\n</skill>${told(folder, beside)}`,
        metadata: { name, path, directory: folder, files: beside.names, filesTruncated: beside.isCut },
      }
    },
  })
}

/** A line for each skill, as many as fit. */
function overview(skills: readonly Skill[]): string {
  const lines: string[] = []
  let size = 0
  for (const { name, description, path = '' } of skills) {
    const line = `- ${name}: ${cut((description ?? '').replaceAll(/\s+/g, ' ').trim(), DESCRIPTION, '')} (${path})`
    size += line.length + 1
    if (size > OVERVIEW) break
    lines.push(line)
  }
  const more = skills.length - lines.length
  return [...lines, ...(more > 0 ? [`(${more} more, which can be loaded by name)`] : [])].join('\n')
}

function unknown(name: string, known: readonly Skill[]): string {
  const names = known.map((each) => each.name)
  const meant = nearest(name, names)
  return `There is no skill "${name}".${meant === undefined ? '' : ` Did you mean "${meant}"?`} Skills: ${names.slice(0, 50).join(', ') || 'none'}.`
}

type Files = Host['effects']['files']

/** The file, canonical: one that has become a link to another place is not read. */
async function placeOf(files: Files, path: string): Promise<{ readonly path: string; readonly folder: string }> {
  const cut = path.lastIndexOf('/')
  try {
    const folder = await files.realPath(path.slice(0, cut) || '/')
    const real = await files.realPath(path)
    if (real !== `${folder === '/' ? '' : folder}${path.slice(cut)}`)
      throw new ToolError(`${path} is a link to another place and is not read.`)
    return { path: real, folder }
  } catch (error) {
    if (error instanceof ToolError) throw error
    throw new ToolError(`The skill cannot be read: ${path} is not there any more.`)
  }
}

async function textOf(files: Files, path: string, name: string): Promise<string> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await files.read(path, LIMITS.config.markdownBytes, { canonical: true }))
    return text.replace(FRONT_MATTER, '').trim()
  } catch {
    throw new ToolError(`The skill "${name}" cannot be read: ${path} is no text, or larger than ${LIMITS.config.markdownBytes} bytes.`)
  }
}

interface Beside {
  /** Relative to the folder. */
  readonly names: readonly string[]
  /** There are more. */
  readonly isCut: boolean
}

async function filesBeside(files: Files, folder: string, { skip, signal }: { skip: string; signal: AbortSignal }): Promise<Beside> {
  const names: string[] = []
  try {
    for await (const { path, kind } of files.walk(folder, { maxEntries: LOOKED_AT })) {
      signal.throwIfAborted()
      if (kind !== 'file' || `${folder}/${path}` === skip) continue
      if (names.length === FILES) return { names, isCut: true }
      names.push(path)
    }
  } catch {
    signal.throwIfAborted()
    return { names, isCut: true } // too many, or a folder that cannot be read
  }
  return { names, isCut: false }
}

function told(folder: string, { names, isCut }: Beside): string {
  if (names.length === 0) return ''
  return `\n\nFiles of the skill, in ${folder}:\n${names.map((name) => `- ${name}`).join('\n')}${isCut ? '\n(There are more.)' : ''}`
}

/** What a run needs before there is a session: its directory and its prompt (subsystems a.10). */
import { LIMITS } from '../../../protocol/limits.js'
import type { WorkflowDefinition } from '../../../protocol/workflow/workflow.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { joinPath, resolvePath } from '../../../protocol/text/paths.js'
import { statOf } from '../files/scan.js'

type PrepareHost = Pick<NativeHost, 'effects' | 'skills'>

const FRONT_MATTER = /^---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/

/** Canonical directory of a run; `base` is the default directory. Rejects with a sentence when it is no directory. */
export async function runDirectory(
  { effects }: Pick<NativeHost, 'effects'>,
  { directory }: WorkflowDefinition,
  base: string,
): Promise<string> {
  const { files, paths } = effects
  const path = directory === undefined ? base : placeOf(directory, base, paths.home)
  const canonical = await files.realPath(path).catch(() => undefined)
  const stat = canonical === undefined ? undefined : await statOf(files, canonical)
  if (canonical === undefined || stat === undefined) throw new Error(`the directory "${path}" does not exist`)
  if (stat.kind !== 'directory') throw new Error(`"${path}" is not a directory`)
  return canonical
}

/** The prompt as it is sent: the text of the skill, a blank line, the body of the file. */
export async function runPrompt(host: PrepareHost, { skill, prompt }: WorkflowDefinition, directory: string): Promise<string> {
  if (skill === undefined) return prompt
  const skills = await host.skills(directory)
  const found = skills.find(({ name }) => name === skill)
  if (found === undefined) throw new Error(`there is no skill "${skill}" in ${directory}`)
  if (found.path === undefined) throw new Error(`the skill "${skill}" has no file whose text could be used`)
  const path = await host.effects.files.realPath(found.path)
  const bytes = await host.effects.files.read(path, LIMITS.config.markdownBytes, { canonical: true })
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  return `${text.replace(FRONT_MATTER, '').trim()}\n\n${prompt}`
}

function placeOf(directory: string, base: string, home: string): string {
  if (directory === '~') return home
  return directory.startsWith('~/') ? joinPath(home, directory.slice(2)) : resolvePath(base, directory)
}

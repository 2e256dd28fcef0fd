/** Sections plugins add to the system context of a session (sessions-events §12.1; plugin-protocol §4.7). */
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import { type Answers, createServiceAnswers } from '../../resource/contributed/answers.js'
import type { RegistryView } from '../../../ports/view.js'
import { wellFormed } from '../../../protocol/text/well-formed.js'

export interface ContextSection {
  /** Names the section for as long as a session is awake. */
  readonly key: string
  readonly text: string
}

/** Reads the sections of a view in the order of their priority. */
export function createPluginContext(
  effects: Pick<Effects, 'clock' | 'log'>,
): (view: RegistryView, directory: string) => Promise<readonly ContextSection[]> {
  const answers = createServiceAnswers(effects)
  return async (view, directory) => readSections(await answers.of(view, 'systemContext', directory))
}

/** At most `contextBytes` of each plugin: sections beyond are left out, from the first that does not fit. */
function readSections(answers: Answers<'systemContext'>): ContextSection[] {
  const spent = new Map<string, number>()
  const sections = new Map<string, ContextSection>()
  for (const { pluginId, serviceId, answer } of answers) {
    for (const { id, title, content } of answer) {
      const key = `${pluginId}/${serviceId}/${id}`
      const text = wellFormed(`${title == null || title === '' ? '' : `${title} `}(plugin section ${key}):\n${content}`)
      const total = (spent.get(pluginId) ?? 0) + Buffer.byteLength(text)
      spent.set(pluginId, total)
      if (total <= LIMITS.plugins.contextBytes && content.trim() !== '' && !sections.has(key)) sections.set(key, { key, text })
    }
  }
  return [...sections.values()]
}

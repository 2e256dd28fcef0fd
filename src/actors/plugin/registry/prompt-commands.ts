/** Prompts that plugins render (plugin-protocol §4.6, §4.7): each is a command, and what is written behind its name is what it is rendered with. */
import type { CommandService, PromptService } from '../../../ports/contributions.js'
import { SvcError } from '../../../protocol/errors.js'

/** `pluginId` stands in the template, so that a command of the same name that somebody else has is never taken for it. */
export function promptCommand(pluginId: string, { id, priority, call }: PromptService): CommandService {
  const template = `(A prompt of the plugin "${pluginId}".)\n$ARGUMENTS`
  return {
    id,
    priority,
    call: async () => [{ name: id, description: `A prompt of the plugin ${pluginId}.`, template }],
    async render({ directory, name, written, ...command }) {
      if (name !== id || command.template !== template) return undefined
      const service = { workspaceId: directory, directory, options: {} }
      const { content, system } = await call({ promptId: id, variables: variablesOf(written), service })
      if (content.trim() === '') throw new SvcError('plugin.failed', `The plugin "${pluginId}" has rendered its prompt "${id}" as nothing.`)
      if (!system) return { parts: [{ type: 'text', text: content }] }
      return { parts: [{ type: 'text', text: written.trim() === '' ? `/${id}` : written }], system: content }
    },
  }
}

/** Words that have a place of their own, as in a template. */
const PLACES = 9

/** As the places of a template are called: `arguments` is all of it, `1` its first word. */
function variablesOf(written: string): Readonly<Record<string, string>> {
  const words = written
    .trimStart()
    .split(/\s+/, PLACES)
    .filter((word) => word !== '')
  return { arguments: written, ...Object.fromEntries(words.map((word, index) => [String(index + 1), word])) }
}

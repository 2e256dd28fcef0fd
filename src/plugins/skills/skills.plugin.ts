/** The built-in plugin that gives models the skills of their workspace: `dev.svc.skills` (sessions-events §10.4; subsystems b.10). */
import type { NativePlugin, ToolContribution } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import type { Skill } from '../../protocol/resource/resource.js'
import { skillTool } from './tool.js'

interface Offer {
  readonly skills: readonly Skill[]
  readonly tools: readonly ToolContribution[]
}

const NONE: Offer = { skills: [], tools: [] }

export function skillsPlugin(): NativePlugin {
  return {
    id: 'dev.svc.skills',
    name: 'Skills',
    capability: { id: 'svc.tools.skills', apiPrefix: '/v2/tools' },
    eventNamespaces: ['skill'],
    requires: ['svc.skills'],
    start(host) {
      const offers = createLru<string, Offer>(LIMITS.skills.workspaces)
      return {
        /** The tool is there where skills are, and names them: elsewhere nobody pays for its definition. */
        async prepare(directory, _signal, _run, sessionId) {
          try {
            // One without a file is listed and can be nothing more: a model could not load it.
            const skills = (await host.skills(directory, sessionId)).filter(({ path }) => path !== undefined)
            const { skills: known } = offers.get(keyOf(directory, sessionId)) ?? NONE
            if (isSame(skills, known)) return
            offers.set(keyOf(directory, sessionId), { skills, tools: skills.length === 0 ? [] : [skillTool(host, skills)] })
            host.offersChanged()
          } catch (error) {
            host.effects.log.warn('the skills of a directory could not be looked at', { directory, cause: String(error) })
          }
        },
        within: (directory, sessionId) => ({ tools: (offers.get(keyOf(directory, sessionId)) ?? NONE).tools, commands: [] }),
      }
    },
  }
}

function keyOf(directory: string, sessionId: string | undefined): string {
  return sessionId === undefined ? directory : `${directory}\0${sessionId}`
}

function isSame(now: readonly Skill[], before: readonly Skill[]): boolean {
  return now.length === before.length && now.every((skill, at) => skill.name === before[at]?.name && isAlike(skill, before[at]))
}

function isAlike(a: Skill, b: Skill): boolean {
  return a.description === b.description && a.path === b.path
}

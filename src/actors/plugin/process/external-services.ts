/** Services, hooks, prompts and settings of plugin processes: calls whose answers are checked (plugin-protocol §4.6, §4.7, §5.2). */
import * as z from 'zod'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { InitializeReply, ServiceDeclaration } from '../../../protocol/plugin/plugin-frame.js'
import type { PluginMethod } from '../../../protocol/plugin/plugin-methods.js'
import {
  AgentCatalog,
  PluginCommand,
  PluginConfigDocument,
  PluginSkill,
  RenderedPrompt,
  SystemContextSection,
} from '../../../protocol/plugin/plugin-services.js'
import { EVENT_HOOK, type ExtraContributions, type Hook, type Service } from '../../../ports/contributions.js'
import type { ServedSessions } from '../brokers/served-sessions.js'
import { isEmptyTable, isFields } from '../link/initialize.js'
import type { ContributionLink } from './contribution-link.js'

type Services = Pick<ExtraContributions, 'hooks' | 'agents' | 'commands' | 'skills' | 'systemContext' | 'prompts' | 'config'>

const list = <Item extends z.ZodType>(item: Item) =>
  z.preprocess((value) => (isEmptyTable(value) ? [] : value), z.array(item).max(LIMITS.plugins.listed))
const Catalog = z.preprocess(catalogOf, AgentCatalog)
const Commands = list(PluginCommand)
const Skills = list(PluginSkill)
const Sections = list(SystemContextSection)

export function externalServices(reply: InitializeReply, link: ContributionLink, served: Pick<ServedSessions, 'during'>): Services {
  const { agents, commands, skills, systemContext, prompts, config } = reply.services
  const made: Services = {
    hooks: hooksOf(reply.hooks, link, served),
    agents: agents.map(service(link, 'agent.list', Catalog)),
    commands: commands.map(service(link, 'command.list', Commands)),
    skills: skills.map(service(link, 'skill.list', Skills)),
    systemContext: systemContext.map(service(link, 'systemContext.sections', Sections)),
    prompts: prompts.map(service(link, 'prompt.render', RenderedPrompt)),
    config: config.map(service(link, 'config.load', PluginConfigDocument)),
  }
  return made
}

function service<Schema extends z.ZodType>(link: ContributionLink, method: PluginMethod, answer: Schema) {
  return ({ id, priority }: ServiceDeclaration): Service<(request: unknown, signal?: AbortSignal) => Promise<z.output<Schema>>> => ({
    id,
    priority,
    call: async (request, signal) => parseAnswer(method, answer, await link.call(method, { serviceId: id, request }, { signal })),
  })
}

/** An answer of the right shape; throws `plugin.failed` naming the method and what is wrong. */
export function parseAnswer<Schema extends z.ZodType>(method: string, schema: Schema, result: unknown): z.output<Schema> {
  const parsed = schema.safeParse(result)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new SvcError(
    'plugin.failed',
    `The plugin's answer to ${method} is not valid: ${issue?.path.join('.') || 'the answer'}: ${issue?.message ?? 'malformed'}.`,
  )
}

function hooksOf(names: readonly string[], link: ContributionLink, served: Pick<ServedSessions, 'during'>): Record<string, Hook> {
  const call =
    (hook: string): Hook =>
    (context, value, signal) => {
      const { sessionId } = context
      const serving = typeof sessionId === 'string' ? { sessionId } : undefined
      return served.during(serving, () => link.call('hook.invoke', { hook, context, value }, { signal }))
    }
  return Object.fromEntries(names.filter((name) => name !== EVENT_HOOK).map((name) => [name, call(name)]))
}

/** Null fields are absent ones, and ids may have an older spelling. */
function catalogOf(value: unknown): unknown {
  if (!isFields(value)) return value
  const { agents } = value
  if (isEmptyTable(agents)) return { ...value, agents: [] }
  return { ...value, agents: Array.isArray(agents) ? agents.map(agentOf) : agents }
}

function agentOf(agent: unknown): unknown {
  if (!isFields(agent)) return agent
  const fields = Object.fromEntries(Object.entries(agent).filter(([, value]) => value !== null))
  const { model } = fields
  if (!isFields(model)) return fields
  return {
    ...fields,
    model: { ...model, id: model['id'] ?? model['modelID'] ?? model['modelId'], providerId: model['providerId'] ?? model['providerID'] },
  }
}

/** Agents, commands, skills and tools as clients see them (http-contract §2.2). */
import * as z from 'zod'
import { CompactionConfig } from './config.js'
import { ModelRef } from '../message/message.js'
import { defineRoute } from '../route.js'
import { anyRecord, directoryHeaders, directoryQuery, scopeQuery, sessionQuery, uint } from '../shared.js'

export const Agent = z
  .looseObject({
    name: z.string(),
    mode: z.string(),
    native: z.boolean(),
    hidden: z.boolean(),
    permission: anyRecord,
    options: anyRecord,
    description: z.string().optional(),
    color: z.string().optional(),
    model: ModelRef.optional(),
    variant: z.string().optional(),
    prompt: z.string().optional(),
    steps: uint.optional(),
    temperature: z.number().optional(),
    topP: z.number().optional(),
    compaction: CompactionConfig.optional(),
  })
  .meta({ id: 'Agent' })
export type Agent = z.infer<typeof Agent>
const AgentList = z.array(Agent).meta({ id: 'AgentList' })

export const Command = z
  .looseObject({
    name: z.string(),
    description: z.string().optional(),
    agent: z.string().optional(),
    model: z.string().optional(),
    template: z.string().optional(),
    subtask: z.boolean().optional(),
  })
  .meta({ id: 'Command' })
export type Command = z.infer<typeof Command>
const CommandList = z.array(Command).meta({ id: 'CommandList' })

export const Skill = z
  .looseObject({ name: z.string(), description: z.string().nullable().optional(), path: z.string().optional() })
  .meta({ id: 'Skill' })
export type Skill = z.infer<typeof Skill>
const SkillList = z.array(Skill).meta({ id: 'SkillList' })

export const Tool = z
  .looseObject({ id: z.string(), description: z.string(), parameters: z.unknown(), outputSchema: z.unknown().optional() })
  .meta({ id: 'Tool' })
export type Tool = z.infer<typeof Tool>
const ToolList = z.array(Tool).meta({ id: 'ToolList' })

const tag = 'catalog' as const
const access = { class: 'directory' } as const
const headers = directoryHeaders
const scoped = z.strictObject({ ...directoryQuery, ...scopeQuery, ...sessionQuery })
const inSession = z.strictObject({ ...directoryQuery, ...sessionQuery })

export const resourceRoutes = {
  agents: defineRoute({
    id: 'v2.agents.list',
    method: 'GET',
    path: '/v2/agents',
    tag,
    access,
    headers,
    query: scoped,
    summary: 'List agents.',
    success: { status: 200, description: 'Agents, the default one first.', schema: AgentList },
  }),
  agent: defineRoute({
    id: 'v2.agents.get',
    method: 'GET',
    path: '/v2/agents/{name}',
    tag,
    access,
    headers,
    query: inSession,
    params: z.strictObject({ name: z.string() }),
    summary: 'Get one agent.',
    success: { status: 200, description: 'The agent.', schema: Agent },
  }),
  commands: defineRoute({
    id: 'v2.commands.list',
    method: 'GET',
    path: '/v2/commands',
    tag,
    access,
    headers,
    query: inSession,
    summary: 'List commands.',
    success: { status: 200, description: 'Commands by name.', schema: CommandList },
  }),
  skills: defineRoute({
    id: 'v2.skills.list',
    method: 'GET',
    path: '/v2/skills',
    tag,
    access,
    headers,
    query: scoped,
    summary: 'List skills.',
    success: { status: 200, description: 'Skills.', schema: SkillList },
  }),
  tools: defineRoute({
    id: 'v2.tools.list',
    method: 'GET',
    path: '/v2/tools',
    tag,
    access,
    headers,
    query: inSession,
    summary: 'List tools.',
    success: { status: 200, description: 'Tools with the JSON Schema of their input.', schema: ToolList },
  }),
} as const

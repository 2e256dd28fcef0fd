/** What a session is after, served by `dev.svc.goals` (http-contract §2.12, §5.8; subsystems j). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { defineRoute } from '../route.js'
import { ms, uint } from '../shared.js'

const PATH = '/v2/plugins/dev.svc.goals/{session_id}'
const { text: TEXT, notes: NOTES } = LIMITS.goals
const URL_LENGTH = 2000

const GoalResearchNote = z.looseObject({ source: z.string(), content: z.string(), captured: uint }).meta({ id: 'GoalResearchNote' })
export type GoalResearchNote = z.infer<typeof GoalResearchNote>

export const SessionGoal = z
  .looseObject({
    text: z.string(),
    status: z.enum(['active', 'complete', 'blocked']),
    paused: z.boolean(),
    /** Why it rests, or what came of it; empty when there is nothing to say. */
    summary: z.string(),
    research: z.array(GoalResearchNote),
    created: ms,
    updated: ms,
  })
  .meta({ id: 'SessionGoal' })
export type SessionGoal = z.infer<typeof SessionGoal>

export const GoalResponse = z.looseObject({ goal: SessionGoal.nullable(), researchEnabled: z.boolean() }).meta({ id: 'GoalResponse' })
export type GoalResponse = z.infer<typeof GoalResponse>

const ResearchUrl = z.string().min(1).max(URL_LENGTH).describe('An http or https address.')

/** What is absent stays as it is; an empty text clears the goal. */
export const SetGoalRequest = z
  .strictObject({
    text: z.string().max(TEXT).optional(),
    paused: z.boolean().optional(),
    researchUrls: z.array(ResearchUrl).max(NOTES).optional(),
  })
  .meta({ id: 'SetGoalRequest' })

export const GoalResearchRequest = z.strictObject({ url: ResearchUrl }).meta({ id: 'GoalResearchRequest' })

export const GoalParams = z.strictObject({ session_id: z.string() })

const success = { status: 200, description: 'The goal as it is now.', schema: GoalResponse } as const
const common = {
  tag: 'goals',
  access: { class: 'session', param: 'session_id' },
  params: GoalParams,
  path: PATH,
  success,
} as const

export const goalRoutes = {
  get: defineRoute({ ...common, id: 'v2.plugins.goals.get', method: 'GET', summary: 'The goal of a session.' }),
  set: defineRoute({
    ...common,
    id: 'v2.plugins.goals.set',
    method: 'POST',
    summary: 'Set, pause or resume the goal of a session; an empty text clears it, and without a body nothing changes.',
    body: { schema: SetGoalRequest, required: false },
  }),
  clear: defineRoute({ ...common, id: 'v2.plugins.goals.clear', method: 'DELETE', summary: 'Clear the goal of a session.' }),
  research: defineRoute({
    ...common,
    id: 'v2.plugins.goals.research',
    method: 'POST',
    path: `${PATH}/research`,
    summary: 'Add what a web page says to the notes of the goal.',
    body: { schema: GoalResearchRequest, required: true },
  }),
} as const

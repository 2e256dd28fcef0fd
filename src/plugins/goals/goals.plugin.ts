/** The built-in plugin for what sessions are after: `dev.svc.goals` (subsystems j). */
import * as z from 'zod'
import { defineTool, type NativePlugin, type ToolContribution, ToolError } from '../../ports/plugin.js'
import type { EventsContribution } from '../../ports/contributions.js'
import { SvcError } from '../../protocol/errors.js'
import { isRecord } from '../../protocol/text/json.js'
import { LIMITS } from '../../protocol/limits.js'
import {
  GoalParams,
  GoalResearchRequest,
  type GoalResponse,
  type GoalResearchNote,
  goalRoutes,
  SetGoalRequest,
} from '../../protocol/session/goal.js'
import { createGoals, type Goals } from './goals.js'
import { goalOf } from './kept.js'
import { COMPLETE } from './look.js'
import { SESSION_ROWS } from './pursuits.js'
import { createResearch, type Research } from './research.js'
import { goalSection } from './told.js'

/** `env` is the environment of the server: the key of the service that reads pages is there. */
export function goalsPlugin({ env }: { readonly env: Readonly<Record<string, string | undefined>> }): NativePlugin {
  let goals: Goals | undefined
  return {
    id: 'dev.svc.goals',
    name: 'Goals',
    capability: { id: 'svc.goals', apiPrefix: '/v2/plugins/dev.svc.goals' },
    eventNamespaces: ['goal'],
    sessionRows: SESSION_ROWS,
    requires: ['svc.sessions'],
    start(host) {
      goals = createGoals(host)
      return {
        tools: [completeTool(goals)],
        operations: operationsOf(goals, createResearch(host, env), (id) => host.sessions.get(id)?.executionPolicy !== undefined),
        events: watchSessions(goals),
        sessionContext(session) {
          const goal = goalOf(session)
          return goal === null ? undefined : goalSection(goal)
        },
      }
    },
    async stop() {
      await goals?.end()
    },
  }
}

/** Pages are read with the key of the installation: not for strangers to it. */
function operationsOf(
  goals: Goals,
  research: Research,
  isOfStranger: (sessionId: string) => boolean,
): NonNullable<ReturnType<NativePlugin['start']>['operations']> {
  const isResearched = (sessionId: string) => research.isEnabled && !isOfStranger(sessionId)
  const shown = (sessionId: string): GoalResponse => ({ goal: goals.of(sessionId), researchEnabled: isResearched(sessionId) })
  const sessionOf = (params: unknown) => GoalParams.parse(params).session_id
  return {
    async [goalRoutes.get.id]({ params }) {
      return shown(sessionOf(params))
    },
    async [goalRoutes.set.id]({ params, body, signal }) {
      const sessionId = sessionOf(params)
      const { researchUrls = [], ...change } = SetGoalRequest.parse(body ?? {})
      goals.set(sessionId, change)
      if (isResearched(sessionId) && researchUrls.length > 0 && goals.of(sessionId) !== null) {
        const read = await Promise.allSettled(researchUrls.map((url) => research.read(url, signal)))
        const notes = read.flatMap((each): GoalResearchNote[] => (each.status === 'fulfilled' ? [each.value] : []))
        if (goals.of(sessionId) !== null) goals.addNotes(sessionId, notes)
      }
      return shown(sessionId)
    },
    async [goalRoutes.clear.id]({ params }) {
      const sessionId = sessionOf(params)
      goals.clear(sessionId)
      return shown(sessionId)
    },
    async [goalRoutes.research.id]({ params, body, signal }) {
      const sessionId = sessionOf(params)
      const { url } = GoalResearchRequest.parse(body)
      if (goals.of(sessionId) === null) throw new SvcError('request.invalid', 'The session has no goal to make notes for.', { sessionId })
      if (isOfStranger(sessionId))
        throw new SvcError('request.invalid', 'Pages are not read for sessions of hosted callers.', { sessionId })
      goals.addNotes(sessionId, [await research.read(url, signal)])
      return shown(sessionId)
    },
  }
}

/** Sessions that begin or end something may have a goal; what was deleted has none. */
function watchSessions(goals: Goals): EventsContribution {
  return {
    namespaces: ['session.status', 'session.deleted'],
    deliver({ type, properties }) {
      const sessionId = isRecord(properties) ? properties['sessionID'] : undefined
      if (typeof sessionId !== 'string') return
      if (type === 'session.deleted') goals.gone(sessionId)
      else goals.stirred(sessionId)
    },
  }
}

const CompleteInput = z.strictObject({
  status: z
    .enum(['complete', 'blocked'])
    .default('complete')
    .describe('complete (the default): it is reached, and you have checked that. blocked: it cannot be reached.'),
  summary: z.string().min(1).max(LIMITS.goals.summary).describe('What was done, or what is in the way.'),
})

function completeTool(goals: Goals): ToolContribution {
  return defineTool<z.infer<typeof CompleteInput>>({
    id: COMPLETE,
    description: 'Ends the goal of this session. Until you call it, you are asked to go on after each run.',
    input: CompleteInput,
    permission: COMPLETE,
    isFor: (sessionId) => goals.isOpen(sessionId),
    needs: async ({ status }) => [{ permission: COMPLETE, patterns: ['*'], title: `End the goal as ${status}` }],
    async invoke({ status, summary }, { sessionId, signal }) {
      signal.throwIfAborted()
      if (!goals.conclude(sessionId, status, summary)) throw new ToolError('This session has no goal that could be ended.')
      return { title: `The goal is ${status}`, output: `The goal is ${status}.`, metadata: { status } }
    },
  })
}

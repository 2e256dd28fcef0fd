/** The built-in plugin that delegates work to other agents: `dev.svc.subagents` (sessions-events §10.12; subsystems k). */
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import type { ContextService, EventsContribution } from '../../ports/contributions.js'
import { SvcError } from '../../protocol/errors.js'
import { isRecord } from '../../protocol/text/json.js'
import {
  StopSubagentsRequest,
  type StopSubagentsResult,
  SubagentParams,
  subagentRoutes,
  type SubagentTask,
} from '../../protocol/session/subagent.js'
import { createDelegation, type Delegation } from './delegation.js'
import { SESSION_ROWS, shownTask } from './ledger.js'
import { taskTools } from './tools.js'

export function subagentsPlugin(): NativePlugin {
  let delegation: Delegation | undefined
  return {
    id: 'dev.svc.subagents',
    name: 'Subagents',
    capability: { id: 'svc.subagents', apiPrefix: '/v2/plugins/dev.svc.subagents' },
    requires: ['svc.sessions', 'svc.agents'],
    eventNamespaces: ['subagent', 'session.subtask'],
    sessionRows: SESSION_ROWS,
    start(host) {
      delegation = createDelegation(host)
      return {
        tools: taskTools({ host, delegation }),
        operations: operationsOf(delegation),
        events: watchSessions(delegation),
        systemContext: [agentNames(host)],
      }
    },
    async stop() {
      await delegation?.end()
    },
  }
}

function operationsOf(delegation: Delegation): NonNullable<ReturnType<NativePlugin['start']>['operations']> {
  return {
    async [subagentRoutes.list.id]({ params }): Promise<SubagentTask[]> {
      const { session_id: sessionId } = SubagentParams.parse(params)
      return delegation.tasksOf(sessionId).map((task) => shownTask(task, sessionId))
    },
    async [subagentRoutes.stop.id]({ params, body }): Promise<StopSubagentsResult> {
      const { session_id: sessionId } = SubagentParams.parse(params)
      const { taskId } = StopSubagentsRequest.parse(body)
      if (taskId === undefined) return delegation.stopAll(sessionId)
      const task = delegation.find(sessionId, taskId)
      if (task === undefined) throw new SvcError('resource.not_found', `There is no task "${taskId}" of this session.`, { taskId })
      return delegation.stop([task])
    },
  }
}

/** What was deleted has no tasks. */
function watchSessions(delegation: Delegation): EventsContribution {
  return {
    namespaces: ['session.deleted'],
    deliver({ properties }) {
      const sessionId = isRecord(properties) ? properties['sessionID'] : undefined
      if (typeof sessionId === 'string') delegation.gone(sessionId)
    },
  }
}

/** Tells models of agents they do not know from the tool itself. */
function agentNames({ agents }: Pick<NativeHost, 'agents'>): ContextService {
  return {
    id: 'agents',
    priority: 0,
    async call({ directory }) {
      const others = (await agents(directory ?? '')).filter(({ mode, hidden, native }) => mode !== 'primary' && !hidden && !native)
      if (others.length === 0) return []
      const content = others.map(({ name, description = '' }) => `- ${name}: ${description}`).join('\n')
      return [{ id: 'agents', title: 'Agents the tool "task" can delegate to', content }]
    },
  }
}

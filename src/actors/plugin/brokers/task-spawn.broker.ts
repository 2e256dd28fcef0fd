/**
 * Work that a plugin delegates to agents (`host.task.spawn`; sessions-events §8.12, §10.12).
 *
 * I1 A task is begun in a tool call of a session, and may do what the run may that made the call, and no more: it is delegated by the tool
 *    that the agent of the run would use, under all its rules.
 * I2 It ends with its lease and with an abort of its call; a server that was killed does not go on with it.
 * I3 A rule that asks whether something may be delegated is answered by the grant; one that denies it is not.
 */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { DelegatedTask, TaskDoor, TaskOutcome } from '../../../ports/broker-doors.js'
import type { ToolContext } from '../../../ports/plugin.js'
import type { Store } from '../../../store/store.js'
import { type Broker, defineBroker } from './broker.js'
import { createOpenings, type Opening, type Openings } from './openings.js'
import { meantSession } from './own-sessions.js'

export interface TaskBrokerDeps {
  readonly effects: Pick<Effects, 'clock'>
  readonly store: Pick<Store, 'sessions'>
  tasks(): TaskDoor
}

interface Delegated extends DelegatedTask {
  sessionId: string
  outcome?: TaskOutcome
}

const limits = LIMITS.pluginTasks

export function taskBroker(deps: TaskBrokerDeps): Broker {
  return defineBroker('task-spawn', (lease) => {
    const openings = createOpenings<Delegated>(lease, {
      clock: deps.effects.clock,
      what: ['task', 'tasks'],
      kind: 'task',
      running: limits.running,
      kept: limits.kept,
    })
    return {
      operations: {
        async spawn({ sessionId, timeoutMs, ...task }) {
          const session = meantSession(deps.store.sessions, lease, sessionId)
          const call = session === undefined ? undefined : lease.served.toolCall(session.id)
          if (call === undefined) throw new SvcError('request.unprocessable', NO_CALL)
          return shown(await begin(deps, openings, { call, task, timeoutMs }))
        },
        status: ({ opaqueId }) => shown(openings.find(opaqueId)),
        async wait({ opaqueId, waitMs }, { signal }) {
          await openings.until(opaqueId, { ms: waitMs, signal })
          return shown(openings.find(opaqueId))
        },
        list: () => ({ tasks: openings.all().map(shown) }),
      },
      cancel: async (opaqueId) => void (await openings.close(opaqueId)),
    }
  })
}

const NO_CALL =
  'the plugin is in no tool call of a session, or of several and "sessionId" does not say which: what a task may do is what the run may that called the plugin'

interface NewTask {
  readonly call: ToolContext
  readonly task: DelegatedTask
  readonly timeoutMs: number
}

/** Resolves once its session is there; rejects when it cannot be begun. */
async function begin(
  { tasks }: TaskBrokerDeps,
  openings: Openings<Delegated>,
  { call, task, timeoutMs }: NewTask,
): Promise<Opening<Delegated>> {
  const about: Delegated = { ...task, sessionId: '' }
  return new Promise((resolve, reject) => {
    const run = async (signal: AbortSignal): Promise<void> => {
      try {
        about.outcome = await tasks().run(call, task, {
          signal,
          onBegun(sessionId) {
            about.sessionId = sessionId
            resolve(mine)
          },
        })
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
        throw error
      }
      if (about.sessionId === '') reject(new SvcError('request.unprocessable', about.outcome.text))
    }
    const mine = openings.open(about, { timeoutMs, run })
  })
}

function shown({ opaqueId, about, isOver, stopped, failure }: Opening<Delegated>) {
  const { sessionId, agent, description, outcome } = about
  const { usage } = outcome ?? {}
  return {
    opaqueId,
    sessionId,
    agent,
    description,
    status: isOver ? (stopped === null ? (outcome?.status ?? 'failed') : 'stopped') : ('running' as const),
    text: isOver ? (outcome?.text ?? failure ?? 'It was stopped.') : null,
    usage: usage === undefined ? null : { cost: usage.cost, inputTokens: usage.tokens.input, outputTokens: usage.tokens.output },
  }
}

/**
 * The prompt of an agent as a plugin renders it (plugin-protocol §4.7): the service `agent.<name>` of its `prompts` is asked for that of each request.
 *
 * I1 One that fails, or takes too long, leaves the text as it was and is told on the message, as a hook that fails is.
 */
import { messageOf } from '../../../../protocol/message-of.js'
import type { Stopping } from '../../../../kernel/stopping.js'
import { timeLimit } from '../../../../kernel/patience.js'
import { LIMITS } from '../../../../protocol/limits.js'
import type { HookFailure } from '../../../../protocol/plugin/hook-failure.js'
import { wellFormed } from '../../../../protocol/text/well-formed.js'
import type { Effects } from '../../../../ports/effects.js'
import { AGENT_PROMPT } from '../../../../protocol/plugin/plugin-services.js'
import { untilAborted } from '../../../plugin/calls/hooks.js'
import type { World } from '../world.js'

interface Place {
  readonly sessionId: string
  readonly directory: string
}

interface Rendered {
  readonly world: World
  readonly failures: readonly HookFailure[]
}

/** The world whose agent has the prompt that is to be sent; itself when nobody renders it. Rejects when `signal` aborts. */
export function renderPrompt(
  { clock }: Pick<Effects, 'clock'>,
  world: World,
  place: Place,
  stopping: Pick<Stopping, 'signal'>,
): Rendered | Promise<Rendered> {
  const promptId = `${AGENT_PROMPT}${world.target.agent.record.name}`
  const service = world.view.prompts.find(({ contribution }) => contribution.id === promptId)
  return service === undefined ? { world, failures: [] } : renderBy(service, clock, world, place, stopping.signal)
}

async function renderBy(
  service: World['view']['prompts'][number],
  clock: Effects['clock'],
  world: World,
  { sessionId, directory }: Place,
  signal: AbortSignal,
): Promise<Rendered> {
  const { target } = world
  const { record } = target.agent
  const promptId = service.contribution.id
  const { id: modelId, providerId } = target.model.ref
  const variables = { text: record.prompt ?? '', agent: record.name, sessionId, providerId, modelId }
  const request = { promptId, variables, service: { workspaceId: directory, directory, options: {} } }
  const limit = timeLimit(clock, LIMITS.plugins.promptWait, `it did not answer within ${LIMITS.plugins.promptWait} ms`)
  try {
    const within = AbortSignal.any([signal, limit.signal])
    const { content } = await untilAborted(within, () => service.use(() => service.contribution.call(request, within)))
    if (Buffer.byteLength(content) > LIMITS.plugins.contextBytes) throw new Error(`it has more than ${LIMITS.plugins.contextBytes} bytes`)
    const agent = { ...target.agent, record: { ...record, prompt: wellFormed(content) } }
    return { world: { ...world, target: { ...target, agent } }, failures: [] }
  } catch (error) {
    signal.throwIfAborted()
    return {
      world,
      failures: [
        { hook: 'prompt.render', pluginId: service.pluginId, message: `The prompt "${promptId}" stays as it was: ${messageOf(error)}` },
      ],
    }
  } finally {
    limit.clear()
  }
}

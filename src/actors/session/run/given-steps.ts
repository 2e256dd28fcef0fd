/** The calls a prompt came with, in steps before the first in which a model is asked (sessions-events §4.10, §10.12). */
import type { GivenCall, QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import { COMPACTION } from '../history/conversation.js'

/** Each subtask is a step of its own, after what else is given. */
export function givenSteps({ calls }: Pick<QueuedPrompt, 'calls'>): readonly (readonly GivenCall[])[] {
  if (calls === undefined) return []
  const others = calls.filter(({ tool }) => tool !== 'task')
  const tasks = calls.filter(({ tool }) => tool === 'task').map((call) => [call])
  return others.length === 0 ? tasks : [others, ...tasks]
}

/** Steps up to this one in which a model is asked; none = this one makes calls the prompt came with. */
export function stepsAsked({ prompt }: { readonly prompt: QueuedPrompt }, step: number): number {
  return Math.max(0, step - givenSteps(prompt).length)
}

/** The agent a step delegates to, whose name its message bears as agent and mode. */
export function delegateOf([call]: readonly GivenCall[]): string | undefined {
  const name = call?.tool === 'task' ? call.input['subagent_type'] : undefined
  // That mode means a summary of the conversation.
  return typeof name === 'string' && name !== COMPACTION ? name : undefined
}

/**
 * What the runtime tells a session goes on with what a prompt began: with its agent, and without the tools it left out. Otherwise a model
 * would get rid of both by starting something in the background that ends at once.
 */
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { Session } from '../../../protocol/session/session.js'
import { isNotice } from '../../../protocol/text/runtime-marks.js'

type Said = Pick<QueuedPrompt, 'agent' | 'tools' | 'system' | 'noReply'>

/** A notice as the last prompt would have been answered; every other prompt as it is. */
export function continued<Prompt extends Said>(prompt: Prompt, { continues }: Pick<Session, 'continues'>): Prompt {
  if (!isNotice(prompt.system) || continues === undefined) return prompt
  const { agent, refused = [] } = continues
  return {
    ...prompt,
    ...(agent !== undefined && { agent }),
    ...(refused.length > 0 && { tools: Object.fromEntries(refused.map((tool) => [tool, false])) }),
  }
}

/** What stands on the session once a prompt is answered; a notice changes nothing of it, nor does what no model answers. */
export function continuesAfter(
  { agent, tools = {}, system, noReply }: Said,
  before: Pick<Session, 'continues'>,
): Pick<Session, 'continues'> {
  if (noReply || isNotice(system)) return before.continues === undefined ? {} : { continues: before.continues }
  const refused = Object.entries(tools).flatMap(([tool, isOffered]) => (isOffered ? [] : [tool]))
  if (agent === undefined && refused.length === 0) return {}
  return { continues: { ...(agent !== undefined && { agent }), ...(refused.length > 0 && { refused }) } }
}

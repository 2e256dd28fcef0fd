/** Choosing options of an agent's session, one after the other: each among what is offered by then (subsystems l.2). */
import { SvcError } from '../../protocol/errors.js'
import type { AgentLink } from './link.js'
import { inOrder, isChosen, type Offered, offeredAfter, requireOffered, withMode } from './options.js'

/** Answers what is offered afterwards. Throws `request.invalid` for what is not offered or not taken. */
export async function choose(
  link: Pick<AgentLink, 'request'>,
  sessionId: string,
  before: Offered,
  selected: Readonly<Record<string, string>>,
): Promise<Offered> {
  let offered = before
  for (const id of inOrder(offered, selected)) offered = await chooseOne(link, sessionId, offered, { id, value: selected[id] ?? '' })
  for (const [id, value] of Object.entries(selected)) requireOffered(offered, id, value)
  return offered
}

async function chooseOne(
  link: Pick<AgentLink, 'request'>,
  sessionId: string,
  offered: Offered,
  { id, value }: { readonly id: string; readonly value: string },
): Promise<Offered> {
  requireOffered(offered, id, value)
  if (offered.modeFallback) {
    await link.request('session/set_mode', { sessionId, modeId: value })
    return withMode(offered, value)
  }
  const after = offeredAfter(await link.request('session/set_config_option', { sessionId, configId: id, value }))
  if (isChosen(after, id, value)) return after
  throw new SvcError('request.invalid', `The agent has not taken "${value}" for its option "${id}".`, { configId: id, value })
}

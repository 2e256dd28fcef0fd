/** The agent that is meant. */
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'

/** Throws as a prompt to it would, before there is a session that nobody wants. */
export async function expectAgent(client: Client, directory: string, named: string): Promise<void> {
  const agents = await client.agents.list({ directory })
  if (agents.some(({ name }) => name === named)) return
  const known = agents.flatMap(({ name, hidden }) => (hidden ? [] : [name]))
  throw new SvcError('request.invalid', `There is no agent "${named}". Known agents: ${known.join(', ')}.`, { agent: named, known })
}

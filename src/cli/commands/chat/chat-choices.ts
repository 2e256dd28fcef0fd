/** What a chat goes on with: a model or an agent that is there. */
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import type { UserModel } from '../../../protocol/message/message.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { meant } from '../../line/nearest.js'

const SHOWN = 20

/** The agent of that name, which a person may choose. Throws an error that names those there are. */
export async function chooseAgent(client: Client, directory: string, named: string): Promise<string> {
  const names = (await client.agents.list({ directory }))
    .filter(({ mode, hidden }) => mode !== 'subagent' && !hidden)
    .map(({ name }) => name)
  if (names.includes(named)) return named
  const near = meant(named, names, (name) => name)
  throw new SvcError('resource.not_found', `There is no agent "${named}"${near || `; there are ${names.map(printable).join(', ')}`}`)
}

/** One line: the model in use, where one was chosen, and those that can be used. */
export async function modelsText(client: Client, directory: string, chosen: UserModel | undefined): Promise<string> {
  const { providers } = await client.providers.configured({ directory })
  const names = providers.flatMap(({ id, models }) => Object.keys(models).map((model) => printable(`${id}/${model}`)))
  const more = names.length > SHOWN ? `, and ${names.length - SHOWN} more (svc models)` : ''
  const now = chosen === undefined ? '' : `now ${chosen.providerId}/${chosen.modelId}; `
  return `${now}there are ${names.slice(0, SHOWN).join(', ')}${more}`
}

/** The model that is meant: `provider/model`, or a bare id that only one provider has. */
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import type { UserModel } from '../../../protocol/message/message.js'
import { meant } from '../../line/nearest.js'

/** Throws an error that names what was probably meant. A name of a provider that is not known here is the matter of the server. */
export async function chooseModel(client: Client, directory: string, named: string): Promise<UserModel> {
  const slash = named.indexOf('/')
  const { providers } = await client.providers.configured({ directory })
  const all = providers.flatMap(({ id: providerId, models }) => Object.keys(models).map((modelId) => ({ providerId, modelId })))
  const exact = { providerId: named.slice(0, slash), modelId: named.slice(slash + 1) }
  if (slash > 0 && providers.some(({ id }) => id === exact.providerId)) return exact
  const found = all.filter(({ modelId }) => modelId === named)
  if (found.length === 1 && found[0] !== undefined) return found[0]
  const full = ({ providerId, modelId }: UserModel) => `${providerId}/${modelId}`
  if (found.length > 1) {
    throw new SvcError('request.unprocessable', `"${named}" is a model of several providers; say which: ${found.map(full).join(', ')}`)
  }
  if (slash > 0) return exact
  const names = all.map(full)
  const near = meant(
    named,
    all.map(({ modelId }) => modelId),
    (id) => names[all.findIndex(({ modelId }) => modelId === id)] ?? id,
  )
  throw new SvcError(
    'resource.not_found',
    `There is no model "${named}"${near}${near === '' ? `; there are ${names.slice(0, 10).join(', ')}` : ''}`,
  )
}

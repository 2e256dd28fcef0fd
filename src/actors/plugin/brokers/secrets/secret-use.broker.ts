/** `host.secret.use`: what the host does with a secret that the plugin never sees (plugin-protocol §4.8). */
import { createHmac } from 'node:crypto'
import { SvcError } from '../../../../protocol/errors.js'
import { type Broker, defineBroker } from '../broker.js'
import type { PluginSecrets } from './plugin-secrets.js'

export function createSecretUseBroker(secrets: PluginSecrets): Broker {
  return defineBroker('secret-use', (lease) => ({
    operations: {
      async list() {
        const aliases = lease.declared.secrets?.map(({ alias }) => alias) ?? []
        return { secrets: await Promise.all(aliases.map(async (alias) => ({ alias, isSet: await secrets.isSet(lease, alias) }))) }
      },
      async sign({ alias, algorithm, text, base64, encoding }) {
        if ((text === undefined) === (base64 === undefined))
          throw new SvcError('request.unprocessable', 'what is signed is either text or base64')
        const key = await secrets.key(lease, alias)
        const signed = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text)
        return { signature: createHmac(algorithm, key).update(signed).digest(encoding) }
      },
    },
  }))
}

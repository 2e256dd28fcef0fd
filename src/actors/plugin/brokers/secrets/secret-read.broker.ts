/** `host.secret.read`: the value of a secret, for a plugin that may read its own (plugin-protocol §4.8). */
import { type Broker, defineBroker } from '../broker.js'
import type { PluginSecrets } from './plugin-secrets.js'

export function createSecretReadBroker(secrets: PluginSecrets): Broker {
  return defineBroker('secret-read', (lease) => ({
    operations: {
      async get({ alias }) {
        return { value: await secrets.value(lease, alias) }
      },
    },
  }))
}

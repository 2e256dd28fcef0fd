/** Every broker of this program, by the capability it serves: one line each. */
import type { BrokerCapability } from '../../../protocol/plugin/broker-operations.js'
import type { HostCapability } from '../../../protocol/plugin/plugin.js'
import type { Effects } from '../../../ports/effects.js'
import type { Broker } from './broker.js'
import { createNetworkBroker } from './network/network.broker.js'
import { createPluginSecrets } from './secrets/plugin-secrets.js'
import type { SecretFile } from './secrets/secret-file.js'
import { createSecretReadBroker } from './secrets/secret-read.broker.js'
import { createSecretUseBroker } from './secrets/secret-use.broker.js'

interface BrokerDeps {
  readonly effects: Effects
  readonly secretFile: SecretFile
  /** Address of this server, once it is known. */
  serverUrl(): string | undefined
}

export function installBrokers({ effects, secretFile, serverUrl }: BrokerDeps): ReadonlyMap<HostCapability, Broker> {
  const secrets = createPluginSecrets(secretFile)
  const brokers: Readonly<Record<BrokerCapability, Broker>> = {
    network: createNetworkBroker({ effects, secrets, serverUrl }),
    'secret-use': createSecretUseBroker(secrets),
    'secret-read': createSecretReadBroker(secrets),
  }
  return new Map(Object.entries(brokers) as [BrokerCapability, Broker][])
}

/** What serves plugins that have the host run, read and ask: each broker with what it needs. Sessions come later: their doors are given then. */
import { resolve } from 'node:path'
import { SvcError } from '../../protocol/errors.js'
import { canonicalPath } from '../../protocol/text/canonical-path.js'
import type { BrokerDoors } from '../../ports/broker-doors.js'
import type { Configs } from '../../ports/facades.js'
import type { Effects } from '../../ports/effects.js'
import type { CommandSandboxes } from '../../platform/confinement/confined-command.js'
import type { Store } from '../../store/store.js'
import type { Live } from '../events/live.js'
import { foundProgram } from '../host/found-program.js'
import type { OtherBrokers } from '../plugin/brokers/installed.js'
import { messageBroker } from '../plugin/brokers/message-read.broker.js'
import { policyBroker } from '../plugin/brokers/policy-invoke.broker.js'
import { processBroker } from '../plugin/brokers/process-spawn.broker.js'
import { promptBroker } from '../plugin/brokers/prompt-read.broker.js'
import { providerBroker } from '../plugin/brokers/provider-access.broker.js'
import { responseBroker } from '../plugin/brokers/response-transform.broker.js'
import { taskBroker } from '../plugin/brokers/task-spawn.broker.js'
import type { ProtectedFiles } from '../../ports/plugin.js'
import { sandboxOf } from '../resource/config/permission-config.js'

interface BrokerWiring {
  readonly effects: Effects
  readonly store: Store
  readonly live: Live
  readonly sandbox: CommandSandboxes
  readonly configs: Pick<Configs, 'load'>
  readonly protectedFiles: ProtectedFiles
}

export function wireBrokers({ effects, store, live, sandbox, configs, protectedFiles }: BrokerWiring) {
  let given: BrokerDoors | undefined
  const doors = (): BrokerDoors => {
    if (given === undefined) throw new SvcError('lifecycle.closed', 'The service is starting.')
    return given
  }
  const programs = {
    effects,
    store,
    sandbox: { ...sandbox, isOn: async (directory: string) => sandboxOf(await configs.load(directory)) === 'on' },
    rules: { decisions: async (...asked: Parameters<BrokerDoors['policy']['decisions']>) => doors().policy.decisions(...asked) },
    find: (name: string, directory: string) => foundProgram(effects, name, directory),
  }
  const brokers: OtherBrokers = {
    'process-spawn': processBroker(programs),
    'task-spawn': taskBroker({ effects, store, tasks: () => doors().tasks }),
    'prompt-read': promptBroker({ effects, store }),
    'message-read': messageBroker({ effects, store }),
    'response-transform': responseBroker({ store, live }),
    'provider-access': providerBroker({ effects, store, models: () => doors().models }),
    'policy-invoke': policyBroker({
      effects,
      store,
      policy: () => doors().policy,
      isProtected: async (directory, path) => {
        const [reason] = await protectedFiles.reasons([await canonicalPath((at) => effects.files.realPath(at), resolve(directory, path))])
        return reason !== undefined
      },
    }),
  }
  return { brokers, give: (doorsOfSessions: BrokerDoors) => void (given = doorsOfSessions) }
}

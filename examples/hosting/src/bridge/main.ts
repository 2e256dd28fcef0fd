/** A bridge: node bridge.js <configuration>. Its machines go on when it ends, and it knows them when it is started again. */
import { join } from 'node:path'
import { readConfig } from '../controller/config.js'
import { createLog } from '../controller/log.js'
import { readSecret } from '../controller/secrets.js'
import { createWorkerBearers } from '../models/credentials.js'
import { openDriver } from '../drivers/open.js'
import { BridgeConfig } from './config.js'
import { openLedger } from './ledger.js'
import { createMachines } from './machines.js'
import { createBridge } from './server.js'

const config = readConfig(BridgeConfig, process.argv[2] ?? '')
const log = createLog(`bridge ${config.provider}`)
const bearers = createWorkerBearers(readSecret(config.workerKeyFile))
const driver = await openDriver(config, bearers)
const machines = createMachines(config.provider, driver, await openLedger(join(config.data, 'ledger')))
const server = createBridge({ coordinators: config.coordinators, machines, log })
server.listen(config.listen.port, config.listen.host, () => {
  process.stdout.write(`bridge ${config.provider} listening on http://${config.listen.host}:${config.listen.port}\n`)
})
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => process.exit(0))

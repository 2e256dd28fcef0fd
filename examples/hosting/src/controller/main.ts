/** A controller: node controller.js <configuration>. Prints one line when it can be asked; ends on SIGTERM, and gives back what it has. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdmission } from '../broker/admission.js'
import { createBroker } from '../broker/broker.js'
import { createRoutes } from '../broker/routes.js'
import { createGrants } from '../credentials/grant.js'
import { createSigner } from '../credentials/worker-token.js'
import { openDatabase } from '../database/open.js'
import { sendJson } from '../http/json.js'
import { createModelCredentials, createWorkerBearers } from '../models/credentials.js'
import { createModelHost } from '../models/host.js'
import { createProvider } from '../provider/provider.js'
import { createActivityLog } from './activity-log.js'
import { createBindingsCache } from './bindings-cache.js'
import { ControllerConfig, readConfig } from './config.js'
import { createHostApi } from './host-api.js'
import { createLaunches, seconds } from './launches.js'
import { createLog } from './log.js'
import { createOwnership } from './ownership.js'
import { readSecret } from './secrets.js'
import { createSteps } from './steps.js'
import { createWaking } from './waking.js'
import { createWorkers } from './worker-client.js'

const config = readConfig(ControllerConfig, process.argv[2] ?? '')
const log = createLog(config.id)
const signer = createSigner(readSecret(config.signingSeedFile))
const grantKey = readSecret(config.grantKeyFile)
const grants = createGrants(grantKey)
const database = await openDatabase(readSecret(config.databaseFile).toString().trim())
const { bindings, leases, activity } = database
const launches = createLaunches(config, signer.verificationKey)
const workers = createWorkers(signer)
const provider = createProvider({ url: config.provider.url, bearer: readSecret(config.provider.bearerFile).toString().trim() })

const cache = createBindingsCache(database, bindings, log)
const routes = createRoutes(cache, workers)
const { wake, doubt } = createWaking({ bindings, cache, routes, log }, config.times.wake)
const usage = createActivityLog(activity, config.id)
const ownership = createOwnership({
  id: config.id,
  url: config.baseUrl,
  leaseSeconds: config.times.lease,
  inspectSeconds: config.times.inspect,
  leases,
  find: (key) => cache.get(key),
  stepsOf: (key, hold) => createSteps({ bindings, activity, provider, workers, launches, times: config.times }, key, hold),
  nextName: () => `${config.id}:${randomUUID()}`,
  log,
})
cache.onChange((key) => ownership.consider(key))
await cache.start()
await database.listen(
  'controller',
  () => void sweep(),
  () => void sweep(),
)

const authority = config.provider.authorityFile === undefined ? undefined : readFileSync(config.provider.authorityFile, 'utf8')
const admission = createAdmission({ grants, cache, routes, workers, wake })
const broker = createBroker({ admission, used: usage.used, opened: usage.opened, missed: doubt, authority })
const hostApi = createHostApi({ config, bindings, launches, grants, wake, log })
const modelHost = createModelHost({
  bearers: createWorkerBearers(readSecret(config.workers.keyFile)),
  credentials: createModelCredentials(grantKey),
  providers: config.workers.models.map((model) => ({ ...model, key: readSecret(model.keyFile).toString().trim() })),
  find: (key) => cache.get(key),
  now: seconds,
  log,
})

async function sweep(): Promise<void> {
  await ownership.sweep().catch((error: unknown) => log('orphans could not be looked for', error))
}
const every = [
  setInterval(() => void sweep(), (config.times.lease * 1000) / 3),
  setInterval(() => void usage.flush().catch((error: unknown) => log('usage could not be told', error)), 1000),
]

const front = createServer({ noDelay: true }, (request, response) => {
  if (request.url === '/healthz') return sendJson(response, 200, { id: config.id })
  if (hostApi.answer(request, response)) return
  void broker.answer(request, response)
})
front.on('upgrade', (request, socket, head) => void broker.upgrade(request, socket, head))
const forWorkers = createServer({ noDelay: true }, modelHost)
await listen(forWorkers, config.workers.listen)
await listen(front, config.listen)
process.stdout.write(`controller ${config.id} listening on http://${config.listen.host}:${(front.address() as AddressInfo).port}\n`)

async function stop(): Promise<void> {
  for (const each of every) clearInterval(each)
  front.close()
  forWorkers.close()
  await usage.flush().catch(() => undefined)
  await ownership.close()
  broker.close()
  await database.close()
  process.exit(0)
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())

function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
}

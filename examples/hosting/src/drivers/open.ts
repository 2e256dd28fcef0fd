/** The driver that a configuration names. */
import { join } from 'node:path'
import type { BridgeConfig } from '../bridge/config.js'
import type { Sealed } from '../credentials/sealed.js'
import type { WorkerBearer } from '../models/credentials.js'
import { bubblewrapDriver } from './bubblewrap.js'
import type { Driver } from './driver.js'

export async function openDriver({ driver, data, hosts, workerConfig }: BridgeConfig, bearers: Sealed<WorkerBearer>): Promise<Driver> {
  const parts = { data: join(data, 'm'), hosts, config: workerConfig, bearers }
  if (driver.kind === 'bubblewrap') return bubblewrapDriver({ ...parts, programs: driver.programs, isolation: driver.isolation })
  throw new Error(`no driver ${driver.kind}`)
}

/** The driver that a configuration names. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BridgeConfig } from '../bridge/config.js'
import type { Sealed } from '../credentials/sealed.js'
import type { WorkerBearer } from '../models/credentials.js'
import { bubblewrapDriver } from './bubblewrap.js'
import type { Driver } from './driver.js'
import { kubernetesDriver } from './kubernetes.js'
import { podmanDriver } from './podman.js'

export async function openDriver({ driver, data, hosts, workerConfig }: BridgeConfig, bearers: Sealed<WorkerBearer>): Promise<Driver> {
  const parts = { data: join(data, 'm'), hosts, config: workerConfig, bearers }
  if (driver.kind === 'bubblewrap') return bubblewrapDriver({ ...parts, ...driver })
  if (driver.kind === 'podman') return podmanDriver({ ...parts, ...driver })
  // Loaded where there is a cluster, and nowhere else.
  const { CoreV1Api, KubeConfig, NetworkingV1Api } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  config.loadFromDefault()
  const cluster = { core: config.makeApiClient(CoreV1Api), network: config.makeApiClient(NetworkingV1Api) }
  return kubernetesDriver(cluster, { ...parts, ...driver }, (ms) => sleep(ms))
}

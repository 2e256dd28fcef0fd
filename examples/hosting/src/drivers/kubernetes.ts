/**
 * Machines that are pods. Written to the official client, and tried against a stand-in that records what is asked of it; no cluster has run it.
 *
 * Owns the objects whose names begin with `svc-` in its namespace. A pod is never changed: it is deleted and made again.
 */
import type { CoreV1Api, NetworkingV1Api } from '@kubernetes/client-node'
import { TLS_PORT } from '../inside/ports.js'
import type { Allocation } from '../records/machines.js'
import type { Driver, Place } from './driver.js'
import { endedBy } from './ending.js'
import { claimName, claimOf, type KubernetesOptions, podOf, policyOf, secretOf, serviceOf } from './kubernetes-objects.js'
import { machineName } from './names.js'

export interface Cluster {
  readonly core: Pick<
    CoreV1Api,
    | 'createNamespacedPersistentVolumeClaim'
    | 'createNamespacedPod'
    | 'createNamespacedSecret'
    | 'createNamespacedService'
    | 'deleteNamespacedPersistentVolumeClaim'
    | 'deleteNamespacedPod'
    | 'deleteNamespacedSecret'
    | 'deleteNamespacedService'
    | 'readNamespacedPod'
  >
  readonly network: Pick<NetworkingV1Api, 'createNamespacedNetworkPolicy'>
}

const LOOK = 250
const PATIENCE = 60_000

export function kubernetesDriver({ core, network }: Cluster, options: KubernetesOptions, pause: (ms: number) => Promise<void>): Driver {
  const { namespace } = options

  async function inspect(allocation: Allocation): Promise<Place> {
    const pod = await unless(404, core.readNamespacedPod({ namespace, name: machineName(allocation) }))
    if (pod === undefined) return { state: 'stopped', ready: false }
    if (pod.metadata?.deletionTimestamp !== undefined) return { state: 'stopping', ready: false }
    const phase = pod.status?.phase
    if (phase === 'Failed' || phase === 'Succeeded') return { state: 'stopped', ready: false }
    if (phase !== 'Running') return { state: 'provisioning', ready: false }
    const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
    return { state: 'running', ready, baseUrl: `https://${machineName(allocation)}.${namespace}.svc:${TLS_PORT}/` }
  }

  /** The volume is free when the pod is gone, and not before. */
  async function end(allocation: Allocation): Promise<void> {
    const name = machineName(allocation)
    await unless(404, core.deleteNamespacedPod({ namespace, name }))
    for (let waited = 0; (await unless(404, core.readNamespacedPod({ namespace, name }))) !== undefined; waited += LOOK) {
      if (waited > PATIENCE) throw new Error(`the pod ${name} does not end`)
      await pause(LOOK)
    }
  }

  return {
    capabilities: {
      isolation: options.runtimeClass === undefined ? 'container' : 'virtual_machine',
      cpu_limit: true,
      memory_limit: true,
      disk_limit: true,
      durable_workspace: true,
      stop_start: true,
    },
    transport: 'https',
    machineId: machineName,
    async start(allocation) {
      const before = await inspect(allocation)
      if (before.state === 'running' || before.state === 'provisioning') return before
      await end(allocation)
      await unless(409, network.createNamespacedNetworkPolicy({ namespace, body: policyOf() }))
      await unless(409, core.createNamespacedPersistentVolumeClaim({ namespace, body: claimOf(allocation, options) }))
      await unless(409, core.createNamespacedSecret({ namespace, body: secretOf(allocation, options) }))
      await unless(409, core.createNamespacedService({ namespace, body: serviceOf(allocation) }))
      await core.createNamespacedPod({ namespace, body: podOf(allocation, options) })
      return inspect(allocation)
    },
    inspect,
    ...endedBy({
      end,
      async clear(allocation, what) {
        const name = machineName(allocation)
        await unless(404, core.deleteNamespacedService({ namespace, name }))
        await unless(404, core.deleteNamespacedSecret({ namespace, name }))
        if (what === 'machine and volume')
          await unless(404, core.deleteNamespacedPersistentVolumeClaim({ namespace, name: claimName(allocation) }))
      },
    }),
  }
}

/** Undefined when the cluster answers this: it is there already, or not there any more. */
async function unless<Answer>(code: number, asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === code) return undefined
    throw error
  }
}

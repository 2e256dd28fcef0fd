/**
 * What a workspace is in a cluster: a claim for its volume, and for each generation a secret, a pod and a service, and a policy that lets
 * nobody but controllers in and nothing but controllers out.
 */
import type { V1NetworkPolicy, V1PersistentVolumeClaim, V1Pod, V1Secret, V1Service } from '@kubernetes/client-node'
import { AGENT_HOST, TLS_PORT } from '../inside/ports.js'
import type { Allocation } from '../records/machines.js'
import { clusterCommandLine, environmentOf, FILES, launchFiles, type LaunchParts, WITHIN } from './launch.js'
import { machineName, shortName } from './names.js'

export interface KubernetesOptions extends LaunchParts {
  readonly namespace: string
  /** Addresses of images, by the name in a spec. */
  readonly images: Readonly<Record<string, string>>
  readonly tlsSecret: string
  readonly storageClass?: string | undefined
  readonly runtimeClass?: string | undefined
  readonly hostUrl: string
}

/** Of controllers, by which policies know them. */
const CONTROLLER = { 'app.kubernetes.io/name': 'svc-controller' }
const GRACE = 30

export const claimName = (allocation: Allocation): string => `svc-${shortName(allocation.owner)}`

const labelsOf = (allocation: Allocation) => ({
  'app.kubernetes.io/name': 'svc-worker',
  'svc.dev/workspace': shortName(allocation.owner),
  'svc.dev/generation': String(allocation.generation),
})

const metadataOf = (allocation: Allocation, name: string) => ({ name, labels: labelsOf(allocation) })

export function claimOf(allocation: Allocation, { storageClass }: KubernetesOptions): V1PersistentVolumeClaim {
  return {
    metadata: { name: claimName(allocation), labels: { 'svc.dev/workspace': shortName(allocation.owner) } },
    spec: {
      // One node at a time: a machine that is not known to be gone keeps its successor from the volume.
      accessModes: ['ReadWriteOncePod'],
      resources: { requests: { storage: `${allocation.spec.disk_gib}Gi` } },
      ...(storageClass !== undefined && { storageClassName: storageClass }),
    },
  }
}

export function secretOf(allocation: Allocation, options: KubernetesOptions): V1Secret {
  const data: Record<string, string> = {}
  for (const { name, content } of launchFiles(allocation, options)) data[keyOf(name)] = Buffer.from(content).toString('base64')
  return { metadata: metadataOf(allocation, machineName(allocation)), type: 'Opaque', immutable: true, data }
}

/** Keys of a secret have no slash. */
const keyOf = (file: string): string => file.replaceAll('/', '_')

export function podOf(allocation: Allocation, options: KubernetesOptions): V1Pod {
  const { spec, launch } = allocation
  const { root = '/workspace', state_root = '/state' } = launch ?? {}
  const image = options.images[spec.image]
  if (image === undefined) throw new Error(`there is no image ${spec.image}`)
  const limits = { cpu: String(spec.vcpus), memory: `${spec.memory_mib}Mi` }
  // A file of a secret is a link unless it is mounted alone, and a worker takes no links.
  const files = Object.values(FILES).map((file) => ({
    name: 'launch',
    mountPath: `${WITHIN.launch}/${file}`,
    subPath: keyOf(file),
    readOnly: true,
  }))
  return {
    metadata: metadataOf(allocation, machineName(allocation)),
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: GRACE,
      ...(options.runtimeClass !== undefined && { runtimeClassName: options.runtimeClass }),
      securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'worker',
          image,
          command: ['node', ...clusterCommandLine(options.hostUrl)],
          env: Object.entries(environmentOf(allocation)).map(([name, value]) => ({ name, value })),
          workingDir: root,
          ports: [{ name: 'agent', containerPort: TLS_PORT }],
          readinessProbe: {
            httpGet: { path: '/v2/health', port: 'agent', scheme: 'HTTPS', httpHeaders: [{ name: 'Host', value: AGENT_HOST }] },
            periodSeconds: 1,
            failureThreshold: 60,
          },
          resources: { limits, requests: limits },
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          volumeMounts: [
            { name: 'volume', mountPath: root, subPath: 'root' },
            { name: 'volume', mountPath: state_root, subPath: 'state' },
            { name: 'tmp', mountPath: '/tmp' },
            { name: 'tls', mountPath: WITHIN.tls, readOnly: true },
            ...files,
          ],
        },
      ],
      volumes: [
        { name: 'volume', persistentVolumeClaim: { claimName: claimName(allocation) } },
        { name: 'tmp', emptyDir: {} },
        { name: 'tls', secret: { secretName: options.tlsSecret, defaultMode: 0o440 } },
        { name: 'launch', secret: { secretName: machineName(allocation), defaultMode: 0o440 } },
      ],
    },
  }
}

export function serviceOf(allocation: Allocation): V1Service {
  return {
    metadata: metadataOf(allocation, machineName(allocation)),
    spec: { selector: labelsOf(allocation), ports: [{ name: 'agent', port: TLS_PORT, targetPort: 'agent' }] },
  }
}

/** One for all machines of a namespace. */
export function policyOf(): V1NetworkPolicy {
  const controllers = [{ podSelector: { matchLabels: CONTROLLER }, namespaceSelector: {} }]
  return {
    metadata: { name: 'svc-workers' },
    spec: {
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'svc-worker' } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ _from: controllers, ports: [{ port: TLS_PORT, protocol: 'TCP' }] }],
      egress: [{ to: controllers }],
    },
  }
}

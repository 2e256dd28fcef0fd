// Holds http-contract §7.2.
/**
 * The driver of Kubernetes against a stand-in of its API that records what it is asked, under the rules of the bridge. No cluster takes part:
 * that the objects are those of the official client's types is checked where its packages are (`.ci/hosting`).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPackages, installHosting } from './host.js'

const allocation = (generation: number) => ({
  owner: { tenant: 'acme', workspace: 'alpha' },
  generation,
  provider: 'cluster',
  spec: { image: 'svc', region: 'here', vcpus: 2, memory_mib: 1024, disk_gib: 10 },
  launch: {
    version: 1,
    runtime_id: `rt-${generation}`,
    root: '/workspace',
    state_root: '/state',
    expires_at: 2_000_000_000,
    verification_key: 'A'.repeat(43),
  },
})

/** Keeps objects by kind and name, answers 404 and 409 as a cluster does, and a pod that is deleted goes at the next look. */
function standIn() {
  const asked: string[] = []
  // oxlint-disable-next-line typescript/no-explicit-any -- objects of a cluster
  const kept = new Map<string, any>()
  const fault = (code: number) => Promise.reject(Object.assign(new Error(`answered ${code}`), { code }))
  const created =
    (kind: string) =>
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    ({ body }: any) => {
      const name = `${kind}/${body.metadata.name as string}`
      if (kept.has(name)) return fault(409)
      asked.push(`create ${kind}`)
      kept.set(name, kind === 'pod' ? { ...body, status: { phase: 'Pending' } } : body)
      return Promise.resolve(body)
    }
  const deleted =
    (kind: string) =>
    ({ name }: { readonly name: string }) => {
      if (!kept.delete(`${kind}/${name}`)) return fault(404)
      asked.push(`delete ${kind}`)
      return Promise.resolve({})
    }
  const core = {
    createNamespacedPod: created('pod'),
    createNamespacedPersistentVolumeClaim: created('claim'),
    createNamespacedSecret: created('secret'),
    createNamespacedService: created('service'),
    deleteNamespacedPod: deleted('pod'),
    deleteNamespacedPersistentVolumeClaim: deleted('claim'),
    deleteNamespacedSecret: deleted('secret'),
    deleteNamespacedService: deleted('service'),
    readNamespacedPod: ({ name }: { readonly name: string }) =>
      kept.has(`pod/${name}`) ? Promise.resolve(kept.get(`pod/${name}`)) : fault(404),
  }
  return { asked, kept, cluster: { core, network: { createNamespacedNetworkPolicy: created('policy') } } }
}

describe.skipIf(!hasPackages())(
  `pods${hasPackages() ? '' : ' (skipped: .ci/hosting has not installed the packages of the example)'}`,
  () => {
    let folder: string
    // oxlint-disable-next-line typescript/no-explicit-any -- a program of its own
    let parts: any
    beforeAll(async () => {
      folder = installHosting()
      parts = await import(pathToFileURL(join(folder, 'dist/parts.js')).href)
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    async function open() {
      const recorder = standIn()
      const options = {
        namespace: 'workers',
        images: { svc: 'registry.example/svc:1' },
        tlsSecret: 'tls',
        hostUrl: 'https://controllers.example',
        config: {},
        bearers: parts.createWorkerBearers(Buffer.alloc(32, 1)),
      }
      const driver = parts.kubernetesDriver(recorder.cluster, options, () => Promise.resolve())
      const ledger = mkdtempSync(join(tmpdir(), 'svc-ledger-'))
      const machines = parts.createMachines('cluster', driver, await parts.openLedger(ledger))
      const ask = (verb: string, generation: number, handle?: object) =>
        machines.ask(verb, { version: 2, allocation: allocation(generation), handle })
      // oxlint-disable-next-line typescript/no-explicit-any -- as above
      const pod = (): any => [...recorder.kept].find(([name]) => name.startsWith('pod/'))?.[1]
      return { ...recorder, ask, pod, close: () => rmSync(ledger, { recursive: true }) }
    }

    test('are made once, answered for, replaced by the next generation, and gone with their claim', async () => {
      const { asked, kept, ask, pod, close } = await open()
      const first = await ask('ensure', 1)
      expect(first).toMatchObject({ state: 'provisioning', ready: false })
      expect(await ask('ensure', 1)).toEqual(first)
      expect(asked.splice(0)).toEqual(['create policy', 'create claim', 'create secret', 'create service', 'create pod'])
      pod().status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
      const url = `https://${first.handle.machine_id as string}.workers.svc:8443/`
      expect(await ask('inspect', 1)).toMatchObject({
        state: 'running',
        ready: true,
        connection: { transport: 'https', agent_api_base_url: url },
      })

      const second = await ask('ensure', 2)
      expect(asked.splice(0)).toEqual(['delete pod', 'delete service', 'delete secret', 'create secret', 'create service', 'create pod'])
      await expect(ask('stop', 1, first.handle)).rejects.toMatchObject({ status: 409 })
      expect(await ask('stop', 2, second.handle)).toMatchObject({ state: 'stopped' })
      expect(await ask('destroy', 2, second.handle)).toMatchObject({ state: 'destroyed' })
      expect(asked.splice(0)).toEqual(['delete pod', 'delete service', 'delete secret', 'delete claim'])
      expect([...kept.keys()]).toEqual(['policy/svc-workers'])
      expect(await ask('destroy', 2, second.handle)).toMatchObject({ state: 'destroyed' })
      close()
    })

    test('have no rights in the cluster, no capabilities, limits of the spec, and files that are no links', async () => {
      const { ask, kept, pod, close } = await open()
      await ask('ensure', 1)
      const { spec } = pod()
      expect(spec).toMatchObject({ automountServiceAccountToken: false, restartPolicy: 'Never', securityContext: { runAsNonRoot: true } })
      const [worker] = spec.containers
      expect(worker).toMatchObject({
        image: 'registry.example/svc:1',
        resources: { limits: { cpu: '2', memory: '1024Mi' } },
        securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      })
      const launched = worker.volumeMounts.filter(({ name }: { name: string }) => name === 'launch')
      expect(launched.length).toBeGreaterThan(2)
      for (const mount of launched) expect(mount).toMatchObject({ subPath: expect.any(String) as string, readOnly: true })
      const secret = [...kept].find(([name]) => name.startsWith('secret/'))?.[1]
      expect(JSON.parse(Buffer.from(secret.data['bootstrap.json'] as string, 'base64').toString())).toMatchObject({
        tenantId: 'acme',
        runtimeGeneration: 1,
      })
      expect(kept.get('policy/svc-workers')).toMatchObject({ spec: { policyTypes: ['Ingress', 'Egress'] } })
      close()
    })
  },
)

import { createActorDirectory } from '../../../../src/kernel/roots.js'
import { createGuardedFetch } from '../../../../src/platform/node/network/guarded-fetch.js'
import { listenForRedirect } from '../../../../src/platform/node/network/redirect-listener.js'
import { createWayOut } from '../../../../src/platform/node/network/way-out.js'
import { createNodeClock } from '../../../../src/platform/node/node-effects.js'
import { createConnections } from '../../../../src/actors/provider/credentials/connections.js'
import { createCredentialFile } from '../../../../src/actors/provider/credentials/credential-file.js'
import { createProviderRenewal, createProviderSignIns } from '../../../../src/actors/provider/sign-in/provider-sign-ins.js'
import type { Effects } from '../../../../src/ports/effects.js'
import { TRUSTED_CALLER } from '../../../../src/protocol/caller.js'
import { createFakeEffects, type FakeEffects } from '../../../fakes/effects.js'

export const ENDPOINT = 'https://api.vendor.example/v1'
export const CALLER = TRUSTED_CALLER

/** Sign-ins at a server, over a credential file of their own, or that of another process. */
export function setUpSignIns(
  signIn: object,
  { rewrite, of, clock = createNodeClock() }: { rewrite?: (json: string) => string; of?: FakeEffects; clock?: Effects['clock'] } = {},
) {
  const made = createFakeEffects(of === undefined ? {} : { paths: of.paths })
  const wayOut = createWayOut({ env: {}, log: made.log, now: () => 0 })
  const guarded = createGuardedFetch(wayOut)
  const asked: string[] = []
  const listening: number[] = []
  const network: Effects['network'] = {
    ...made.network,
    async guardedFetch(address, request) {
      asked.push(`${request.method ?? 'GET'} ${new URL(address).pathname}`)
      const { response, url } = await guarded(address, request)
      if (rewrite === undefined) return { response, url }
      const { status, headers } = response
      return { response: new Response(rewrite(await response.text()), { status, headers }), url }
    },
    async listenForRedirect(...wanted) {
      const listener = await listenForRedirect(...wanted)
      listening.push(listener.port)
      return { ...listener, close: () => (listening.splice(listening.indexOf(listener.port), 1), listener.close()) }
    },
    counts: wayOut.counts,
  }
  // The answers of a real server are about the real time.
  const effects = { ...made, network, clock }
  const document = { provider: { vendor: { signIn } } }
  const configs = { load: () => Promise.resolve(document) }
  const file = createCredentialFile(effects)
  const parts = { effects, file, configs, installation: '/installation' }
  const renewal = createProviderRenewal(parts)
  const providers = {
    connectable: () => Promise.resolve([{ id: 'vendor', hasKey: true, isSecret: true, takesTokens: true }]),
    endpoint: () => Promise.resolve(ENDPOINT),
  }
  const signIns = createProviderSignIns({
    ...parts,
    ...renewal,
    providers,
    actors: createActorDirectory({ now: () => effects.clock.now(), crashes: 8 }),
  })
  const { facade } = signIns
  return {
    ...renewal,
    made,
    file,
    asked,
    listening,
    stop: () => signIns.stop(),
    facade,
    connections: createConnections({ effects, file, endpointOf: () => Promise.resolve(ENDPOINT) }),
    async begin(method: string, more: object = {}) {
      const begun = await facade.authorize(CALLER, 'vendor', undefined, { method, ...more })
      if (begun?.attemptId === undefined) throw new Error('no attempt')
      return { ...begun, attemptId: begun.attemptId }
    },
    end: (attemptId: string, code?: string, signal = new AbortController().signal) =>
      facade.callback(CALLER, 'vendor', undefined, { method: 'browser', attemptId, ...(code !== undefined && { code }) }, signal),
    async stored() {
      const [entry] = (await file.read()).connections.get('vendor')?.values() ?? []
      return entry as { credential: { access: string; refresh: string; expires: number }; endpoint: string; issuer: string } | undefined
    },
  }
}

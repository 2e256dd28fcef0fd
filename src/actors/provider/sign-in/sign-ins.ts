/** Connecting providers: by sign-ins, tokens and keys (subsystems c.7). */
import { SvcError } from '../../../protocol/errors.js'
import type { AuthInfo } from '../../../protocol/provider/connection.js'
import type { SignInConfig } from '../../../protocol/resource/agent-config.js'
import type { SignIns } from '../../../ports/sign-ins.js'
import { type AttemptsDeps, createAttempts, newId, noSignIn } from './attempts.js'
import { createPastedTokens } from './pasted-tokens.js'
import type { ProviderAdministration } from '../../../ports/plugin.js'
import { pluginSignInEffects } from './plugin-sign-in.js'
import { chooseMethod, type Method } from './settings.js'

interface ProviderMethods {
  readonly methods: readonly Method[]
  readonly settings: SignInConfig | undefined
  /** Of a plugin, which signs in in its own way. */
  readonly administration?: ProviderAdministration
}

export interface SignInsDeps extends AttemptsDeps {
  /** Ways to connect a provider. Throws `resource.not_found` for one the installation does not know. */
  readonly methods: (providerId: string, workspaceId: string | undefined) => Promise<ProviderMethods>
  readonly allMethods: SignIns['methods']
  /** Where credentials of a provider go. */
  readonly address: (providerId: string) => Promise<string | undefined>
  /** Throws `resource.conflict` when nothing can be stored. */
  readonly checkWritable: () => void
  /** Throws `resource.not_found`. */
  readonly checkConnection: (providerId: string, workspaceId: string | undefined, connectionId: string) => Promise<void>
  readonly usage: SignIns['usage']
}

export interface SupervisedSignIns {
  readonly facade: SignIns
  /** Cancels all of them. */
  stop(): void
}

export function createSignIns(deps: SignInsDeps): SupervisedSignIns {
  const { effects, store } = deps
  const attempts = createAttempts(deps)
  const pasted = createPastedTokens(effects)
  const facade: SignIns = {
    methods: deps.allMethods,
    usage: deps.usage,
    async authorize(caller, providerId, workspaceId, request) {
      const { methods, settings, administration } = await deps.methods(providerId, workspaceId)
      const chosen = chooseMethod(methods, request.method)
      const { kind } = chosen
      deps.checkWritable()
      if (request.connectionId !== undefined) await deps.checkConnection(providerId, workspaceId, request.connectionId)
      if (kind === 'token') {
        const wanted = { label: request.label, connectionId: request.connectionId, attemptId: newId(effects.random) }
        return pasted.begin(caller, { providerId, workspaceId }, { ...wanted, address: await deps.address(providerId) })
      }
      if (kind === 'plugin' && administration !== undefined) {
        const { inputs, label = 'Sign-in', connectionId } = request
        const kept = { providerId, workspaceId, connectionId, label, endpoint: administration.keeper, issuer: undefined }
        const made = pluginSignInEffects({
          administration,
          answers: { method: methods.indexOf(chosen), inputs: inputs ?? {} },
          store: (credential) => store({ ...kept, credential }),
        })
        return attempts.beginWith(caller, { providerId, workspaceId }, { kind: 'device', made })
      }
      if (kind === 'api' || kind === 'plugin' || settings === undefined) return null
      return attempts.begin(caller, { providerId, workspaceId }, { kind, settings, request })
    },
    async callback(caller, providerId, workspaceId, { method, code, attemptId }, signal) {
      const place = { providerId, workspaceId }
      if (attemptId !== undefined && pasted.isKnown(attemptId)) {
        if (code === undefined || code === null) throw new SvcError('request.invalid', '"code" must be the token to store.')
        const wanted = pasted.take(caller, place, attemptId)
        if (wanted === undefined) throw noSignIn()
        const { label = 'Token', connectionId } = wanted
        await store({ ...place, connectionId, label, credential: tokenOf(code), endpoint: undefined, issuer: undefined })
        return true
      }
      if (attemptId !== undefined) {
        return attempts.end(caller, place, attemptId, code ?? undefined, signal)
      }
      const { methods, administration } = await deps.methods(providerId, workspaceId)
      const { kind } = chooseMethod(methods, method)
      if (kind !== 'api' && kind !== 'token') throw new SvcError('request.invalid', '"attemptId" must say which sign-in is meant.')
      if (code === undefined || code === null)
        throw new SvcError('request.invalid', `"code" must be the ${kind === 'api' ? 'key' : 'token'} to store.`)
      const credential: AuthInfo = kind === 'api' ? { type: 'api', key: code } : tokenOf(code)
      await store({
        ...place,
        connectionId: undefined,
        label: kind === 'api' ? 'Key' : 'Token',
        credential,
        endpoint: administration?.keeper,
        issuer: undefined,
      })
      return true
    },
  }
  return { facade, stop: attempts.stop }
}

function tokenOf(access: string): AuthInfo {
  return { type: 'oauth', access, refresh: '', expires: 0 }
}

/** Models as sessions ask for them: what is lent to strangers is looked at, and what a tenant uses is counted. */
import type { Providers } from '../../ports/facades.js'
import type { Effects } from '../../ports/effects.js'
import type { Store } from '../../store/store.js'
import type { Hosting } from '../tenancy/hosted-session.js'
import { createModelQuota } from './model-quota.js'

interface LendingDeps {
  readonly store: Pick<Store, 'sessions' | 'pluginRows' | 'transact'>
  readonly effects: Pick<Effects, 'clock'>
  readonly hosting: Pick<Hosting, 'checkModel'>
}

export function lendModels<P extends Pick<Providers, 'resolve'>>(providers: P, { store, effects, hosting }: LendingDeps): P {
  const counted = createModelQuota({ store, effects })
  const resolve: Providers['resolve'] = async (directory, ref, workspaceId, sessionId) => {
    const session = sessionId === undefined ? undefined : store.sessions.get(sessionId)
    await hosting.checkModel(session, ref.providerId)
    const resolved = await providers.resolve(directory, ref, workspaceId, sessionId)
    return session === undefined ? resolved : counted(session, resolved)
  }
  return { ...providers, resolve }
}

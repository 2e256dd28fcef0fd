/** Every credential besides the token of the operator, as the environment configures them (service.md, Authentication 3). */
import type { CredentialSource } from '../../ports/credentials.js'
import type { Effects } from '../../ports/effects.js'
import { openSigned } from './signed/signed.js'
import { openTokenFile, VARIABLE } from './tenants/token-file.js'

export interface Credentials {
  /** Undefined = there is none of this kind. */
  readonly file: CredentialSource | undefined
  readonly signed: CredentialSource | undefined
  /** How tenants are told apart, in a word for `GET /v2/health`. */
  resolver(): string
  close(): void
}

/** Rejects with `config.invalid` when one is configured and of no use (threat-model T1). */
export async function openCredentials(
  effects: Pick<Effects, 'clock' | 'env' | 'files' | 'log' | 'paths'>,
  userId: number | undefined,
): Promise<Credentials> {
  const { env, paths } = effects
  const value = env[VARIABLE]
  const runtime = env['XDG_RUNTIME_DIR']
  const isPrivate = runtime?.startsWith('/') === true
  const signed = await openSigned({
    effects,
    fixed: env['SVC_DAEMON_TOKEN'],
    file: `${isPrivate ? `${runtime}/svc` : `${paths.temp}/svc-${userId ?? 0}`}/daemon-token`,
    isShared: !isPrivate,
  })
  const file = value === undefined ? undefined : await openTokenFile({ effects, value, operator: env['SVC_AGENT_TOKEN'] })
  return {
    file,
    signed,
    resolver() {
      if (file !== undefined) return file.problem === undefined ? 'token-file' : 'token-file-outdated'
      return signed === undefined ? 'local' : 'daemon'
    },
    close: () => file?.close(),
  }
}

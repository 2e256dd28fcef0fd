/**
 * Signing in at a provider of a plugin, in the plugin's own way (plugin-protocol §7.2). The life is that of every sign-in; what differs is who is asked.
 *
 * I1 What it brought is stored for the plugin that brought it, and handed to nobody else.
 */
import { chartOf } from '../../../kernel/machine/chart.js'
import { fromCallback, fromPromise } from 'xstate'
import type * as z from 'zod'
import { type SignInEvent, signInMachine } from '../../../machines/sign-in/sign-in.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { AuthInfo } from '../../../protocol/provider/connection.js'
import { ProviderAuthAuthorization, ProviderAuthMethods } from '../../../protocol/provider/sign-in.js'
import type { ProviderAdministration } from '../../../ports/plugin.js'
import type { Method } from './settings.js'
import type { SignInEffects } from './sign-in.actor.js'

interface PluginSignIn {
  readonly administration: ProviderAdministration
  /** Which of its ways was chosen, and what was entered for that. */
  readonly answers: { readonly method: number; readonly inputs: Readonly<Record<string, string>> }
  store(credential: AuthInfo): Promise<void>
}

const Methods = ProviderAuthMethods.valueType.max(LIMITS.signIn.pluginMethods)
const { pluginAnswer, answer } = LIMITS.signIn

/** Ways to connect the provider, as its plugin has them. Rejects when it does not say in time, or says nonsense. */
export async function pluginMethods({ ask }: ProviderAdministration): Promise<Method[]> {
  const methods = readAnswer('authMethods', Methods, await ask('authMethods', null, { timeoutMs: pluginAnswer }))
  return methods.map((shown): Method => ({ kind: shown.type === 'api' ? 'api' : 'plugin', shown }))
}

export function pluginSignInEffects({ administration, answers, store }: PluginSignIn): SignInEffects {
  let attempt: z.infer<typeof ProviderAuthAuthorization> | null = null
  let code: string | undefined
  let tell: ((event: SignInEvent) => void) | undefined
  const needsCode = () => attempt?.method === 'code'

  const logic = chartOf(signInMachine).provide({
    actors: {
      offer: fromPromise(async ({ signal }) => {
        const answered = await administration.ask('oAuthAuthorize', answers, { timeoutMs: pluginAnswer, signal })
        attempt = readAnswer('oAuthAuthorize', ProviderAuthAuthorization.nullable(), answered)
        // Somebody opens it in a browser.
        if (attempt !== null && attempt.url !== '' && !/^https?:\/\//i.test(attempt.url))
          throw new SvcError('plugin.failed', "The plugin's answer to oAuthAuthorize is not valid: url is neither http nor https.")
        return { url: attempt?.url ?? '', instructions: attempt?.instructions ?? 'Nothing is to be done.' }
      }),
      hear: fromCallback(({ sendBack }) => {
        tell = sendBack
        if (code !== undefined || !needsCode()) sendBack({ type: 'answer.arrived' })
        return () => {
          tell = undefined
        }
      }),
      exchange: fromPromise(async ({ signal }) => {
        const { attemptId } = attempt ?? {}
        const given = { ...answers, ...(code !== undefined && { code }), ...(attemptId !== undefined && { attemptId }) }
        const isIn = await administration.ask('oAuthCallback', given, { timeoutMs: answer, signal })
        if (isIn !== true) throw new SvcError('request.unprocessable', 'The provider says that nobody has signed in.')
        const credential = readAnswer('auth', AuthInfo.nullable(), await administration.credential(signal))
        signal.throwIfAborted()
        if (credential === null) throw new SvcError('request.unprocessable', 'The provider has no credential after this sign-in.')
        await store(credential)
      }),
    },
  })

  return {
    logic,
    needsCode,
    paste(text) {
      if (!needsCode()) throw new SvcError('request.invalid', 'This sign-in takes no code: it ends by itself.')
      if (code !== undefined) return false
      code = text.trim()
      tell?.({ type: 'answer.arrived' })
      return true
    },
    close: () => undefined,
  }
}

/** Never says what was answered: it may be a secret. */
function readAnswer<Schema extends z.ZodType>(what: string, schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const path = parsed.error.issues[0]?.path.join('.') ?? ''
  throw new SvcError('plugin.failed', `The plugin's answer to ${what} is not valid${path === '' ? '' : `: ${path}`}.`)
}

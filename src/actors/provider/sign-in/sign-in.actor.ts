/** The effects of one sign-in. What is secret about it stays here: neither the machine nor a log sees it. */
import { chartOf } from '../../../kernel/machine/chart.js'
import { fromCallback, fromPromise } from 'xstate'
import { type SignInEvent, type SignInKind, signInMachine, type SignInOffer } from '../../../machines/sign-in/sign-in.machine.js'
import { SvcError, toFailure } from '../../../protocol/errors.js'
import { timeLimit } from '../../../kernel/patience.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { SignInConfig } from '../../../protocol/resource/agent-config.js'
import type { Effects, RedirectListener, RedirectPage } from '../../../ports/effects.js'
import type { BrowserGrant, DeviceGrant, OAuth, Tokens } from './oauth.js'
import { redirectOf } from './settings.js'

export interface SignInDeps {
  readonly effects: Pick<Effects, 'network' | 'clock'>
  readonly oauth: OAuth
}

/** What a sign-in is about. */
export interface SignInPlan {
  readonly kind: SignInKind
  readonly settings: SignInConfig
  store(tokens: Tokens): Promise<void>
}

export interface SignInEffects {
  readonly logic: typeof signInMachine
  /** Takes what its user pasted; false when something else has been taken. Throws `request.invalid` for what is no answer to this sign-in. */
  paste(text: string): boolean
  /** Whether it ends with a code alone, where its kind does not say; known once it has been offered. */
  needsCode?(): boolean
  /** Lets go of what it holds. */
  close(): void
}

export function signInEffects({ effects, oauth }: SignInDeps, { kind, settings, store }: SignInPlan): SignInEffects {
  let listener: RedirectListener | undefined
  let grant: BrowserGrant | undefined
  let device: DeviceGrant | undefined
  let redirect: URL | undefined
  let answer: URL | undefined
  let tokens: Tokens | undefined
  let tell: ((event: SignInEvent) => void) | undefined

  /** I1 of the machine: the first answer is taken. */
  const take = (address: URL): boolean => {
    if (answer !== undefined) return false
    answer = address
    listener?.close()
    tell?.({ type: 'answer.arrived' })
    return true
  }
  const arrive = (address: URL): RedirectPage => {
    if (grant?.isOurs(address) !== true) return page(400, 'This is not an answer that svc waits for.')
    if (!take(address)) return page(409, 'This sign-in is over.')
    return address.searchParams.has('error')
      ? page(200, 'The sign-in was refused. You can close this page.')
      : page(200, 'Thank you. You can close this page and go back to svc.')
  }

  async function offer(): Promise<SignInOffer> {
    if (kind === 'device') {
      device = await oauth.device(settings)
      return { url: device.url, instructions: `Open the address and enter the code ${device.code}` }
    }
    redirect = redirectOf(kind, settings)
    if (kind === 'browser') {
      listener = await effects.network.listenForRedirect(Number(redirect.port || 0), redirect.pathname, arrive)
      redirect.port = String(listener.port)
    }
    grant = await oauth.browser(settings, redirect.href)
    const instructions =
      kind === 'browser'
        ? 'Open the address in a browser on this machine. In another browser, paste the address it is sent to in the end.'
        : 'Open the address, and paste the code that is shown in the end.'
    return { url: grant.url, instructions }
  }

  const logic = chartOf(signInMachine).provide({
    actors: {
      offer: fromPromise(offer),
      hear: fromCallback(({ sendBack }) => {
        tell = sendBack
        if (answer !== undefined) sendBack({ type: 'answer.arrived' })
        const leaving = new AbortController()
        const limit = kind === 'code' ? undefined : timeLimit(effects.clock, LIMITS.signIn.answer, 'late')
        limit?.signal.addEventListener('abort', () => sendBack({ type: 'answer.late' }))
        device?.tokens(leaving.signal).then(
          (found) => {
            tokens = found
            sendBack({ type: found === undefined ? 'answer.late' : 'answer.arrived' })
          },
          (error: unknown) => sendBack({ type: 'answer.refused', reason: toFailure(error).message }),
        )
        return () => {
          tell = undefined
          limit?.clear()
          leaving.abort()
        }
      }),
      exchange: fromPromise(async ({ signal }) => {
        const found = tokens ?? (answer === undefined ? undefined : await grant?.exchange(answer))
        signal.throwIfAborted()
        if (found === undefined) throw new SvcError('request.unprocessable', 'The sign-in has no answer.')
        await store(found)
      }),
    },
  })

  return {
    logic,
    paste(text) {
      if (grant === undefined || redirect === undefined)
        throw new SvcError('request.invalid', 'This sign-in takes no code: it ends by itself.')
      return take(readPasted(text.trim(), redirect, grant))
    },
    close: () => listener?.close(),
  }
}

/** The whole address a browser was sent to, `code#state`, or a code alone, which PKCE binds to this sign-in. */
function readPasted(text: string, redirect: URL, { state, isOurs, needsAddress }: BrowserGrant): URL {
  if (/^https?:/i.test(text)) {
    const address = URL.canParse(text) ? new URL(text) : undefined
    if (address === undefined || address.origin !== redirect.origin || address.pathname !== redirect.pathname)
      throw new SvcError('request.invalid', 'This is not the address to which the provider sends a browser after this sign-in.')
    if (!isOurs(address))
      throw new SvcError('request.invalid', 'This address belongs to another sign-in: its state is not the one that was sent.')
    return address
  }
  if (needsAddress) throw new SvcError('request.invalid', 'Paste the whole address to which the provider sends the browser in the end.')
  const [code = '', given = state] = text.split('#')
  if (given !== state)
    throw new SvcError('request.invalid', 'This code belongs to another sign-in: its state is not the one that was sent.')
  const address = new URL(redirect)
  address.search = new URLSearchParams({ code, state }).toString()
  return address
}

function page(status: number, text: string): RedirectPage {
  return { status, html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>svc</title><p>${text}</p></html>` }
}

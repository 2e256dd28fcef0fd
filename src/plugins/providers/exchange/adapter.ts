/**
 * One model step: calls the model, reads its parts, ends on the provider's terminal signal.
 * It owns the connection of a step and its time limits; how a model is asked is a matter of its protocol, what its parts mean an `Answer`.
 *
 * I1 Parts are pushed as soon as they are read, and never after the promise has settled.
 * I2 Abort settles the promise at once and closes the connection; nothing waits for the peer.
 * I3 Only data breaks a silence: keep-alive comments do not.
 * I4 A flood of parts is read in slices of time; others have their turn between them.
 * I5 After the terminal signal the rest of the body is read for a moment, so that the connection can serve again.
 */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { NativeHost, ProviderSettings } from '../../../ports/plugin.js'
import { type GenerateRequest, type ProviderAdapter, ProviderError, type StreamPart } from '../../../ports/provider-adapter.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isSecretName } from '../../../protocol/text/secrets.js'
import { createSlices, nextTurn, type Pause } from '../../../kernel/pause.js'
import { watchSilence } from '../../../kernel/silence.js'
import { createConnection } from './connection.js'
import { answerTooLarge, connectionError, type ErrorContext, streamFault, webPage } from './errors.js'
import type { Call, Models, Protocol } from './protocol.js'

const MARK_BYTES = 16
const ID_BYTES = 12

export interface Timeouts {
  /** Longest wait for the first data, ms. */
  readonly firstByte: number
  /** Longest silence between data, ms. */
  readonly idle: number
}

export interface AdapterDeps {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'fetch' | 'post' | 'sha256' | 'log' | 'random'>
  readonly timeouts: Timeouts
  /** Waited for between the slices of time in which answers are read. */
  readonly pause: Pause
}

/** The adapter of one configured provider; it keeps its models between steps, and loads the SDK with the first. */
export function createAdapter<Asked extends Call>(
  protocol: Protocol<Asked>,
  settings: ProviderSettings,
  deps: AdapterDeps,
): ProviderAdapter {
  let models: Promise<Models<Asked>> | undefined
  const load = async () => protocol.load(settings, addressOf(protocol, settings))
  return {
    generate(request, push, signal) {
      try {
        return generate({ protocol, settings, deps, models: () => (models ??= load()), request, push, signal })
      } catch (error) {
        return Promise.reject(error) // The request cannot be made.
      }
    },
  }
}

interface Generation<Asked extends Call> {
  readonly protocol: Protocol<Asked>
  readonly settings: ProviderSettings
  readonly deps: AdapterDeps
  readonly models: () => Promise<Models<Asked>>
  readonly request: GenerateRequest
  readonly push: (part: StreamPart) => void
  readonly signal: AbortSignal
}

function generate<Asked extends Call>({ protocol, settings, deps, models, request, push, signal }: Generation<Asked>): Promise<void> {
  const { clock, sha256, log, random } = deps.effects
  const { providerId } = settings
  const context: ErrorContext = { providerId, secret: settings.apiKey(), secrets: secretsOf(settings, request), now: () => clock.now() }
  const call = protocol.call(settings, request, { sha256, mark: Buffer.from(random.bytes(MARK_BYTES)).toString('hex') })
  const tooLarge = (what: string) => answerTooLarge(what, context)
  const turn = createSlices(() => clock.monotonic(), deps.pause)
  const connection = createConnection({
    effects: deps.effects,
    headers: call.headers,
    tooLarge,
    page: (status) => webPage(status, context),
    turn,
  })

  return new Promise((resolve, reject) => {
    let open = true
    const answer = protocol.answer({
      push: (part) => {
        if (open) push(part)
      },
      broken: () => (connection.failure() === undefined ? undefined : asProviderError(connection.failure(), context)),
      context,
      onOddUsage: (fields) =>
        log.warn('a provider told counts of tokens that cannot be; they are not counted', {
          providerId,
          model: request.model.id,
          fields: fields.join(', '),
        }),
    })
    const silence = watchSilence(clock, (ms) => {
      if (!open) connection.abort()
      else if (answer.place() !== 'open') connection.end()
      else fail(streamFault(`sent nothing for ${ms} ms.`, context))
    })
    const fail = (error: unknown) => {
      connection.abort()
      if (!open) return
      open = false
      signal.removeEventListener('abort', abort)
      silence.stop()
      reject(asProviderError(error, context))
    }
    const abort = () =>
      fail(new ProviderError(`The request to provider "${providerId}" was aborted.`, { retryable: false, cause: signal.reason }))
    const complete = () => {
      if (!open) return
      open = false
      signal.removeEventListener('abort', abort)
      resolve()
      void nextTurn().then(() => {
        silence.expect(LIMITS.provider.trailer)
        void connection.over.then(() => silence.stop())
      })
    }
    const read = (event: JsonRecord) => {
      if (!open) return undefined
      connection.heard()
      let rest: JsonRecord | undefined
      try {
        rest = answer.read(event)
      } catch (error) {
        fail(error)
        return undefined
      }
      const place = answer.place()
      if (place === 'over') connection.end()
      silence.expect(place === 'finished' ? LIMITS.provider.trailer : deps.timeouts.idle)
      return rest
    }
    const newId = () => `call_${Buffer.from(random.bytes(ID_BYTES)).toString('hex')}`
    const refuse = (excess: string) => fail(tooLarge(`sent an event that ${excess}.`))
    const take = (part: LanguageModelV3StreamPart): boolean => {
      if (open && answer.take(part) === 'ended') complete()
      return open
    }

    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort)
    silence.expect(deps.timeouts.firstByte)
    models()
      .then((loaded) => loaded.ask(request.model.id, call, { connection, read, refuse, take, turn, newId, context }))
      .then(() => {
        if (open) fail(connection.failure() ?? streamFault('ended the stream without a finish reason.', context))
      })
      .catch(fail)
  })
}

function asProviderError(error: unknown, context: ErrorContext): ProviderError {
  return error instanceof ProviderError ? error : connectionError(error, context)
}

/** Headers that are named like credentials. */
function secretsOf({ headers }: ProviderSettings, request: GenerateRequest): string[] {
  return Object.entries({ ...headers, ...request.headers }).flatMap(([name, value]) =>
    isSecretName(name) && value.length >= 6 ? [value] : [],
  )
}

function addressOf(protocol: Pick<Protocol, 'endpoint'>, { baseURL, npm, providerId }: ProviderSettings): string {
  const address = (baseURL ?? protocol.endpoint(npm) ?? '').replace(/\/+$/, '')
  if (/^https?:/i.test(address) && URL.canParse(address)) return address
  throw new ProviderError(`Provider "${providerId}" needs options.baseURL, an http(s) address.`, { retryable: false })
}

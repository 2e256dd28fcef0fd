import { expect, it } from 'vitest'
import { ProviderError } from '../../../src/ports/provider-adapter.js'
import { explained } from '../../../src/actors/provider/explain.js'
import { mayRetry, retryDelay } from '../../../src/machines/session/retry.js'
import { LIMITS } from '../../../src/protocol/limits.js'

const REACHED = { wireId: 'gpt-5', baseURL: 'http://me:secret@127.0.0.1:8000/v1?key=k', auth: 'required', env: ['OPENAI_API_KEY'] } as const
const explain = (message: string, reached: object = {}, cause?: unknown) => {
  const error = explained(new ProviderError(message, { retryable: true, cause }), { ...REACHED, ...reached })
  return error instanceof ProviderError ? error : new ProviderError('not explained', { retryable: false })
}

it('a failure names the model and the address it was sent to, without what is secret in it', () => {
  expect(explain('Provider "openai" answered 500: broken').message).toBe(
    'Provider "openai" answered 500: broken (model "gpt-5" at http://127.0.0.1:8000/v1).',
  )
})

it.each([
  [{}, 'its key is that of OPENAI_API_KEY'],
  [{ env: ['A_KEY', 'B_KEY'] }, 'its key is that of A_KEY or B_KEY'],
  [{ env: [], auth: 'none' }, 'no key is sent'],
  [{ env: [] }, 'its key is that of the configuration'],
  [{ stored: { type: 'api', endpoint: 'http://127.0.0.1:8000/v1' } }, 'its key is the stored one'],
  [{ stored: { type: 'oauth', endpoint: 'http://127.0.0.1:8000/v1' } }, 'its token is that of the stored sign-in'],
  [{ stored: { type: 'api', endpoint: 'https://elsewhere.example' } }, 'its key is that of OPENAI_API_KEY'],
])('a refused key names where it comes from: %j', (reached, said) => {
  expect(explain('Provider "openai" answered 401: who are you?', reached).message).toContain(`; ${said}).`)
  expect(explain('Provider "openai" answered 404: no such model', reached).message).not.toContain('key')
})

it('a web page is not repeated', () => {
  expect(explain('Provider "x" answered 404: <!DOCTYPE html><html><body>Not found</body></html>').message).toBe(
    'Provider "x" answered 404: a web page (text/html): is /v1 missing in the address? (model "gpt-5" at http://127.0.0.1:8000/v1).',
  )
})

it('where nobody listens one more try is made, and no more', () => {
  const cause = new TypeError('fetch failed', {
    cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:8000'), { code: 'ECONNREFUSED' }),
  })
  const { message, retryable, retries, retryAfterMs } = explain(
    'Provider "x" connection failed: connect ECONNREFUSED 127.0.0.1:8000',
    {},
    cause,
  )
  expect(message).toContain('; nothing listens there).')
  const failure = { code: 'provider.failed', message, retryable, retries, retryAfterMs }
  expect(retryDelay(LIMITS.run.retry, failure, 0)).toBe(1000)
  expect([0, 1].map((attempt) => mayRetry(LIMITS.run.retry, failure, attempt, 0))).toEqual([true, false])
  expect([2, 3].map((attempt) => mayRetry(LIMITS.run.retry, { ...failure, retries: undefined }, attempt, 0))).toEqual([true, false])
})

it('what is no failure of a provider stays as it is', () => {
  const error = new Error('other')
  expect(explained(error, REACHED)).toBe(error)
})

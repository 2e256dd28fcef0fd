/** Signing in with a device code: whoever signs in opens a page and enters a code, and the gateway is asked until they have. */
import { setTimeout as delay } from 'node:timers/promises'

/** svc waits for almost five minutes. */
const PATIENCE_MS = 280_000
const CLIENT = 'svc'

/** The parts `route` and `auth` of a provider. `at` answers where the gateway is. */
export function signIn(at) {
  const attempts = new Map()
  let credential = null

  async function post(path, fields, signal) {
    const response = await fetch(`${at()}${path}`, { method: 'POST', body: new URLSearchParams({ client_id: CLIENT, ...fields }), signal })
    return { status: response.status, answer: await response.json().catch(() => ({})) }
  }

  const actions = {
    authMethods: () => [{ type: 'oauth', label: 'With a code of the team' }],

    async oAuthAuthorize(_body, { signal }) {
      const { status, answer } = await post('/device/code', {}, signal)
      if (status !== 200) throw new Error(`the gateway gives out no code: ${answer.error ?? status}`)
      attempts.set(answer.device_code, { interval: answer.interval ?? 5, until: Date.now() + (answer.expires_in ?? 300) * 1000 })
      const instructions = `Enter the code ${answer.user_code}`
      return { url: answer.verification_uri, method: 'auto', instructions, attemptId: answer.device_code }
    },

    async oAuthCallback({ attemptId }, { signal }) {
      const attempt = attempts.get(attemptId)
      if (attempt === undefined) throw new Error('nobody began to sign in with this')
      const until = Math.min(attempt.until, Date.now() + PATIENCE_MS)
      for (let { interval } = attempt; Date.now() < until; await delay(interval * 1000, undefined, { signal })) {
        const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: attemptId }
        const { answer } = await post('/token', grant, signal)
        if (typeof answer.access_token === 'string') {
          attempts.delete(attemptId)
          const expires = answer.expires_in === undefined ? 0 : Date.now() + answer.expires_in * 1000
          credential = { type: 'oauth', access: answer.access_token, refresh: answer.refresh_token ?? '', expires }
          return true
        }
        if (answer.error === 'slow_down') interval += 5
        else if (answer.error !== 'authorization_pending') throw new Error(`the gateway lets nobody in: ${answer.error ?? 'it does not say why'}`)
      }
      throw new Error('nobody signed in in time')
    },
  }

  return {
    /** Asked once somebody has signed in; svc keeps what it answers. */
    auth: () => credential,
    async route({ action, body }, call) {
      const act = actions[action]
      if (act === undefined) return { status: 404, body: { message: `there is no action ${action}` } }
      try {
        return { status: 200, body: await act(body, call) }
      } catch (error) {
        return { status: 400, body: { message: error.message } }
      }
    },
  }
}

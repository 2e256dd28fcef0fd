/**
 * From the answer of a contributed route to an HTTP answer (plugin-protocol §8.2; threat-model S3).
 *
 * I1 A header the server answers for is dropped: framing and connection, cookies and other credentials, what holds for the
 *    whole origin rather than for one answer, and the headers of every answer. A header that is no header at all, and a
 *    body that is no text where the type says so, is the fault of the plugin: `plugin.invalid_response`.
 * I2 No answer is a page of this origin: all of them are sandboxed. A policy of the plugin is enforced as well, and so can only narrow.
 * I3 Text goes out as it is, every other body as JSON; `content-type` is JSON unless the plugin says otherwise.
 */
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { SvcError } from '../../protocol/errors.js'
import type { RouteResponse } from '../../protocol/plugin/plugin-services.js'
import { JSON_TYPE } from '../answer/errors.js'

export interface PluginAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Absent for a status that has no body. */
  readonly text?: string
}

const POLICY = 'content-security-policy'
const SANDBOX = "sandbox; default-src 'none'"

const DROPPED: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'date',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'authentication-info',
  'set-cookie',
  'set-cookie2',
  'www-authenticate',
  'alt-svc',
  'clear-site-data',
  'nel',
  'origin-agent-cluster',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'sourcemap',
  'strict-transport-security',
  'timing-allow-origin',
  'cache-control',
  'expires',
  'pragma',
  'vary',
  'x-content-type-options',
  'x-request-id',
  'x-sendfile',
  'x-sourcemap',
])
const DROPPED_FAMILIES = /^(?:access-control|cross-origin|proxy|sec|x-accel|x-svc)-/
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Throws `plugin.invalid_response`. */
export function answerOf(pluginId: string, { status, headers, body }: RouteResponse): PluginAnswer {
  const wrong = (reason: string) => new SvcError('plugin.invalid_response', `The answer of the plugin ${pluginId} ${reason}.`, { pluginId })
  if (!Number.isInteger(status) || status < 200 || status > 599) throw wrong(`has the status ${status}`)
  const given = new Map<string, string>()
  for (const [rawName, value] of Object.entries(headers)) {
    const name = rawName.toLowerCase()
    if (!isHeader(name, value)) throw wrong('has a header that cannot be sent')
    if (given.has(name)) throw wrong(`has the header "${name}" twice`)
    given.set(name, value)
  }
  const type = given.get('content-type') ?? JSON_TYPE
  const own = given.get(POLICY)
  const kept = [...given].filter(([name]) => !DROPPED.has(name) && !DROPPED_FAMILIES.test(name))
  const answer = { status, headers: { ...Object.fromEntries(kept), [POLICY]: own === undefined ? SANDBOX : `${SANDBOX}, ${own}` } }
  if (WITHOUT_BODY.has(status)) return answer
  const text = type.trimStart().toLowerCase().startsWith('text/') ? body : asJson(body)
  if (typeof text !== 'string') throw wrong(`has a body that cannot be sent as ${type}`)
  return { ...answer, headers: { ...answer.headers, 'content-type': type }, text }
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

function asJson(body: unknown): string | undefined {
  try {
    return JSON.stringify(body ?? null)
  } catch {
    return undefined
  }
}

/**
 * The request target (threat-model H7): one canonical form, used for routing, authentication, authorisation
 * and audit. A segment is decoded once, by the router, and an encoded slash is a letter of the value it stands in;
 * what that value could lead astray, were it a path, is refused.
 */
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i
const SUSPICIOUS = /[%\\#]|\/\.|\/\/|[^\x21-\x7e]/
const DOT_SEGMENT = /^\.{1,2}$/
const NEVER_MEANT = /%(?:5c|7f|[01][0-9a-f])/i

/** The origin form of a target: an absolute form that agrees with `host` loses its scheme and authority, others stay as they are. */
export function originForm(target: string, host: string | undefined): string {
  if (target.startsWith('/')) return target
  const match = ABSOLUTE.exec(target)
  if (match === null || host === undefined || match[1]?.toLowerCase() !== host.toLowerCase()) return target
  const rest = match[2] ?? ''
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Refuses a target that is not in canonical origin form; answers its path without the query. */
export function canonicalPath(target: string): string {
  if (target.length > LIMITS.http.url) throw refusal(`is longer than ${LIMITS.http.url} characters`)
  if (!target.startsWith('/')) throw refusal('is not a path, or names another host than the Host header')
  const query = target.indexOf('?')
  const path = query < 0 ? target : target.slice(0, query)
  if (target.includes('#')) throw refusal('contains a fragment')
  if (!SUSPICIOUS.test(path)) return path
  if (path.includes('\\')) throw refusal('contains a backslash')
  if (/[^\x21-\x7e]/.test(path)) throw refusal('contains characters that must be percent-encoded')
  if (NEVER_MEANT.test(path)) throw refusal('contains an encoded backslash or control character')
  const segments = path.slice(1).split('/')
  for (const [index, segment] of segments.entries()) {
    if (segment === '' && index < segments.length - 1) throw refusal('contains an empty segment')
    const pieces = decode(segment).split('/')
    if (pieces.some((piece) => DOT_SEGMENT.test(piece))) throw refusal('contains a dot segment')
    if (pieces.length > 1 && pieces.includes('')) throw refusal('contains an empty segment')
  }
  return path
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw refusal('is not valid percent-encoded UTF-8')
  }
}

function refusal(reason: string): SvcError {
  return new SvcError('request.invalid', `The request target ${reason}.`)
}

/**
 * Messages as plugins read them: without secrets, without bytes of files, with texts that are cut (threat-model K2, X1). Pure.
 *
 * I1 What is named like a secret is left out, whatever holds it; logins in addresses, authorisations and the server's own credentials are
 *    taken out of texts.
 * I2 What only a provider reads of its own answers (signatures, what is encrypted) is left out, and states of files, too.
 */
import { cut } from '../../../kernel/cut.js'
import type { Message } from '../../../protocol/message/message.js'
import { isRecord } from '../../../protocol/text/json.js'
import { REDACTED, secretForms, withoutSecrets } from '../../../protocol/text/known-secrets.js'
import { isSecretName, publicRecord, publicText } from '../../../protocol/text/secrets.js'

export interface MessageView {
  readonly info: Record<string, unknown>
  readonly parts: Record<string, unknown>[]
  readonly cut: boolean
}

/** Takes secrets out of a text. */
export type Redact = (text: string) => string

const AUTHORIZATION = /\b(Bearer|Basic|Token)\s+[\w.~+/=-]{12,}/gi
const ASSIGNED =
  /(^|[\s"'])([A-Za-z_][A-Za-z0-9_]{2,60})(["']?\s*[=:]\s*)("[^"\n]{3,400}"|'[^'\n]{3,400}'|(?!Bearer\b|Basic\b|Token\b)[^\s"',;]{6,})/g
const KEY_BLOCK = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g
/** What stands before the bytes in the address of a file that is whole in it. */
const DATA_HEAD = /^data:[^,]{0,200},?/
/** Shorter values are words that stand in many texts. */
const SHORTEST = 8

/** `env`: the environment of the server, whose credentials are known by their values. */
export function redactor(env: Readonly<Record<string, string | undefined>>): Redact {
  const known = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= SHORTEST && isSecretName(name) ? secretForms(value) : [],
  )
  return (text) => {
    const shown = publicText(text)
      .replace(KEY_BLOCK, REDACTED)
      .replace(AUTHORIZATION, `$1 ${REDACTED}`)
      .replace(ASSIGNED, (whole, before: string, name: string, sign: string) =>
        isSecretName(name) ? `${before}${name}${sign}${REDACTED}` : whole,
      )
    return withoutSecrets(shown, known)
  }
}

/** No text of it is longer than `most` UTF-16 units. */
export function messageView({ info, parts }: Message, { redact, most }: { readonly redact: Redact; readonly most: number }): MessageView {
  let isCut = false
  const textOf = (text: string): string => {
    const [head] = DATA_HEAD.exec(text) ?? []
    if (head !== undefined) return `${head}…`
    const shown = redact(text)
    isCut ||= shown.length > most
    return cut(shown, most)
  }
  const valueOf = (value: unknown): unknown => {
    if (typeof value === 'string') return textOf(value)
    if (Array.isArray(value)) return value.map(valueOf)
    return isRecord(value) ? recordOf(value) : value
  }
  function recordOf(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(publicRecord(record)).map(([key, value]) => [key, valueOf(value)]))
  }
  const shownParts = parts.map((part) => recordOf(withoutInner(part)))
  return { info: recordOf({ ...info }), parts: shownParts, cut: isCut }
}

/** I2 */
function withoutInner(part: Message['parts'][number]): Readonly<Record<string, unknown>> {
  if (part.type === 'text' || part.type === 'reasoning') {
    const { metadata: _metadata, ...rest } = part
    return rest
  }
  if (part.type !== 'tool') return part
  const { metadata, state, ...rest } = part
  const { provider: _provider, ...told } = isRecord(metadata) ? metadata : {}
  if (state.status !== 'completed' || !isRecord(state.metadata)) return { ...rest, metadata: told, state }
  const { snapshots: _snapshots, attachments: _attachments, ...shown } = state.metadata
  return { ...rest, metadata: told, state: { ...state, metadata: shown } }
}

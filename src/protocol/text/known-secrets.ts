/** Values that must not come back in what others say (threat-model K2): each in the forms in which it is repeated. Pure. */

/** Shorter ones stand in any text. */
const SHORTEST = 6
export const REDACTED = '[redacted]'

/** As it is, in an address, in a form, in JSON, and in base64; none of a value that is too short to be found. */
export function secretForms(value: string): readonly string[] {
  if (value.length < SHORTEST) return []
  const form = new URLSearchParams({ '': value }).toString().slice(1)
  const addressed = [encodeURIComponent(value), form].flatMap((text) => [text, text.replace(/%../g, (sign) => sign.toLowerCase())])
  const json = JSON.stringify(value).slice(1, -1)
  return [...new Set([value, ...addressed, json, ...base64Forms(value), ...base64Forms(json)])]
}

/** What stands in base64 for it whatever stands before and behind it: three bytes are four signs, so it begins in one of three ways. */
function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.byteLength(value)
  return [0, 1, 2].flatMap((before) =>
    (['base64', 'base64url'] as const).map((alphabet) =>
      Buffer.from(`${' '.repeat(before)}${value}`)
        .toString(alphabet)
        .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes) * 8) / 6)),
    ),
  )
}

export function withoutSecrets(text: string, forms: Iterable<string>): string {
  let hidden = text
  for (const form of forms) if (hidden.includes(form)) hidden = hidden.replaceAll(form, REDACTED)
  return hidden
}

/**
 * The same for bytes that come in pieces, of whatever encoding: what may be the beginning of a secret is held back until more has come.
 * What was never given out by `push` or `end` holds no part of one that could be put together.
 */
export interface ByteFilter {
  push(piece: Uint8Array): Uint8Array
  end(): Uint8Array
}

export function secretFilter(forms: readonly string[]): ByteFilter {
  // A character for each byte, so that any bytes can be looked through as text.
  const wanted = forms.map((form) => asBytes(new TextEncoder().encode(form))).toSorted((a, b) => b.length - a.length)
  const longest = wanted[0]?.length ?? 0
  let held = ''

  function without(text: string): string {
    return withoutSecrets(text, wanted)
  }

  return {
    push(piece) {
      held = without(held + asBytes(piece))
      const keep = Math.max(longest - 1, 0)
      const out = held.slice(0, Math.max(held.length - keep, 0))
      held = held.slice(out.length)
      return fromBytes(out)
    },
    end() {
      const out = held
      held = ''
      return fromBytes(out)
    },
  }
}

function asBytes(bytes: Uint8Array): string {
  let text = ''
  const step = 8192
  for (let at = 0; at < bytes.length; at += step) text += String.fromCharCode(...bytes.subarray(at, at + step))
  return text
}

function fromBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}

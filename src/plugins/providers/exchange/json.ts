/** Careful looks into JSON that a peer sent. */

/** A non-empty string, or undefined. */
export function filled(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Parsed JSON, or undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** Replaces halves of surrogate pairs, which JSON text shows as escapes, by U+FFFD (threat-model §6.5). */
export function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json
  return json.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (escape, half: string | undefined) => (half === undefined ? escape : '\\ufffd'))
}

/** Looks for text a shell would expand. */

/** True when an unescaped substitution opens in [from, to) of the source. */
export function hasActiveOpener(source: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const two = source.slice(at, at + 2)
    if (two.startsWith('\\')) at += 1
    else if (two === '$\\' && source.charAt(at + 2) === '\n') return true
    else if (two.startsWith('`') || two === '$(' || two === '${' || two === '$[') return true
  }
  return false
}

/** True when one of `wanted` stands unescaped in [from, to) of the source. */
export function hasUnescaped(source: string, from: number, to: number, wanted: string): boolean {
  for (let at = from; at < to; at += 1) {
    if (source.charAt(at) === '\\') at += 1
    else if (wanted.includes(source.charAt(at))) return true
  }
  return false
}

/** True when quoted text would be a substitution if something evaluated it. */
export function holdsSubstitution(text: string): boolean {
  return /`|\$[({[]/.test(text)
}

export interface Span {
  readonly start: number
  readonly end: number
}

/** True when the text of `span` around the nodes in it holds a substitution (or one of `wanted`) those nodes do not show. */
export function hidesActive(source: string, span: Span, shown: readonly Span[], wanted = ''): boolean {
  let at = span.start
  for (const next of [...shown, { start: span.end, end: span.end }]) {
    if (hasActiveOpener(source, at, next.start) || hasUnescaped(source, at, next.start, wanted)) return true
    at = next.end
  }
  return false
}

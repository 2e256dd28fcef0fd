/** The text of a `$'…'` string (bash, "ANSI-C Quoting"). */

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
}
const ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g

/** Decodes the inside of the quotes; undefined when it holds something whose reading is not certain (NUL, raw bytes, bad code points). */
export function decodeAnsi(inside: string): string | undefined {
  let certain = true
  const text = inside.replaceAll(ESCAPE, (whole, hex, short, long, octal, control, simple) => {
    const digits: unknown = hex ?? short ?? long
    const code =
      typeof digits === 'string' ? Number.parseInt(digits, 16) : typeof octal === 'string' ? Number.parseInt(octal, 8) : undefined
    if (code !== undefined) {
      const isByte = typeof hex === 'string' || typeof octal === 'string'
      if (code === 0 || (isByte && code > 0x7f) || code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff)) certain = false
      else return String.fromCodePoint(code)
    }
    if (typeof control === 'string') certain = false
    if (typeof simple === 'string') return SIMPLE[simple] ?? whole
    return ''
  })
  return certain ? text : undefined
}

/**
 * How many tokens a text has, nearly: what byte-pair tokenizers make of words, numbers, signs and scripts, without their tables.
 * The weights are fitted to o200k_base; what a model counts otherwise is learnt from what it reports.
 */

/** Kinds of characters; runs of one kind are counted together. */
const LOWER = 1
const UPPER = 2
const ACCENTED = 3
const DIGIT = 4
const BLANK = 5
const BREAK = 6
const SIGN = 7
const HAN = 8
const KANA = 9
const HANGUL = 10
const CYRILLIC = 11
const GREEK = 12
const OTHER = 13

/** Of a run of one script, and of each of its characters. */
const SCRIPTS: Readonly<Record<number, { readonly run: number; readonly character: number }>> = {
  [HAN]: { run: 2.08, character: 0.52 },
  [KANA]: { run: 0.4, character: 0.34 },
  [HANGUL]: { run: 1.71, character: 0.19 },
  [CYRILLIC]: { run: 1.2, character: 0.05 },
  [GREEK]: { run: 0, character: 0.46 },
  [OTHER]: { run: 0, character: 3.4 },
}
const WORD = 1
/** A word has this many letters before it costs more. */
const SHORT = 6
const LETTER = 0.22
const ACCENT = 1.71
const NUMBER = 1.62
const SIGN_RUN = 0.51
const FURTHER_SIGN = 0.64
const INDENT = 1.37
const LONGEST_SIGNS = 8

/** First and last of the characters of a kind; later rows win. */
const RANGES: readonly (readonly [kind: number, first: number, last: number])[] = [
  [SIGN, 0, 127],
  [LOWER, 97, 122],
  [UPPER, 65, 90],
  [DIGIT, 48, 57],
  [BLANK, 32, 32],
  [BLANK, 9, 9],
  [BREAK, 10, 10],
  [BREAK, 13, 13],
  [ACCENTED, 0xc0, 0x24f],
  [GREEK, 0x370, 0x3ff],
  [CYRILLIC, 0x400, 0x52f],
  [SIGN, 0x3000, 0x303f],
  [KANA, 0x3040, 0x30ff],
  [HAN, 0x3400, 0x4dbf],
  [HAN, 0x4e00, 0x9fff],
  [HANGUL, 0xac00, 0xd7af],
  [HAN, 0xf900, 0xfaff],
  [SIGN, 0xff00, 0xffef],
]
/** The kind of every UTF-16 unit. */
const KINDS = new Uint8Array(0x10000).fill(OTHER)
for (const [kind, first, last] of RANGES) KINDS.fill(kind, first, last + 1)

function kindAt(text: string, index: number): number {
  return KINDS[text.charCodeAt(index)] ?? OTHER
}

/** Characters of a text that are counted: what svc writes itself is counted whole, and of a longer one stretches that lie evenly in it. */
const COUNTED = 1024 * 1024
const STRETCHES = 64

export function estimateTokens(text: string): number {
  if (text.length <= COUNTED) return Math.ceil(countTokens(text))
  const stretch = COUNTED / STRETCHES
  const apart = (text.length - stretch) / (STRETCHES - 1)
  let tokens = 0
  for (let at = 0; at < STRETCHES; at++) {
    const start = Math.floor(at * apart)
    tokens += countTokens(text.slice(start, start + stretch))
  }
  return Math.ceil((tokens * text.length) / COUNTED)
}

function countTokens(text: string): number {
  const { length } = text
  let tokens = 0
  let start = 0
  while (start < length) {
    const kind = kindAt(text, start)
    let end = start + 1
    if (kind > ACCENTED) {
      while (end < length && KINDS[text.charCodeAt(end)] === kind) end += 1
      tokens += runTokens(kind, end - start)
    } else {
      end = endOfWord(text, start, kind)
      tokens += wordTokens(text, start, end)
    }
    start = end
  }
  return tokens
}

/** `camelCase` and `HTTPServer` are two words each. */
function endOfWord(text: string, start: number, kind: number): number {
  const { length } = text
  let end = start + 1
  if (kind === UPPER && end < length && kindAt(text, end) === UPPER) {
    while (end < length && KINDS[text.charCodeAt(end)] === UPPER) end += 1
    return end < length && kindAt(text, end) === LOWER ? end - 1 : end
  }
  for (; end < length; end++) {
    const next = KINDS[text.charCodeAt(end)]
    if (next !== LOWER && next !== ACCENTED) break
  }
  return end
}

function wordTokens(text: string, start: number, end: number): number {
  let accents = 0
  for (let index = start; index < end; index++) if (text.charCodeAt(index) > 127) accents += 1
  return WORD + Math.max(0, end - start - SHORT) * LETTER + accents * ACCENT
}

function runTokens(kind: number, length: number): number {
  switch (kind) {
    case DIGIT:
      return Math.ceil(length / 3) * NUMBER
    case BLANK:
      return length > 1 ? INDENT : 0
    case BREAK:
      return 0
    case SIGN:
      return SIGN_RUN + FURTHER_SIGN * (Math.min(length, LONGEST_SIGNS) - 1)
    default: {
      const { run, character } = SCRIPTS[kind] ?? { run: 0, character: 1 }
      return run + character * length
    }
  }
}

const OMITTED = (count: number) => `\n[… ${count} characters left out …]\n`

/** The text with its middle left out, so that about `tokens` remain. */
export function cutToTokens(text: string, tokens: number): string {
  const size = estimateTokens(text)
  if (size <= tokens) return text
  return cutMiddle(text, Math.max(0, Math.floor((text.length * tokens) / size) - 40))
}

/** The text with its middle left out, so that `length` characters of it remain. */
export function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text
  const head = Math.ceil(length / 2)
  const tail = Math.floor(length / 2)
  return `${text.slice(0, head)}${OMITTED(text.length - head - tail)}${tail === 0 ? '' : text.slice(-tail)}`.toWellFormed()
}

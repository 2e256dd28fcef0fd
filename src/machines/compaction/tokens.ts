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

const LATIN = Uint8Array.from({ length: 0x250 }, (_, code) => {
  if (code >= 97 && code <= 122) return LOWER
  if (code >= 65 && code <= 90) return UPPER
  if (code >= 48 && code <= 57) return DIGIT
  if (code === 32 || code === 9) return BLANK
  if (code === 10 || code === 13) return BREAK
  if (code < 128) return SIGN
  return code >= 0xc0 ? ACCENTED : OTHER
})

function kindOf(code: number): number {
  if (code < 0x250) return LATIN[code] ?? OTHER
  if ((code >= 0x4e00 && code <= 0x9fff) || (code >= 0x3400 && code <= 0x4dbf) || (code >= 0xf900 && code <= 0xfaff)) return HAN
  if (code >= 0x3040 && code <= 0x30ff) return KANA
  if (code >= 0xac00 && code <= 0xd7af) return HANGUL
  if (code >= 0x400 && code <= 0x52f) return CYRILLIC
  if (code >= 0x370 && code < 0x400) return GREEK
  if ((code >= 0x3000 && code <= 0x303f) || (code >= 0xff00 && code <= 0xffef)) return SIGN
  return OTHER
}

export function estimateTokens(text: string): number {
  let tokens = 0
  for (let start = 0; start < text.length; ) {
    const kind = kindOf(text.charCodeAt(start))
    const end = kind <= ACCENTED ? endOfWord(text, start, kind) : endOfRun(text, start, kind)
    tokens += kind <= ACCENTED ? wordTokens(text, start, end) : runTokens(kind, end - start)
    start = end
  }
  return Math.ceil(tokens)
}

/** `camelCase` and `HTTPServer` are two words each. */
function endOfWord(text: string, start: number, kind: number): number {
  const at = (index: number) => kindOf(text.charCodeAt(index))
  let end = start + 1
  if (kind === UPPER && end < text.length && at(end) === UPPER) {
    end = endOfRun(text, start, UPPER)
    return end < text.length && at(end) === LOWER && end - start > 1 ? end - 1 : end
  }
  while (end < text.length && (at(end) === LOWER || at(end) === ACCENTED)) end += 1
  return end
}

function endOfRun(text: string, start: number, kind: number): number {
  let end = start + 1
  while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end += 1
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

/** What a terminal sends, as keys, text and pastes. Pure but for a sequence that has not come whole. */

export type Input =
  | { readonly type: 'key'; readonly key: string }
  | { readonly type: 'text'; readonly text: string }
  /** Bracketed by the terminal: nothing in it is a key. */
  | { readonly type: 'paste'; readonly text: string }

export interface Keys {
  feed(text: string): readonly Input[]
  /** A sequence has begun; `flush` after a moment takes it for what it is by itself: the escape key. */
  readonly isHalf: boolean
  flush(): readonly Input[]
}

const ESCAPE = '\u001b'
const PASTE_BEGIN = `${ESCAPE}[200~`
const PASTE_END = `${ESCAPE}[201~`
/** More than this is no paste of a person. */
const LONGEST_PASTE = 8 * 1024 * 1024

const LETTERS: Readonly<Record<string, string>> = { A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end' }
const NUMBERS: Readonly<Record<string, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
}
const CODES: Readonly<Record<string, string>> = { 9: 'tab', 13: 'enter', 27: 'escape', 127: 'backspace' }
const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\u007f': 'backspace',
  '\u001c': 'ctrl-\\',
  '\u001d': 'ctrl-]',
  '\u001e': 'ctrl-^',
  '\u001f': 'ctrl-_',
  '\u0000': 'ctrl-space',
}

/** Of what may be typed, the run before the next control character. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const TEXT = /^[^\u0000-\u001f\u007f-\u009f]+/
// oxlint-disable-next-line no-control-regex -- as above
const SEQUENCE = /^\u001b\[([0-9;:?<>=]*)([@-~])/
// oxlint-disable-next-line no-control-regex -- as above
const HALF = /^\u001b(?:\[[0-9;:?<>=]*|O)?$/

export function createKeys(): Keys {
  let rest = ''
  let pasted: string | undefined

  function* read(isAll: boolean): Generator<Input> {
    while (rest !== '') {
      if (pasted !== undefined) {
        const end = rest.indexOf(PASTE_END)
        // The end may come in two pieces.
        const take = end >= 0 ? end : Math.max(0, rest.length - PASTE_END.length)
        pasted += rest.slice(0, take)
        rest = rest.slice(end >= 0 ? end + PASTE_END.length : take)
        if (end < 0 && pasted.length < LONGEST_PASTE) return
        yield { type: 'paste', text: pasted.replaceAll('\r\n', '\n').replaceAll('\r', '\n') }
        pasted = undefined
        continue
      }
      if (rest.startsWith(PASTE_BEGIN)) {
        rest = rest.slice(PASTE_BEGIN.length)
        pasted = ''
        continue
      }
      if (!isAll && HALF.test(rest)) return
      const { length, input } = next(rest)
      rest = rest.slice(length)
      if (input !== undefined) yield input
    }
  }

  return {
    feed(text) {
      rest += text
      return [...read(false)]
    },
    get isHalf() {
      return rest !== '' && pasted === undefined
    },
    flush: () => [...read(true)],
  }
}

/** What a text begins with, and how much of it that is; no input where it means nothing to us. */
function next(text: string): { readonly length: number; readonly input?: Input } {
  const [typed] = TEXT.exec(text) ?? []
  if (typed !== undefined) return { length: typed.length, input: { type: 'text', text: typed } }
  const [sequence, numbers = '', letter = ''] = SEQUENCE.exec(text) ?? []
  if (sequence !== undefined) return { length: sequence.length, ...keyed(nameOf(numbers, letter)) }
  const [first = '', second = '', third = ''] = text
  if (first !== ESCAPE) return { length: first.length, ...keyed(CONTROLS[first] ?? controlName(first)) }
  if (second === 'O') return { length: 3, ...keyed(LETTERS[third]) }
  if (second === '' || second === ESCAPE) return { length: 1, ...keyed('escape') }
  const plain = CONTROLS[second] ?? (second < ' ' ? controlName(second) : second)
  return { length: 1 + second.length, ...keyed(plain === undefined ? undefined : `alt-${plain}`) }
}

function keyed(key: string | undefined): { readonly input?: Input } {
  return key === undefined ? {} : { input: { type: 'key', key } }
}

/** Ctrl-A to Ctrl-Z. */
function controlName(character: string): string | undefined {
  const code = character.charCodeAt(0)
  return code >= 1 && code <= 26 ? `ctrl-${String.fromCharCode(code + 96)}` : undefined
}

/** `1;5` and `C`: the key with what was held, in the order ctrl, alt, shift. */
function nameOf(numbers: string, letter: string): string | undefined {
  if (/[?<>=:]/.test(numbers)) return undefined
  const [first = '', second = '', third = ''] = numbers.split(';')
  if (letter === 'Z') return 'shift-tab'
  if (letter === 'u') return held(second, CODES[first] ?? letterOf(first))
  if (letter === '~' && first === '27') return held(second, CODES[third] ?? letterOf(third))
  return held(second, letter === '~' ? NUMBERS[first] : LETTERS[letter])
}

function letterOf(code: string): string | undefined {
  const letter = String.fromCodePoint(Math.min(Number(code) || 0, 0x10ffff))
  return /^[a-z]$/.test(letter) ? letter : undefined
}

function held(modifiers: string, key: string | undefined): string | undefined {
  if (key === undefined) return undefined
  const bits = Math.max(0, (Number(modifiers) || 1) - 1)
  return `${(bits & 4) > 0 ? 'ctrl-' : ''}${(bits & 2) > 0 ? 'alt-' : ''}${(bits & 1) > 0 ? 'shift-' : ''}${key}`
}

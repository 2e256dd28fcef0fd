/** The text of a page: no tree is built, so that no page is too deep for it. */
import { Tokenizer } from 'htmlparser2'

const LEFT_OUT = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head', 'iframe', 'object', 'math'])
const BLOCKS = new Set(
  `address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p
  pre section table tbody tfoot thead tr ul title`.split(/\s+/),
)

export interface PlainText {
  readonly title: string
  readonly text: string
}

/** Words of a page, a line for each block, white space made one. */
export function plainText(html: string): PlainText {
  const pieces: string[] = []
  const titles: string[] = []
  let name = ''
  let isInTitle = false
  /** Name of the element that is left out, and how many of the same are open in it. */
  let skipped = ''
  let level = 0
  const say = (text: string) => {
    if (isInTitle) titles.push(text)
    else if (skipped === '') pieces.push(text)
  }
  const enter = (isSelfClosing: boolean) => {
    if (name === 'title') isInTitle = true
    // A page that never closes its head has its text in the body.
    if (name === 'body' && skipped === 'head') skipped = ''
    if (skipped === '' && LEFT_OUT.has(name) && !isSelfClosing) [skipped, level] = [name, 1]
    else if (skipped === name) level++
    if (BLOCKS.has(name)) say('\n')
  }
  const leave = (closed: string) => {
    if (closed === 'title') isInTitle = false
    if (skipped === closed && --level === 0) skipped = ''
    if (BLOCKS.has(closed)) say('\n')
    else if (closed === 'td' || closed === 'th') say(' ')
  }
  const nothing = (): void => undefined
  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: true },
    {
      ontext: (start, end) => say(html.slice(start, end)),
      ontextentity: (codepoint) => say(String.fromCodePoint(codepoint)),
      onopentagname: (start, end) => (name = html.slice(start, end).toLowerCase()),
      onopentagend: () => enter(false),
      onselfclosingtag: () => enter(true),
      onclosetag: (start, end) => leave(html.slice(start, end).toLowerCase()),
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: nothing,
      onattribname: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return { title: collapsed(titles.join('')).replaceAll('\n', ' '), text: collapsed(pieces.join('')) }
}

/** One space between words, one newline between blocks. */
function collapsed(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split(/\s+/).filter(Boolean).join(' '))
    .filter((line) => line !== '')
    .join('\n')
}

/** What is indexed of a text is the same, whether it is plain or not: that of the rules as they are written down, one after the other. */
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { identifierParts, indexedWords, pairsOf } from '../../../src/protocol/search/words.js'

const WORD = /[\p{L}\p{N}\p{M}]+/gu
const SEAM = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu

const lower = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss').normalize('NFC')
const short = (text: string) => lower(text).slice(0, LIMITS.search.word)

function partsByRule(word: string): string[] {
  const parts = word.split(SEAM)
  return parts.length < 2 ? [] : parts.map(short).filter((part) => part !== '')
}

function wordsByRule(text: string): ReturnType<typeof indexedWords> {
  const normal = text.normalize('NFC')
  const words = normal.match(WORD) ?? []
  const pieces = words.filter((word) => word.search(UNSPACED) >= 0).flatMap((word) => word.split(UNSPACED).filter((piece) => piece !== ''))
  return { said: words.map(short), parts: [...words.flatMap(partsByRule), ...pieces.map(lower), ...pairsOf(normal)] }
}

const SAID = [
  'The retry backoff of the queue is two seconds, doubling',
  'function parseHttpRequest(max_header_size) { return HTTPServer2.listen(8080) } // x2Y 2ndTry ABCd aBCD',
  '我们今天讨论了数据库的检索系统v2 parse数据HttpRequest',
  'Die Straße ist naß, der Café-Besitzer grüßt ÄÖÜbel e\u0301tude ﬁn ⅷ ①②',
  'Мы обсуждали ПроизводительностьПоиска3',
  '検索エンジンと데이터베이스 カﾀｶﾅ ภาษาไทย ພາສາລາວ ភាសាខ្មែរ မြန်မာ',
  `see ${'parseTheHeader'.repeat(9)} ${'x'.repeat(200)} ${'漢'.repeat(90)}${'é'.repeat(90)}`,
  '\u00A0non\u2003breaking\u2028lines\tand\r\nothers\uFEFF 😀 \uD800 İIıi ǅ ΣΑΣ',
  '',
  ' \n ',
]

let state = 11
const roll = (size: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
  return Math.floor(((state >>> 0) / 2 ** 32) * size)
}
const PLAIN = 'abzAXZ019 _-./ \n'.split('')
const ANY = [...PLAIN, ...'éßÄИжΣς漢字かカ한ไ٣²ﬁǅ'.split(''), '\u0301', '\u00A0', '😀', '\uD800']
const texts = (letters: readonly string[]) =>
  Array.from({ length: 2000 }, () => Array.from({ length: roll(40) }, () => letters[roll(letters.length)]).join(''))

describe('what is indexed is what the rules say', () => {
  it.each(SAID)('of %j', (text) => expect(indexedWords(text)).toEqual(wordsByRule(text)))

  it.each([
    ['plain', PLAIN],
    ['other', ANY],
  ])('of any text of %s letters, and of each of its words', (_name, letters) => {
    const found = texts(letters)
    expect(found.map((text) => indexedWords(text))).toEqual(found.map(wordsByRule))
    const words = found.flatMap((text) => text.normalize('NFC').match(WORD) ?? [])
    expect(words.map(identifierParts)).toEqual(words.map(partsByRule))
  })
})

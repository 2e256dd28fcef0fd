/**
 * The members of a large object, one at a time, so that others have their turn while it is parsed. What is no JSON object throws where it
 * stops being one: members before that were told.
 */
export function* membersOf(json: string): Generator<readonly [name: string, value: unknown], void> {
  let at = afterSpace(json, 0)
  if (json[at] !== '{') throw new SyntaxError('it is no object')
  at = afterSpace(json, at + 1)
  if (json[at] !== '}') at = yield* membersFrom(json, at)
  if (afterSpace(json, at + 1) !== json.length) throw new SyntaxError('something follows the object')
}

/** Answers where the object ends. */
function* membersFrom(json: string, from: number): Generator<readonly [name: string, value: unknown], number> {
  for (let at = from; ; ) {
    const colon = endOf(json, at, ':')
    const end = endOf(json, colon + 1, ',}')
    const name: unknown = JSON.parse(json.slice(at, colon))
    if (typeof name !== 'string') throw new SyntaxError('a member has no name')
    yield [name, JSON.parse(json.slice(colon + 1, end))]
    if (json[end] === '}') return end
    at = end + 1
  }
}

const SPECIAL = /["[\]{},:]/g

/** Where the first of these signs is that stands in no text, list or object after `from`. */
function endOf(json: string, from: number, signs: string): number {
  let level = 0
  SPECIAL.lastIndex = from
  for (let found = SPECIAL.exec(json); found !== null; found = SPECIAL.exec(json)) {
    const [sign] = found
    if (level === 0 && signs.includes(sign)) return found.index
    if (sign === '"') SPECIAL.lastIndex = afterString(json, found.index + 1)
    else if (sign === '{' || sign === '[') level++
    else if (sign === '}' || sign === ']') level--
    if (level < 0) break
  }
  throw new SyntaxError('it ends before it is whole')
}

function afterString(json: string, from: number): number {
  for (let quote = json.indexOf('"', from); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let escapes = 0
    while (json[quote - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return quote + 1
  }
  return json.length
}

function afterSpace(json: string, from: number): number {
  let at = from
  while (at < json.length && ' \t\n\r'.includes(json.charAt(at))) at++
  return at
}

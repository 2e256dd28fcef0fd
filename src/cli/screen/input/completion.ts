/** What may follow what is typed: commands after `/`, files and agents after `@`, symbols of a file after `@file#`. Pure. */
import { type Draft, insert, remove } from './draft.js'

export interface Offers {
  /** Where the word begins. */
  readonly from: number
  readonly items: readonly string[]
}

export interface Sources {
  commands(): readonly string[]
  agents(): readonly string[]
  files(typed: string): readonly string[]
  symbols(file: string): readonly string[]
}

const MOST = 50
const WORD = /(?:^|\s)(@[^\s#]*)(?:#([\w.$]*))?$/

export function offersFor({ text, cursor }: Draft, sources: Sources): Offers | undefined {
  const before = text.slice(0, cursor)
  if (/^\/\S*$/.test(before))
    return some(
      0,
      before,
      sources.commands().map((name) => `/${name}`),
    )
  const match = WORD.exec(before)
  if (match === null) return undefined
  const [, word = '', symbol] = match
  const from = cursor - word.length - (symbol === undefined ? 0 : symbol.length + 1)
  const path = word.slice(1)
  if (symbol !== undefined)
    return some(
      from,
      `${word}#${symbol}`,
      sources.symbols(path).map((name) => `${word}#${name}`),
    )
  const agents = path.includes('/') ? [] : sources.agents()
  return some(
    from,
    word,
    [...sources.files(path), ...agents].map((each) => `@${each}`),
  )
}

function some(from: number, typed: string, all: readonly string[]): Offers | undefined {
  const items = [...new Set(all)].filter((each) => each.startsWith(typed) && each !== typed).slice(0, MOST)
  return items.length === 0 ? undefined : { from, items }
}

/** As far as all of them agree; of one that is whole a space follows. */
export function completed(draft: Draft, { from, items: [first = '', ...others] }: Offers): Draft {
  let common = first
  for (const each of others) while (!each.startsWith(common)) common = common.slice(0, -1)
  const isWhole = others.length === 0 && !common.endsWith('/')
  const typed = draft.text.slice(from, draft.cursor)
  if (common.length <= typed.length && others.length > 0) return replaced(draft, from, first)
  return replaced(draft, from, `${common}${isWhole ? ' ' : ''}`)
}

function replaced(draft: Draft, from: number, word: string): Draft {
  return insert(remove(draft, from, draft.cursor), word)
}

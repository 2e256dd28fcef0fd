/**
 * Exact text search that stays fast for hostile texts: the search of the platform is quick on common texts but may
 * take the product of both lengths, so beyond a bound the search of Knuth, Morris and Pratt takes over.
 */

/** Product of both lengths up to which the platform searches; at most some 50 ms. */
const PLATFORM_WORK = 200_000_000

/** Offset of the first occurrence at or after `from`, or -1. Takes time linear in the length of `text`, beyond a constant. */
export type Finder = (text: string, from?: number) => number

export function createFinder(needle: string): Finder {
  let failures: Int32Array | undefined
  return (text, from = 0) => {
    if ((text.length - from) * needle.length <= PLATFORM_WORK) return text.indexOf(needle, from)
    failures ??= failureTable(needle)
    return searchLinear({ needle, failures }, text, from)
  }
}

/** For every prefix of `needle` the length of its longest proper prefix that is also its suffix. */
function failureTable(needle: string): Int32Array {
  const table = new Int32Array(needle.length)
  let length = 0
  for (let index = 1; index < needle.length; index++) {
    while (length > 0 && needle.charCodeAt(index) !== needle.charCodeAt(length)) length = table[length - 1] ?? 0
    if (needle.charCodeAt(index) === needle.charCodeAt(length)) length++
    table[index] = length
  }
  return table
}

function searchLinear({ needle, failures }: { needle: string; failures: Int32Array }, text: string, from: number): number {
  let matched = 0
  for (let index = from; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    while (matched > 0 && unit !== needle.charCodeAt(matched)) matched = failures[matched - 1] ?? 0
    if (unit === needle.charCodeAt(matched)) matched++
    if (matched === needle.length) return index - matched + 1
  }
  return -1
}

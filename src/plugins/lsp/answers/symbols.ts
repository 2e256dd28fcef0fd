/** Answers that are symbols: what a file defines, and what calls what. */
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import type { LspCallHierarchyCall, LspCallHierarchyItem, LspDocumentSymbol } from '../../../protocol/lsp/lsp-records.js'
import { RawRange } from '../clients/diagnostics.js'
import type { Reading } from './reading.js'

const KINDS =
  'unknown file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enummember struct event operator typeparameter'.split(
    ' ',
  )
const kindOf = (kind: number) => KINDS[kind] ?? 'unknown'

const Named = z.looseObject({ name: z.string(), kind: z.number(), detail: z.string().nullish() })
const Symbol = z.looseObject({ ...Named.shape, range: RawRange, selectionRange: RawRange, children: z.array(z.unknown()).nullish() })
const Flat = z.looseObject({ ...Named.shape, location: z.looseObject({ uri: z.string(), range: RawRange.optional() }) })
const Symbols = z.array(z.unknown()).nullish()

/** In the order of the server; bounded in number and depth. */
export async function symbolsOf(answer: unknown, uri: string, reading: Reading): Promise<LspDocumentSymbol[]> {
  let left: number = LIMITS.lsp.symbolsInAll
  async function within(said: readonly unknown[], depth: number): Promise<LspDocumentSymbol[]> {
    const made: LspDocumentSymbol[] = []
    for (const each of said) {
      if (left-- <= 0 || depth > LIMITS.lsp.symbolDepth) break
      const flat = Flat.safeParse(each)
      if (flat.success) {
        const { name, kind, detail, location } = flat.data
        const range = location.range === undefined ? null : await reading.rangeOf(location.uri, location.range)
        const place = { path: reading.pathOf(location.uri), range, selection_range: range }
        made.push({ name, kind: kindOf(kind), detail: detail ?? null, ...place, children: [], language: reading.language })
        continue
      }
      const symbol = Symbol.safeParse(each)
      if (!symbol.success) continue
      const { name, kind, detail, range, selectionRange, children } = symbol.data
      made.push({
        name,
        kind: kindOf(kind),
        detail: detail ?? null,
        path: reading.pathOf(uri),
        range: await reading.rangeOf(uri, range),
        selection_range: await reading.rangeOf(uri, selectionRange),
        children: await within(children ?? [], depth + 1),
        language: reading.language,
      })
    }
    return made
  }
  return within((Symbols.parse(answer) ?? []).slice(0, LIMITS.lsp.symbols), 0)
}

const Item = z.looseObject({ ...Named.shape, uri: z.string(), range: RawRange, selectionRange: RawRange })
export type RawItem = z.infer<typeof Item>
const Items = z.array(Item).nullish()

/** As the server wants them back. */
export function rawItems(answer: unknown): readonly RawItem[] {
  return (Items.parse(answer) ?? []).slice(0, LIMITS.lsp.symbols)
}

export async function itemOf({ name, kind, detail, uri, range, selectionRange }: RawItem, reading: Reading): Promise<LspCallHierarchyItem> {
  return {
    name,
    kind: kindOf(kind),
    detail: detail ?? null,
    path: reading.pathOf(uri),
    range: await reading.rangeOf(uri, range),
    selection_range: await reading.rangeOf(uri, selectionRange),
    language: reading.language,
  }
}

const Calls = z.array(z.looseObject({ from: Item.optional(), to: Item.optional(), fromRanges: z.array(RawRange) })).nullish()

/** Ranges are where the call stands: in the caller. */
export async function callsOf(
  answer: unknown,
  direction: 'incoming' | 'outgoing',
  prepared: RawItem,
  reading: Reading,
): Promise<LspCallHierarchyCall[]> {
  const calls = (Calls.parse(answer) ?? []).slice(0, LIMITS.lsp.places)
  const made = await Promise.all(
    calls.map(async ({ from, to, fromRanges }): Promise<LspCallHierarchyCall[]> => {
      const item = direction === 'incoming' ? from : to
      if (item === undefined) return []
      const caller = direction === 'incoming' ? item.uri : prepared.uri
      const ranges = await Promise.all(fromRanges.slice(0, LIMITS.lsp.symbols).map((range) => reading.rangeOf(caller, range)))
      return [
        { item: await itemOf(item, reading), ranges: ranges.filter((range) => range !== null), direction, language: reading.language },
      ]
    }),
  )
  return made.flat()
}

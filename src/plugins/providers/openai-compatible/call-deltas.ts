/**
 * Which call a piece of one belongs to. Servers leave out ids or indexes, repeat either, and name a call late; calls are told apart as the SDK
 * does it.
 *
 * I1 A piece that fits more than one call, or names an id and an index of different ones, is left out.
 * I2 What names a call again, with arguments that begin anew, is another call once the one before is whole.
 */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'

/** A call as far as it was told. */
interface Told {
  readonly id: string
  readonly name: string
  input: string
  readonly ids: Set<string>
  readonly indexes: Set<number>
}

/** A piece of a call. */
interface Piece {
  readonly index: number | undefined
  readonly id: string | undefined
  readonly name: string | undefined
  /** It has a name of spaces: a call is none with that alone. */
  readonly isBlank: boolean
  readonly input: string | undefined
}

export interface CallDeltas {
  /** Throws where a call has no name. */
  add(delta: JsonRecord): void
  /** What waited for its name is without one. */
  end(): void
}

export function createCallDeltas(push: (part: LanguageModelV3StreamPart) => unknown, newId: () => string): CallDeltas {
  const told: Told[] = []
  /** Pieces that came before the name of their call, by index. */
  const early = new Map<number, { id: string | undefined; input: string }>()
  const named = new Set<number>()

  function begin({ index, id, name, isBlank, input = '' }: Piece): void {
    if (isBlank) return
    if (name === undefined) throw new Error("Expected 'function.name' to be a string.")
    const isTaken = id === undefined || told.some((other) => other.id === id)
    const call: Told = { id: isTaken ? newId() : id, name, input, ids: new Set(), indexes: new Set() }
    told.push(call)
    note(call, { index, id })
    push({ type: 'tool-input-start', id: call.id, toolName: name })
    if (input !== '') push({ type: 'tool-input-delta', id: call.id, delta: input })
  }

  function grow(call: Told, piece: Piece): void {
    note(call, piece)
    if (piece.input === undefined) return
    call.input += piece.input
    push({ type: 'tool-input-delta', id: call.id, delta: piece.input })
  }

  function place(piece: Piece): void {
    const found = callOf(told, piece)
    if (found === 'new') begin(piece)
    else if (found !== 'unclear') grow(found, piece)
  }

  return {
    add(delta) {
      const piece = pieceOf(delta)
      const { index, name, isBlank } = piece
      if (index === undefined || named.has(index)) return place(piece)
      const before = early.get(index)
      const id = before?.id ?? piece.id
      const input = (before?.input ?? '') + (piece.input ?? '')
      early.set(index, { id, input })
      if (name === undefined && !isBlank) return
      place({ index, id, name, isBlank, input })
      early.delete(index)
      named.add(index)
    },
    end() {
      for (const [index, { id, input }] of early) place({ index, id, name: undefined, isBlank: false, input })
      early.clear()
    },
  }
}

function note(call: Told, { index, id }: Pick<Piece, 'index' | 'id'>): void {
  if (id !== undefined) call.ids.add(id)
  if (index !== undefined) call.indexes.add(index)
}

function pieceOf({ index, id, function: part }: JsonRecord): Piece {
  const { name, arguments: input } = isRecord(part) ? part : {}
  return {
    index: typeof index === 'number' ? index : undefined,
    id: spoken(id),
    name: spoken(name),
    isBlank: typeof name === 'string' && name.trim() === '',
    input: typeof input === 'string' ? input : undefined,
  }
}

function spoken(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

type Found = Told | 'new' | 'unclear'

function callOf(told: readonly Told[], { index, id, name, input }: Piece): Found {
  const begins = name !== undefined && /^\s*[[{]/.test(input ?? '')
  const ofIndex = index === undefined ? [] : told.filter(({ indexes }) => indexes.has(index))
  const fitting = ofIndex.filter((call) => name === undefined || call.name === name)
  const ofId = id === undefined ? [] : told.filter(({ ids }) => ids.has(id))
  if (ofId.length > 0 && index !== undefined) {
    const both = oneOf(
      fitting.filter((call) => ofId.includes(call)),
      begins,
    )
    if (both !== 'new') return both
    if (name !== undefined) return 'new'
    return ofIndex.length > 0 ? 'unclear' : oneOf(ofId, false)
  }
  if (ofId.length > 0)
    return name === undefined
      ? oneOf(ofId, false)
      : oneOf(
          ofId.filter((call) => call.name === name),
          begins,
        )
  if (id !== undefined) return fitting.length === 0 || begins ? 'new' : oneOf(fitting, false)
  if (ofIndex.length > 0) return oneOf(fitting, begins)
  return name === undefined ? oneOf(told, false) : 'new'
}

function oneOf(calls: readonly Told[], begins: boolean): Found {
  const left = begins ? calls.filter(({ input }) => !isWhole(input)) : calls
  const [only] = left
  return only === undefined ? 'new' : left.length === 1 ? only : 'unclear'
}

/** Whether an object or a list has begun in it and ended. */
function isWhole(input: string): boolean {
  const tokens = input.trimStart().match(/"(?:\\[^]|[^"\\])*"?|[[\]{}]/g) ?? []
  if (!/^\s*[[{]/.test(input)) return false
  const open: string[] = []
  for (const token of tokens) {
    if (token === '{' || token === '[') open.push(token)
    else if (token === '}' || token === ']') {
      if (open.pop() !== (token === '}' ? '{' : '[')) return false
      if (open.length === 0) return true
    }
  }
  return false
}

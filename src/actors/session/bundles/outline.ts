/**
 * What has to stand where in a text that is read as it arrives: which fields there are and of which kind they are, seen token by token,
 * because what has no value of its own, or none, is never handed over as one. The parser looks at all that is open for each value: so that is bounded.
 */
import { TokenType } from '@streamparser/json'
import { LIMITS } from '../../../protocol/limits.js'

type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** A kind, with what stands in it. What no outline names may be anything. */
export interface Outline {
  readonly kind: Kind
  readonly required?: Readonly<Record<string, Outline>>
  readonly optional?: Readonly<Record<string, Outline>>
  /** Other fields are refused. */
  readonly isClosed?: true
  readonly items?: Outline
}

const KINDS: Partial<Record<TokenType, Kind>> = {
  [TokenType.LEFT_BRACE]: 'object',
  [TokenType.LEFT_BRACKET]: 'array',
  [TokenType.STRING]: 'string',
  [TokenType.NUMBER]: 'number',
  [TokenType.TRUE]: 'boolean',
  [TokenType.FALSE]: 'boolean',
  [TokenType.NULL]: 'null',
}

/** An object or array that is open, and follows an outline. */
interface Level {
  readonly outline: Outline
  readonly path: string
  /** Named fields that were seen. */
  readonly seen: Set<string>
  /** Of the value that comes next: its name, or how many came before it. */
  key: string | undefined
  index: number
}

interface Token {
  readonly token: TokenType
  readonly value: unknown
}

/** Answers what is to be told of each token; `refuse` makes the error of a path that is wrong. */
export function followOutline(root: Outline, refuse: (path: string, problem: string) => Error): (token: Token) => void {
  const levels: Level[] = []
  /** Objects and arrays that are open and follow none, inside of the last level. */
  let unknown = 0

  function expected(): { readonly outline: Outline | undefined; readonly path: string } {
    const level = levels.at(-1)
    if (level === undefined) return { outline: root, path: '' }
    const { outline, path, key, index } = level
    if (outline.kind === 'array') return { outline: outline.items, path: `${path}.${index}` }
    const name = key ?? ''
    return { outline: own(outline.required, name) ?? own(outline.optional, name), path: pathOf(path, name) }
  }

  function begin(kind: Kind): void {
    const { outline, path } = expected()
    const level = levels.at(-1)
    if (level !== undefined) level.index++
    if (level !== undefined) level.key = undefined
    if (outline !== undefined && outline.kind !== kind) throw refuse(path, `must be ${spoken(outline.kind)}, not ${spoken(kind)}`)
    if (kind !== 'object' && kind !== 'array') return
    if (outline === undefined) unknown++
    else levels.push({ outline, path, seen: new Set(), key: undefined, index: 0 })
  }

  function name(level: Level, key: string): void {
    const { outline, path, seen } = level
    const isNamed = own(outline.required, key) !== undefined || own(outline.optional, key) !== undefined
    if (!isNamed && outline.isClosed === true) throw refuse(pathOf(path, key), 'is no field that is known')
    if (isNamed && seen.has(key)) throw refuse(pathOf(path, key), 'is there twice')
    if (isNamed) seen.add(key)
    level.key = key
  }

  /** What is no JSON is told by the parser. */
  function end(closed: Kind): void {
    const level = levels.pop()
    if (level?.outline.kind !== closed) return
    const missing = Object.keys(level.outline.required ?? {}).find((key) => !level.seen.has(key))
    if (missing !== undefined) throw refuse(pathOf(level.path, missing), 'is missing')
  }

  return ({ token, value }) => {
    const isEnd = token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET
    if (levels.length + unknown > LIMITS.bundles.depth) throw refuse('', `is nested deeper than ${LIMITS.bundles.depth} levels`)
    if (unknown > 0) {
      if (isEnd) unknown--
      else if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) unknown++
      return
    }
    if (isEnd) return end(token === TokenType.RIGHT_BRACE ? 'object' : 'array')
    const kind = KINDS[token]
    if (kind === undefined) return
    const level = levels.at(-1)
    if (level?.outline.kind === 'object' && level.key === undefined) name(level, String(value))
    else begin(kind)
  }
}

function own(fields: Readonly<Record<string, Outline>> | undefined, name: string): Outline | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
}

function pathOf(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function spoken(kind: Kind): string {
  return kind === 'null' ? 'null' : `${kind === 'object' || kind === 'array' ? 'an' : 'a'} ${kind}`
}

/**
 * Which caller a token of the token file makes.
 *
 * I1 What is looked up is a keyed digest, under a key of this process: how long a look takes depends on nothing that somebody who guesses can steer.
 * I2 A look costs the same whatever number of tokens there are.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { type Caller, QUOTAS, type Quotas } from '../../../protocol/caller.js'
import type { TokenEntry } from './token-document.js'

export interface TokenIndex {
  callerOf(token: string): Caller | undefined
  has(caller: Caller): boolean
}

const key = randomBytes(32)

const digestOf = (token: string): string => createHmac('sha256', key).update(token).digest('base64')

export function createTokenIndex(entries: readonly TokenEntry[], before?: TokenIndex): TokenIndex {
  const begun = beginTokenIndex(before)
  begun.add(entries)
  return begun.index
}

/** One that grows. A caller of `before` that is still the same stays the same object, and one that has other quotas only still stands: who is connected goes on. */
export function beginTokenIndex(before?: TokenIndex): { add(entries: readonly TokenEntry[]): void; readonly index: TokenIndex } {
  const callers = new Map<string, Caller>()
  /** By the directories, of which each token has a list of its own. */
  const standing = new Set<unknown>()
  return {
    add(entries) {
      for (const entry of entries) {
        const known = before?.callerOf(entry.token)
        const caller = known !== undefined && isOf(known, entry) ? withQuotas(known, entry) : callerOf(entry)
        callers.set(digestOf(entry.token), caller)
        standing.add(caller.directoryPrefixes)
      }
    },
    index: { callerOf: (token) => callers.get(digestOf(token)), has: (caller) => standing.has(caller.directoryPrefixes) },
  }
}

function callerOf(entry: TokenEntry): Caller {
  const { tenantId, directoryPrefixes } = entry
  const quotas = quotasOf(entry)
  return {
    subject: `hosted:${tenantId}`,
    tenantId,
    authenticated: true,
    operator: false,
    hosted: true,
    directoryPrefixes: [...directoryPrefixes],
    ...(quotas !== undefined && { quotas }),
  }
}

function isOf(caller: Caller, { tenantId, directoryPrefixes }: TokenEntry): boolean {
  const before = caller.directoryPrefixes ?? []
  return (
    caller.tenantId === tenantId &&
    before.length === directoryPrefixes.length &&
    before.every((prefix, index) => prefix === directoryPrefixes[index])
  )
}

function withQuotas(known: Caller, entry: TokenEntry): Caller {
  const { quotas: before, ...others } = known
  const quotas = quotasOf(entry)
  if (QUOTAS.every((name) => before?.[name] === quotas?.[name])) return known
  return { ...others, ...(quotas !== undefined && { quotas }) }
}

function quotasOf(entry: TokenEntry): Quotas | undefined {
  const named = QUOTAS.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name]] as const]))
  return named.length === 0 ? undefined : Object.fromEntries(named)
}

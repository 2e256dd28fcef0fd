/**
 * The token file as data (subsystems d.3; service.md, Authentication 3). Pure.
 *
 * I1 What cannot be taken word for word is refused as a whole, with line and reason; nothing is guessed, mended or passed over.
 * I2 No token, nor a piece of the text it stands in, is in any message.
 */
import { findNodeAtLocation, type JSONPath, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import * as z from 'zod'
import { LOCAL_TENANT, type Quotas } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isPlain } from '../../../protocol/text/plain-path.js'
import { SIGNED_PREFIX } from '../signed/credential.js'

const { token: TOKEN, prefixes, prefix: PREFIX, most } = LIMITS.tenants

/** A name of a tenant is a name of a folder as well. */
const tenantId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'has to be 1 to 128 letters, digits, "_", ".", ":" or "-"')
  .refine((name) => name !== '.' && name !== '..', 'may not be "." or ".."')
  .refine((name) => name !== LOCAL_TENANT, `may not be "${LOCAL_TENANT}": that is the operator of this server`)

const token = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'has to be printable ASCII without spaces, and not empty')
  .max(TOKEN, `has more than ${TOKEN} characters`)
  .refine((text) => !text.startsWith(SIGNED_PREFIX), `may not begin with ${SIGNED_PREFIX}: no such token is ever looked for here`)

const directoryPrefix = z
  .string()
  .max(PREFIX, `has more than ${PREFIX} characters`)
  .refine((path) => path.startsWith('/'), 'has to be an absolute path')
  .refine((path) => isPlain(path), 'has to be written without ".", "..", empty parts, a "/" at the end or control characters')

const count = z
  .number()
  .refine((value) => Number.isSafeInteger(value) && value >= 0, 'has to be a whole number, 0 or more')
  .optional()

const amount = z
  .number()
  .refine((value) => Number.isFinite(value) && value >= 0, 'has to be a number, 0 or more')
  .optional()

const Entry = z.strictObject({
  token,
  tenantId,
  directoryPrefixes: z.array(directoryPrefix).max(prefixes, `has more than ${prefixes} directories`).default([]),
  maxSessions: count,
  maxArtifacts: count,
  maxArtifactBytes: count,
  artifactRetentionDays: count,
  requestsPerMinute: count,
  maxInFlight: count,
  modelTokensPerDay: count,
  modelCostPerDay: amount,
})
const Document = z.strictObject({ tokens: z.array(Entry).max(most, `has more than ${most} tokens`) })

export interface TokenEntry extends Quotas {
  readonly token: string
  readonly tenantId: string
  readonly directoryPrefixes: readonly string[]
}

export type TokenDocument =
  | { readonly ok: true; readonly tokens: readonly TokenEntry[] }
  | { readonly ok: false; readonly line: number; readonly reason: string }

export function readTokenDocument(text: string): TokenDocument {
  return readTokens(text, createTokensBefore())
}

/** Of a part of a document: the tokens that stand before it, by what they are, how many, and the line in which it begins. */
export interface TokensBefore {
  readonly known: Map<string, number>
  first: number
  line: number
}

export function createTokensBefore(): TokensBefore {
  return { known: new Map(), first: 0, line: 1 }
}

/** The same of a part (`token-parts.ts`), as a document of its own: what is said of it is said of the whole. Its tokens are among `before` from then on. */
export function readTokens(text: string, before: TokensBefore): TokenDocument {
  const value = jsonIn(text)
  if (value === undefined) return notJson(text, before)
  const read = Document.safeParse(value)
  if (!read.success) {
    const [issue] = read.error.issues
    return refusal(text, before, faultOf(issue))
  }
  const { tokens } = read.data
  const fault = duplicate(tokens, before) ?? overlooked(value)
  if (fault !== undefined) return refusal(text, before, fault)
  before.first += tokens.length
  return { ok: true, tokens }
}

interface Fault {
  readonly path: JSONPath
  readonly reason: string
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined // I2: the message of the parser quotes what it read
  }
}

function notJson(text: string, { line }: TokensBefore): TokenDocument {
  const errors: ParseError[] = []
  parseTree(text, errors, { disallowComments: true, allowTrailingComma: false })
  const [first] = errors
  return {
    ok: false,
    line: line - 1 + lineAt(text, first?.offset ?? 0),
    reason: `is not JSON${first === undefined ? '' : ` (${printParseErrorCode(first.error)})`}`,
  }
}

function faultOf(issue: z.core.$ZodIssue | undefined): Fault {
  const path = (issue?.path ?? []).map((step) => (typeof step === 'number' ? step : String(step)))
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    return { path: [...path, key], reason: 'is no field of a token file' }
  }
  if (issue?.code === 'invalid_type' && issue.expected !== 'never') return { path, reason: `has to be of type ${issue.expected}` }
  return { path, reason: issue?.message ?? 'cannot be read' }
}

function duplicate(tokens: readonly TokenEntry[], { known, first }: TokensBefore): Fault | undefined {
  if (first + tokens.length > most) return { path: ['tokens'], reason: `has more than ${most} tokens` }
  for (const [index, { token: text }] of tokens.entries()) {
    const before = known.get(text)
    if (before !== undefined) return { path: ['tokens', index, 'token'], reason: `is the token of tokens[${before}], too` }
    known.set(text, first + index)
  }
  return undefined
}

/** A member of the prototype of objects is no field, and a schema does not see it. */
function overlooked(value: unknown): Fault | undefined {
  return Object.hasOwn(value as object, '__proto__') ? { path: ['__proto__'], reason: 'is no field of a token file' } : undefined
}

/** Where it stands is looked for only when there is something to say. */
function refusal(text: string, { line, first }: TokensBefore, { path, reason }: Fault): TokenDocument {
  const tree = parseTree(text)
  const named = path.map((step, at) => (at === 1 && typeof step === 'number' ? first + step : step))
  return { ok: false, line: line - 1 + lineAt(text, tree === undefined ? 0 : offsetOf(tree, path)), reason: `${nameOf(named)} ${reason}` }
}

/** Of the value, or of what is nearest around it where it is missing. */
function offsetOf(tree: Node, path: JSONPath): number {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(tree, path.slice(0, length))
    if (node !== undefined) return node.offset
  }
  return tree.offset
}

function nameOf(path: JSONPath): string {
  if (path.length === 0) return 'the document'
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${step}`)).join('')
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

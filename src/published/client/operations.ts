/** The tree of operations, made from the table: what each takes and answers is in `operation-types.ts`. */
import { CONTRACT, type Operation } from './contract.js'
import { invalidAnswer } from './error.js'
import { checkNames } from './misuse.js'
import type { Operations } from './operation-types.js'
import { readRecords } from './records.js'
import type { Platform } from './platform.js'
import type { Outgoing, Transport } from './transport.js'

export interface OperationContext {
  readonly transport: Transport
  readonly platform: Platform
  /** Directory of calls that are given none. */
  readonly directory: string | undefined
}

interface Given {
  readonly signal?: AbortSignal
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly [name: string]: unknown
}

type Call = (args?: Given) => unknown

export function createOperations(context: OperationContext): Operations {
  const tree = {}
  // Shorter names first: an operation may also be the group of others.
  const operations = CONTRACT.operations.toSorted((a, b) => depth(a) - depth(b))
  for (const operation of operations) place(tree, operation.name.split('.'), (args = {}) => perform(operation, args, context))
  return tree as Operations
}

function depth({ name }: Operation): number {
  return name.split('.').length
}

function place(group: object, [name = '', ...rest]: readonly string[], call: Call): void {
  if (rest.length === 0) {
    define(group, name, call)
    return
  }
  const inner: unknown = Reflect.get(group, name)
  const next = Object.hasOwn(group, name) && (typeof inner === 'object' || typeof inner === 'function') && inner !== null ? inner : {}
  define(group, name, next)
  place(next, rest, call)
}

/** Not by assignment: functions have names of their own that cannot be assigned. */
function define(group: object, name: string, value: unknown): void {
  Object.defineProperty(group, name, { value, enumerable: true, configurable: true })
}

function perform(operation: Operation, args: Given, context: OperationContext): unknown {
  if (operation.answer === 'stream') return stream(operation, args, context)
  if (operation.answer === 'socket') return context.transport.socketAddress(outgoing(operation, args, context).target)
  return request(operation, args, context)
}

async function request(operation: Operation, args: Given, context: OperationContext): Promise<unknown> {
  return context.transport.exchange(outgoing(operation, args, context), (response) => {
    if (operation.answer === 'none') return response.text().then(() => undefined)
    return operation.answer === 'bytes' ? response.blob() : json(response)
  })
}

/** One connection: the iteration ends when it does. */
function stream(operation: Operation, args: Given, context: OperationContext): AsyncGenerator {
  return recordsOf(outgoing(operation, args, context), context)
}

async function* recordsOf(request: Outgoing, { transport, platform }: OperationContext): AsyncGenerator {
  const response = await transport.exchange(request, (answer) => Promise.resolve(answer))
  for await (const { value } of readRecords(response, platform)) yield value
}

function outgoing(operation: Operation, args: Given, { directory }: Pick<OperationContext, 'directory'>): Outgoing {
  checkArguments(operation, args)
  const { signal, body, headers = {}, ...rest } = args
  const inPath = new Set<string>()
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const key = camel(name)
    const value = rest[key]
    if (typeof value !== 'string' || value === '') throw new TypeError(`${operation.name} needs ${key}`)
    inPath.add(key)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  if (operation.directory === true && directory !== undefined) query.set('directory', directory)
  for (const [name, value] of Object.entries(rest)) {
    if (inPath.has(name) || value === undefined) continue
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      throw new TypeError(`${operation.name}: ${name} cannot be sent`)
    }
    query.set(name, String(value))
  }
  const sent = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value] as const]))
  return {
    method: operation.method,
    target: query.size === 0 ? path : `${path}?${query.toString()}`,
    headers: { ...contentType(operation, body), ...Object.fromEntries(sent) },
    ...(body === undefined ? {} : { body: operation.bytes === undefined ? JSON.stringify(body) : (body as BodyInit) }),
    signal,
  }
}

/** Throws a `TypeError` for what the operation does not take, and for a body that is missing. */
function checkArguments({ name, path, query = [], body: needsBody }: Operation, args: Given): void {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => camel(parameter))
  checkNames(name, args, [...inPath, ...query, ...(needsBody === undefined ? [] : ['body']), 'headers', 'signal'])
  if (needsBody === true && args.body === undefined) throw new TypeError(`${name} needs a body`)
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function contentType({ bytes }: Operation, body: unknown): Record<string, string> {
  return body === undefined ? {} : { 'content-type': bytes ?? 'application/json' }
}

async function json(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidAnswer('The answer is not JSON.', response.status, error)
  }
}

/**
 * The contract of one operation. Validation, admission, the OpenAPI document and the contract tests are
 * derived from these values; nothing about an operation is written anywhere else.
 */
import type * as z from 'zod'

/**
 * Who may call, and what is checked before the handler runs (laws §11):
 * `open` nobody is asked, with `credential` only where that parameter of the query stands for one; `caller` any admitted caller;
 * `directory` the directory of the call is resolved and checked, with `operator` only the local operator may call, with `local` he or everybody while no credential is configured, and with `guardsInstallation` the same where
 * the scope is the installation; `session` the session named by a path parameter; `interaction` the session that owns the request id;
 * `operator` local operator only; `local` the operator, or everybody while no credential is configured.
 */
export type Access =
  | { readonly class: 'open'; readonly credential?: string }
  | { readonly class: 'caller' }
  | { readonly class: 'directory'; readonly operator?: true; readonly local?: true; readonly guardsInstallation?: true }
  | { readonly class: 'session'; readonly param: string; readonly lease?: LeaseUse }
  | { readonly class: 'interaction'; readonly param: string; readonly lease?: LeaseUse }
  | { readonly class: 'operator' }
  | { readonly class: 'local' }

/**
 * What changes a session is refused while somebody else holds its control lease. `free`: not this one, because it stops something, changes
 * nothing, or is about the lease itself.
 */
type LeaseUse = 'free'

/** Whether a control lease that somebody else holds keeps a caller from the operation. */
export function isGuardedByLease({ method, access }: Pick<RouteContract, 'method' | 'access'>): boolean {
  return method !== 'GET' && (access.class === 'session' || access.class === 'interaction') && access.lease !== 'free'
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Tag =
  | 'system'
  | 'plugins'
  | 'events'
  | 'sessions'
  | 'catalog'
  | 'management'
  | 'artifacts'
  | 'interactions'
  | 'subagents'
  | 'goals'
  | 'inspector'

interface Body<S extends z.ZodType = z.ZodType> {
  readonly schema: S
  readonly required: boolean
  /** Bytes it may have; default `LIMITS.http.jsonBody`. */
  readonly maxBytes?: number
}

interface Success<S extends z.ZodType = z.ZodType> {
  readonly status: 101 | 200 | 201 | 204
  readonly description: string
  /** Absent for 204 and for answers that are not JSON. */
  readonly schema?: S
  /** Default `application/json`. */
  readonly mediaType?: string
  /** Headers beyond those of every answer, with a description. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface RouteContract<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Headers extends z.ZodType = z.ZodType,
  In extends z.ZodType = z.ZodType,
  Out extends z.ZodType = z.ZodType,
> {
  /** Public operation id, e.g. `v2.sessions.create`. */
  readonly id: string
  readonly method: Method
  /** OpenAPI form: `/v2/sessions/{session_id}`. */
  readonly path: string
  readonly tag: Tag
  readonly summary: string
  readonly access: Access
  /** A browser is led to it from another site, by a navigation; no other request of another site comes through (threat-model H5). */
  readonly isReturn?: true
  /** The page of the inspector calls it although it changes something. */
  readonly isForOwnPage?: true
  /** What the body may say then; everything when absent. */
  readonly ownPageFields?: readonly string[]
  /** What a program that an agent has started may not say, where there is a token: it would widen what the agent may do. */
  readonly personFields?: readonly string[]
  readonly params?: Params
  readonly query?: Query
  /** Lower-case header names. */
  readonly headers?: Headers
  readonly body?: Body<In>
  /** Set for operations whose body is read as bytes. `schema`: what they say, where it is known; it is checked by whoever reads them. */
  readonly binaryBody?: { readonly mediaType: string; readonly maxBytes: number; readonly schema?: z.ZodType }
  readonly success: Success<Out>
}

/** What the type of one contract keeps word for word, for types derived from the table of all of them. */
interface Literals {
  readonly id: string
  readonly body?: { readonly required: boolean }
  readonly binaryBody?: object
  readonly success: { readonly status: number; readonly mediaType?: string }
}

/** Identity function that gives a contract its precise type. */
export function defineRoute<
  const Exact extends Literals,
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Headers extends z.ZodType = z.ZodUndefined,
  In extends z.ZodType = z.ZodUndefined,
  Out extends z.ZodType = z.ZodUndefined,
>(contract: RouteContract<Params, Query, Headers, In, Out> & Exact): RouteContract<Params, Query, Headers, In, Out> & Exact {
  return contract
}

export type Schema = z.ZodType
/** What a handler receives for a schema. */
export type Parsed<S extends z.ZodType> = z.output<S>
/** Whether an operation answers without a body. */
export type Answer<Out extends z.ZodType> = [Out] extends [z.ZodUndefined] ? void : z.output<Out>

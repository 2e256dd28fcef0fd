/** Types of all operations, derived from the contracts. The build writes the same types out, for programs without our schemas. */
import type * as z from 'zod'
import type { ApiRoute } from '../../protocol/api.js'
import type { Event, EventOf, EventSubject, EventType } from '../../protocol/event/event.js'
import type { RouteContract } from '../../protocol/route.js'

/** Any event of svc core, discriminated by `type`. Plugins publish further types: let what you do not know pass. */
export type SvcEvent = { [T in EventType]: Envelope<T> }[EventType]

/** Every operation at the place its id names: `v2.sessions.create` is `sessions.create`. */
export type Operations = Tree<Named<ApiRoute>>

/** `EventOf`, with room for further fields. */
type Envelope<T extends EventType> = Omit<EventOf<T>, 'subject'> & {
  readonly subject?: z.output<typeof EventSubject> | undefined
  readonly [key: string]: unknown
}

interface Entry {
  readonly name: string
  readonly route: unknown
}
type Named<R> = R extends { readonly id: `v2.${infer Name}` } ? { readonly name: Name; readonly route: R } : never
type Head<Name> = Name extends `${infer First}.${string}` ? First : Name
type Below<U, H extends string> = U extends { readonly name: `${H}.${infer Name}`; readonly route: infer R }
  ? { readonly name: Name; readonly route: R }
  : never
type Tree<U extends Entry> = { readonly [H in Head<U['name']> & string]: Node<Extract<U, { readonly name: H }>, Below<U, H>> }
type Node<Own extends Entry, Inner extends Entry> = [Own] extends [never]
  ? Tree<Inner>
  : [Inner] extends [never]
    ? Call<Own['route']>
    : Call<Own['route']> & Tree<Inner>

/** One operation: a function of one object; optional when everything in it is. */
type Call<R> =
  R extends RouteContract<infer Params, infer Query, infer Headers, infer In, infer Out>
    ? Signature<
        Flat<PathArguments<Params> & QueryArguments<Query> & HeaderArguments<Headers> & BodyArguments<R, In> & CallOptions>,
        Result<R, Out>
      >
    : never
type Signature<Arguments, Answer> = object extends Arguments ? (args?: Arguments) => Answer : (args: Arguments) => Answer
type Flat<T> = { readonly [K in keyof T]: T[K] }

interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

type Camel<S> = S extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : S extends string ? S : never
type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] }
type PathArguments<S extends z.ZodType> = S extends z.ZodUndefined ? unknown : { [K in keyof z.output<S> as Camel<K>]: z.output<S>[K] }
type QueryArguments<S extends z.ZodType> = S extends z.ZodUndefined ? unknown : Known<z.output<S>>
type GivenHeaders<S extends z.ZodType> = Flat<Omit<Known<z.output<S>>, 'x-svc-directory'>>
type HeaderArguments<S extends z.ZodType> = S extends z.ZodUndefined
  ? unknown
  : keyof GivenHeaders<S> extends never
    ? unknown
    : object extends GivenHeaders<S>
      ? { headers?: GivenHeaders<S> | undefined }
      : { headers: GivenHeaders<S> }

/** A stream is sent as it is read, where the platform can (Node, and browsers over HTTP/2). */
type Bytes = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string
type BodyArguments<R, In extends z.ZodType> = R extends { readonly binaryBody: object }
  ? { body: Bytes }
  : R extends { readonly body: { readonly required: true } }
    ? { body: z.input<In> }
    : R extends { readonly body: { readonly required: false } }
      ? { body?: z.input<In> | undefined }
      : unknown

type Value<Out extends z.ZodType> = Out extends typeof Event ? SvcEvent : z.output<Out>
/** Of a WebSocket its address: opening it is left to whatever the program has for that. */
type Result<R, Out extends z.ZodType> = R extends { readonly success: { readonly status: 101 } }
  ? string
  : R extends { readonly success: { readonly mediaType: infer Media } }
    ? Media extends 'text/event-stream'
      ? AsyncIterable<Value<Out>>
      : Promise<Out extends z.ZodUndefined ? Blob : Value<Out>>
    : Promise<Out extends z.ZodUndefined ? void : Value<Out>>

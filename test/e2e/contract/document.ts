/** Judges what a running server answers and streams by the document it publishes, with a validator that is not ours. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Answer, Server } from '../server/server.js'

const SSE = 'text/event-stream'

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>
}
interface Described {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly responses: Readonly<Record<string, Response>> }>>>
  >
  readonly components: { readonly schemas: { readonly Event: { readonly oneOf: readonly { readonly $ref: string }[] } } }
}

export interface Contract {
  readonly operationIds: readonly string[]
  /** Types of the Event union. */
  readonly eventTypes: readonly string[]
  /** Throws unless the answer has the one status that the operation promises for a valid call, and the body that belongs to it. */
  success(id: string, answer: Pick<Answer, 'status' | 'headers' | 'body' | 'text'>): void
  /** Throws unless it is a refusal that the document knows for the operation. */
  refusal(id: string, answer: Pick<Answer, 'status' | 'body' | 'text'>): void
  /** Throws unless a record of a stream is what the operation promises. */
  streamed(id: string, record: unknown): void
  /** Throws unless it is one of the Event union. */
  event(event: unknown): void
}

export async function contractOf(server: Server): Promise<Contract> {
  const document = await server.get<Described>('/v2/openapi.json')
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema({ ...document, $id: 'document' })
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => [operationId, { path, method, responses }] as const),
    ),
  )

  const known = (id: string) => operations.get(id) ?? fail(`${id} is not in the document`)
  const promised = (id: string) => {
    const statuses = Object.keys(known(id).responses).filter((status) => Number(status) < 300)
    const [status] = statuses
    return status !== undefined && statuses.length === 1 ? status : fail(`${id} promises ${statuses.join(' and ') || 'nothing'}`)
  }
  const schemaAt = (...steps: readonly string[]): ValidateFunction => {
    const pointer = steps.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    return ajv.getSchema(`document#/${pointer}`) ?? fail(`no schema at ${pointer}`)
  }
  const inAnswer = (id: string, status: string, type: string) => {
    const { path, method } = known(id)
    return schemaAt('paths', path, method, 'responses', status, 'content', type, 'schema')
  }
  const agrees = (what: string, validate: ValidateFunction, value: unknown) => {
    if (!validate(value)) fail(`${what} ${ajv.errorsText(validate.errors)}: ${JSON.stringify(value)?.slice(0, 2000)}`)
  }

  return {
    operationIds: [...operations.keys()],
    eventTypes: document.components.schemas.Event.oneOf.map(({ $ref }) => {
      const schema = schemaAt(...$ref.slice('#/'.length).split('/')).schema
      return (schema as { properties: { type: { const: string } } }).properties.type.const
    }),
    success(id, { status, headers, body, text }) {
      const wanted = promised(id)
      if (String(status) !== wanted) fail(`${id} promises ${wanted} and answered ${status}: ${text.slice(0, 2000)}`)
      const types = Object.keys(known(id).responses[wanted]?.content ?? {})
      const [type] = types
      if (type === undefined) return text === '' ? undefined : fail(`${id} promises no body and sent ${text.slice(0, 200)}`)
      if (type === 'application/json') {
        if (headers.get('content-type')?.startsWith(type) !== true) fail(`${id} sent ${headers.get('content-type')}`)
        agrees(id, inAnswer(id, wanted, type), body)
        if (isEmpty(body)) fail(`${id} answered nothing that could be judged: ${text}`)
      } else if (type !== SSE && text === '') fail(`${id} answered nothing that could be judged`)
    },
    refusal(id, { status, body, text }) {
      if (status < 400 || status >= 500) fail(`${id} was to refuse and answered ${status}: ${text.slice(0, 2000)}`)
      const { $ref } = (known(id).responses[status] ?? fail(`${id} does not know the status ${status}`)) as { $ref: string }
      agrees(id, schemaAt(...$ref.slice('#/'.length).split('/'), 'content', 'application/json', 'schema'), body)
    },
    streamed: (id, record) => agrees(id, inAnswer(id, promised(id), SSE), record),
    event: (event) => agrees('an event', schemaAt('components', 'schemas', 'Event'), event),
  }
}

/** Nothing, or a list or a page without items: it agrees with every schema of them. */
function isEmpty(body: unknown): boolean {
  const { items, runs } = (body ?? {}) as { readonly items?: unknown; readonly runs?: unknown }
  return body === null || [body, items, runs].some((list) => Array.isArray(list) && list.length === 0)
}

function fail(why: string): never {
  throw new Error(why)
}

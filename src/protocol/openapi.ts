/** The OpenAPI 3.1 document, derived from the contracts (service.md, Versioning 1; http-contract §0). */
import * as z from 'zod'
import { API, API_VERSION } from './api.js'
import { ApiError } from './api-error.js'
import { ERRORS } from './errors.js'
import { EventEnvelope } from './event/event.js'
import { PartEnvelope } from './message/message.js'
import { ProviderList } from './provider/provider.js'
import type { RouteContract, Tag } from './route.js'

type Json = { [key: string]: unknown }

const SCHEMAS = '#/components/schemas/'

const RESPONSES: Readonly<Record<number, { readonly name: string; readonly description: string }>> = {
  400: { name: 'BadRequest', description: 'The request is malformed.' },
  401: { name: 'Unauthorized', description: 'No valid credential was given.' },
  403: { name: 'Forbidden', description: 'The caller may not do this.' },
  404: { name: 'NotFound', description: 'The resource does not exist, or may not be seen.' },
  409: { name: 'Conflict', description: 'The request conflicts with the current state.' },
  415: { name: 'UnsupportedMediaType', description: 'The media type of the body is not supported.' },
  422: { name: 'UnprocessableEntity', description: 'The request is well formed but refused by a rule.' },
  429: { name: 'TooManyRequests', description: 'A quota is used up; try again after the given time.' },
  500: { name: 'InternalError', description: 'Something failed on the server.' },
  501: { name: 'NotImplemented', description: 'The capability is absent on this server.' },
}

const TAGS: Readonly<Record<Tag, string>> = {
  system: 'Health, versions, identity, capabilities, directories and the audit log.',
  plugins: 'Plugin packages and what they contribute.',
  events: 'Event streams and execution activity.',
  sessions: 'Sessions, prompts, messages, parts and queues.',
  catalog: 'Configuration, agents, commands, skills, tools and providers.',
  management: 'Managed resources of an installation or workspace.',
  artifacts: 'Uploaded files.',
  interactions: 'Permission requests and questions.',
  subagents: 'Child tasks of a session.',
  goals: 'What a session is after.',
  inspector: 'Live actors, their state charts and what happens to them; for the local operator.',
}

/** Parameters that many operations share, by place and name. */
const SHARED_PARAMETERS: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  'path:session_id': { name: 'SessionId', description: 'Id of a session.' },
  'path:request_id': { name: 'RequestId', description: 'Id of a permission request or question.' },
  'path:artifact_id': { name: 'ArtifactId', description: 'Id of an artifact.' },
  'query:directory': { name: 'Directory', description: 'Workspace directory of the call.' },
  'header:x-svc-directory': { name: 'DirectoryHeader', description: 'Workspace directory of the call; the query parameter wins.' },
}

const HEADER_NAMES: Readonly<Record<string, string>> = {
  'x-svc-directory': 'X-Svc-Directory',
  'x-svc-filename': 'X-Svc-Filename',
  'x-svc-session-id': 'X-Svc-Session-Id',
  'last-event-id': 'Last-Event-ID',
  'if-match': 'If-Match',
  'x-svc-ticket': 'X-Svc-Ticket',
}

/** Required, but their absence is for the operation to refuse, and so they are not by their schema. */
const DEMANDED: ReadonlySet<string> = new Set(['header:x-svc-ticket', 'query:ticket'])

/** Records that no operation uses, for what a client meets all the same (http-contract §2.4, §2.7, §4.1). */
const DECLARED = [EventEnvelope, PartEnvelope, ProviderList, ApiError].map((schema) => ({ $ref: `${SCHEMAS}${schema.meta()?.id ?? ''}` }))

/**
 * Records that are sent and answered, and are shown as they are sent: their fields may be left out then (http-contract §2.18), or they take
 * a model by its name. What is only sent needs no mention; every other record is shown as it is answered.
 */
const AS_SENT: ReadonlySet<string> = new Set(['WorkflowRetryPolicy', 'WorkflowConcurrencyPolicy', 'PromptPart', 'PromptRequest'])

/** The whole document; made anew on every call. `parsed` shows every record as it is read, with what was left out filled in. */
export function toOpenApi(form: 'sent' | 'parsed' = 'sent'): object {
  const parameters: Json = {}
  const paths: Record<string, Json> = {}
  for (const contract of API) {
    const path = (paths[contract.path] ??= {})
    path[contract.method.toLowerCase()] = operationOf(contract, parameters)
  }
  const used = new Set(API.map((contract) => contract.tag))
  return {
    openapi: '3.1.1',
    info: {
      title: 'svc',
      version: API_VERSION,
      summary: 'Local runtime for coding agents.',
      description: 'Durable sessions, tools, permissions and one resumable event stream over HTTP.',
    },
    servers: [{ url: 'http://127.0.0.1:4096', description: 'The default address.' }],
    security: [{ bearer: [] }],
    tags: [...used].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      parameters,
      responses: errorResponses(),
      schemas: componentSchemas(paths, form),
    },
  }
}

function operationOf(contract: RouteContract, shared: Json): Json {
  const operation: Json = { operationId: contract.id, tags: [contract.tag], summary: contract.summary }
  if (contract.access.class === 'open') operation['security'] = []
  const parameters = [
    ...parametersOf(contract.params, 'path', shared),
    ...parametersOf(contract.query, 'query', shared),
    ...parametersOf(contract.headers, 'header', shared),
  ]
  if (parameters.length > 0) operation['parameters'] = parameters
  const body = requestBodyOf(contract)
  if (body !== undefined) operation['requestBody'] = body
  const responses: Json = { [contract.success.status]: successOf(contract) }
  for (const [status, { name }] of Object.entries(RESPONSES)) responses[status] = { $ref: `#/components/responses/${name}` }
  operation['responses'] = responses
  return operation
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query' | 'header', shared: Json): Json[] {
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape).flatMap(([name, field]: [string, z.ZodType]) => {
    // Content-Type is described by the request body (OpenAPI §4.8.12.1).
    if (name === 'content-type') return []
    const common = SHARED_PARAMETERS[`${place}:${name}`]
    const parameter: Json = {
      name: HEADER_NAMES[name] ?? name,
      in: place,
      required: place === 'path' || !field.isOptional() || DEMANDED.has(`${place}:${name}`),
      ...(common && { description: common.description }),
      // The parsed form: a number, where the text of a query is read as one.
      schema: jsonSchema(field, 'output'),
    }
    if (common === undefined) return [parameter]
    shared[common.name] = parameter
    return [{ $ref: `#/components/parameters/${common.name}` }]
  })
}

function requestBodyOf({ body, binaryBody }: RouteContract): Json | undefined {
  if (binaryBody !== undefined) {
    const { mediaType, maxBytes, schema } = binaryBody
    const shown = schema === undefined ? { type: 'string', format: 'binary', maxLength: maxBytes } : jsonSchema(schema, 'input')
    return { required: true, content: { [mediaType]: { schema: shown } } }
  }
  if (body === undefined) return undefined
  return { required: body.required, content: { 'application/json': { schema: jsonSchema(body.schema, 'input') } } }
}

function successOf({ success }: RouteContract): Json {
  const answer: Json = { description: success.description }
  if (success.status === 204 || success.status === 101) return answer
  const mediaType = success.mediaType ?? 'application/json'
  const schema = success.schema === undefined ? { type: 'string', format: 'binary' } : jsonSchema(success.schema, 'output')
  answer['content'] = { [mediaType]: { schema } }
  if (success.headers !== undefined) {
    answer['headers'] = Object.fromEntries(
      Object.entries(success.headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
    )
  }
  return answer
}

function errorResponses(): Json {
  const statuses = new Map<number, string[]>()
  for (const [code, { status }] of Object.entries(ERRORS)) statuses.set(status, [...(statuses.get(status) ?? []), code])
  const schema = jsonSchema(ApiError, 'output')
  return Object.fromEntries(
    Object.entries(RESPONSES).map(([status, { name, description }]) => {
      const codes = statuses.get(Number(status)) ?? []
      return [name, { description: `${description} Codes: ${codes.join(', ')}.`, content: { 'application/json': { schema } } }]
    }),
  )
}

/** Every named schema that the operations lead to. */
function componentSchemas(paths: Record<string, Json>, shown: 'sent' | 'parsed'): Json {
  const form = (io: 'input' | 'output') =>
    z.toJSONSchema(z.globalRegistry, { io, unrepresentable: 'any', uri: (id) => SCHEMAS + id }).schemas
  const [named, sent] = [form('output'), form('input')]
  const operations = Object.values(paths).flatMap((path) => Object.values(path) as Json[])
  const answered = namesBelow([operations.map(({ responses }) => responses), DECLARED], named)
  const used: Record<string, Json> = {}
  for (const name of namesBelow([paths, DECLARED], named)) {
    used[name] = clean(shown === 'sent' && (AS_SENT.has(name) || !answered.has(name)) ? sent[name] : named[name])
  }
  for (const schema of Object.values(used)) discriminate(schema, used)
  return Object.fromEntries(Object.entries(used).toSorted(([a], [b]) => a.localeCompare(b, 'en')))
}

/** Names of the schemas that something refers to, directly or by another. */
function namesBelow(roots: readonly unknown[], named: Readonly<Record<string, unknown>>): Set<string> {
  const names = new Set<string>()
  const open = [...roots]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue
    for (const [key, value] of Object.entries(node)) {
      if (key !== '$ref') open.push(value)
      else if (typeof value === 'string' && value.startsWith(SCHEMAS) && !names.has(value.slice(SCHEMAS.length))) {
        names.add(value.slice(SCHEMAS.length))
        open.push(named[value.slice(SCHEMAS.length)])
      }
    }
  }
  return names
}

/** Names the field that tells the branches of a union of named schemas apart. */
function discriminate(schema: Json, named: Readonly<Record<string, Json>>): void {
  const branches = z.array(z.object({ $ref: z.string() })).safeParse(schema['oneOf'])
  if (!branches.success) return
  const constants = branches.data.map(({ $ref }) => ({ $ref, values: constantsOf(named[$ref.slice(SCHEMAS.length)]) }))
  const propertyName = Object.keys(constants[0]?.values ?? {}).find((name) => constants.every(({ values }) => values[name] !== undefined))
  if (propertyName === undefined) return
  const mapping: Record<string, string> = {}
  for (const { $ref, values } of constants) mapping[values[propertyName] ?? ''] = $ref
  schema['discriminator'] = { propertyName, mapping }
}

const Properties = z.record(z.string(), z.unknown())
const Constant = z.looseObject({ const: z.string() })

/** Properties of an object schema that have one constant text. */
function constantsOf(schema: Json | undefined): Readonly<Record<string, string>> {
  const properties = Object.entries(Properties.safeParse(schema?.['properties']).data ?? {})
  return Object.fromEntries(
    properties.flatMap(([name, property]) => {
      const constant = Constant.safeParse(property)
      return constant.success ? [[name, constant.data.const] as const] : []
    }),
  )
}

/** The JSON Schema of one place in the document; named schemas become references to the components. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const name = z.globalRegistry.get(schema)?.id
  if (name !== undefined) return { $ref: SCHEMAS + name }
  if (schema instanceof z.ZodArray && schema.element instanceof z.ZodType) return { type: 'array', items: jsonSchema(schema.element, io) }
  const { $defs: _named, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' })
  const json: unknown = JSON.parse(JSON.stringify(clean(rest)).replaceAll('"#/$defs/', `"${SCHEMAS}`))
  return typeof json === 'object' && json !== null ? { ...json } : {}
}

/** Drops what has no place inside an OpenAPI document. */
function clean(schema: unknown): Json {
  if (typeof schema !== 'object' || schema === null) return {}
  const entries = Object.entries(schema).filter(([key]) => key !== '$schema' && key !== '$id' && key !== 'id')
  return Object.fromEntries(entries)
}

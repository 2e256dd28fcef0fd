// Holds http-contract §0.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { API } from '../../src/protocol/api.js'
import { toOpenApi } from '../../src/protocol/openapi.js'

const Operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  security: z.array(z.unknown()).optional(),
  parameters: z.array(z.looseObject({ $ref: z.string().optional(), name: z.string().optional() })).optional(),
  requestBody: z.looseObject({ required: z.boolean() }).optional(),
  responses: z.record(z.string(), z.unknown()),
})
const Document = z.looseObject({
  openapi: z.literal('3.1.1'),
  info: z.looseObject({ version: z.literal('2.0.0') }),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({})), parameters: z.record(z.string(), z.unknown()) }),
})

const text = JSON.stringify(toOpenApi())
const document = Document.parse(JSON.parse(text))

const ERROR_RESPONSES = {
  '400': 'BadRequest',
  '401': 'Unauthorized',
  '403': 'Forbidden',
  '404': 'NotFound',
  '409': 'Conflict',
  '415': 'UnsupportedMediaType',
  '422': 'UnprocessableEntity',
  '429': 'TooManyRequests',
  '500': 'InternalError',
  '501': 'NotImplemented',
}

test('every operation of the table is described, with its success and all ten error answers', () => {
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`),
  )
  expect(described.toSorted()).toEqual(API.map(({ method, path, id }) => `${method} ${path} ${id}`).toSorted())
  for (const contract of API) {
    const operation = document.paths[contract.path]?.[contract.method.toLowerCase()]
    const errors = Object.fromEntries(
      Object.entries(ERROR_RESPONSES).map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
    )
    expect(operation?.responses).toMatchObject(errors)
    expect(Object.keys(operation?.responses ?? {}).toSorted()).toEqual([String(contract.success.status), ...Object.keys(errors)].toSorted())
  }
})

test('a body that is read as it arrives is described by what it says, where that is known', () => {
  const bodyOf = (path: string) => document.paths[path]?.['post']?.requestBody
  expect(bodyOf('/v2/sessions/import')).toEqual({
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ImportSessionRequest' } } },
  })
  expect(document.components.schemas['ImportSessionRequest']).toMatchObject({
    type: 'object',
    required: ['bundle', 'targetWorkspaceRoot'],
    properties: { bundle: { $ref: '#/components/schemas/SessionBundle' } },
    additionalProperties: false,
  })
  expect(bodyOf('/v2/artifacts')).toMatchObject({ content: { 'application/octet-stream': { schema: { format: 'binary' } } } })
})

test('only health, a connection with a ticket, and a browser that comes back with a state need no credential', () => {
  expect(document.security).toEqual([{ bearer: [] }])
  const open = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .filter(({ security }) => security !== undefined)
  expect(open.map(({ operationId, security }) => ({ operationId, security }))).toEqual([
    { operationId: 'v2.health', security: [] },
    { operationId: 'v2.plugins.pty.connect', security: [] },
    { operationId: 'v2.plugins.mcp.auth.callback.get', security: [] },
  ])
})

test('every reference leads somewhere, and nothing of JSON Schema’s own bookkeeping is left', () => {
  const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? ''))
  const target = (reference: string) =>
    reference
      .replace('#/', '')
      .split('/')
      .reduce<unknown>(
        (node, key) => (typeof node === 'object' && node !== null ? Object.entries(node).find(([name]) => name === key)?.[1] : undefined),
        document,
      )
  expect([...references].filter((reference) => target(reference) === undefined)).toEqual([])
  expect(text).not.toMatch(/\$defs|"\$schema"|"\$id"/)
})

test('what we send is open to new fields, what we take is closed', () => {
  const closed = Object.entries(document.components.schemas)
    .filter(([, schema]) => schema['additionalProperties'] === false)
    .map(([name]) => name)
  expect(closed).toEqual([
    'AbortRequest',
    'ClaimSessionControlRequest',
    'CodeRequest',
    'CreateSessionRequest',
    'ExecutionSummary',
    'ExportSessionsRequest',
    'ExternalImportRequest',
    'ExternalOptionSetRequest',
    'ExternalOptionsPreviewRequest',
    'ForkSessionRequest',
    'GoalResearchRequest',
    'ImportSessionRequest',
    'MarkdownWriteRequest',
    'McpAddRequest',
    'McpConfigPatch',
    'ModelRef',
    'PermissionReply',
    'PermissionRule',
    'PromptRequest',
    'ProviderAuthorizeRequest',
    'ProviderCallbackRequest',
    'ProviderConnectionCreateRequest',
    'ProviderConnectionRenameRequest',
    'PtyCreateRequest',
    'PtyUpdateRequest',
    'QuestionReply',
    'RepositoryCloneRequest',
    'RepositoryExistingRequest',
    'RepositoryUpdateRequest',
    'RevertRequest',
    'SessionCommandRequest',
    'SessionShellRequest',
    'SetGoalRequest',
    'SetPinRequest',
    'SkillInstallRequest',
    'SkillWriteRequest',
    'StopSubagentsRequest',
    'UpdateSessionRequest',
    'UserModel',
    'UserModelRef',
    'WorkflowConcurrencyPolicy',
    'WorkflowDefinition',
    'WorkflowDefinitionPatch',
    'WorkflowRetryPolicy',
    'WorkflowSchedule',
    'WorkspaceCreateRequest',
    'WorkspaceUpdateRequest',
  ])
})

const Named = z.looseObject({ $ref: z.string() })
const Shown = z.looseObject({ required: z.array(z.string()).optional(), properties: z.record(z.string(), z.unknown()).optional() })

/** What the document says of the body of an operation, where it is one record. */
function bodyOf(path: string, method: string): z.infer<typeof Shown> {
  const body = document.paths[path]?.[method.toLowerCase()]?.requestBody?.['content'] as {
    readonly 'application/json': { readonly schema: unknown }
  }
  const { schema } = body['application/json']
  const named = Named.safeParse(schema)
  return Shown.parse(named.success ? document.components.schemas[named.data.$ref.split('/').at(-1) ?? ''] : schema)
}

test('a field of a body is required in the document exactly where it is missed', () => {
  const told: string[] = []
  const missed: string[] = []
  for (const { id, method, path, body } of API) {
    if (body === undefined) continue
    const { required = [], properties = {} } = bodyOf(path, method)
    const issues = body.schema.safeParse({}).error?.issues ?? []
    const absent = new Set(
      issues.filter((issue) => issue.code !== 'custom').flatMap((issue) => (issue.path.length === 1 ? [String(issue.path[0])] : [])),
    )
    told.push(...required.map((name) => `${id} ${name}`))
    missed.push(...Object.keys(properties).flatMap((name) => (absent.has(name) ? [`${id} ${name}`] : [])))
  }
  // A definition is answered as well, with `active`; where it is sent that may be left out (http-contract §2.18).
  const shared = ['v2.plugins.workflows.create active', 'v2.plugins.workflows.update active']
  expect(told.length).toBeGreaterThan(30)
  expect(told.toSorted()).toEqual([...missed, ...shared].toSorted())
})

test('records that the contract names stand under their names', () => {
  const names = [
    'VcsInfo',
    'VcsFileStatus',
    'VcsStatusList',
    'VcsFileDiff',
    'VcsDiffList',
    'VcsApplyRequest',
    'VcsApplyResult',
    'McpStatusMap',
  ]
  names.push(
    'McpCatalog',
    'McpConfigScope',
    'McpConfigPatch',
    'CodeRequest',
    'UserModelRef',
    'EventEnvelope',
    'PartEnvelope',
    'ProviderList',
  )
  expect(names.filter((name) => document.components.schemas[name] === undefined)).toEqual([])
})

test('parameters have their public names, types and defaults', () => {
  const parameters = document.paths['/v2/events']?.['get']?.parameters
  expect(parameters).toEqual([
    { name: 'since', in: 'query', required: false, schema: { type: 'integer', minimum: 0, maximum: 9007199254740991 } },
    { name: 'tail', in: 'query', required: false, schema: { type: 'boolean', default: false } },
    {
      name: 'limit',
      in: 'query',
      required: false,
      schema: {
        type: 'integer',
        minimum: -9007199254740991,
        maximum: 9007199254740991,
        default: 1000,
        description: 'Events in a page of the replay; another number counts as the nearest of 1 to 5000.',
      },
    },
    { name: 'sessionId', in: 'query', required: false, schema: { type: 'string', description: expect.stringContaining('family') } },
    { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'integer', minimum: 0 } },
  ])
  expect(Object.keys(document.components.parameters).toSorted()).toEqual([
    'ArtifactId',
    'Directory',
    'DirectoryHeader',
    'RequestId',
    'SessionId',
  ])
})

test('unions name the field that tells their branches apart', () => {
  expect(document.components.schemas['ToolState']).toMatchObject({
    discriminator: { propertyName: 'status', mapping: { pending: '#/components/schemas/ToolStatePending' } },
  })
  expect(document.components.schemas['Event']).toMatchObject({
    discriminator: { propertyName: 'type', mapping: { 'message.part.delta': '#/components/schemas/EventMessagePartDelta' } },
  })
})

test('the linter of OpenAPI documents finds nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-openapi-'))
  try {
    const file = join(folder, 'openapi.json')
    await writeFile(file, text)
    const cli = join(import.meta.dirname, '../../node_modules/@redocly/cli/bin/cli.js')
    const config = join(import.meta.dirname, '../../redocly.yaml')
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off' }
    const { stdout } = await promisify(execFile)(process.execPath, [cli, 'lint', '--config', config, '--format=json', file], { env })
    expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 } })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('the policies of a workflow may be left out field by field, and the worker of a runtime is listed', () => {
  const Record = z.looseObject({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()).optional() })
  const required = (name: string) => Record.parse(document.components.schemas[name]).required ?? []
  expect(required('WorkflowRetryPolicy')).toEqual([])
  expect(required('WorkflowConcurrencyPolicy')).toEqual([])
  expect(required('WorkflowSchedule')).toEqual(['frequency', 'interval', 'timezone'])
  expect(Object.keys(Record.parse(document.components.schemas['RuntimeInfo']).properties)).toEqual([
    'deployment',
    'executionAvailable',
    'worker',
  ])
  expect(required('RuntimeInfo')).toEqual(['deployment', 'executionAvailable'])
  expect(required('WorkspaceWorkerInfo')).toHaveLength(7)
})

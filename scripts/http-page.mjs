/** The page docs/http.md as it comes with the program: the tour of the repository, then every operation, event and record. */
import { exampleOf } from './http-examples.mjs'
import { typesOf } from './schema-words.mjs'

const HEADING = '## Reference'
const ABOUT =
  '`svc openapi` prints the same as an OpenAPI 3.1 document. Each operation has one request and its answer, as they went over the wire, with lists and texts cut; left out are the headers `authorization`, where the server has a token, `content-type: application/json`, and `x-svc-directory`, the workspace of the call.'

/** `api` is the OpenAPI document, `tour` the text of docs/http.md. */
export function httpPage(api, tour) {
  const { schemas } = api.components
  const types = typesOf(schemas)
  const events = new Set((schemas.Event?.oneOf ?? []).map(({ $ref }) => types.nameOf($ref)))
  const records = Object.keys(schemas).filter((name) => !events.has(name))
  return `${[
    `${tour.split(`\n${HEADING}\n`)[0].trimEnd()}\n\n${HEADING}`,
    `API version ${api.info.version}. ${ABOUT}`,
    contents(api),
    errors(api, types),
    ...api.tags.flatMap((tag) => group(api, tag, types)),
    '## Event types',
    'Every record of `GET /v2/events` is an envelope: `id`, `sequence`, `type`, `source`, `schemaVersion`, `timestamp`, `subject`, `data`. The fields below are those of `data`.',
    ...[...events].map((name) => eventSection(schemas[name], types)),
    '## Records',
    'A field with `?` may be absent; in a request, `null` for such a field means the same, unless `null` is one of its values. Requests may spell a model `providerID`, `modelID` or `modelId`. Clients ignore fields they do not know.',
    ...records.map((name) => `### ${name}\n\n${types.fields(schemas[name])}`),
  ].join('\n\n')}\n`
}

function errors(api, { nameOf }) {
  const [anyOperation] = Object.values(api.paths).flatMap((methods) => Object.values(methods))
  const rows = Object.entries(anyOperation.responses)
    .filter(([, answer]) => answer.$ref !== undefined)
    .map(([status, answer]) => `| ${status} | ${api.components.responses[nameOf(answer.$ref)].description} |`)
  const intro = 'Every refusal is an [ApiError](#apierror): `code`, `message`, `retryable`, `details`.'
  return ['## Errors', intro, ['| status | meaning |', '|---|---|', ...rows].join('\n')].join('\n\n')
}

/** Titles of everything, with the operations of each group. */
function contents(api) {
  const groups = api.tags.flatMap((tag) => {
    const operations = operationsOf(api, tag.name).map(
      ({ path, method, operation }) =>
        `  - [${method} ${path}](#${anchor(`${method} ${path}`)}): ${operation.summary.split(/[.:;] |\.$/)[0]}`,
    )
    return operations.length === 0 ? [] : [`- [${titleOf(tag.name)}](#${tag.name})`, ...operations]
  })
  return ['- [Errors](#errors)', ...groups, '- [Event types](#event-types)', '- [Records](#records)'].join('\n')
}

/** The name of a heading in links. */
function anchor(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function titleOf(name) {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
}

function operationsOf(api, name) {
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags?.includes(name))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

function group(api, { name, description }, types) {
  const operations = operationsOf(api, name)
  if (operations.length === 0) return []
  return [`## ${titleOf(name)}`, description, ...operations.map((each) => operationSection(api, each, types))]
}

function operationSection(api, { path, method, operation }, { typeText, nameOf }) {
  const resolve = (parameter) => (parameter.$ref === undefined ? parameter : api.components.parameters[nameOf(parameter.$ref)])
  const parameters = (operation.parameters ?? []).map(resolve).filter((parameter) => parameter.in !== 'path')
  const contentText = ({ content = {} }) =>
    Object.entries(content)
      .map(
        ([type, { schema }]) => `${schema === undefined ? 'bytes' : typeText(schema)}${type === 'application/json' ? '' : ` as ${type}`}`,
      )
      .join(' or ')
  const lines = [
    ...parameters.map((each) => `- ${each.in} \`${each.name}\`${each.required ? '' : '?'}: ${typeText(each.schema)}`),
    ...(operation.requestBody === undefined
      ? []
      : [`- body${operation.requestBody.required ? '' : '?'}: ${contentText(operation.requestBody)}`]),
    ...Object.entries(operation.responses)
      .filter(([status]) => /^[12]/.test(status))
      .map(
        ([status, answer]) => `- ${status}: ${contentText(answer) || (status === '101' ? 'a socket' : 'nothing')}. ${answer.description}`,
      ),
    ...(operation.security?.length === 0 ? ['- needs no credential'] : []),
  ]
  return [`### ${method} ${path}`, `${operation.summary} (\`${operation.operationId}\`)`, lines.join('\n'), ...exampleOf(operation)].join(
    '\n\n',
  )
}

function eventSection({ description, properties }, { fields, link }) {
  const { type, data } = properties
  return `### ${type.const}\n\n${description}\n\n${data.$ref === undefined ? fields(data) : link(data.$ref)}`
}

/**
 * Builds the client: dist/client.js, one readable file for Node and browsers, and dist/client.d.ts, which stands alone. Both are the
 * package `svc-client` too, in dist/client-package, which `npm pack` makes a file of: it depends on nothing and has no native parts.
 * The operations come from the contracts: their table into the program, their types into the declarations.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { NOTED } from './bundled-packages.mjs'
import { httpPage } from './http-page.mjs'
import { declarationOf, REFERENCE, typeText } from './schema-types.mjs'

const SOURCES = 'src/published/client'
const BANNER = '// svc/client: the client of svc, for Node and browsers. Made by the build of svc; do not edit it.'
/** Packages that may be part of it. */
const INSIDE = /^node_modules\/eventsource-parser\//

/** Answers the paths it wrote, relative to the root: those of the library, of its package, and the reference of HTTP. `settings` are those of the program. */
export async function buildClient(root, settings) {
  const { CONTRACT, toOpenApi, givenForms } = await contracts(settings)
  const { metafile } = await build({
    ...settings,
    entryPoints: { client: join(SOURCES, 'client.ts') },
    outdir: 'dist',
    platform: 'browser',
    target: 'es2022',
    external: [],
    banner: { js: BANNER },
    plugins: [valuesOf(CONTRACT), NOTED],
    metafile: true,
  })
  refuseOthers(metafile)
  const declarations = join('dist', 'client.d.ts')
  const reference = join('dist/docs', 'http.md')
  mkdirSync(join(root, 'dist/docs'), { recursive: true })
  writeFileSync(join(root, reference), httpPage(toOpenApi(), readFileSync(join(root, 'docs/http.md'), 'utf8')))
  writeFileSync(join(root, declarations), declarationText(root, CONTRACT.operations, withGivenForms(toOpenApi('parsed'), givenForms())))
  return [...Object.keys(metafile.outputs), declarations, reference, ...packageOf(root)]
}

const PACKAGE = 'dist/client-package'

/** Answers the files of the package, which were written. */
function packageOf(root) {
  const { version, license, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const files = { 'client.js': 'index.js', 'client.d.ts': 'index.d.ts' }
  const manifest = {
    name: 'svc-client',
    version,
    description: 'The client of svc, for Node and browsers: every operation, the event stream, and prompts that are followed to their end.',
    license,
    type: 'module',
    sideEffects: false,
    engines,
    main: './index.js',
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
    types: './index.d.ts',
    files: [...Object.values(files), 'http.md'],
  }
  mkdirSync(join(root, PACKAGE), { recursive: true })
  writeFileSync(join(root, PACKAGE, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  // The examples stay in the repository.
  const [guide] = readFileSync(join(root, 'docs/client.md'), 'utf8').split('\n## Examples\n')
  writeFileSync(join(root, PACKAGE, 'README.md'), guide)
  copyFileSync(join(root, 'dist/docs/http.md'), join(root, PACKAGE, 'http.md'))
  for (const [from, to] of Object.entries(files)) copyFileSync(join(root, 'dist', from), join(root, PACKAGE, to))
  return ['package.json', 'README.md', 'http.md', ...Object.values(files)].map((name) => join(PACKAGE, name))
}

/** For esbuild: the client inside a program, without the schemas that its operations come from. */
export async function withoutSchemas(settings) {
  return valuesOf((await contracts(settings)).CONTRACT)
}

const valuesOf = (contract) => values('contract.ts', `export const CONTRACT = ${JSON.stringify(contract)}`)

let loading
const contracts = (settings) => (loading ??= loadContracts(settings))

/** The contracts of the sources, as this process sees them. */
async function loadContracts(settings) {
  const contents = `
    import * as z from 'zod'
    export { CONTRACT } from './${SOURCES}/contract.ts'
    export { toOpenApi } from './src/protocol/openapi.ts'
    export const givenForms = () =>
      z.toJSONSchema(z.globalRegistry, { io: 'input', unrepresentable: 'any', uri: (id) => '${REFERENCE}' + id }).schemas`
  const { outputFiles } = await build({
    ...settings,
    stdin: { contents, resolveDir: settings.absWorkingDir, loader: 'ts' },
    banner: {},
    write: false,
  })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}

/**
 * The document tells records as they are answered. Where one may be given with less, because it has defaults, bodies name
 * another form of it: `NameInput`.
 */
function withGivenForms(document, forms) {
  const { schemas } = document.components
  const differing = new Set(Object.keys(schemas).filter((name) => declarationOf(name, schemas[name]) !== declarationOf(name, forms[name])))
  for (let size = -1; size !== differing.size; ) {
    size = differing.size
    for (const [name, schema] of Object.entries(forms)) {
      if (name in schemas && [...differing].some((other) => JSON.stringify(schema).includes(`"${REFERENCE}${other}"`))) differing.add(name)
    }
  }
  const given = (value) =>
    JSON.parse(JSON.stringify(value), (key, each) =>
      key === '$ref' && differing.has(each.slice(REFERENCE.length)) ? `${each}Input` : each,
    )
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    if (operation.requestBody !== undefined) operation.requestBody = given(operation.requestBody)
  }
  const inBodies = JSON.stringify(
    Object.values(document.paths).flatMap((methods) => Object.values(methods).map((each) => each.requestBody)),
  )
  const inputs = [...differing].map((name) => [`${name}Input`, given(forms[name])])
  const reached = inputs.filter(([name]) =>
    [inBodies, ...inputs.map((each) => JSON.stringify(each[1]))].some((text) => text.includes(`"${REFERENCE}${name}"`)),
  )
  Object.assign(schemas, Object.fromEntries(reached))
  return document
}

/** Replaces a module of the client by its values. */
function values(name, contents) {
  const filter = new RegExp(`[\\\\/]${SOURCES.replaceAll('/', '[\\\\/]')}[\\\\/]${name.replace('.', '\\.')}$`)
  return { name: 'values', setup: (esbuild) => esbuild.onLoad({ filter }, () => ({ contents, loader: 'js' })) }
}

function refuseOthers({ inputs, outputs }) {
  const other = Object.keys(inputs).find((path) => path.startsWith('node_modules/') && !INSIDE.test(path))
  const outside = Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  const wrong = other ?? outside[0]
  if (wrong !== undefined) throw new Error(`dist/client.js would need ${wrong}`)
}

function declarationText(root, operations, document) {
  const surface = readFileSync(join(root, SOURCES, 'client-types.ts'), 'utf8').replaceAll(/^import type [^']*'[^']*'\n/gm, '')
  const records = Object.entries(document.components.schemas).map(([name, schema]) => declarationOf(name, schema))
  return `${BANNER}
${surface}
export declare function createClient(options: ClientOptions): Client

/** A refusal of the server, in its words, or \`client.unreachable\` (status 0) and \`client.invalid_answer\`. */
export declare class SvcClientError extends Error {
  override readonly name: 'SvcClientError'
  readonly code: string
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** Whether the same call can succeed later. */
  readonly retryable: boolean
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | undefined
}

/** Any event of svc core, discriminated by \`type\`. Plugins publish further types: let what you do not know pass. */
export type SvcEvent = Event

/** Every operation at the place its id names: \`v2.sessions.create\` is \`sessions.create\`. */
export interface Operations ${treeText(treeOf(operations, document), '')}

${records.join('\n')}`
}

/** Nested maps by the parts of the names; an operation is under the empty name. */
function treeOf(operations, document) {
  const tree = new Map()
  for (const operation of operations) {
    let node = tree
    for (const part of operation.name.split('.')) {
      if (!node.has(part)) node.set(part, new Map())
      node = node.get(part)
    }
    const described = document.paths[operation.path][operation.method.toLowerCase()]
    const parameters = (described.parameters ?? []).map((each) => resolved(each, document))
    node.set('', { ...operation, described, parameters })
  }
  return tree
}

function resolved(parameter, { components }) {
  return parameter.$ref === undefined ? parameter : components.parameters[parameter.$ref.split('/').at(-1)]
}

function treeText(tree, indent) {
  const deeper = `${indent}  `
  const lines = [...tree].flatMap(([name, node]) => {
    if (name === '') return []
    const own = node.get('')
    const inner = node.size > (own === undefined ? 0 : 1) ? treeText(node, deeper) : undefined
    const call = own === undefined ? undefined : callText(own, deeper)
    const type = call === undefined ? inner : inner === undefined ? call : `(${call}) & ${inner}`
    const summary = own === undefined ? '' : `${deeper}/** ${own.described.summary} */\n`
    return [`${summary}${deeper}readonly ${name}: ${type}\n`]
  })
  return `{\n${lines.join('')}${indent}}`
}

function callText({ answer, bytes, described, parameters }, indent) {
  const deeper = `${indent}  `
  const fields = parameters.flatMap((each) => {
    if (each.in === 'path') return [field(camel(each.name), each, deeper)]
    return each.in === 'query' ? [field(each.name, each, deeper)] : []
  })
  // Headers are texts, whatever is read from them.
  const headers = parameters
    .filter((each) => each.in === 'header' && each.name !== 'X-Svc-Directory')
    .map(({ name, required }) => ({ name, required, schema: { type: 'string' } }))
  if (bytes !== undefined) headers.unshift({ name: 'Content-Type', required: false, schema: { type: 'string' } })
  if (headers.length > 0) {
    const lines = headers.map((each) => `${deeper}  ${field(`'${each.name.toLowerCase()}'`, each, deeper)}\n`)
    const needed = headers.some(({ required }) => required)
    fields.push(`headers${needed ? '' : '?'}: {\n${lines.join('')}${deeper}}${needed ? '' : ' | undefined'}`)
  }
  const { requestBody, responses } = described
  if (bytes !== undefined) fields.push('body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string')
  else if (requestBody !== undefined) {
    fields.push(field('body', { required: requestBody.required, schema: requestBody.content['application/json'].schema }, deeper))
  }
  fields.push('signal?: AbortSignal | undefined')
  const optional = fields.every((text) => /^[\w']+\?/.test(text))
  const text = `{\n${fields.map((line) => `${deeper}readonly ${line}\n`).join('')}${indent}}`
  return `(args${optional ? '?' : ''}: ${text}) => ${answerText(answer, responses, indent)}`
}

function field(name, { required, schema }, indent) {
  return `${name}${required ? '' : '?'}: ${typeText(schema, indent)}${required ? '' : ' | undefined'}`
}

function answerText(answer, responses, indent) {
  if (answer === 'socket') return 'string'
  if (answer === 'none') return 'Promise<void>'
  if (answer === 'bytes') return 'Promise<Blob>'
  const [content] = Object.entries(responses).flatMap(([status, each]) => (status.startsWith('2') ? Object.values(each.content) : []))
  return `${answer === 'stream' ? 'AsyncIterable' : 'Promise'}<${typeText(content.schema, indent)}>`
}

function camel(name) {
  return name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
}

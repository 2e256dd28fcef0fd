/**
 * Writes what the libraries of plugin authors say of the host, in every language, from one description of the protocol: src/protocol/plugin/
 * host-methods.ts, and the operations of brokers where there are some. docs/plugin-host.md, src/published/kit/host-calls-types.ts with
 * the folder `operations` beside it, and a part of
 * src/published/python/svc_plugin.py. With --check nothing is written; stale files are named and the exit code is 1.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { loadSource, root, settle } from './generated.mjs'
import { typeText } from './schema-types.mjs'

const { HOST_METHODS } = await loadSource('src/protocol/plugin/host-methods.ts')
const OPERATIONS = 'src/protocol/plugin/broker-operations.ts'
/** By capability, then by name; `schemas` turns what checks into what describes. */
const operations = existsSync(join(root, OPERATIONS)) ? (await loadSource(OPERATIONS)).BROKER_OPERATIONS : {}
const { intersectCapabilities } = await loadSource('src/machines/plugin/capability.ts')
const { HOST_CAPABILITIES, PluginScope } = await loadSource('src/protocol/plugin/plugin.ts')
/** Those besides that of the first columns, the narrowest first. */
const SCOPES = PluginScope.options.filter((scope) => scope !== 'workspace').toReversed()
const { inputSchemaOf, outputSchemaOf } = await loadSource('src/protocol/plugin/operation-schemas.ts')
const NODE_TYPES = { text: 'string', any: 'unknown', bytes: 'Uint8Array', texts: 'string[]', nothing: 'void' }
const OPERATED = `
/** One signature for each operation that svc knows; others are those of another host. */
type Operated<Operations> = (<Name extends keyof Operations & string>(
  operation: Name,
  ...args: OperationArguments<Operations[Name]>
) => Promise<Operations[Name] extends { readonly output: infer Output } ? Output : never>) &
  Broker
type OperationArguments<Operation> = Operation extends { readonly input?: infer Input }
  ? [input?: Input, options?: HostCallOptions]
  : Operation extends { readonly input: infer Input }
    ? [input: Input, options?: HostCallOptions]
    : never
`
const PYTHON = 'src/published/python/svc_plugin.py'
const BEGIN = '# --- What a plugin may ask of the host. Made from the protocol by scripts/plugin-kits.mjs: begin ---\n'
const END = '# --- end ---\n'

settle('docs', [['plugin-host.md', page()]], { prune: false })
settle('src/published/kit', [['host-calls-types.ts', formatted('host-calls-types.ts', declarations())]], { prune: false })
settle(
  'src/published/kit/operations',
  operated().map((capability) => [`${capability}-types.ts`, formatted(`${capability}-types.ts`, operationTypes(capability))]),
)
const library = python()
for (const folder of ['src/published/python', ...examplesInPython()]) settle(folder, [['svc_plugin.py', library]], { prune: false })

/** Packages among the examples that carry the library. */
function examplesInPython() {
  const files = readdirSync(join(root, 'examples/plugins'), { recursive: true, encoding: 'utf8' })
  return files.filter((file) => basename(file) === 'plugin.py').map((file) => join('examples/plugins', dirname(file)))
}

/** As `npm run format` would have it. */
function formatted(name, input) {
  return execFileSync(join(root, 'node_modules/.bin/biome'), ['format', '--stdin-file-path', name], { input, encoding: 'utf8', cwd: root })
}

function described(capability) {
  return Object.entries(operations[capability] ?? {}).map(([name, { summary, input, output, waits = false, refusals }]) => ({
    name,
    summary,
    input: inputSchemaOf(input),
    output: outputSchemaOf(output),
    waits,
    refusals,
  }))
}

// Node

function declarations() {
  const groups = grouped()
  const named = operated()
  const imports = named.map((capability) => `import type { ${operationsName(capability)} } from './operations/${capability}-types.js'\n`)
  return `/**
 * What a plugin may ask of the host. Part of the declarations of \`svc/plugin\`: types only. Made by scripts/plugin-kits.mjs; change
 * src/protocol/plugin/host-methods.ts.
 */
${imports.join('')}
export interface HostCallOptions {
  /** Gives up waiting; the host is not told. */
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

type Broker = (operation: string, input?: unknown, options?: HostCallOptions) => Promise<unknown>
${named.length === 0 ? '' : OPERATED}
/** What a plugin may ask of the host. Each part needs the capability named beside it, granted by the installation. */
export interface Host {
${[...groups].map(([group, methods]) => hostGroup(group, methods)).join('')}}
`
}

/** Capabilities with operations that are described. */
function operated() {
  return [...new Set(HOST_METHODS.map(({ capability }) => capability))].filter((capability) => described(capability).length > 0)
}

function operationTypes(capability) {
  const entries = described(capability).map(({ name, summary, input, output }) => {
    const optional = isOptional(input) ? '?' : ''
    return `  /** ${summary} */\n  readonly ${key(name)}: {\n    readonly input${optional}: ${typeText(required(input), '    ')}\n    readonly output: ${typeText(output, '    ')}\n  }\n`
  })
  return `/** Operations of \`${capability}\`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */\nexport interface ${operationsName(capability)} {\n${entries.join('')}}\n`
}

function operationsName(capability) {
  return `${capability
    .split('-')
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join('')}Operations`
}

function hostGroup(group, methods) {
  const capabilities = [...new Set(methods.map(({ capability }) => `\`${capability}\``))].join(', ')
  const members = methods.map((method) => `    /** ${method.does} */\n    ${hostMember(method)}\n`)
  return `  /** ${capabilities} */\n  readonly ${group}: {\n${members.join('')}  }\n`
}

function hostMember({ node, kind, capability, params, answers, method }) {
  const name = node.split('.')[1]
  if (kind === 'cancel') return `${name}(id: string, options?: HostCallOptions): Promise<void>`
  if (kind === 'broker')
    return `readonly ${name}: ${described(capability).length === 0 ? 'Broker' : `Operated<${operationsName(capability)}>`}`
  if (method === 'host.event.publish')
    return `${name}(event: { readonly namespace: string; readonly name: string; readonly payload: unknown }, options?: HostCallOptions): Promise<void>`
  const list = Object.entries(params).map(([param, value]) => `${param}: ${NODE_TYPES[value]}`)
  return `${name}(${[...list, 'options?: HostCallOptions'].join(', ')}): Promise<${NODE_TYPES[answers]}>`
}

// Python

function python() {
  const text = readFileSync(join(root, PYTHON), 'utf8')
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new Error(`${PYTHON} has lost the marks around what is made`)
  const groups = [...grouped()]
  const host = `class Host:
    """What a plugin may ask of the host. Each part needs a capability that the installation has granted; what is refused raises \`HostError\`."""

    def __init__(self, request):
${groups.map(([group]) => `        self.${group} = _${group[0].toUpperCase()}${group.slice(1)}(request)\n`).join('')}`
  const classes = groups.map(
    ([group, methods]) => `class _${group[0].toUpperCase()}${group.slice(1)}:
    def __init__(self, request):
        self._request = request

${methods.map(pythonMethod).join('\n')}`,
  )
  return `${before}${BEGIN}\n\n${[...classes, host].join('\n\n')}\n\n${END}${after}`
}

function pythonMethod({ node, method, kind, capability, params, answers, does }) {
  const name = node.split('.')[1]
  if (kind === 'broker') {
    const known = described(capability).map(
      ({ name: operation, summary, input }) => `        - ${operation}${fieldsOf(input)}: ${summary}\n`,
    )
    const doc =
      known.length === 0 ? `"""${does} Needs \`${capability}\`."""` : `"""${does} Needs \`${capability}\`.\n\n${known.join('')}        """`
    return `    def ${name}(self, operation, input=None, timeout=30):
        ${doc}
        params = {"operation": operation} if input is None else {"operation": operation, "input": input}
        return (self._request("${method}", params, timeout) or {}).get("output")
`
  }
  const names = kind === 'cancel' ? ['id'] : Object.keys(params)
  const signature = names.map((param) => (param === 'payload' ? 'payload=None' : param))
  const sent = Object.entries(params).map(
    ([param, value]) => `"${param}": ${kind === 'cancel' ? 'id' : value === 'bytes' ? `list(${param})` : param}`,
  )
  const call = `self._request("${method}", {${sent.join(', ')}}, timeout)`
  const body =
    answers === 'nothing'
      ? call
      : answers === 'bytes'
        ? `return bytes(${call})`
        : answers === 'texts'
          ? `return list(${call} or [])`
          : `return ${call}`
  return `    def ${name}(self, ${[...signature, 'timeout=30'].join(', ')}):
        """${does} Needs \`${capability}\`."""
        ${body}
`
}

function fieldsOf(schema) {
  const { properties = {}, required: needed = [] } = required(schema)
  const names = Object.keys(properties).map((name) => (needed.includes(name) ? name : `${name}?`))
  return names.length === 0 ? '' : ` {${names.join(', ')}}`
}

// The page

function page() {
  const rows = HOST_METHODS.map(({ method, capability, lua, node, kind, params, does }) => {
    const list = kind === 'broker' ? ['operation', 'input'] : kind === 'cancel' ? ['id'] : Object.keys(params)
    const ofPython = node === 'events.publish' ? 'namespace, name, payload' : list.join(', ')
    const ofNode = node === 'events.publish' ? '{ namespace, name, payload }' : list.join(', ')
    return `| \`${method}\` | \`${capability}\` | \`host.${node}(${ofNode})\` | \`context.host.${node}(${ofPython})\` | \`svc.host.${lua} { ${Object.keys(params).join(', ')} }\` | ${does} |`
  })
  return `# What a plugin may ask of its host

Made by \`npm run kits\` from \`src/protocol/plugin/host-methods.ts\` and the operations of brokers; how plugins are written is in [plugins.md](plugins.md).

| method | capability | Node | Python | Lua | |
|---|---|---|---|---|---|
${rows.join('\n')}

In Node every call takes \`{ signal, timeoutMs }\` as its last argument, in Python \`timeout\` in seconds (30 unless it is given); in Lua it waits for 10 s. Node and
Python answer the output of a broker itself, Lua a table with \`output\`. Files are \`Uint8Array\` in Node, \`bytes\` in Python, and lists of numbers in Lua.
What is refused is an error with the words of the host. Which operations a broker has, what they take and what they answer is in [plugin-brokers.md](plugin-brokers.md).

## Who may have which capability

Where it is declared and trusted. A package that declares what its approval does not have is \`permission-required\` ("the capability … is not approved"), one that
declares what nothing provides is \`failed\` ("no broker here"), and a method of a capability that was not declared answers "is not granted". An entry of the configuration
needs no approval; it has \`network\` unless it says \`"network": false\`. Native code asks the host as the others do; what it does by itself nobody limits. What is built in asks the host for none of them.

${capabilityTable()}
`
}

function capabilityTable() {
  const ways = [
    { name: 'Lua', runtime: 'lua', scope: 'workspace' },
    { name: 'program', runtime: 'process', scope: 'workspace' },
    { name: 'native', runtime: 'process', scope: 'workspace' },
    { name: 'entry of the configuration', runtime: 'process', scope: 'workspace', isEntry: true },
    ...SCOPES.map((scope) => ({ name: `scope \`${scope}\``, runtime: 'process', scope })),
  ]
  const brokered = new Set(Object.keys(operations))
  const said = (capability, { runtime, scope, isEntry = false }) => {
    const { granted } = intersectCapabilities({ declared: [capability], trusted: undefined, scope, runtime, brokered })
    if (granted.length === 0) return 'no broker here'
    return isEntry && capability.startsWith('secret-') ? 'without secrets: only a manifest declares one' : 'yes'
  }
  const rows = HOST_CAPABILITIES.map((capability) => `| \`${capability}\` | ${ways.map((way) => said(capability, way)).join(' | ')} |`)
  return `| capability | ${ways.map(({ name }) => name).join(' | ')} |\n|---|${ways.map(() => '---|').join('')}\n${rows.join('\n')}`
}

/** A schema that may be nothing, without that. */
function required(schema) {
  const branches = (schema.anyOf ?? schema.oneOf)?.filter(({ type }) => type !== 'null')
  return branches?.length === 1 ? branches[0] : schema
}

function isOptional(schema) {
  return (schema.anyOf ?? schema.oneOf)?.some(({ type }) => type === 'null') === true || schema.type === 'null'
}

function key(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

function grouped() {
  const groups = new Map()
  for (const method of HOST_METHODS) {
    const [group] = method.node.split('.')
    groups.set(group, [...(groups.get(group) ?? []), method])
  }
  return groups
}

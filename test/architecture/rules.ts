/** The rules of the source tree: arrows between layers, cycles, forbidden globals, sizes and names (docs/architecture.md). */
import { posix } from 'node:path'
import { type Import, type SourceFile, codeOnly, expressionFlags, importsOf } from './source.js'

const LONGEST = 400

interface Layer {
  /** Layers whose files may be imported freely. */
  readonly layers: readonly string[]
  /** Files of other layers that may be imported as types, and the values that may be taken from them. */
  readonly contracts?: Readonly<Record<string, readonly string[]>>
  /** npm packages; `true` = any. */
  readonly packages: readonly string[] | true
  readonly node: boolean
}

const LAYERS: Readonly<Record<string, Layer>> = {
  kernel: { layers: ['kernel', 'protocol'], packages: true, node: true },
  ports: { layers: ['ports', 'kernel', 'ports', 'platform', 'actors', 'machines', 'store', 'protocol'], packages: true, node: true },
  platform: { layers: ['kernel', 'ports', 'platform', 'actors', 'machines', 'store', 'protocol'], packages: true, node: true },
  server: {
    layers: ['server', 'http', 'plugins', 'kernel', 'ports', 'platform', 'actors', 'machines', 'store', 'protocol'],
    packages: true,
    node: true,
  },
  protocol: { layers: ['kernel', 'protocol'], packages: ['zod', 'yaml'], node: false },
  machines: { layers: ['kernel', 'machines', 'protocol'], packages: ['xstate', 'luxon', 'yaml'], node: false },
  store: { layers: ['kernel', 'store', 'protocol'], packages: ['better-sqlite3', 'better-sqlite3-prebuilt', 'sqlite-vec'], node: true },
  actors: { layers: ['platform', 'ports', 'kernel', 'actors', 'protocol', 'machines', 'store'], packages: true, node: true },
  plugins: {
    layers: ['kernel', 'plugins', 'protocol', 'machines'],
    contracts: {
      'src/ports/plugin.ts': ['ToolError', 'defineTool'],
      'src/ports/provider-adapter.ts': ['ProviderError'],
      'src/ports/contributions.ts': [],
      'src/ports/doors.ts': [],
      'src/ports/programs.ts': [],
      'src/ports/git.ts': [],
      'src/ports/effects.ts': [],
    },
    packages: true,
    node: false,
  },
  http: {
    layers: ['kernel', 'http', 'protocol'],
    contracts: {
      'src/ports/facades.ts': [],
      'src/ports/plugins.ts': [],
      'src/ports/effects.ts': [],
      'src/ports/contributions.ts': [],
    },
    packages: ['fastify', 'zod', '@fastify/websocket'],
    node: true,
  },
  cli: {
    layers: ['server', 'platform', 'ports', 'kernel', 'cli', 'http', 'plugins', 'actors', 'machines', 'store', 'protocol'],
    contracts: {
      // Commands are a user of the client like any other: what it exports, and the types of it.
      'src/client/client.ts': ['createClient', 'SvcClientError'],
      'src/client/client-types.ts': [],
      'src/client/platform.ts': ['PLATFORM'],
      'src/client/transport.ts': ['createTransport'],
    },
    packages: true,
    node: true,
  },
  // Runs in other people's programs: nothing of the server comes along, and of zod only types (the build refuses more).
  client: { layers: ['kernel', 'client', 'protocol'], packages: ['eventsource-parser', 'zod'], node: false },
  // The library of plugin authors: runs in the process of a plugin.
  kit: { layers: ['kernel', 'kit', 'protocol'], packages: ['ndjson'], node: false },
  // The Lua program: a process of its own, started by path.
  sandbox: { layers: ['kernel', 'sandbox', 'protocol'], packages: ['fengari'], node: true },
  // The program that makes text of web pages: a process of its own, started by path.
  reader: {
    layers: ['kernel', 'reader', 'protocol'],
    packages: ['@mozilla/readability', 'htmlparser2', 'linkedom', 'turndown', 'zod'],
    node: true,
  },
  // The program that runs directories of tools: a process of its own, started by path.
  toolbox: { layers: ['kernel', 'toolbox', 'kit', 'protocol'], packages: ['sucrase'], node: true },
  // Runs in a browser: of the server only types of what it answers.
  page: {
    layers: ['kernel', 'page'],
    contracts: {
      'src/protocol/acceptance/acceptance.ts': [],
      'src/protocol/format/formatter-routes.ts': [],
      'src/protocol/lsp/lsp.ts': [],
      'src/protocol/mcp/mcp.ts': [],
      'src/protocol/session/session.ts': [],
      'src/protocol/session/undo.ts': [],
      'src/protocol/system/inspector.ts': [],
      'src/protocol/workflow/workflow.ts': [],
    },
    packages: [],
    node: false,
  },
  // Starts the whole runtime inside a test; what the client declares, it names.
  testing: {
    layers: [
      'server',
      'platform',
      'ports',
      'kernel',
      'testing',
      'cli',
      'http',
      'plugins',
      'kit',
      'actors',
      'machines',
      'store',
      'protocol',
    ],
    contracts: { 'src/client/operation-types.ts': [] },
    packages: true,
    node: true,
  },
}

/** The author library runs in the process of a plugin, not of the server: there these files are the outside world. */
const AUTHOR_PROCESS = /^src\/kit\/node-/

/** The outside world, and who may touch it directly. Everybody else takes `Effects`. */
const FORBIDDEN: readonly { readonly what: string; readonly pattern: RegExp; readonly allowed: RegExp }[] = [
  {
    what: 'Date.now',
    pattern: /(?<![.\w])Date\.now\b/,
    allowed: /^src\/((?:actors|platform)\/node\/|sandbox\/node-|(?:client|page)\/platform\.ts$|cli\/|server\/|testing\/)/,
  },
  {
    what: 'new Date()',
    pattern: /\bnew Date\(\s*\)/,
    allowed: /^src\/((?:actors|platform)\/node\/|sandbox\/node-|cli\/|server\/|testing\/)/,
  },
  {
    what: 'Math.random',
    pattern: /\bMath\.random\b/,
    allowed: /^src\/((?:actors|platform)\/node\/|sandbox\/node-|(?:client|page)\/platform\.ts$|cli\/|server\/|testing\/)/,
  },
  { what: 'randomUUID', pattern: /\brandomUUID\b/, allowed: /^src\/((?:actors|platform)\/node\/|sandbox\/node-|cli\/|server\/|testing\/)/ },
  {
    what: 'setTimeout',
    pattern: /(?<![.\w])setTimeout\s*\((?!\w+\s*:)/,
    allowed: /^src\/((?:actors|platform)\/node\/|sandbox\/node-|(?:client|page)\/platform\.ts$|cli\/|server\/|testing\/)/,
  },
  {
    what: 'setInterval',
    pattern: /(?<![.\w])setInterval\s*\((?!\w+\s*:)/,
    allowed: /^src\/((?:actors|platform)\/node\/|sandbox\/node-|page\/platform\.ts$|cli\/|server\/|testing\/)/,
  },
  {
    what: 'process.env',
    pattern: /\bprocess\.env\b/,
    allowed: /^src\/((?:actors|platform)\/node\/|sandbox\/node-|kit\/node-|cli\/|server\/|testing\/)/,
  },
]

/** A beginning of a text with a sign that there was more. */
const CUTS = /\.slice\(0, ?[^)]*\)\}(?:…|\\n\[|\\n…)/

const FORBIDDEN_MODULES: readonly { readonly pattern: RegExp; readonly allowed: RegExp; readonly except?: readonly string[] }[] = [
  {
    pattern: /^(node:)?fs(\/promises)?$/,
    allowed: /^src\/((?:actors|platform)\/node\/|(?:sandbox|toolbox)\/node-|cli\/|server\/|testing\/|store\/)/,
  },
  {
    pattern: /^(node:)?child_process$/,
    allowed: /^src\/((?:actors|platform)\/node\/|(?:sandbox|toolbox)\/node-|cli\/|server\/|testing\/)/,
  },
  // Yielding to the event loop is not waiting.
  {
    pattern: /^(node:)?timers(\/promises)?$/,
    allowed: /^src\/((?:actors|platform)\/node\/|(?:sandbox|toolbox)\/node-|cli\/|server\/|testing\/)/,
    except: ['setImmediate'],
  },
]

const VAGUE = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'manager', 'service', 'base', 'stuff', 'lib'])

/** Everything that is wrong with a tree; empty when all rules hold. One sentence per finding, beginning with the path. */
export function findings(files: readonly SourceFile[]): string[] {
  return [...files.flatMap((file) => [...arrows(file), ...globals(file), ...shape(file)]), ...cycles(files)]
}

function arrows(file: SourceFile): string[] {
  const layerName = layerOf(file.path)
  const layer = LAYERS[layerName]
  if (layer === undefined) return [`${file.path}: src/${layerName} is not a layer`]
  return importsOf(file.text).flatMap((each) => {
    const problem = arrow(file.path, layer, each)
    return problem === undefined ? [] : [`${file.path}: ${problem}`]
  })
}

function arrow(path: string, layer: Layer, each: Import): string | undefined {
  const { specifier } = each
  if (specifier.startsWith('.')) return relativeArrow(target(path, specifier), layer, each)
  const misplaced = FORBIDDEN_MODULES.find(
    ({ pattern, allowed, except }) => pattern.test(specifier) && !allowed.test(path) && !onlyTakes(each, except),
  )
  if (misplaced !== undefined) return `imports ${specifier}; take Effects instead`
  if (specifier.startsWith('node:')) return layer.node || AUTHOR_PROCESS.test(path) ? undefined : `imports ${specifier}`
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  return layer.packages === true || layer.packages.includes(name) ? undefined : `imports the package ${name}`
}

function onlyTakes(each: Import, names: readonly string[] | undefined): boolean {
  return names !== undefined && each.values.length > 0 && each.values.every((name) => names.includes(name))
}

function relativeArrow(to: string, layer: Layer, each: Import): string | undefined {
  // Data that is generated beside the file that reads it.
  if (/^\.\/[\w-]+\.json$/.test(each.specifier)) return undefined
  if (!each.specifier.endsWith('.js')) return `imports ${each.specifier} without its .js suffix`
  if (layer.layers.includes(layerOf(to))) return undefined
  const values = layer.contracts?.[to]
  if (values === undefined) return `imports ${to}`
  const taken = each.values.filter((name) => !values.includes(name))
  return each.typeOnly || taken.length === 0 ? undefined : `imports ${taken.join(', ')} of ${to} as a value`
}

function globals(file: SourceFile): string[] {
  const code = codeOnly(file.text)
  return FORBIDDEN.filter(({ pattern, allowed }) => !allowed.test(file.path) && pattern.test(code)).map(
    ({ what }) => `${file.path}: uses ${what}; take Effects instead`,
  )
}

function shape(file: SourceFile): string[] {
  const found: string[] = []
  const lines = file.text.trimEnd().split('\n').length
  const words = posix.basename(file.path, '.ts').split(/[-.]/)
  const vague = [...words, ...posix.dirname(file.path).split('/')].find((word) => VAGUE.has(word))
  if (lines > LONGEST) found.push(`${file.path}: has ${lines} lines, more than ${LONGEST}`)
  if (vague !== undefined) found.push(`${file.path}: is called "${vague}", which says nothing`)
  if (/^export default\b/m.test(codeOnly(file.text))) found.push(`${file.path}: has a default export`)
  if (/^export \*/m.test(codeOnly(file.text))) found.push(`${file.path}: re-exports everything of another file`)
  // Half a character is no text; the page knows names of machines only.
  if (CUTS.test(file.text) && !file.path.startsWith('src/page/'))
    found.push(`${file.path}: cuts a text by hand; use cut of src/kernel/cut.ts`)
  // With that flag `^` and `$` also stand beside a carriage return, U+2028 and U+2029, which end no line of a file or a protocol.
  if (expressionFlags(file.text).some((flags) => flags.includes('m')))
    found.push(`${file.path}: has a regular expression with the flag m; write (?<=^|\\n) and (?=\\n|$)`)
  return found
}

/** Every cycle once, types included: two files that need each other's types are one idea. */
function cycles(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map(({ path }) => path))
  const next = new Map(files.map(({ path, text }) => [path, neighbours(path, text).filter((to) => known.has(to))]))
  const done = new Set<string>()
  const found: string[] = []

  function visit(path: string, trail: readonly string[]): void {
    const start = trail.indexOf(path)
    if (start >= 0) found.push(`${path}: imports itself through ${[...trail.slice(start + 1), path].join(' → ')}`)
    if (start >= 0 || done.has(path)) return
    for (const to of next.get(path) ?? []) visit(to, [...trail, path])
    done.add(path)
  }

  for (const { path } of files) visit(path, [])
  return found
}

export function neighbours(path: string, text: string): string[] {
  return importsOf(text)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => target(path, specifier))
}

function target(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
}

/** `src/store/open.ts` → `store`. */
function layerOf(path: string): string {
  return path.split('/')[1] ?? ''
}

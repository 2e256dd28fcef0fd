/** Who may import whom: the layers of `src`, as data. Which of them stands above which is said in `storeys.ts`; below is not yet allowed. */

export interface Layer {
  /** Layers whose files may be imported freely. */
  readonly layers: readonly string[]
  /** Files of other layers that may be imported as types, and the values that may be taken from them. */
  readonly contracts?: Readonly<Record<string, readonly string[]>>
  /** npm packages; `true` = any. */
  readonly packages: readonly string[] | true
  /** Packages that one file alone may import. */
  readonly packagesOf?: Readonly<Record<string, readonly string[]>>
  readonly node: boolean
}

export const LAYERS: Readonly<Record<string, Layer>> = {
  // Tools that know no word of the product.
  kernel: { layers: ['kernel'], packages: ['xstate'], node: false },
  protocol: {
    layers: ['protocol', 'kernel'],
    packages: ['zod'],
    packagesOf: { 'src/protocol/text/yaml-map.ts': ['yaml'] },
    node: false,
  },
  machines: {
    layers: ['machines', 'protocol'],
    contracts: { 'src/kernel/lru.ts': ['createLru'] },
    packages: ['xstate', 'luxon'],
    node: false,
  },
  store: { layers: ['store', 'protocol', 'kernel'], packages: ['better-sqlite3', 'better-sqlite3-prebuilt', 'sqlite-vec'], node: true },
  // Signatures, and the few values that both sides of a port must share.
  ports: {
    layers: ['ports', 'protocol'],
    contracts: {
      'src/kernel/roots.ts': [],
      'src/kernel/work.ts': [],
      'src/machines/acceptance/standing.ts': [],
      'src/store/store.ts': [],
      'src/store/plugin-rows.ts': [],
      'src/store/found.ts': [],
    },
    packages: ['zod', 'xstate'],
    node: false,
  },
  platform: {
    layers: ['platform', 'kernel', 'protocol', 'machines', 'ports'],
    contracts: { 'src/store/disk/make-directories.ts': ['makeDirectories', 'makeDirectoriesSync'] },
    packages: true,
    node: true,
  },
  // A world that is played: the other implementation of the effects.
  simulation: { layers: ['simulation', 'kernel', 'protocol', 'ports'], packages: [], node: true },
  plugins: {
    layers: ['plugins', 'kernel', 'protocol', 'machines'],
    contracts: {
      'src/ports/plugin.ts': ['ToolError', 'defineTool'],
      'src/ports/provider-adapter.ts': ['ProviderError'],
      'src/ports/contributions.ts': [],
      'src/ports/doors.ts': [],
      'src/ports/effects.ts': [],
      'src/ports/git.ts': [],
      'src/ports/programs.ts': [],
    },
    packages: true,
    node: false,
  },
  http: {
    layers: ['http', 'kernel', 'protocol'],
    contracts: {
      'src/ports/contributions.ts': [],
      'src/ports/credentials.ts': [],
      'src/ports/effects.ts': [],
      'src/ports/facades.ts': [],
      'src/ports/plugins.ts': [],
    },
    packages: ['fastify', 'zod', '@fastify/websocket'],
    node: true,
  },
  actors: { layers: ['actors', 'kernel', 'protocol', 'machines', 'store', 'ports', 'platform'], packages: true, node: true },
  // The composition root.
  server: {
    layers: ['server', 'http', 'plugins', 'actors', 'platform', 'ports', 'machines', 'store', 'protocol', 'kernel'],
    packages: true,
    node: true,
  },
  cli: {
    layers: ['cli', 'server', 'http', 'plugins', 'actors', 'platform', 'ports', 'machines', 'store', 'protocol', 'kernel'],
    contracts: {
      // Commands are a user of the client like any other: what it exports, and the types of it.
      'src/published/client/client.ts': ['createClient', 'SvcClientError'],
      'src/published/client/client-types.ts': [],
      'src/published/client/patience.ts': ['ATTEMPTS', 'patiently'],
      'src/published/client/platform.ts': ['PLATFORM'],
      'src/published/client/records.ts': ['readRecords'],
      'src/published/client/transport.ts': ['createTransport'],
    },
    packages: true,
    node: true,
  },
  // Runs in other people's programs: nothing of the server comes along, and of zod only types (the build refuses more).
  'published/client': { layers: ['published/client', 'protocol'], packages: ['eventsource-parser', 'zod'], node: false },
  // The library of plugin authors: runs in the process of a plugin.
  'published/kit': { layers: ['published/kit', 'protocol'], packages: ['ndjson'], node: false },
  // Starts the whole runtime inside a test; what the client declares, it names.
  'published/testing': {
    layers: [
      'published/testing',
      'published/kit',
      'simulation',
      'server',
      'http',
      'plugins',
      'actors',
      'platform',
      'ports',
      'machines',
      'store',
      'protocol',
      'kernel',
    ],
    contracts: { 'src/published/client/operation-types.ts': [] },
    packages: true,
    node: true,
  },
  // The Lua program: a process of its own, started by path.
  'programs/sandbox': {
    layers: ['programs/sandbox', 'protocol'],
    contracts: { 'src/platform/node/compiled.ts': ['loadCompiled'] },
    packages: ['fengari'],
    node: true,
  },
  // The program that makes text of web pages: a process of its own, started by path.
  'programs/reader': {
    layers: ['programs/reader', 'protocol'],
    packages: ['@mozilla/readability', 'htmlparser2', 'linkedom', 'turndown', 'zod'],
    node: true,
  },
  // The program that runs directories of tools: a process of its own, started by path.
  'programs/toolbox': { layers: ['programs/toolbox', 'published/kit', 'protocol'], packages: ['sucrase'], node: true },
  // What runs code of packages in the server: a file of its own, loaded by path.
  'programs/native': {
    layers: ['programs/native', 'published/kit', 'protocol'],
    contracts: { 'src/ports/native-code.ts': [], 'src/ports/child-pipe.ts': [] },
    packages: [],
    node: true,
  },
  // Runs in a browser: of the server only types of what it answers.
  'programs/page': {
    layers: ['programs/page'],
    contracts: {
      'src/protocol/acceptance/acceptance.ts': [],
      'src/protocol/interaction/explanation.ts': [],
      'src/protocol/interaction/interaction.ts': [],
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
}

/** Folders of layers: what stands in one of them has nothing else in common. */
const HOUSES = new Set(['published', 'programs'])

/** `src/store/open.ts` → `store`, `src/published/kit/host.ts` → `published/kit`. */
export function layerOf(path: string): string {
  const [, first = '', second = ''] = path.split('/')
  return HOUSES.has(first) ? `${first}/${second}` : first
}

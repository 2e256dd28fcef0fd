/** Packages that Node runs: plain JavaScript, or JavaScript that TypeScript sources beside the package are compiled to. Pure. */
import type { Scope } from '../plugin-arguments.js'
import type { Kind } from '../plugin-kinds.js'
import { codeOf, type Files, type Grammar, indented, manifestFile, type Names, namesOf, type Piece, tableOf, TEXTS } from './template.js'

/** The package: `plugin.js` is the plugin, `main.js` runs it, `svc-plugin.js` is the library. */
export function javascriptPackage(id: string, scope: Scope, kinds: readonly Kind[], library: { readonly code: string }): Files {
  return {
    ...manifestFile(id, { runtime: 'process', command: ['node', 'main.js'], scope }),
    'package.json': `${JSON.stringify({ type: 'module' })}\n`,
    'plugin.js': pluginModule(id, kinds, false),
    'main.js': MAIN,
    'svc-plugin.js': library.code,
  }
}

/** The sources of a package, which is at `built`, seen from them: `npm run build` writes `plugin.js` and `main.js` into it. */
export function typescriptSources(id: string, kinds: readonly Kind[], built: string, library: { readonly declarations: string }): Files {
  const greets = kinds.includes('tool')
  return {
    'package.json': json({
      name: id,
      private: true,
      type: 'module',
      scripts: { build: 'tsc', ...(greets && { test: 'npm run build && node --test test/plugin.test.mjs' }) },
      devDependencies: { '@types/node': '>=20', typescript: '>=5.4' },
    }),
    'tsconfig.json': json({
      compilerOptions: {
        target: 'es2022',
        module: 'nodenext',
        moduleResolution: 'nodenext',
        lib: ['es2023', 'dom'],
        types: ['node'],
        strict: true,
        verbatimModuleSyntax: true,
        rootDir: 'src',
        outDir: built,
        noEmitOnError: true,
      },
      include: ['src'],
    }),
    'src/plugin.ts': pluginModule(id, kinds, true),
    'src/main.ts': MAIN,
    'src/svc-plugin.d.ts': library.declarations,
    ...(greets && { 'test/plugin.test.mjs': testModule(`../${built}`, namesOf(id).word) }),
  }
}

const MAIN = `import { plugin } from './plugin.js'
import { runPlugin } from './svc-plugin.js'

await runPlugin(plugin)
`

function pluginModule(id: string, kinds: readonly Kind[], isTyped: boolean): string {
  const names = namesOf(id)
  const pieces = kinds.map((kind) => PIECES[kind](names, (type) => (isTyped ? type : '')))
  const types = isTyped ? kinds.flatMap((kind) => TYPES[kind] ?? []) : []
  const imported = ['definePlugin', ...types.map((type) => `type ${type}`)].join(', ')
  return `${kinds.includes('socket') ? "import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web'\n" : ''}import { ${imported} } from './svc-plugin.js'

${codeOf(pieces)}export const plugin = definePlugin({
  name: '${names.short}',
  version: '0.1.0',
${tableOf(pieces, GRAMMAR, '  ')}})
`.replace(isTyped ? /$^/ : ', type ReadableStreamDefaultController', '')
}

/** As an author writes to the log; this program itself has another door. */
const LOG = ['con', 'sole.log'].join('')

/** What the code of a piece names. */
const TYPES: Partial<Readonly<Record<Kind, readonly string[]>>> = {
  event: ['PluginEvent'],
  route: ['RouteRequest', 'RouteResponse'],
  socket: ['SocketSession', 'WsMessage'],
  provider: ['GenerationEvent', 'GenerationRequest'],
}

const ONE = new Set(['events'])
const MAPS = new Set(['hooks'])

const GRAMMAR: Grammar = {
  group(name, entries, indent) {
    if (ONE.has(name)) return `${indent}${name}: ${entries[0] ?? '{}'},\n`
    const [open, close] = MAPS.has(name) ? ['{', '}'] : ['[', ']']
    return `${indent}${name}: ${open}\n${indented(entries.map((entry) => `${entry},\n`).join(''), `${indent}  `)}${indent}${close},\n`
  },
  services: (groups, indent) => `${indent}services: {\n${groups.join('')}${indent}},\n`,
}

/** `typed` answers what it is given where the language has types. */
const PIECES: Readonly<Record<Kind, (names: Names, typed: (type: string) => string) => Piece>> = {
  tool: ({ word }, typed) => ({
    group: 'tools',
    entry: `{
  id: '${word}',
  description: '${TEXTS.tool}',
  parameters: {
    type: 'object',
    properties: { name: { type: 'string', description: 'Who is greeted' } },
    required: ['name'],
  },
  execute(input${typed(': { name: string }')}) {
    return { title: \`${word} \${input.name}\`, output: \`Hello, \${input.name}!\` }
  },
}`,
  }),
  hook: ({ word }, typed) => ({
    code: `// What is answered takes the place of the value: here, the variables of a command.
const environment = (_context${typed(': unknown')}, value${typed(': Record<string, string>')}) => ({ ...value, ${word.toUpperCase()}: '1' })`,
    group: 'hooks',
    entry: "'shell.env': environment",
  }),
  event: (_names, typed) => ({
    code: `const heard = (event${typed(': PluginEvent')}) => ${LOG}(\`heard \${event.type}\`)`,
    group: 'events',
    entry: "{ namespaces: ['session.'], handler: heard }",
  }),
  command: ({ short }) => ({
    code: `const commands = () => [{ name: '${short}', description: '${TEXTS.command}', template: '${TEXTS.template}' }]`,
    group: 'services.commands',
    entry: `{ id: '${short}-commands', handler: commands }`,
  }),
  agent: ({ short }, typed) => ({
    code: `const agents = () => ({
  agents: [
    {
      name: '${short}',
      mode: 'subagent'${typed(' as const')},
      description: '${TEXTS.agent}',
      prompt: '${TEXTS.prompt}',
      permission: { edit: 'deny', bash: 'deny' },
    },
  ],
  defaultAgent: null,
})`,
    group: 'services.agents',
    entry: `{ id: '${short}-agents', handler: agents }`,
  }),
  context: ({ short }) => ({
    code: `const sections = () => [{ id: '${short}', title: '${short}', content: '${TEXTS.context}' }]`,
    group: 'services.systemContext',
    entry: `{ id: '${short}-context', handler: sections }`,
  }),
  route: ({ id, short }, typed) => ({
    code: `// GET /v2/plugins/${id}/status
const status = (request${typed(': RouteRequest')})${typed(': RouteResponse')} => ({ status: 200, body: { ok: true, workspace: request.workspace } })`,
    group: 'routes',
    entry: `{ descriptor: { id: '${short}-status', method: 'GET', path: '/status', scope: 'workspace' }, handle: status }`,
  }),
  socket: ({ short }, typed) => ({
    code: `function echo()${typed(': SocketSession')} {
  let sending${typed('!: ReadableStreamDefaultController<WsMessage>')}
  const outbound = new ReadableStream${typed('<WsMessage>')}({ start: (controller) => void (sending = controller) })
  sending.enqueue({ kind: 'text', data: 'ready' })
  return {
    outbound,
    message(message) {
      if (message.kind === 'text') sending.enqueue(message)
      if (message.kind === 'close') sending.close()
    },
  }
}`,
    group: 'websocketRoutes',
    entry: `{ descriptor: { id: '${short}-echo', method: 'GET', path: '/echo', scope: 'workspace' }, open: echo }`,
  }),
  provider: ({ short }, typed) => ({
    code: `// A model that says the last message again.
async function* stream(request${typed(': GenerationRequest')})${typed(': AsyncGenerator<GenerationEvent>')} {
  yield { type: 'text-start', id: '1' }
  yield { type: 'text-delta', id: '1', delta: request.messages.at(-1)?.content ?? '' }
  yield { type: 'text-end', id: '1' }
  yield { type: 'finish', finish: 'stop', inputTokens: 0, outputTokens: 0 }
}`,
    group: 'services.providers',
    entry: `{ descriptor: { id: '${short}', name: '${short}', models: ['echo'] }, stream }`,
  }),
}

function testModule(built: string, tool: string): string {
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plugin } from '${built}/plugin.js'
import { createTestHost } from '${built}/svc-plugin.js'

test('greets by name', async () => {
  const host = await createTestHost(plugin)
  assert.deepEqual(await host.callTool('${tool}', { name: 'Ada' }), { title: '${tool} Ada', output: 'Hello, Ada!' })
  await host.shutdown()
})
`
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/**
 * Bundles the program into dist/: an entry that loads it, and a chunk for every `await import()`, which therefore stays lazy.
 * Packages written in JavaScript are bundled, because one file loads faster than three hundred. The server is a bundle of its own, one file
 * again: what it shares with other commands would be spread over fifty. What V8 makes of them is kept beside (`compile-ahead.mjs`).
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'
import { bundledPackages, NOTED } from './bundled-packages.mjs'
import { buildClient, withoutSchemas } from './build-client.mjs'
import { buildInspector } from './build-inspector.mjs'
import { buildLuaSandbox } from './build-lua-sandbox.mjs'
import { buildNative } from './build-native.mjs'
import { buildPluginLibrary } from './build-plugin.mjs'
import { buildReader } from './build-reader.mjs'
import { buildTestLibrary } from './build-testing.mjs'
import { buildToolbox } from './build-toolbox.mjs'
import { compileAhead } from './compile-ahead.mjs'
import { LATER, OF_NODE } from './later.mjs'
import { noticesOf } from './notices.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Found in node_modules when they are loaded. */
const OUTSIDE = [
  // Carry a native library, a program or a WebAssembly file.
  'better-sqlite3',
  'better-sqlite3-prebuilt',
  'node-pty',
  '@lydell/node-pty',
  'koffi',
  'sqlite-vec',
  '@vscode/ripgrep',
  'web-tree-sitter',
  'tree-sitter-bash',
  // Parts of the HTTP server that svc never loads: its logger, its test client, its JSON Schema compilers.
  'pino',
  'light-my-request',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
]

/** CommonJS packages inside an ES module ask for `require`. */
const REQUIRE = "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

/** zod's messages in forty languages, a seventh of the program: English is set without them, and nothing asks for another. */
const ENGLISH_ONLY = {
  name: 'english-only',
  setup(bundle) {
    bundle.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: "export { default as en } from './en.js'" }))
  },
}

/** The streams of `readable-stream` are those of Node, which is loaded anyway. */
const STREAMS_OF_NODE = {
  name: 'streams-of-node',
  setup(bundle) {
    bundle.onResolve({ filter: /^readable-stream$/ }, () => ({ path: 'node:stream', external: true }))
  },
}

/** The licences of what is bundled. */
const NOTICES = 'dist/THIRD-PARTY-NOTICES.txt'
const SERVER = new Set(['./commands/serve/serve.js', './embedded.js'])
/** Found beside the entry when it is loaded, by those that run a server inside of themselves too. */
const SERVER_APART = {
  name: 'server-apart',
  setup(bundle) {
    bundle.onResolve({ filter: /\/(?:serve|embedded)\.js$/ }, ({ path }) =>
      SERVER.has(path) ? { path: './serve.cjs', external: true } : undefined,
    )
  },
}

/** esbuild settings shared by the program and by scripts that load its sources. */
export function settings() {
  const { version, publishedName } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20.19',
    external: OUTSIDE,
    plugins: [ENGLISH_ONLY, STREAMS_OF_NODE, LATER, OF_NODE, NOTED],
    banner: { js: REQUIRE },
    define: {
      SVC_VERSION: JSON.stringify(version),
      SVC_PUBLISHED_NAME: JSON.stringify(publishedName),
      'process.env.NODE_ENV': '"production"',
    },
    legalComments: 'none',
    logLevel: 'warning',
  }
}

/** Builds dist/main.js, the program it loads, the libraries of plugin authors and for tests, the client, the inspector, the sandbox program, the reader, the toolbox and what runs native code, then removes what an earlier build left. */
export async function buildProgram() {
  const sandbox = buildLuaSandbox()
  const client = buildClient(root, settings())
  const inspector = buildInspector(root)
  const reader = buildReader()
  const testing = buildTestLibrary(root, settings())
  const toolbox = buildToolbox(root, settings())
  const native = buildNative(root, settings())
  const program = [
    await entry(),
    await bundle({ svc: 'src/cli/main.ts' }, [SERVER_APART, await withoutSchemas(settings())]),
    await bundle({ serve: 'src/cli/commands/serve/serve.ts' }),
  ]
  const library = await buildPluginLibrary(root, settings())
  const others = await Promise.all([sandbox, client, inspector, reader, testing, toolbox, native, copyDocuments()])
  const compiled = await compileAhead(root, [...program.flat(), ...(await sandbox)])
  writeFileSync(join(root, NOTICES), noticesOf(bundledPackages(root)))
  removeStale(new Set([...program.flat(), ...library, ...others.flat(), ...compiled, NOTICES]))
}

/** Answers the file that was written. */
async function entry() {
  const file = 'dist/main.js'
  await build({ ...settings(), banner: {}, entryPoints: ['src/cli/entry.ts'], outfile: file })
  chmodSync(join(root, file), 0o755)
  return [file]
}

/** Answers the files that were written: CommonJS, as what V8 makes of an ES module cannot be kept before Node 22. */
async function bundle(entryPoints, plugins = []) {
  const common = settings()
  const { metafile, outputFiles } = await build({
    ...common,
    banner: {},
    plugins: [...common.plugins, ...plugins],
    entryPoints,
    outdir: 'dist',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    sourcemap: 'inline',
    sourcesContent: false,
    minify: true,
    metafile: true,
    write: false,
  })
  refuseLostNames(metafile)
  refuseLanguages(metafile)
  return (await Promise.all(outputFiles.map(({ path, text }) => writeCommonJs(path, text)))).flat()
}

async function writeCommonJs(path, text) {
  const file = path.replace(/\.js$/, '.cjs')
  const { code, map } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: settings().target,
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': '__module_url' },
    banner: text.includes('import.meta.url') ? 'const __module_url=require("node:url").pathToFileURL(__filename).href;' : '',
    legalComments: 'none',
    minify: true,
    sourcemap: 'external',
    sourcesContent: false,
    sourcefile: path,
  })
  mkdirSync(dirname(file), { recursive: true })
  const beside = basename(dirname(file)) === 'chunks' ? code.replaceAll('require("./serve.cjs")', 'require("../serve.cjs")') : code
  const named = beside.replaceAll(/require\("(\.{1,2}\/[^"]+)\.js"\)/g, 'require("$1.cjs")')
  writeFileSync(file, `${inAscii(named)}//# sourceMappingURL=${basename(file)}.map\n`)
  writeFileSync(`${file}.map`, map)
  return [file, `${file}.map`].map((each) => each.slice(root.length))
}

/** One character beyond Latin-1 makes V8 keep a whole source with two bytes for each; what writes strings so leaves regular expressions as they are. */
function inAscii(code) {
  return code.replaceAll(/[^\p{ASCII}]/gu, (character) =>
    character.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

/** A CommonJS package that is imported dynamically keeps only its default export: `const { a } = await import('b')` finds nothing. */
function refuseLostNames({ outputs }) {
  for (const { entryPoint = '', exports } of Object.values(outputs)) {
    if (!entryPoint.includes('node_modules/') || exports.join() !== 'default') continue
    throw new Error(`${entryPoint} is CommonJS: import its names statically in a module of ours, and import that one dynamically`)
  }
}

/** A zod that names its languages elsewhere would bring them back unseen. */
function refuseLanguages({ inputs }) {
  const others = Object.keys(inputs).filter((path) => path.includes('zod/v4/locales/') && !/\/(?:en|index)\.js$/.test(path))
  if (others.length > 0) throw new Error(`messages of zod in other languages would be bundled: ${others.join(', ')}`)
}

/** The documents that models may ask for, but for the one that is made; answers the files that were written. */
async function copyDocuments() {
  const names = ['', 'providers/'].flatMap((folder) =>
    readdirSync(join(root, 'docs', folder)).flatMap((name) => (name.endsWith('.md') && name !== 'http.md' ? [`${folder}${name}`] : [])),
  )
  mkdirSync(join(root, 'dist/docs/providers'), { recursive: true })
  for (const name of names) copyFileSync(join(root, 'docs', name), join(root, 'dist/docs', name))
  return names.map((name) => `dist/docs/${name}`)
}

function removeStale(written) {
  if (!existsSync(join(root, 'dist'))) return
  for (const entry of readdirSync(join(root, 'dist'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && !written.has(path.slice(root.length))) rmSync(path, { force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildProgram()

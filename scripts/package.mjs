/**
 * Makes the file that `npm i -g` installs: `npm run package [-- --out DIRECTORY]`. What is built in lists only what cannot be bundled: the native
 * parts whose binaries npm fetches for a platform, and, inside of the file, the sources that Node 20 compiles. With `-- --standalone` it makes an
 * archive that needs no Node instead (`standalone.mjs`).
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildProgram } from './build.mjs'
import { makeStandalone } from './standalone.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Fetched by npm for the platform it runs on; none has a script of its own. */
const FETCHED = ['@lydell/node-pty', '@vscode/ripgrep']
const FETCHED_WHERE_THERE_IS_ONE = ['better-sqlite3-prebuilt', 'sqlite-vec']
/**
 * Within the file, without scripts of their own, and of each only what is used: sources that our script compiles where no binary fits, what
 * these need, and grammars.
 */
const CARRIED = {
  'better-sqlite3': ['LICENSE', 'binding.gyp', 'deps', 'lib', 'src'],
  bindings: ['LICENSE.md', 'bindings.js'],
  'file-uri-to-path': ['LICENSE', 'index.js'],
  'node-pty': ['LICENSE', 'binding.gyp', 'lib', 'src/unix'],
  'node-addon-api': words(
    'LICENSE.md index.js napi.h napi-inl.h napi-inl.deprecated.h nothing.c node_api.gyp node_addon_api.gyp common.gypi except.gypi noexcept.gypi',
  ),
  koffi: ['LICENSE.txt', 'index.cjs', 'index.js', 'src/koffi/index.cjs', 'src/koffi/index.js', 'src/koffi/src/static.cjs'],
  'web-tree-sitter': ['LICENSE', 'web-tree-sitter.cjs', 'web-tree-sitter.js', 'web-tree-sitter.wasm'],
  'tree-sitter-bash': ['LICENSE', 'tree-sitter-bash.wasm'],
}
/** Not in the file: what only the machine that built can use, and the second copy of the client. */
const LEFT_OUT = /\.map$|^compiled(?:\/|$)|^client-package(?:\/|$)/

/** Answers the path of the file, made in `out`. */
export async function makePackage(out) {
  if (process.env.SVC_TEST_BUILT === undefined) await buildProgram()
  const stage = mkdtempSync(join(tmpdir(), 'svc-package-'))
  try {
    copyProgram(join(stage, 'dist'))
    for (const name of ['README.md', 'CHANGELOG.md', 'packaging', 'scripts/native.mjs'])
      cpSync(join(root, name), join(stage, name), { recursive: true })
    const fetched = Object.entries(CARRIED).map(([name, files]) => carry(stage, name, files))
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest(Object.assign({}, ...fetched)), undefined, 2)}\n`)
    mkdirSync(out, { recursive: true })
    const said = execFileSync('npm', ['pack', stage, '--ignore-scripts', '--json', '--pack-destination', out], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return join(out, JSON.parse(said)[0].filename)
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** `optional` are the binaries of what is carried. */
function manifest(optional) {
  const { publishedName, description, version, license, type, engines, bin, exports, dependencies, optionalDependencies } = manifestAt(root)
  return {
    name: publishedName,
    version,
    description,
    license,
    type,
    engines,
    bin,
    exports,
    scripts: { postinstall: 'node scripts/native.mjs' },
    dependencies: { ...pick(dependencies, FETCHED), ...versionsOf(Object.keys(CARRIED)) },
    optionalDependencies: { ...pick(optionalDependencies, FETCHED_WHERE_THERE_IS_ONE), ...optional },
    bundleDependencies: Object.keys(CARRIED),
  }
}

function copyProgram(to) {
  const from = join(root, 'dist')
  cpSync(from, to, { recursive: true, filter: (path) => !LEFT_OUT.test(relative(from, path).replaceAll('\\', '/')) })
  // Nothing there is to be found where they pointed to.
  for (const { name, parentPath } of readdirSync(to, { recursive: true, withFileTypes: true }).filter((each) =>
    /\.c?js$/.test(each.name),
  )) {
    const path = join(parentPath, name)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/\n\/\/# sourceMappingURL=[^\n]*\n?$/, '\n'), { mode: statSync(path).mode })
  }
}

/** Answers the packages of its binaries, and their versions. */
function carry(stage, name, files) {
  const from = join(root, 'node_modules', name)
  const to = join(stage, 'node_modules', name)
  for (const file of files)
    cpSync(join(from, file), join(to, file), { recursive: true, filter: (path) => !/\.map$|\.test\.js$/.test(path) })
  const { version, license, main, module, type, exports, optionalDependencies } = manifestAt(from)
  writeFileSync(join(to, 'package.json'), JSON.stringify({ name, version, license, main, module, type, exports, gypfile: false }))
  return optionalDependencies ?? {}
}

function versionsOf(names) {
  return Object.fromEntries(names.map((name) => [name, manifestAt(join(root, 'node_modules', name)).version]))
}

function words(text) {
  return text.split(' ')
}

function pick(from, names) {
  return Object.fromEntries(names.map((name) => [name, from[name]]))
}

function manifestAt(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: '.' }, standalone: { type: 'boolean', default: false } } })
  const out = resolve(values.out)
  const file = await makePackage(out)
  process.stdout.write(`${values.standalone ? await makeStandalone(file, out) : file}\n`)
}

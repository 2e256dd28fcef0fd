/** The rules of the source tree: arrows between layers, storeys, circles, forbidden globals, sizes and names (docs/architecture.md). */
import { posix } from 'node:path'
import { LAYERS, type Layer, layerOf } from './layers.js'
import { climbs } from './storeys.js'
import { type Import, type SourceFile, codeOnly, expressionFlags, importsOf, neighbours, target } from './source.js'

const LONGEST = 400

/** The author library runs in the process of a plugin, not of the server: there these files are the outside world. */
const AUTHOR_PROCESS = /^src\/published\/kit\/node-/

/** The outside world, and who may touch it directly. Everybody else takes `Effects`. */
const FORBIDDEN: readonly { readonly what: string; readonly pattern: RegExp; readonly allowed: RegExp }[] = [
  {
    what: 'Date.now',
    pattern: /(?<![.\w])Date\.now\b/,
    allowed:
      /^src\/(platform\/node\/|programs\/sandbox\/node-|(?:published\/client|programs\/page)\/platform\.ts$|server\/|cli\/|published\/testing\/)/,
  },
  {
    what: 'new Date()',
    pattern: /\bnew Date\(\s*\)/,
    allowed: /^src\/(platform\/node\/|programs\/sandbox\/node-|server\/|cli\/|published\/testing\/)/,
  },
  {
    what: 'Math.random',
    pattern: /\bMath\.random\b/,
    allowed:
      /^src\/(platform\/node\/|programs\/sandbox\/node-|(?:published\/client|programs\/page)\/platform\.ts$|server\/|cli\/|published\/testing\/)/,
  },
  {
    what: 'randomUUID',
    pattern: /\brandomUUID\b/,
    allowed: /^src\/(platform\/node\/|programs\/sandbox\/node-|server\/|cli\/|published\/testing\/)/,
  },
  {
    what: 'setTimeout',
    pattern: /(?<![.\w])setTimeout\s*\((?!\w+\s*:)/,
    allowed:
      /^src\/(platform\/node\/|programs\/sandbox\/node-|(?:published\/client|programs\/page)\/platform\.ts$|server\/|cli\/|published\/testing\/|simulation\/clock\.ts$)/,
  },
  {
    what: 'setInterval',
    pattern: /(?<![.\w])setInterval\s*\((?!\w+\s*:)/,
    allowed: /^src\/(platform\/node\/|programs\/sandbox\/node-|programs\/page\/platform\.ts$|server\/|cli\/|published\/testing\/)/,
  },
  {
    what: 'process.env',
    pattern: /\bprocess\.env\b/,
    allowed: /^src\/(platform\/node\/|programs\/sandbox\/node-|published\/kit\/node-|server\/|cli\/|published\/testing\/)/,
  },
]

/** A beginning of a text with a sign that there was more. */
const CUTS = /\.slice\(0, ?[^)]*\)\}(?:…|\\n\[|\\n…)/

const FORBIDDEN_MODULES: readonly { readonly pattern: RegExp; readonly allowed: RegExp; readonly except?: readonly string[] }[] = [
  {
    pattern: /^(node:)?fs(\/promises)?$/,
    allowed:
      /^src\/(platform\/node\/|programs\/(?:native|sandbox|toolbox)\/node-|server\/|cli\/|published\/testing\/|store\/|simulation\/power\.ts$)/,
  },
  {
    pattern: /^(node:)?child_process$/,
    allowed: /^src\/(platform\/node\/|programs\/(?:native|sandbox|toolbox)\/node-|server\/|cli\/|published\/testing\/)/,
  },
  // Yielding to the event loop is not waiting.
  {
    pattern: /^(node:)?timers(\/promises)?$/,
    allowed: /^src\/(platform\/node\/|programs\/(?:native|sandbox|toolbox)\/node-|server\/|cli\/|published\/testing\/)/,
    except: ['setImmediate'],
  },
]

/** Node's own way to make a folder with those above it. */
const RECURSIVE = /\bmkdir(?:Sync)?\((?:[^()]|\([^()]*\))*\brecursive: true/
/** The names of inner states; a selector of elements begins with a colon. */
const INNER_STATES = /\.matches\(\s*['"`{](?!:)|\bgetSnapshot\(\)\.value\b/

const VAGUE = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'manager', 'service', 'base', 'stuff', 'lib'])

/** Everything that is wrong with a tree; empty when all rules hold. One sentence per finding, beginning with the path. */
export function findings(files: readonly SourceFile[]): string[] {
  return [
    ...files.flatMap((file) => [...arrows(file), ...globals(file), ...shape(file)]),
    ...climbs(files),
    ...cycles(files),
    ...loseTheirObject(files),
  ]
}

/** A span's functions are called where it is made, by tracing alone. */
const CALLED_ALONE = new Set(['src/actors/telemetry/span-record.ts'])

/** Behind an interface nobody sees a class, and hands on a function by itself, as one may with those of a literal; types accept it. */
function loseTheirObject(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:export )?class (\w+)[^{]*?\bimplements (\w+)[^{]*\{\n([^]*?)\n\}/gm)].flatMap(
      ([, name = '', contract = '', body = '']) => {
        const asked = files.flatMap(({ text: other }) => new RegExp(`\\binterface ${contract}\\b[^]*?\\n\\}`).exec(other) ?? []).join('\n')
        return [...body.matchAll(/^ {2}(?:async )?(\w+)(?:<[^>]*>)?\([^\n]*\{$/gm)]
          .filter(([, method = '']) => !CALLED_ALONE.has(path) && new RegExp(`^ {2}${method}(?:<|\\()`, 'm').test(asked))
          .map(([, method = '']) => `${path}: ${method} of ${name} loses its object when it is handed on; make it a field`)
      },
    ),
  )
}

function arrows(file: SourceFile): string[] {
  const name = layerOf(file.path)
  const layer = LAYERS[name]
  if (layer === undefined) return [`${file.path}: src/${name} is not a layer`]
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
  const isOf = layer.packages === true || layer.packages.includes(name) || layer.packagesOf?.[path]?.includes(name) === true
  return isOf ? undefined : `imports the package ${name}`
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

/** What is made there is made for a step or a call. */
const FOR_A_MOMENT = /^src\/(?:actors\/session\/run|plugins\/providers\/(?:exchange|openai-compatible)|http\/answer)\//
/** In an object of a literal, which is made by a function; a class has its own two spaces to the left. */
const ANSWERING_FIELD = /\n {4,}get \w+\(\)/
/** A tool of a worker's, which is looked at. */
const ANSWERS_FOR_ANOTHER = new Set(['src/actors/session/run/step/desk.ts'])

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
  if (CUTS.test(file.text) && !file.path.startsWith('src/programs/page/'))
    found.push(`${file.path}: cuts a text by hand; use cut of src/kernel/cut.ts`)
  // It never ends below /proc, and holds a thread.
  if (RECURSIVE.test(file.text) && !file.path.startsWith('src/published/testing/'))
    found.push(`${file.path}: makes folders by Node's own recursion; use makeDirectories of src/store/disk/make-directories.ts`)
  // Where a machine is, is its own affair: whoever asks from outside asks tags.
  if (INNER_STATES.test(file.text) && !file.path.startsWith('src/machines/'))
    found.push(`${file.path}: asks for an inner state of a machine; ask its tags`)
  // V8 keeps such a function, and all that it knows, until everything is collected (kernel/order.ts, I2).
  if (FOR_A_MOMENT.test(file.path) && ANSWERING_FIELD.test(codeOnly(file.text)) && !ANSWERS_FOR_ANOTHER.has(file.path))
    found.push(`${file.path}: has an object of a literal that answers a field with a function; make it a function, or a class`)
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

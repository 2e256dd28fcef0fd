/**
 * Builds the libraries of plugin authors: dist/plugin.js, one readable file that needs nothing but Node, dist/plugin.d.ts, the requests of
 * the host and the `*-types.ts` files in one, and dist/svc_plugin.py. All are copied into packages, so they stand alone.
 */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const SOURCES = 'src/published/kit'
/** The library for Python, as it is. */
const PYTHON = 'src/published/python/svc_plugin.py'
/** What the host sends: types without imports. */
const REQUESTS = 'src/protocol/plugin/plugin-requests.ts'

/** What the library exports as values, with the type of each. */
const VALUES = { definePlugin: 'DefinePlugin', runPlugin: 'RunPlugin', createTestHost: 'CreateTestHost' }

/** Answers the paths it wrote, relative to the root. `settings` are those of the program. */
export async function buildPluginLibrary(root, settings) {
  const { metafile } = await build({
    ...settings,
    entryPoints: { plugin: join(SOURCES, 'plugin.ts') },
    outdir: 'dist',
    banner: { js: `// svc/plugin: the library for svc plugins. Made by the build of svc; copy it, do not edit it.\n${settings.banner.js}` },
    // Streams come with Node.
    alias: { 'readable-stream': 'stream' },
    metafile: true,
  })
  refuseOtherPackages(metafile)
  const declarations = join('dist', 'plugin.d.ts')
  writeFileSync(join(root, declarations), declarationText(root))
  const python = join('dist', 'svc_plugin.py')
  copyFileSync(join(root, PYTHON), join(root, python))
  return [...Object.keys(metafile.outputs), declarations, python]
}

function declarationText(root) {
  const names = readdirSync(join(root, SOURCES), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('-types.ts'))
  const paths = [REQUESTS, ...names.map((name) => join(SOURCES, name))]
  const types = paths.map((path) => readFileSync(join(root, path), 'utf8').replaceAll(/^import type [^']*'[^']*'\n/gm, ''))
  const values = Object.entries(VALUES).map(([name, type]) => `export declare const ${name}: ${type}\n`)
  return `${types.join('\n')}\n${values.join('')}`
}

function refuseOtherPackages({ outputs }) {
  for (const { imports } of Object.values(outputs)) {
    const outside = imports.find(({ external, kind, path }) => external && kind !== 'require-call' && !/^(node:|stream$|os$)/.test(path))
    if (outside !== undefined) throw new Error(`dist/plugin.js would need ${outside.path}`)
  }
}

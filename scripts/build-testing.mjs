/**
 * Builds the test library: dist/testing.js, readable, with the sources of the server inside and the packages they need, and
 * dist/testing.d.ts, the `*-types.ts` files in one. What those name of the server is declared by the client and the library of plugin authors.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const SOURCES = 'src/published/testing'
const ENTRY = 'testing.ts'
/** Bundled here alone: with it a simulated world calls the server of HTTP without a network. */
const INJECTED = 'light-my-request'

/** Which declarations tell the types of a source file. */
const DECLARED = [
  { of: /^(?:\.\.\/)+(protocol|client)\//, in: './client.js' },
  { of: /^(?:\.\.\/)+kit\//, in: './plugin.js' },
]

/** Answers the paths it wrote, relative to the root. `settings` are those of the program. */
export async function buildTestLibrary(root, settings) {
  const { metafile } = await build({
    ...settings,
    external: settings.external.filter((name) => name !== INJECTED),
    entryPoints: { testing: join(SOURCES, ENTRY) },
    outdir: 'dist',
    splitting: true,
    chunkNames: 'chunks/testing-[hash]',
    banner: { js: `// svc/testing: svc in memory, for tests. Made by the build of svc; do not edit it.\n${settings.banner.js}` },
    metafile: true,
  })
  const declarations = join('dist', 'testing.d.ts')
  writeFileSync(join(root, declarations), declarationText(root))
  return [...Object.keys(metafile.outputs), declarations]
}

function declarationText(root) {
  const names = readdirSync(join(root, SOURCES), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('-types.ts'))
  const imported = new Map(DECLARED.map((each) => [each.in, new Set()]))
  const types = names.map((name) =>
    readFileSync(join(root, SOURCES, name), 'utf8').replaceAll(/^import type \{([^}]*)\} from '([^']*)'\n/gm, (_, list, from) => {
      const place = DECLARED.find(({ of }) => of.test(from))?.in
      if (place === undefined && !/^\.{1,2}\/[\w-]+\.js$/.test(from)) throw new Error(`${name} imports ${from}, which no declarations tell`)
      if (place !== undefined) for (const each of list.split(',').map((text) => text.trim())) if (each !== '') imported.get(place).add(each)
      return ''
    }),
  )
  const imports = [...imported].flatMap(([place, list]) =>
    list.size === 0 ? [] : [`import type { ${[...list].toSorted((a, b) => a.localeCompare(b)).join(', ')} } from '${place}'\n`],
  )
  return `${imports.join('')}\n${types.join('\n')}\n${valuesOf(readFileSync(join(root, SOURCES, ENTRY), 'utf8')).join('')}`
}

/** What the entry exports, each with the type it is given there. */
function valuesOf(entry) {
  const values = [...entry.matchAll(/^export const (\w+): (\w+) =/gm)].map(([, name, type]) => `export declare const ${name}: ${type}\n`)
  if (values.length !== [...entry.matchAll(/^export /gm)].length)
    throw new Error(`everything ${ENTRY} exports is a constant with a named type`)
  return values
}

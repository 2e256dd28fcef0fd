/**
 * A copy of dist/ whose handlers can be broken one at a time: the modules that bind handlers are exchanged for those of
 * test/e2e/mutants. Nothing of it is in the program itself. Needs a built dist/; prints the path of the program.
 */
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { settings } from './build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = join(root, 'node_modules/.cache/svc-mutants')
const EXCHANGED = {
  [join(root, 'src/http/bind.ts')]: join(root, 'test/e2e/mutants/bind.ts'),
  [join(root, 'src/http/contributed/served-socket.ts')]: join(root, 'test/e2e/mutants/served-socket.ts'),
}

async function buildMutants() {
  const met = new Set()
  const exchange = {
    name: 'exchange',
    setup({ onResolve }) {
      onResolve({ filter: /\/(bind|served-socket)\.js$/ }, ({ importer, resolveDir, path }) => {
        const asked = join(resolveDir, path.replace(/\.js$/, '.ts'))
        const other = EXCHANGED[asked]
        if (other === undefined || other === importer) return undefined
        met.add(asked)
        return { path: other }
      })
    },
  }
  rmSync(FOLDER, { recursive: true, force: true })
  cpSync(join(root, 'dist'), FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), '{"type":"module"}')
  await build({
    ...settings(),
    entryPoints: { main: 'src/cli/main.ts' },
    outdir: FOLDER,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    plugins: [exchange],
  })
  for (const path of Object.keys(EXCHANGED)) if (!met.has(path)) throw new Error(`nothing imports ${path}: it cannot be exchanged`)
  return join(FOLDER, 'main.js')
}

process.stdout.write(await buildMutants())

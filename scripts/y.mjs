/** Builds the simulation from its sources and runs it with the arguments it is given (docs/simulation.md). */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { settings } from './build.mjs'

const outdir = fileURLToPath(new URL('../node_modules/.cache/svc-simulation-y', import.meta.url))
await build({
  ...settings(),
  entryPoints: { simulate: 'test/simulation/main.ts' },
  outdir,
  outExtension: { '.js': '.mjs' },
  sourcemap: 'inline',
})
await import(`${outdir}/simulate.mjs`)

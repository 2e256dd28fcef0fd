/** Builds the simulation from its sources and runs it with the arguments it is given (docs/simulation.md). */
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { settings } from './build.mjs'

// Of this process alone: others may be built and run beside it.
const outdir = fileURLToPath(new URL(`../node_modules/.cache/svc-simulation-${process.pid}`, import.meta.url))
process.once('exit', () => rmSync(outdir, { recursive: true, force: true }))
await build({
  ...settings(),
  entryPoints: { simulate: 'test/simulation/main.ts' },
  outdir,
  outExtension: { '.js': '.mjs' },
  sourcemap: 'inline',
})
await import(`${outdir}/simulate.mjs`)

/** Bundles what `start.mjs` starts into dist/. */
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('.', import.meta.url))

await build({
  absWorkingDir: root,
  entryPoints: {
    controller: 'src/controller/main.ts',
    bridge: 'src/bridge/main.ts',
    inside: 'src/inside/inside.ts',
    'inside-tls': 'src/inside/inside-tls.ts',
    start: 'src/start/start.ts',
    parts: 'src/start/parts.ts',
  },
  outdir: 'dist',
  bundle: true,
  splitting: false,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: 'inline',
  packages: 'external',
  loader: { '.sql': 'text' },
  // Types are checked elsewhere.
  tsconfigRaw: {},
  logLevel: 'warning',
})

/** Bundles the reader, the program that makes text of web pages: `dist/page-reader.cjs`. It needs nothing else. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { NOTED } from './bundled-packages.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** linkedom draws on a canvas where one is installed. */
const NO_CANVAS = {
  name: 'no-canvas',
  setup(bundle) {
    bundle.onResolve({ filter: /^canvas$/ }, ({ path }) => ({ path, namespace: 'nothing' }))
    bundle.onLoad({ filter: /./, namespace: 'nothing' }, () => ({ contents: 'module.exports = {}', loader: 'js' }))
  },
}

/** Builds it into `outdir`; answers its paths, relative to the repository. */
export async function buildReader(outdir = 'dist') {
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    plugins: [NO_CANVAS, NOTED],
    entryPoints: { 'page-reader': join(root, 'src/programs/reader/node-program.ts') },
    outExtension: { '.js': '.cjs' },
    outdir,
  })
  return Object.keys(metafile.outputs)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildReader(process.argv[2])

/** Builds the page of the inspector: dist/inspector.{html,js,css}. It works behind a server and from a disk, and asks no other host for anything. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { NOTED } from './bundled-packages.mjs'

const SOURCES = 'src/programs/page'

/** Answers the paths it wrote, relative to the root. */
export async function buildInspector(root, outdir = 'dist') {
  mkdirSync(resolve(root, outdir), { recursive: true })
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    // Scripts of a page on a disk are not modules.
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    entryPoints: { inspector: join(SOURCES, 'page.ts') },
    outdir,
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    plugins: [NOTED],
  })
  const copies = [
    [['page.html'], 'inspector.html'],
    [['chart.css', 'page.css'], 'inspector.css'],
  ].map(([from, to]) => {
    writeFileSync(resolve(root, outdir, to), from.map((name) => readFileSync(join(root, SOURCES, name), 'utf8')).join(''))
    return join(outdir, to)
  })
  return [...Object.keys(metafile.outputs), ...copies]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildInspector(fileURLToPath(new URL('..', import.meta.url)), process.argv[2])

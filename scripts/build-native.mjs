/**
 * Bundles what runs code of packages inside of the server: `dist/native.cjs`, which imports modules that nobody knows at the build, and
 * `dist/native-hooks.js` for the thread that finds them.
 */
import { join } from 'node:path'
import { build } from 'esbuild'

/** Answers the paths it wrote, relative to the root. `settings` are those of the program. */
export async function buildNative(root, settings) {
  const common = { ...settings, banner: {}, outdir: 'dist', minify: true, metafile: true }
  const folder = join(root, 'src/programs/native')
  const built = await Promise.all([
    build({ ...common, format: 'cjs', outExtension: { '.js': '.cjs' }, entryPoints: { native: join(folder, 'node-program.ts') } }),
    build({ ...common, entryPoints: { 'native-hooks': join(folder, 'node-hooks.ts') } }),
  ])
  return built.flatMap(({ metafile }) => Object.keys(metafile.outputs))
}

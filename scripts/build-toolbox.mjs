/** Bundles the toolbox, the program that runs the tools of a directory: `dist/toolbox.js`, and `dist/toolbox-hooks.js` for the thread that reads modules. */
import { join } from 'node:path'
import { build } from 'esbuild'

/** Answers the paths it wrote, relative to the root. `settings` are those of the program. */
export async function buildToolbox(root, settings) {
  const { metafile } = await build({
    ...settings,
    entryPoints: {
      toolbox: join(root, 'src/programs/toolbox/node-program.ts'),
      'toolbox-hooks': join(root, 'src/programs/toolbox/node-hooks.ts'),
    },
    outdir: 'dist',
    minify: true,
    // Streams come with Node.
    alias: { 'readable-stream': 'stream' },
    metafile: true,
  })
  return Object.keys(metafile.outputs)
}

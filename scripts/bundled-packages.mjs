/** Which packages a build puts into its files: each build notes them as it ends, and whoever makes the package tells their licences. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Roots of packages in node_modules, relative to the repository. */
const noted = new Set()

/** For esbuild. */
export const NOTED = {
  name: 'noted',
  setup(bundle) {
    bundle.initialOptions.metafile = true
    bundle.onEnd(({ metafile }) => {
      for (const { inputs } of Object.values(metafile?.outputs ?? {})) {
        for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
          const root = /^.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0]
          if (root !== undefined && bytesInOutput > 0) noted.add(root)
        }
      }
    })
  },
}

/** Those of all builds of this process: name and version of each, and the folder it lies in. */
export function bundledPackages(root) {
  return [...noted]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => {
      const folder = join(root, path.replaceAll('\\', '/'))
      return { folder, manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }
    })
}

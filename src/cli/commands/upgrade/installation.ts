/** How this svc came here, and what is typed for a newer one. Pure. */
import { dirname, join } from 'node:path'

export type Installation = 'clone' | 'global' | 'npx' | 'dependency' | 'standalone' | 'image'

export interface Surroundings {
  /** Root of the package: what has `dist` in it. */
  readonly root: string
  /** The Node it runs on. */
  readonly node: string
  /** Published name of the package. */
  readonly packageName: string
  exists(path: string): boolean
  isWritable(path: string): boolean
}

const CONTAINER_NOTES = ['/.dockerenv', '/run/.containerenv']

/** A container whose program this user may not change was made with it. */
export function installationOf({ root, node, exists, isWritable }: Omit<Surroundings, 'packageName'>): Installation {
  if (CONTAINER_NOTES.some((path) => exists(path)) && !isWritable(root)) return 'image'
  if (node === join(dirname(root), 'bin', 'node')) return 'standalone'
  if (/[\\/]_npx[\\/]/.test(root)) return 'npx'
  if (!/[\\/]node_modules[\\/]/.test(`${root}/`)) return 'clone'
  // npm keeps global packages beside its programs; a project has a package.json around its node_modules.
  const folder = root.slice(0, root.lastIndexOf('node_modules'))
  return exists(join(folder, 'package.json')) ? 'dependency' : 'global'
}

const CALLED: Readonly<Record<Installation, string>> = {
  clone: 'a clone that was built',
  global: 'npm, for all projects (npm i -g)',
  npx: 'npx, which keeps it in its cache',
  dependency: 'npm, for the project around it',
  standalone: 'the archive with a Node in it',
  image: 'an image of a container',
}

/** What it is, and lines to type, comments included. */
export function upgradeSteps(
  installation: Installation,
  { root, packageName }: Pick<Surroundings, 'root' | 'packageName'>,
): readonly string[] {
  switch (installation) {
    case 'clone':
      return [`cd ${root}`, 'git pull', 'npm ci', 'npm run build']
    case 'global':
      return [`npm i -g ${packageName}@latest    # or the file you have: npm i -g ./svc-runtime-svc-….tgz`]
    case 'npx':
      return [`npx ${packageName}@latest --version    # the newer one is kept beside; name it in what you type from now on`]
    case 'dependency':
      return [`cd ${root.slice(0, root.lastIndexOf('node_modules'))}`, `npm i svc@npm:${packageName}@latest`]
    case 'standalone':
      return [
        `tar -xzf svc-….tar.gz -C ${dirname(dirname(root))}    # the newer archive; it lies beside ${dirname(root)}`,
        '# then start svc from the new folder',
      ]
    case 'image':
      return ['# pull the newer image, and start it with the volume this one has']
  }
}

export function installationWords(installation: Installation): string {
  return CALLED[installation]
}

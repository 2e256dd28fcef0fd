/** The file system as the analysis of a command line sees it. */
import type { NativeHost } from '../../../ports/plugin.js'
import { type FileView, nameOf, parentOf } from './place.js'

type Files = NativeHost['effects']['files']

export function createFileView(files: Pick<Files, 'realPath' | 'stat' | 'readDirectory'>, programs: NativeHost['namedPrograms']): FileView {
  const entries = (path: string) => files.readDirectory(path).catch(() => [])
  return {
    realPath: (path) => files.realPath(path),
    async kindOf(path) {
      const stat = await files.stat(path).catch(() => undefined)
      if (stat !== undefined) return stat.kind
      const entry = (await entries(parentOf(path))).find(({ name }) => name === nameOf(path))
      return entry?.kind === 'link' ? 'link' : undefined
    },
    named: (directory, command) => programs.named(directory, command),
    list: async (path) => (await entries(path)).map(({ name }) => name),
  }
}

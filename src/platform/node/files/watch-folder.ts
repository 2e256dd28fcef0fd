/**
 * Watching the entries of one directory.
 *
 * I1 What lies on a file system that other machines write to, or that a program answers for, is not watched: what others change
 *    there is told to nobody.
 */
import { statfsSync, watch } from 'node:fs'
import type { Files } from '../../../ports/effects.js'

/** `f_type` of NFS, SMB (three), FUSE, 9P, AFS, Ceph, Coda, Lustre and the shared folders of VirtualBox (`statfs(2)`). */
const SHARED = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x65735546, 0x01021997, 0x5346414f, 0x00c36400, 0x73757245, 0x0bd00bd0, 0x786f4256,
])

/** On Linux the kernel queues what happened as it happens; elsewhere a service tells some time later. */
export const TELLS_AT_ONCE = process.platform === 'linux'

/** See `Files.watchFolder`. */
export const watchFolder: Files['watchFolder'] = (path, onChange) => {
  try {
    if (process.platform === 'linux' && SHARED.has(statfsSync(path).type)) return 'refused' // I1
    const watcher = watch(path, { persistent: false }, (type, name) => onChange(name ?? undefined, type === 'rename'))
    watcher.on('error', () => onChange(undefined, true))
    return () => watcher.close()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent'
    return code === 'EACCES' || code === 'EPERM' ? 'forbidden' : 'refused'
  }
}

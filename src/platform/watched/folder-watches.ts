/**
 * Watches of folders, one for each however many listen to it.
 *
 * I1 A folder that came, went or moved is another one: its watch and those below are given up before its listeners are told,
 *    and it has to be heard anew. Who wants to be told of that listens to the folder above as well.
 * I2 At most `LIMITS.config.folders` are watched at once.
 */
import { dirname, join } from 'node:path'
import { createFolderTree } from '../../kernel/folder-tree.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Files } from '../../ports/effects.js'

/** Why a folder is not heard; `refused` = the system has no more watches, or does not tell what happens there. */
export type Hearing = 'heard' | 'absent' | 'forbidden' | 'refused'

/** A path of a folder that is listened to, or such a folder itself. `isMove`: another one may stand there. */
type OnChange = (path: string, isMove: boolean) => void

interface FolderListener {
  /** Of a canonical folder, until it is another one. */
  hear(folder: string): Hearing
  end(): void
}

export interface FolderWatches {
  listen(onChange: OnChange): FolderListener
}

interface Watched {
  readonly end: () => void
  readonly listeners: Set<OnChange>
}

export function createFolderWatches(files: Pick<Files, 'watchFolder'>): FolderWatches {
  const watched = createFolderTree<Watched>(dirname)

  function told(folder: string, name: string | undefined, isMove: boolean): void {
    const listeners = [...(watched.get(folder)?.listeners ?? [])]
    const path = name === undefined ? folder : join(folder, name)
    if (isMove) drop(path) // I1
    for (const listener of listeners) listener(path, isMove)
  }

  function drop(path: string): void {
    for (const { end } of watched.drop(path)) end()
  }

  function begin(folder: string): Watched | Exclude<Hearing, 'heard'> {
    if (watched.size >= LIMITS.config.folders) return 'refused' // I2
    const end = files.watchFolder(folder, (name, isMove) => told(folder, name, isMove))
    if (typeof end === 'string') return end
    const begun = { end, listeners: new Set<OnChange>() }
    watched.set(folder, begun)
    return begun
  }

  return {
    listen(onChange) {
      const listener: OnChange = (path, isMove) => onChange(path, isMove)
      return {
        hear(folder) {
          const found = watched.get(folder) ?? begin(folder)
          if (typeof found === 'string') return found
          found.listeners.add(listener)
          return 'heard'
        },
        end() {
          for (const [folder, { listeners, end }] of watched.entries()) {
            if (!listeners.delete(listener) || listeners.size > 0) continue
            watched.delete(folder)
            end()
          }
        },
      }
    },
  }
}

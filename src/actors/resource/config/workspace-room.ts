/** How much the files of one workspace may say together: what is done with it takes one turn of the event loop (threat-model X1, §7). */
import { LIMITS } from '../../../protocol/limits.js'
import type { Origin, Trust } from './config-files.js'

export interface Room {
  /** Whether there is room for what a file says, which is taken then; what the installation says takes none. */
  take(origin: Pick<Origin, 'trust'>, said: unknown, besides?: number): boolean
}

/** Of one configuration file. */
export function boundsOf(trust: Trust): { readonly fileBytes: number; readonly values: number | undefined } {
  return trust === 'workspace' ? LIMITS.config.workspace : { fileBytes: LIMITS.config.fileBytes, values: undefined }
}

export function createRoom(values: number = LIMITS.config.workspace.allValues): Room {
  let left = values
  return {
    take({ trust }, said, besides = 0) {
      if (trust === 'installation') return true
      const wanted = valuesIn(said) + besides
      if (wanted > left) return false
      left -= wanted
      return true
    },
  }
}

/** On all levels together. */
function valuesIn(root: unknown): number {
  const open: unknown[] = [root]
  let count = 0
  for (let value = open.pop(); value !== undefined || open.length > 0; value = open.pop()) {
    count++
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) open.push(inner)
  }
  return count
}

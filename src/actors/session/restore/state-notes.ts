/** States of files as the part of a call tells them: small contents in it, larger ones beside (sessions-events §7.2). */
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { FileStateDoor } from '../../../ports/doors.js'
import type { KeptContents } from './kept-contents.js'

export function createFileStateDoor({ sha256 }: Pick<Effects, 'sha256'>, keep: KeptContents['keep']): FileStateDoor {
  return {
    begin(sessionId) {
      let room = LIMITS.undo.partBytes
      return {
        async file(content, mode) {
          const digest = sha256(content)
          const state = { exists: true, sha256: digest, ...(mode !== undefined && { mode }) }
          if (content.length <= Math.min(LIMITS.undo.inlineBytes, room)) {
            room -= content.length
            return { ...state, contentBase64: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64') }
          }
          return (await keep(sessionId, digest, content)) ? { ...state, stored: true as const } : state
        },
      }
    },
  }
}

/** Ids under which models see what servers offer: `mcp__<server>__<tool>` (subsystems f.4; threat-model N4). Pure. */
import { LIMITS } from '../../../protocol/limits.js'

const HASH = 8

/** Gives each name an id of its own; which one does not depend on what other servers offer, unless two would be the same. */
export function createNames(sha256: (text: string) => string): { idOf(server: string, name: string): string } {
  const taken = new Map<string, string>()
  const hashed = (id: string, key: string) => `${id.slice(0, LIMITS.mcp.toolId - HASH - 1)}_${sha256(key).slice(0, HASH)}`
  return {
    idOf(server, name) {
      const key = `${server}\0${name}`
      const plain = `mcp__${plainText(server)}__${plainText(name)}`
      const isExact = plain.length <= LIMITS.mcp.toolId && (taken.get(plain) ?? key) === key
      const id = isExact ? plain : hashed(plain, key)
      taken.set(id, key)
      return id
    },
  }
}

function plainText(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_')
}

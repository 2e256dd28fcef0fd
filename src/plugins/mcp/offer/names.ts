/**
 * Ids under which models see what servers offer: `mcp__<server>__<tool>` (subsystems f.4; threat-model N4). Pure.
 *
 * I1 What stands before the first `__` behind `mcp__` is of one server alone: a rule for the tools of one, be it with an asterisk, is about no
 *    tool of another, whatever servers and tools are called.
 */
import { LIMITS } from '../../../protocol/limits.js'

const HASH = 8
/** A name that stands for itself; every other one gets a number. */
const PLAIN_SERVER = /^(?!.*__)[A-Za-z0-9_-]*[A-Za-z0-9-]$/

/** Gives each name an id of its own; which one does not depend on what other servers offer, unless two would be the same. */
export function createNames(sha256: (text: string) => string): { idOf(server: string, name: string): string } {
  const taken = new Map<string, string>()
  const hashed = (id: string, key: string) => `${id.slice(0, LIMITS.mcp.toolId - HASH - 1)}_${sha256(key).slice(0, HASH)}`
  /** I1 */
  function segmentOf(server: string): string {
    if (PLAIN_SERVER.test(server)) return server
    return `${plainText(server).replace(/_+/g, '_')}-${sha256(server).slice(0, HASH)}`
  }

  return {
    idOf(server, name) {
      const key = `${server}\0${name}`
      const plain = `mcp__${segmentOf(server)}__${plainText(name)}`
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

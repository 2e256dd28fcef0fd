/**
 * The token file as `svc token` changes it.
 *
 * I1 One change at a time, whoever makes it; the file is old or new as a whole, and for its owner alone.
 * I2 A file that a server would refuse is not written over, and none is written that a server would refuse.
 */
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { readTokenDocument, type TokenEntry } from '../../../actors/tenancy/tenants/token-document.js'
import { createNodeFiles } from '../../../platform/node/files/node-files.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { tryFileLock } from '../../../store/opening/file-lock.js'

const files = createNodeFiles(() => undefined)

/** Where the file is; throws when nothing names one. */
export function tokenPath(named: string | undefined): string {
  const value = named === undefined ? (process.env['SVC_AGENT_AUTH_CONFIG'] ?? '') : resolve(named)
  if (value.trimStart().startsWith('{'))
    throw new SvcError('request.invalid', 'SVC_AGENT_AUTH_CONFIG holds the document itself; name a file: --file')
  if (!value.startsWith('/'))
    throw new SvcError('request.invalid', 'no token file is named: --file, or an absolute path in SVC_AGENT_AUTH_CONFIG')
  return canonical(value)
}

/** The tokens of a file; undefined = there is none. */
export async function readTokens(path: string): Promise<readonly TokenEntry[] | undefined> {
  if ((await files.stat(path)) === undefined) return undefined
  const read = readTokenDocument(new TextDecoder().decode(await files.read(path, LIMITS.tenants.fileBytes)))
  if (!read.ok) throw new SvcError('config.invalid', `${path}: line ${read.line}: ${read.reason}`)
  return read.tokens
}

/** Answers what `change` answers beside the tokens; the same tokens are not written. */
export async function changeTokens<T>(
  path: string,
  change: (before: readonly TokenEntry[]) => readonly [readonly TokenEntry[], T],
): Promise<T> {
  const release = tryFileLock(`${path}.lock`)
  if (release === undefined) throw new SvcError('resource.conflict', `another command is changing ${path}`)
  try {
    const before = (await readTokens(path)) ?? []
    const [after, answer] = change(before)
    if (after === before) return answer
    const text = `${JSON.stringify({ tokens: after }, null, 2)}\n`
    const read = readTokenDocument(text)
    if (!read.ok) throw new SvcError('request.invalid', read.reason) // I2
    await files.writeAtomic(path, text, { mode: 0o600 })
    return answer
  } finally {
    release()
  }
}

/** A link to the file stays one. */
function canonical(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

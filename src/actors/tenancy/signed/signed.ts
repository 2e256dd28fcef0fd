/**
 * Callers that the workspace daemon has signed (subsystems d.5; threat-model T1, T2, T5).
 *
 * I1 A credential whose signature was right once is not computed again, and its clock rules are applied at every use. At most
 *    `LIMITS.signed.remembered` are kept, by a keyed digest and never by their text; another key forgets all of them.
 * I2 A signature that does not fit is a reason to look whether the daemon has another key now: the file is read when it is another one.
 * I3 A key that others could read or write is none.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { createLru } from '../../../kernel/lru.js'
import type { CredentialSource } from '../../../ports/credentials.js'
import type { Effects } from '../../../ports/effects.js'
import type { Caller } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { messageOf } from '../../../protocol/message-of.js'
import { type Claims, holds, readCredential } from './credential.js'

const VARIABLE = 'SVC_DAEMON_TOKEN'
const KEY = /^[\x21-\x7e]+$/
const SECOND = 1000

interface SignedDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'log'>
  /** Value of the variable; where it is not set, the key is in the file. */
  readonly fixed: string | undefined
  readonly file: string
  /** The file lies where other users may put one: theirs says nothing. */
  readonly isShared: boolean
}

interface Key {
  readonly text: string
  /** Which state of the file it was read from. */
  readonly identity: string | undefined
}

interface Remembered {
  readonly claims: Claims
  readonly caller: Caller
}

/** Undefined where there is no key, neither in the environment nor in the file. Rejects with `config.invalid` when there is one of no use. */
export async function openSigned({ effects, fixed, file, isShared }: SignedDeps): Promise<CredentialSource | undefined> {
  const { clock, files, log } = effects
  if (fixed !== undefined && !KEY.test(fixed))
    throw new SvcError('config.invalid', `${VARIABLE} is empty or contains characters other than printable ASCII without spaces.`)
  const first = fixed === undefined ? await firstKey() : { text: fixed, identity: undefined }
  if (first === undefined) return undefined
  let key: Key = first
  const own = randomBytes(32)
  const remembered = createLru<string, Remembered>(LIMITS.signed.remembered)
  let looked: string | undefined

  async function firstKey(): Promise<Key | undefined> {
    try {
      return await readKey(files, file)
    } catch (error) {
      if (!isShared) throw new SvcError('config.invalid', `the key of the workspace daemon cannot be used: ${file} ${messageOf(error)}`)
      log.warn('the key of the workspace daemon is not used', { file, problem: messageOf(error) })
      return undefined
    }
  }

  /** I2: whether there is another key. */
  async function lookAnew(): Promise<boolean> {
    const identity = await files
      .stat(file)
      .then((stat) => stat?.identity)
      .catch(() => undefined)
    if (identity === undefined || identity === key.identity || identity === looked) return false
    looked = identity
    try {
      const next = await readKey(files, file)
      if (next === undefined) return false
      key = next
      remembered.clear()
      log.info('the workspace daemon has another key', { file })
      return true
    } catch (error) {
      log.warn('the key of the workspace daemon cannot be used; the last good one counts', { file, problem: messageOf(error) })
      return false
    }
  }

  function judge(secret: string): Caller | 'forged' | undefined {
    const digest = createHmac('sha256', own).update(secret).digest('base64')
    const known = remembered.get(digest)
    if (known !== undefined) return holds(known.claims, clock.now()) ? known.caller : undefined
    const claims = readCredential(secret, key.text)
    if (claims === 'forged') return 'forged'
    if (typeof claims === 'string' || !holds(claims, clock.now())) return undefined
    const caller = callerOf(claims)
    remembered.set(digest, { claims, caller })
    return caller
  }

  return {
    callerOf(secret) {
      const caller = judge(secret)
      if (caller !== 'forged') return caller
      return fixed === undefined ? lookAnew().then((isOther) => plain(isOther ? judge(secret) : undefined)) : undefined
    },
    stands: (caller) => (caller.until === undefined ? undefined : clock.now() < caller.until),
  }
}

const plain = (caller: Caller | 'forged' | undefined): Caller | undefined => (caller === 'forged' ? undefined : caller)

/** I3 */
async function readKey(files: Pick<Effects['files'], 'stat' | 'read' | 'exposure'>, file: string): Promise<Key | undefined> {
  const stat = await files.stat(file)
  if (stat === undefined) return undefined
  const exposed = await files.exposure(file)
  if (exposed !== undefined) throw new Error(`can be changed by others: ${exposed.path} ${exposed.how}`)
  if ((stat.mode & 0o077) !== 0) throw new Error('can be read by others (chmod 600)')
  const text = new TextDecoder().decode(await files.read(file, LIMITS.signed.keyBytes)).trim()
  if (!KEY.test(text)) throw new Error('is empty, or contains characters other than printable ASCII without spaces')
  return { text, identity: stat.identity }
}

function callerOf({ subject, tenantId, directoryPrefixes, hosted, expiresAt, workspaceId }: Claims): Caller {
  const common = { subject, tenantId, authenticated: true, operator: false, directoryPrefixes, until: expiresAt * SECOND }
  const scoped = typeof workspaceId === 'string' ? { ...common, workspaceId } : common
  return hosted ? { ...scoped, hosted: true } : scoped
}

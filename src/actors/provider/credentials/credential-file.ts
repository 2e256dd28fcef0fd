/**
 * The file of credentials (subsystems c.5): `SVC_AGENT_AUTH_PATH`, else `auth.json` in the state directory.
 *
 * I1 The file is the truth: it is read again when it is another one. I2 A change is read, made and written under a lock that other
 * processes heed, and is old or new as a whole after any kill. I3 A file that is no credential file is never written over.
 * I4 No message tells what stands in it. I5 It never grows beyond what is read of it.
 */
import { dirname, isAbsolute, join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { sleep } from '../../../kernel/patience.js'
import { tryFileLock } from '../../../store/opening/file-lock.js'
import type { Effects } from '../../../ports/effects.js'
import { type CredentialDocument, EMPTY, readDocument, writeDocument } from './document.js'

export interface CredentialFile {
  /** It stands in a variable, and cannot be changed. */
  readonly isGiven: boolean
  /** What is stored. A file that cannot be read is told in the log, once for each content, and is as if it were empty. */
  read(): Promise<CredentialDocument>
  /**
   * Changes what is stored and answers what `change` answers beside it; an unchanged document is not written.
   * Throws `resource.conflict` when the file cannot be changed.
   */
  change<T>(
    change: (document: CredentialDocument) => Promise<readonly [CredentialDocument, T]> | readonly [CredentialDocument, T],
  ): Promise<T>
  /** Does work while no other process does work of this name; waits for that at most `wait` ms. Throws `store.unavailable`. */
  alone<T>(name: string, wait: number, work: () => Promise<T>): Promise<T>
}

interface Known {
  readonly identity: string | undefined
  readonly document: CredentialDocument | undefined
}

export function createCredentialFile(effects: Pick<Effects, 'files' | 'env' | 'paths' | 'clock' | 'log'>): CredentialFile {
  const { files, env, clock, log } = effects
  const given = env['SVC_AGENT_AUTH_CONTENT']
  if (given !== undefined && given !== '') return givenContent(given, log)

  const path = credentialPath(effects)
  let known: Known | undefined

  async function load(): Promise<CredentialDocument | undefined> {
    const identity = (await files.stat(path))?.identity
    if (known !== undefined && known.identity === identity) return known.document
    const document = identity === undefined ? EMPTY : parse(await files.read(path, LIMITS.connections.fileBytes))
    if (document === undefined) log.warn('the credential file cannot be read: no stored credential is used', { path })
    known = { identity, document }
    return document
  }

  async function lock(lockPath: string, wait: number): Promise<() => void> {
    await files.makeDirectory(dirname(path), { mode: 0o700 })
    const until = clock.monotonic() + wait
    for (;;) {
      const release = tryFileLock(lockPath)
      if (release !== undefined) return release
      if (clock.monotonic() >= until)
        throw new SvcError('store.unavailable', `Another process does not let go of the credential file ${path}.`)
      await sleep(clock, LIMITS.connections.lockLook)
    }
  }

  return {
    isGiven: false,
    async read() {
      return (await load()) ?? EMPTY
    },
    async change(change) {
      const release = await lock(`${path}.lock`, LIMITS.connections.lockWait)
      try {
        known = undefined
        const before = await load()
        if (before === undefined) throw malformed(path)
        const [after, answer] = await change(before)
        if (after !== before) {
          const text = writeDocument(after)
          if (Buffer.byteLength(text) > LIMITS.connections.fileBytes) throw full(path)
          await files.writeAtomic(path, text, { mode: 0o600 })
          known = undefined
        }
        return answer
      } finally {
        release()
      }
    },
    async alone(name, wait, work) {
      const release = await lock(`${path}.${name}.lock`, wait)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}

function credentialPath({ env, paths }: Pick<Effects, 'env' | 'paths'>): string {
  const chosen = env['SVC_AGENT_AUTH_PATH']
  if (chosen === undefined || chosen === '') return join(paths.state, 'auth.json')
  return isAbsolute(chosen) ? chosen : join(paths.cwd, chosen)
}

function parse(bytes: Uint8Array): CredentialDocument | undefined {
  const text = new TextDecoder().decode(bytes)
  if (text.trim() === '') return EMPTY
  try {
    return readDocument(JSON.parse(text))
  } catch {
    return undefined // I4
  }
}

function givenContent(content: string, log: Effects['log']): CredentialFile {
  const document = parse(new TextEncoder().encode(content))
  if (document === undefined) log.warn('SVC_AGENT_AUTH_CONTENT is no credential document: no stored credential is used')
  return {
    isGiven: true,
    read: () => Promise.resolve(document ?? EMPTY),
    change() {
      const message =
        'Credentials come from SVC_AGENT_AUTH_CONTENT, which cannot be changed. Start the server without it to store them in a file.'
      return Promise.reject(new SvcError('resource.conflict', message))
    },
    alone: (_name, _wait, work) => work(),
  }
}

function full(path: string): SvcError {
  return new SvcError(
    'quota.exceeded',
    `The credential file ${path} would be larger than ${LIMITS.connections.fileBytes} bytes; remove a connection first.`,
    { path },
  )
}

function malformed(path: string): SvcError {
  return new SvcError('resource.conflict', `The credential file ${path} is malformed; nothing was changed. Repair it, or move it away.`, {
    path,
  })
}

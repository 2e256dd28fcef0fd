/**
 * The file of credentials (subsystems c.5): `SVC_AGENT_AUTH_PATH`, else `auth.json` in the state directory.
 *
 * A document file as others are (I1 to I5 there); its changes are made under a lock that other processes heed.
 */
import { dirname, isAbsolute, join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { type Change, createDocumentFile, type DocumentFormat, documentIn } from '../../../kernel/document-file.js'
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
  change<T>(change: Change<CredentialDocument, T>): Promise<T>
  /** Does work while no other process does work of this name; waits for that at most `wait` ms. Throws `store.unavailable`. */
  alone<T>(name: string, wait: number, work: () => Promise<T>): Promise<T>
}

const FORMAT: DocumentFormat<CredentialDocument> = { empty: EMPTY, parse: readDocument }

export function createCredentialFile(effects: Pick<Effects, 'files' | 'env' | 'paths' | 'clock' | 'log'>): CredentialFile {
  const { files, env, log } = effects
  const given = env['SVC_AGENT_AUTH_CONTENT']
  if (given !== undefined && given !== '') return givenContent(given, log)

  const path = credentialPath(effects)
  const file = createDocumentFile({
    ...FORMAT,
    files,
    path,
    most: LIMITS.connections.fileBytes,
    write: writeDocument,
    lock: () => lockCredentials(effects, path, `${path}.lock`, LIMITS.connections.lockWait),
    full: () =>
      new SvcError(
        'quota.exceeded',
        `The credential file ${path} would be larger than ${LIMITS.connections.fileBytes} bytes; remove a connection first.`,
        { path },
      ),
    onMalformed: () => log.warn('the credential file cannot be read: no stored credential is used', { path }),
    malformed: () =>
      new SvcError('resource.conflict', `The credential file ${path} is malformed; nothing was changed. Repair it, or move it away.`, {
        path,
      }),
  })
  return {
    isGiven: false,
    async read() {
      return (await file.read()) ?? EMPTY
    },
    change: (change) => file.change(change),
    async alone(name, wait, work) {
      const release = await lockCredentials(effects, path, `${path}.${name}.lock`, wait)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}

/** Waits until no other process changes the file, and answers how it is let go of. Throws `store.unavailable`. */
export async function lockCredentials(
  { files, clock }: Pick<Effects, 'files' | 'clock'>,
  path: string,
  lockPath: string,
  wait: number,
): Promise<() => void> {
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

function credentialPath({ env, paths }: Pick<Effects, 'env' | 'paths'>): string {
  const chosen = env['SVC_AGENT_AUTH_PATH']
  if (chosen === undefined || chosen === '') return join(paths.state, 'auth.json')
  return isAbsolute(chosen) ? chosen : join(paths.cwd, chosen)
}

function givenContent(content: string, log: Effects['log']): CredentialFile {
  const document = documentIn(new TextEncoder().encode(content), FORMAT)
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

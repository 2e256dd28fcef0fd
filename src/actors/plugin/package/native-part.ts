/**
 * From approved content in our own store to an instance of it inside of this process (decision 45).
 *
 * I1 What is loaded is the copy that the approval names, hashed once more before each instance.
 * I2 Nothing contains it: where a sandbox is required it does not run.
 */
import { join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import type { Effects } from '../../../ports/effects.js'
import type { NativeCode } from '../../../ports/native-code.js'
import type { PackageEntry } from '../../resource/config/entry-options.js'
import { sandboxPolicy } from '../entry/sandbox.js'
import type { ProcessSpec } from '../process/process-spec.js'
import { hashPackage } from './revision.js'

export interface NativeDeps {
  readonly effects: Pick<Effects, 'files' | 'hasher' | 'env' | 'log'>
  readonly native: NativeCode
  serverUrl(): string | undefined
}

interface NativeSubject {
  readonly packageId: string
  readonly entry: Pick<PackageEntry, 'sandbox'>
  readonly revision: string
  readonly digest: string
  /** Of the copy. */
  readonly root: string
  readonly entrypoint: string
}

/** Rejects with a sentence when it may not run here, or is not what was approved. */
export async function insideOf(deps: NativeDeps, subject: NativeSubject): Promise<Pick<ProcessSpec, 'program' | 'args' | 'open'>> {
  const { effects, native, serverUrl } = deps
  const { packageId: pluginId, revision, digest, root: folder, entrypoint } = subject
  const refusal = whyNotInside(subject.entry, effects.env)
  if (refusal !== undefined) throw new SvcError('request.unprocessable', refusal) // I2
  const content = await hashPackage(effects, folder)
  if (content.revision !== revision || content.digest !== digest)
    throw new SvcError('plugin.invalid', 'the copy of the approved content is not that content any more', { folder }) // I1
  return {
    program: join(folder, entrypoint),
    args: [],
    open(opening) {
      const about = { pluginId, instanceId: opening.instanceId, revision }
      return native.open({
        ...opening,
        pluginId,
        folder,
        entrypoint,
        serverUrl: serverUrl(),
        onFault(reason) {
          effects.log.error('a native plugin has failed, and is retired', { ...about, reason })
          opening.onFault(reason)
        },
        onFatal: (reason) => effects.log.error('a native plugin has broken the server, which ends', { ...about, reason }),
      })
    },
  }
}

/** A sentence where a sandbox is required; where callers have tenants the server is shared (plugin-protocol §9.4). */
export function whyNotInside({ sandbox }: Pick<PackageEntry, 'sandbox'>, env: Effects['env']): string | undefined {
  if (sandboxPolicy(sandbox, env) !== 'required') return undefined
  return 'plugins run in a sandbox here, and native code runs in none; approve its runtime instead'
}

/**
 * Repositories that are cloned into the state directory (subsystems b.14; threat-model §4.4).
 *
 * I1 A note says that a directory is being made until it is registered; the next start removes what has a note and no registration.
 * I2 Only `file:`, `http:` and `https:` addresses, without a credential in them.
 */
import { join } from 'node:path'
import { createActor, toPromise } from 'xstate'
import type { cloneMachine } from '../../machines/workspace/clone.machine.js'
import { type Caller, mayUseDirectory } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { RepositoryCreateRequest } from '../../protocol/workspace/workspaces.js'
import type { Effects } from '../../ports/effects.js'
import type { CloneProgress } from '../../platform/git/program/clone-progress.js'
import type { Cloner } from '../../platform/git/program/cloner.js'
import type { ActorRegistry } from '../../kernel/roots.js'
import { supervise, type Supervision } from '../../kernel/supervise.js'
import { createTurns } from '../../kernel/turns.js'
import { cloneLogic } from './clone.actor.js'
import type { WorkspaceRegistry } from './workspace-registry.js'

type CloneRequest = Extract<RepositoryCreateRequest, { kind: 'clone' }>

export interface CloneDeps {
  readonly effects: Pick<Effects, 'files' | 'paths' | 'sha256' | 'log' | 'clock'>
  readonly cloner: Cloner
  readonly registry: WorkspaceRegistry
  /** Hears how far a clone into a directory is. */
  readonly onProgress: (step: { readonly directory: string; readonly phase: string; readonly percent: number }) => void
  readonly inspect?: Supervision<typeof cloneMachine>['inspect'] | undefined
  readonly actors?: ActorRegistry | undefined
}

export interface Clones {
  /**
   * Clones, and registers the canonical directory; when either fails, or `signal` ends it, the directory is removed. Throws
   * `management.invalid_request` (with what git said last), `management.directory_forbidden`, `resource.conflict`, `quota.exceeded`.
   */
  make<T>(caller: Caller, request: CloneRequest, signal: AbortSignal, register: (root: string) => Promise<T>): Promise<T>
  /** Removes what an earlier process did not finish. */
  recover(): Promise<void>
  /** Cancels all clones, and takes no other. */
  stop(): void
}

export function createClones({ effects, cloner, registry, onProgress, inspect, actors }: CloneDeps): Clones {
  const { files, paths, sha256, log } = effects
  const parent = join(paths.state, 'workspaces')
  const notes = join(paths.state, 'clones')
  const running = new Set<string>()
  const turns = createTurns(LIMITS.vcs.clones)
  const supervised = supervise<typeof cloneMachine>({ effects, kind: 'clone', inspect, actors })

  async function run<T>(name: string, request: CloneRequest, signal: AbortSignal, register: (root: string) => Promise<T>): Promise<T> {
    const target = join(parent, name)
    const note = join(notes, name)
    if (request.id !== undefined && (await registry.all()).some(({ id }) => id === request.id))
      throw new SvcError('resource.conflict', `The id "${request.id}" is registered already.`, { id: request.id })
    if ((await files.entry(target)) !== undefined)
      throw new SvcError('resource.conflict', `"${target}" is there already; register it, or move it away.`, { root: target })
    const source = { url: request.remoteUrl, ref: request.ref, depth: request.depth, parent, target, onProgress: tell }
    let made: { readonly value: T } | undefined
    let fault: unknown
    const logic = cloneLogic({
      turns,
      async fetch(stop) {
        await files.makeDirectory(parent, { mode: 0o700 })
        await files.writeAtomic(note, '', { mode: 0o600 })
        await cloner.fetchNew({ ...source, signal: stop })
      },
      checkOut: (stop) => cloner.checkOutNew({ ...source, signal: stop }),
      async register() {
        made = { value: await register(await files.realPath(target)) }
        await files.remove(note).catch((error: unknown) => log.warn('the note of a clone stays', { note, cause: String(error) }))
      },
      async clean() {
        await files.removeTree(target)
        await files.remove(note)
      },
      onFault: (error) => (fault ??= error),
    })
    signal.throwIfAborted()
    const ref = supervised.start(name, (options) => createActor(logic, { id: `clone:${name}`, input: { name }, ...options }))
    if (ref === undefined) throw new SvcError('lifecycle.closed')
    function tell({ phase, percent }: CloneProgress): void {
      const known = ref?.getSnapshot().context.progress
      if (known?.phase === phase && known.percent === percent) return
      ref?.send({ type: 'progressed', phase, percent })
      onProgress({ directory: target, phase, percent })
    }
    const cancel = () => ref.send({ type: 'cancel.requested' })
    signal.addEventListener('abort', cancel, { once: true })
    try {
      await toPromise(ref)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
    if (made !== undefined) return made.value
    signal.throwIfAborted()
    if (ref.getSnapshot().hasTag('cancelled')) throw new SvcError('lifecycle.closed')
    throw fault
  }

  return {
    stop() {
      void supervised.drain((ref) => ref.send({ type: 'cancel.requested' }))
    },
    async make(caller, request, signal, register) {
      requireAddress(request.remoteUrl)
      if (request.ref?.startsWith('-')) throw invalid('A ref does not begin with "-".')
      const name = `repo-${sha256(request.remoteUrl).slice(0, 16)}`
      if (!mayUseDirectory(caller, join(parent, name))) throw new SvcError('management.directory_forbidden')
      if (running.has(name)) throw new SvcError('resource.conflict', 'This address is being cloned already.')
      if (running.size >= LIMITS.vcs.clones.atOnce + LIMITS.vcs.clones.waiting)
        throw new SvcError('quota.exceeded', 'Too many repositories wait to be cloned; try again later.')
      running.add(name)
      try {
        return await run(name, request, signal, register)
      } finally {
        running.delete(name)
      }
    },
    async recover() {
      if ((await files.stat(notes)) === undefined) return
      for (const { name } of await files.readDirectory(notes)) {
        if (!/^repo-[0-9a-f]{16}$/.test(name)) continue
        const target = join(parent, name)
        const root = await files.realPath(target).catch(() => undefined)
        if (root !== undefined && !(await registry.all()).some((entry) => entry.root === root)) {
          await files.removeTree(target)
          log.warn('a clone was cut short and is removed', { directory: target })
        }
        await files.remove(join(notes, name))
      }
    },
  }
}

/** I2 */
export function requireAddress(address: string): void {
  const url = URL.canParse(address) && /^(?:https?|file):\/\/[^\s\p{Cc}]+$/u.test(address) ? new URL(address) : undefined
  if (url === undefined) throw invalid('The address of a repository to clone begins with https://, http:// or file://.')
  if (url.username !== '' || url.password !== '') throw invalid('The address of a repository to clone has no credential in it.')
}

function invalid(message: string): SvcError {
  return new SvcError('management.invalid_request', message)
}

/**
 * What may be chosen of external agents (subsystems l.2, l.3).
 *
 * I1 One look at a time for each question; who asks the same meanwhile shares it.
 * I2 What is known and not old is answered without starting anything. What is old is answered at once, marked, and one look follows;
 *    after one that failed there is a rest.
 */
import { createTurns } from '../../kernel/turns.js'
import { SvcError } from '../../protocol/errors.js'
import type { ExternalOptionsPreview, ExternalSessionCatalog } from '../../protocol/external/external.js'
import type { ExternalProvider } from '../../protocol/session/external-provider.js'
import { LIMITS } from '../../protocol/limits.js'
import { compare } from '../../kernel/sort.js'
import type { NativeHost } from '../../ports/plugin.js'
import { type Adapter, adapterOf, ownVariables } from './adapters.js'
import { listSessions } from './catalog.js'
import { type Look, lookAt } from './look.js'
import { createSnapshots } from './snapshots.js'

type Env = Readonly<Record<string, string | undefined>>

export interface Previews {
  preview(provider: ExternalProvider, directory: string, selected: Readonly<Record<string, string>>): Promise<ExternalOptionsPreview>
  /** The sessions it has of its own there; nothing of them is kept. */
  sessions(provider: ExternalProvider, directory: string): Promise<ExternalSessionCatalog>
}

export function createPreviews(host: Pick<NativeHost, 'effects' | 'actors' | 'stopping' | 'programs' | 'sandbox'>, env: Env): Previews {
  const { effects, programs, stopping } = host
  const { clock, log, sha256, files, childEnv } = effects
  const snapshots = createSnapshots(effects)
  const turns = createTurns(LIMITS.external.previews)
  const looking = new Map<string, Promise<ExternalOptionsPreview>>()
  /** When a look last failed, by its question: monotonic ms. */
  const failed = new Map<string, number>()

  /** I1 */
  function look(asked: Look): Promise<ExternalOptionsPreview> {
    const under = looking.get(asked.key)
    if (under !== undefined) return under
    const begun = begin(asked).finally(() => looking.delete(asked.key))
    looking.set(asked.key, begun)
    return begun
  }

  const take = () =>
    turns.take(stopping).catch(() => {
      throw new SvcError('quota.exceeded', 'Too many external agents are looked at; try again later.')
    })

  async function begin(asked: Look): Promise<ExternalOptionsPreview> {
    const giveBack = await take()
    try {
      const preview = await lookAt(host, asked)
      failed.delete(asked.key)
      await snapshots.keep(asked.key, preview)
      return preview
    } catch (error) {
      failed.set(asked.key, clock.monotonic())
      const [oldest] = failed.keys()
      if (failed.size > LIMITS.external.options && oldest !== undefined) failed.delete(oldest)
      throw error
    } finally {
      giveBack()
    }
  }

  async function keyOf({ command, args }: Adapter, ...rest: readonly unknown[]): Promise<string> {
    const stat = await files.stat(command)
    return sha256(JSON.stringify([command, args, stat?.size, stat?.modifiedMs, ...rest]))
  }

  return {
    async sessions(provider, directory) {
      const adapter = await adapterOf(provider, directory, env, programs.find)
      const giveBack = await take()
      try {
        const key = effects.ids.next('evt')
        return await listSessions(host, { key, provider, directory, adapter, env: { ...childEnv, ...ownVariables(provider, env) } })
      } finally {
        giveBack()
      }
    },
    async preview(provider, directory, selected) {
      const adapter = await adapterOf(provider, directory, env, programs.find)
      const chosen = Object.entries(selected).toSorted(([a], [b]) => compare(a, b))
      const environment = { ...childEnv, ...ownVariables(provider, env) }
      const key = await keyOf(
        adapter,
        provider,
        directory,
        chosen,
        Object.entries(environment).toSorted(([a], [b]) => compare(a, b)),
      )
      const asked = { key, provider, directory, adapter, env: environment, selected }
      const known = await snapshots.read(key)
      if (known === undefined) return look(asked)
      if (known.isFresh) return known.preview
      const since = failed.get(key)
      if (since === undefined || clock.monotonic() - since >= LIMITS.external.rest)
        look(asked).catch((error: unknown) =>
          log.warn('an external agent could not be looked at again', { provider, cause: String(error) }),
        )
      return { ...known.preview, catalogStale: true }
    },
  }
}

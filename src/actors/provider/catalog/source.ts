/**
 * Where the catalog of models comes from (subsystems c.1). It owns the copy in memory and the cache file.
 *
 * I1 What is known is answered at once: the copy in memory, else the cache file, else the snapshot. Nobody waits for the network.
 * I2 The source is asked at most once at a time, and not before five minutes after its last answer or one after its last failure.
 * I3 What is no catalog, or does not arrive whole within its bounds, changes nothing: the last good copy stays.
 * I4 An answer that says the same as the last is the same object, so that nothing made of it is made again.
 * I5 It is parsed and read a provider at a time, and others have their turn in between.
 */
import { createPause, createSlices } from '../../../kernel/pause.js'
import { CATALOG_BOUNDS, foreignExcess } from '../../../protocol/text/foreign-json.js'
import { membersOf } from '../../../protocol/text/json-members.js'
import { LIMITS } from '../../../protocol/limits.js'
import { delayOf } from '../../../protocol/retry.js'
import { timeLimit, waitAtMost } from '../../../kernel/patience.js'
import { wishOf } from '../../../protocol/system/variables.js'
import type { Effects } from '../../../ports/effects.js'
import { readAnswer } from '../../../protocol/text/bounded-answer.js'
import { knownVendors } from './known-vendors.js'
import { type Offered, readingOffered } from './offered.js'
import { messageOf } from '../../../protocol/message-of.js'

const pause = createPause()
const DEFAULT_URL = 'https://models.dev'

export interface CatalogSource {
  /** What is known, without asking anybody but the disk. Never rejects. */
  known(): Promise<Offered>
  /**
   * Asks the source when that is due and allowed; `isUsed` says whether somebody uses what it tells of. Resolves when it has
   * answered or cannot, `LIMITS.catalog.patience` later at the latest, and at once when a copy of the source is there.
   */
  renew(isUsed: boolean): Promise<void>
}

type Origin = 'snapshot' | 'cache' | 'source' | 'file'

interface Held {
  readonly offered: Offered
  readonly origin: Origin
  /** SHA-256 of the text, or identity of the file. */
  readonly mark: string
}

export type SourceDeps = Pick<Effects, 'clock' | 'fetch' | 'files' | 'env' | 'paths' | 'log' | 'sha256'>

export function createCatalogSource(effects: SourceDeps): CatalogSource {
  const { clock, env, files, log, sha256, paths } = effects
  const file = text(env['SVC_AGENT_MODELS_PATH'])
  const own = text(env['SVC_AGENT_MODELS_URL'])
  const address = `${(own ?? DEFAULT_URL).replace(/\/+$/, '')}/api.json`
  const cache = `${paths.cache}/${own === undefined ? 'models' : `models-${sha256(address).slice(0, 16)}`}.json`
  const wish = readWish(env['SVC_AGENT_MODELS_FETCH'])
  let held: Held | undefined
  let opening: Promise<Held> | undefined
  let pending: Promise<void> | undefined
  /** Monotonic time until which nothing is asked again. */
  let until = Number.NEGATIVE_INFINITY

  const parse = async (body: string, origin: Origin, mark: string): Promise<Held> => {
    if (held?.mark === mark && held.origin !== 'snapshot') return { ...held, origin }
    return { offered: await offeredIn(body, clock), origin, mark }
  }
  const snapshot = (): Held => ({ offered: knownVendors(), origin: 'snapshot', mark: '' })

  const readCache = async (): Promise<Held> => {
    try {
      const stat = await files.stat(cache)
      if (stat === undefined) return snapshot()
      const body = new TextDecoder().decode(await files.read(cache, LIMITS.catalog.bytes))
      const read = await parse(body, 'cache', sha256(body))
      const age = Math.max(0, clock.now() - stat.modifiedMs)
      until = clock.monotonic() + LIMITS.catalog.window - age
      return read
    } catch (error) {
      log.debug('the cached catalog of models cannot be read', { path: cache, reason: String(error) })
      return snapshot()
    }
  }

  const readFile = async (path: string): Promise<Held> => {
    try {
      const identity = (await files.stat(path))?.identity ?? 'absent'
      if (held?.mark === identity) return held
      return await parse(new TextDecoder().decode(await files.read(path, LIMITS.catalog.bytes)), 'file', identity)
    } catch (error) {
      log.warn('the catalog of SVC_AGENT_MODELS_PATH cannot be read; what was known before serves', { path, reason: String(error) })
      return held ?? snapshot()
    } finally {
      until = clock.monotonic() + LIMITS.catalog.window
    }
  }

  const ask = async (): Promise<void> => {
    const limit = timeLimit(clock, LIMITS.catalog.request, 'no answer in time')
    try {
      const headers = { 'user-agent': 'svc', accept: 'application/json' }
      const response = await effects.fetch(address, { headers, redirect: 'manual', signal: limit.signal })
      const body = await readAnswer(response, LIMITS.catalog.bytes)
      held = await parse(body, 'source', sha256(body))
      until = clock.monotonic() + LIMITS.catalog.window
      void keep(body)
    } catch (error) {
      until = clock.monotonic() + delayOf(LIMITS.catalog.retry)
      log.info('the catalog of models was not renewed; what was known before serves', { host: hostOf(address), reason: reasonOf(error) })
    } finally {
      limit.clear()
      pending = undefined
    }
  }
  /** For the next start; the copy in memory serves this one. */
  const keep = async (body: string): Promise<void> => {
    try {
      await files.writeAtomic(cache, body, { mode: 0o600 })
    } catch (error) {
      log.debug('the catalog of models was not kept', { path: cache, reason: String(error) })
    }
  }

  const open = async (): Promise<Held> => {
    if (file !== undefined && (held === undefined || clock.monotonic() >= until)) held = await readFile(file)
    held ??= await readCache()
    return held
  }

  const opened = (): Promise<Held> =>
    (opening ??= open().finally(() => {
      opening = undefined
    }))

  return {
    known: async () => (await opened()).offered,
    async renew(isUsed) {
      await opened()
      if (file !== undefined || wish === 'never' || (wish === undefined && own === undefined && !isUsed)) return
      if (pending === undefined && clock.monotonic() < until) return
      pending ??= ask()
      if (held?.origin === 'snapshot') await waitAtMost(clock, pending, LIMITS.catalog.patience)
    },
  }
}

/** I5 */
async function offeredIn(body: string, clock: SourceDeps['clock']): Promise<Offered> {
  const excess = foreignExcess(body, CATALOG_BOUNDS)
  if (excess !== undefined) throw new Error(`it ${excess}`)
  const reading = readingOffered(membersOf(body), knownVendors())
  const breath = createSlices(() => clock.monotonic(), pause)
  for (;;) {
    const { done, value } = reading.next()
    if (done === true) return value
    await breath()
  }
}

function text(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}

function readWish(value: string | undefined): 'never' | 'always' | undefined {
  const wish = wishOf({ SVC_AGENT_MODELS_FETCH: value }, 'SVC_AGENT_MODELS_FETCH')
  return wish === undefined ? undefined : wish ? 'always' : 'never'
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : 'no address'
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return messageOf(cause)
}

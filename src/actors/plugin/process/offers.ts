/**
 * What plugins offered when they were last started, by everything their start depends on: with the same content it is offered before the
 * process runs, so that a server with many plugins answers as soon as one with none.
 *
 * I1 Each is taken once in the life of a server: what failed after it was offered is started first from then on.
 * I2 What cannot be read or written is unknown, and costs a start.
 */
import { isAbsolute, join } from 'node:path'
import { createLru } from '../../../kernel/lru.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { InitializeReply } from '../../../protocol/plugin/plugin-frame.js'
import type { Effects } from '../../../ports/effects.js'
import { parseInitializeReply } from '../link/initialize.js'
import type { ProcessSpec } from './process-spec.js'

export interface Offers {
  of(spec: ProcessSpec): Promise<Offered>
  /** Removes the oldest beyond `LIMITS.plugins.offers`. */
  sweep(): Promise<void>
}

export interface Offered {
  readonly known?: KnownOffer
  /** Keeps the reply to `initialize` for the next server. */
  keep(reply: unknown): Promise<void>
}

interface KnownOffer {
  /** JSON of the whole reply. */
  readonly text: string
  readonly reply: InitializeReply
}

interface OffersDeps {
  readonly effects: Pick<Effects, 'files' | 'sha256' | 'log'>
  /** Made when it is needed. */
  readonly directory: string
  /** Of svc: another one may read a reply in another way. */
  readonly version: string
}

/** Changes from server to server, and no plugin offers anything by it. */
const ADDRESS = 'SVC_AGENT_SERVER_URL'
const MODE = 0o600
const { offers: MOST, offerBytes: LONGEST } = LIMITS.plugins

export function createOffers(deps: OffersDeps): Offers {
  const { files } = deps.effects
  const taken = createLru<string, true>(MOST)
  return {
    async of(spec) {
      const path = join(deps.directory, `${await keyOf(deps, spec)}.json`)
      const known = await read(deps, path)
      const isFirst = taken.get(path) === undefined // I1
      taken.set(path, true)
      return {
        ...(known !== undefined && isFirst && { known }),
        async keep(reply) {
          const text = JSON.stringify(reply)
          if (text === known?.text || text.length > LONGEST) return
          await files
            .writeAtomic(path, text, { mode: MODE })
            .catch((error: unknown) => deps.effects.log.warn('an offer of a plugin is not kept', { path, error })) // I2
        },
      }
    },
    async sweep() {
      const names = await files.readDirectory(deps.directory).catch(() => [])
      const aged = await Promise.all(
        names.map(async ({ name }) => ({ name, at: (await files.entry(join(deps.directory, name)))?.changedMs ?? 0 })),
      )
      const oldest = aged.toSorted((a, b) => b.at - a.at).slice(MOST)
      for (const { name } of oldest) await files.remove(join(deps.directory, name))
    },
  }
}

async function read({ effects }: OffersDeps, path: string): Promise<KnownOffer | undefined> {
  try {
    const text = Buffer.from(await effects.files.read(path, LONGEST)).toString('utf8')
    return { text, reply: parseInitializeReply(JSON.parse(text)) }
  } catch {
    return undefined // I2
  }
}

/** Content is told by its revision; of a program of the configuration, by the files that its line names. */
async function keyOf({ effects: { files, sha256 }, version }: OffersDeps, spec: ProcessSpec): Promise<string> {
  const { pluginId, place, revision, config, directory, program, args, capabilities, declared, eventNamespaces } = spec
  const { [ADDRESS]: _, ...env } = spec.env
  const paths = [program, ...args].map((word) => (isAbsolute(word) ? word : join(directory, word)))
  const named =
    revision === undefined ? await Promise.all(paths.map(async (path) => stampOf(await files.stat(path).catch(() => undefined)))) : []
  const granted = [...capabilities].toSorted()
  return sha256(
    JSON.stringify([version, pluginId, place, revision, config, directory, program, args, env, granted, declared, eventNamespaces, named]),
  )
}

function stampOf(stat: Awaited<ReturnType<Effects['files']['stat']>>): unknown {
  return stat?.identity
}

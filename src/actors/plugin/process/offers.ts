/**
 * What plugins offered when they were last started, by everything their start depends on: with the same content it is offered before the
 * process runs, so that a server with many plugins answers as soon as one with none.
 *
 * I1 Each is taken once in the life of a server: what failed after it was offered is started first from then on.
 * I2 What cannot be read or written, or is not what was written, is unknown, and costs a start.
 *
 * A file has three lines: the reply as JSON, as it was told; what was read of it, which is not checked again; the digest of both.
 */
import { isAbsolute, join } from 'node:path'
import { createLru } from '../../../kernel/lru.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { InitializeReply } from '../../../protocol/plugin/plugin-frame.js'
import type { Effects } from '../../../ports/effects.js'
import type { ProcessSpec } from './process-spec.js'

export interface Offers {
  of(spec: ProcessSpec): Promise<Offered>
  /** Removes the oldest beyond `LIMITS.plugins.offers`. */
  sweep(): Promise<void>
}

export interface Offered {
  readonly known?: KnownOffer
  /** What is known was not used: it is so again for the next start. */
  giveBack(): void
  /** Keeps the reply to `initialize` for the next server: as it was told, and as it was read. */
  keep(told: unknown, reply: InitializeReply): Promise<void>
}

interface KnownOffer {
  /** JSON of the whole reply, as it was told. */
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
/** Bytes of the last line, and more. */
const DIGEST = 128
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
        giveBack: () => (isFirst ? taken.delete(path) : undefined),
        async keep(told, reply) {
          const text = JSON.stringify(told)
          if (text === known?.text) return
          const both = `${text}\n${JSON.stringify(reply)}`
          if (Buffer.byteLength(both) > LONGEST) return
          await files
            .writeAtomic(path, `${both}\n${deps.effects.sha256(both)}`, { mode: MODE })
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

async function read({ effects: { files, sha256 } }: OffersDeps, path: string): Promise<KnownOffer | undefined> {
  try {
    const all = Buffer.from(await files.read(path, LONGEST + DIGEST)).toString('utf8')
    const end = all.lastIndexOf('\n')
    const both = all.slice(0, end)
    if (sha256(both) !== all.slice(end + 1)) return undefined // I2
    const middle = both.indexOf('\n')
    return { text: both.slice(0, middle), reply: JSON.parse(both.slice(middle + 1)) as InitializeReply }
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

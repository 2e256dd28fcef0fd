/**
 * `host.config.set`: a plugin changes `options.config` of its own entry, and nothing else of the configuration (decision 45).
 *
 * I1 It is the installation's file that is written, as `PATCH /v2/config` writes it, and the change is there when the call is answered.
 * I2 A change that a plugin makes starts it not anew: what it wrote itself it knows. Somebody else's change does.
 * I3 What waits for its turn is not written for a plugin that has been retired meanwhile.
 */
import { isDeepStrictEqual } from 'node:util'
import { createLane } from '../../../kernel/lane.js'
import { createAllowance } from '../../../kernel/allowance.js'
import { createLru } from '../../../kernel/lru.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import type { Effects } from '../../../ports/effects.js'
import { isReservedKey, recordAt } from '../../resource/config/config-merge.js'
import { withoutNulls } from '../../resource/config/config-patch.js'
import { readPluginEntries } from '../../resource/config/entries.js'
import type { ConfigFacade } from '../../resource/facade/config.js'

/** Plugins whose own changes are remembered. */
const REMEMBERED = 4096

export interface OwnConfigs {
  /** Throws `request.unprocessable`, `quota.exceeded`, and what writing the configuration throws. `issueOf` says what is wrong with a whole config. */
  set(
    pluginId: string,
    change: { readonly key: string; readonly value: unknown },
    issueOf: (config: unknown) => string | undefined,
    signal: AbortSignal,
  ): Promise<void>
  /** The config by which a change of an entry is noticed: what the plugin began with, while nobody else has changed it (I2). */
  noticed(pluginId: string, config: unknown): unknown
}

interface Written {
  readonly began: unknown
  readonly now: unknown
}

export function createOwnConfigs(
  effects: Pick<Effects, 'paths' | 'files' | 'clock'>,
  configs: Pick<ConfigFacade, 'update' | 'snapshots'>,
): OwnConfigs {
  const written = createLru<string, Written>(REMEMBERED)
  const allowances = createLru<string, () => boolean>(REMEMBERED)
  const lane = createLane({
    most: LIMITS.config.waiting,
    full: () => new SvcError('quota.exceeded', 'too many changes of the configuration wait for their turn'),
  })

  function spend(pluginId: string): void {
    const { configWrites: most, minute: window } = LIMITS.brokers
    const isAllowed = allowances.get(pluginId) ?? createAllowance({ most, window }, () => effects.clock.monotonic())
    allowances.set(pluginId, isAllowed)
    if (!isAllowed()) throw new SvcError('quota.exceeded', `a plugin may change its config ${most} times a minute`, { pluginId })
  }

  const trustedIn = async (directory: string): Promise<JsonRecord> => (await configs.snapshots.get(directory, { fresh: true })).trusted

  const noticed = (pluginId: string, config: unknown): unknown => {
    const known = written.get(pluginId)
    return known !== undefined && isDeepStrictEqual(known.now, config) ? known.began : config
  }

  return {
    noticed,
    async set(pluginId, change, issueOf, signal) {
      spend(pluginId)
      await lane.run(async () => {
        const directory = await effects.files.realPath(effects.paths.config)
        const trusted = await trustedIn(directory)
        const before = configOf(trusted, pluginId)
        const after = changed(before, change)
        if (isDeepStrictEqual(before, after)) return
        if (!isRecord(recordAt(trusted, 'plugins')[pluginId]))
          throw new SvcError(
            'request.unprocessable',
            `the entry of ${pluginId} is not an object under "plugins", so its config is not written`,
          )
        const size = Buffer.byteLength(JSON.stringify(after))
        if (size > LIMITS.brokers.configBytes)
          throw new SvcError('request.unprocessable', `a config may have ${LIMITS.brokers.configBytes} bytes; this one would have ${size}`)
        const issue = issueOf(after)
        if (issue !== undefined) throw new SvcError('request.unprocessable', `the settings of the package do not allow it: ${issue}`)
        const known = written.get(pluginId)
        written.set(pluginId, { began: noticed(pluginId, before), now: after })
        try {
          await configs.update(directory, { plugins: { [pluginId]: { options: { config: between(before, after) } } } }, signal)
        } catch (error) {
          if (known === undefined) written.delete(pluginId)
          else written.set(pluginId, known)
          throw error
        }
        const now = configOf(await trustedIn(directory), pluginId)
        if (isDeepStrictEqual(now, after)) return
        written.set(pluginId, { began: noticed(pluginId, before), now })
        throw new SvcError('resource.conflict', `another configuration file of the installation overrides the config of ${pluginId}`, {
          pluginId,
        })
      }, signal) // I3
    },
  }
}

function configOf(trusted: JsonRecord, pluginId: string): unknown {
  return readPluginEntries(trusted, {}).package(pluginId).config
}

/** The whole config with one value in it changed; null takes out. */
function changed(config: unknown, { key, value }: { readonly key: string; readonly value: unknown }): JsonRecord {
  const root = isRecord(config) ? config : {}
  const steps = key === '' ? [] : key.split('.')
  if (steps.some((step) => step === '' || isReservedKey(step)))
    throw new SvcError('request.unprocessable', `"${key.slice(0, 256)}" is no key of a config: names joined by dots`)
  const after = put(root, steps, value)
  if (isRecord(after)) return after
  throw new SvcError('request.unprocessable', 'a whole config is an object')
}

function put(at: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return isRecord(value) ? withoutNulls(value) : value
  if (at !== undefined && !isRecord(at)) throw new SvcError('request.unprocessable', `"${step}" is not within an object`)
  const { [step]: before, ...others } = at ?? {}
  const after = put(before, rest, value)
  return after === null || after === undefined ? others : { ...others, [step]: after }
}

/** The merge patch that makes one of the other. */
function between(before: unknown, after: JsonRecord): JsonRecord {
  const old = isRecord(before) ? before : {}
  const gone = Object.keys(old).filter((key) => !Object.hasOwn(after, key))
  const patch: [string, unknown][] = gone.map((key) => [key, null])
  for (const [key, value] of Object.entries(after)) {
    if (isDeepStrictEqual(old[key], value)) continue
    patch.push([key, isRecord(old[key]) && isRecord(value) ? between(old[key], value) : value])
  }
  return Object.fromEntries(patch)
}

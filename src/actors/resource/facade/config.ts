/** The configuration facade: load, patch and check (http-contract §2.3; subsystems b.5). */
import { ConfigDocument } from '../../../protocol/resource/config.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { publicDocument } from '../../../protocol/text/secrets.js'
import { createLane } from '../../../kernel/lane.js'
import type { Configs } from '../../../ports/facades.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { nextTurn } from '../../../kernel/pause.js'
import { mergeDocuments } from '../config/config-merge.js'
import { withoutEchoes } from '../config/config-echo.js'
import { mergePatch, normalisePatch } from '../config/config-patch.js'
import type { Surroundings } from '../config/config-values.js'
import { withPlaces } from '../snapshot/config-places.js'
import { createFileProbe } from '../../../platform/watched/file-probe.js'
import { validateSnapshot } from './config-validate.js'
import { broughtEntries, definerOf, switchEntry } from '../snapshot/entry-switch.js'
import { writePatch } from '../snapshot/config-write.js'
import { readInstructions } from '../catalog/instructions.js'
import type { Watcher } from '../../../ports/watched.js'
import type { ConfigSnapshot } from '../snapshot/snapshot.js'
import { createSnapshots, type SnapshotEffects, type Snapshots } from '../snapshot/snapshots.js'

export interface ConfigDeps {
  readonly effects: SnapshotEffects
  /** The configuration of a directory in use is another one now, or was written, and is loaded. */
  readonly onUpdated?: (directory: string) => void
  /** Throws when the installation may not be patched from one document into the other. */
  readonly review?: (before: JsonRecord, after: JsonRecord) => void
  /** Puts what plugins say under a snapshot; absent = there are none. */
  readonly layer?: (snapshot: ConfigSnapshot) => ConfigSnapshot
  /** What there is in a directory, to tell what is named and missing; rejects while its configuration cannot be used. */
  readonly surroundings?: (directory: string) => Promise<Surroundings>
  /** Why commands cannot run in a sandbox here; undefined = they can. */
  readonly whyNoSandbox?: () => Promise<string | undefined>
  /** Shared with whoever else listens to the same folders; absent = one of its own. */
  readonly watched?: Watcher
}

export type ConfigFacade = Configs & {
  readonly snapshots: Snapshots
  /** What `load` would answer, by which a change is noticed; undefined = it would have to look first. Cheap. */
  latest(directory: string): ConfigDocument | undefined
}

/** One per process: patches are serialised inside it. Directories are canonical paths. */
export function createConfigs({
  effects,
  onUpdated,
  review,
  layer = (snapshot) => snapshot,
  surroundings,
  whyNoSandbox,
  watched,
}: ConfigDeps): ConfigFacade {
  const snapshots = createSnapshots(effects, onUpdated, watched)
  const patches = createLane({
    most: LIMITS.config.waiting,
    full: () => new SvcError('quota.exceeded', 'Too many changes of the configuration wait for their turn; try again in a moment.'),
  })

  const shown = new WeakMap<ConfigDocument, ConfigDocument>()

  const show = async (directory: string) => {
    const { document, inert } = layer(await snapshots.get(directory, { fresh: true }))
    const known = shown.get(document) ?? ConfigDocument.parse(publicDocument(mergeDocuments(inert, document)))
    shown.set(document, known)
    return known
  }

  const patch = async (directory: string, flat: Readonly<Record<string, unknown>>) => {
    const before = await snapshots.get(directory, { fresh: true })
    await nextTurn()
    const meant = withoutEchoes(flat, mergeDocuments(before.inert, layer(before).document))
    review?.(before.trusted, mergePatch(before.trusted, meant))
    await writePatch(effects, before, meant)
    await nextTurn()
    await snapshots.written(directory)
    return show(directory)
  }

  return {
    snapshots,
    latest(directory) {
      const snapshot = snapshots.latest(directory)
      return snapshot === undefined ? undefined : layer(snapshot).document
    },
    load: async (directory, options) => layer(await snapshots.get(directory, options)).document,
    show,
    async update(directory, body, signal) {
      const flat = normalisePatch(body)
      return patches.run(() => patch(directory, flat), signal)
    },
    brought: async (directory, key) => broughtEntries(await snapshots.get(directory), key),
    definer: async (directory, key, name) => definerOf(await snapshots.get(directory), { key, name }),
    switchEntry: (directory, key, name, enabled) =>
      patches.run(async () => {
        await switchEntry(effects, await snapshots.get(directory, { fresh: true }), { key, name }, enabled)
        await snapshots.written(directory)
      }),
    async validate(directory) {
      const snapshot = await snapshots.inspect(directory)
      const { refused } = await readInstructions(effects, snapshot)
      const noSandbox = await whyNoSandbox?.()
      const isDeaf = snapshots.isDeaf(directory)
      const there = snapshot.failures.length > 0 ? undefined : await surroundings?.(directory) // plugins may not be there without it
      const { ok, diagnostics } = validateSnapshot(snapshot, { refused, noSandbox, isDeaf, surroundings: there })
      const given = effects.env['SVC_AGENT_CONFIG_CONTENT'] ?? ''
      return { ok, diagnostics: await withPlaces(diagnostics, snapshot, createFileProbe(effects), given) }
    },
  }
}

/** One life of the server in a simulated world: from a start on what the one before left, to its end. */
import { join } from 'node:path'
import { filesPlugin } from '../../src/plugins/files/files.plugin.js'
import { interactionsPlugin } from '../../src/plugins/interactions/interactions.plugin.js'
import { subagentsPlugin } from '../../src/plugins/subagents/subagents.plugin.js'
import { workflowsPlugin } from '../../src/plugins/workflows/workflows.plugin.js'
import type { Runtime } from '../../src/ports/facades.js'
import type { NativePlugin } from '../../src/ports/plugin.js'
import type { TrustRecord } from '../../src/protocol/plugin/plugin.js'
import {
  beginLife as beginOn,
  busyTurns,
  createMachines,
  type Death,
  firstRemains as firstOn,
  type Life as Lived,
  type Remains,
  ROOT,
} from '../../src/published/testing/simulated/life.js'
import { PLAYED_CONFIG } from '../../src/published/testing/steps.js'
import { type FakeEffects, pathsIn } from '../../src/simulation/effects.js'
import type { Random } from '../../src/simulation/random.js'
import type { Store } from '../../src/store/store.js'
import { type Faults, faultyStore } from './faults.js'
import type { House } from './lodger.js'
import { slowDisk } from './slow-disk.js'

export { busyTurns as turns } from '../../src/published/testing/simulated/life.js'

/** What is broken on purpose, to see whether it is found. */
export interface Defect {
  readonly store?: (store: Store) => Store
  readonly runtime?: (runtime: Runtime) => Runtime
  /** Of each plugin. */
  readonly plugin?: (plugin: NativePlugin) => NativePlugin
  /** What programs and files do, as the server finds it. */
  readonly effects?: (effects: FakeEffects) => FakeEffects
  /** Syncs are told and not done. */
  readonly losesSyncs?: true
}

export interface Life extends Pick<Lived, 'runtime' | 'store' | 'clock' | 'disk' | 'effects' | 'stop'> {
  /** Ends as a process does: `kill` leaves what was written, `power` what was synced. The rest of this life happens unheard. */
  die(how: Death, random: Random): Promise<Remains>
  /** The same at this moment; what it answers lets time pass until it has ended. */
  fall(how: Death, random: Random): () => Promise<Remains>
}

export interface Beginning {
  readonly from: Remains
  readonly random: Random
  /** Besides those that are built in. */
  readonly plugins: readonly NativePlugin[]
  /** Resolves when whoever has called is answered: as the door does, a stop in order waits for that. */
  answersSent(): Promise<void>
  readonly defect: Defect
  readonly faults: Faults
  readonly house: House
  readonly onLife?: OnLife | undefined
}

/** Is told each life when it has begun, to record it. */
export type OnLife = (life: Pick<Lived, 'running' | 'effects'>) => void

const machines = createMachines()
const WORKFLOWS = { places: { configDirectory: undefined, withoutProjects: false }, version: '0.0.0', localZone: () => 'UTC' }

/** Of the played machine. */
export const PLACES = pathsIn(ROOT)
export const CONFIG_FILE = join(PLACES.config, 'config.json')

/** What the operator says: of the tool `guarded`, and which built-in plugins are off. */
export interface Said {
  readonly guarded: 'allow' | 'ask' | 'deny'
  readonly off: readonly string[]
}

export const FIRST_CONFIG: Said = { guarded: 'ask', off: [] }

/** `trust`: of packages. */
export function configOf({ guarded, off }: Said = FIRST_CONFIG, trust: readonly TrustRecord[] = []): Readonly<Record<string, unknown>> {
  const permission = { '*': 'allow', guarded, forbidden: { '*': 'deny', never: 'allow' } }
  const trusted = trust.map(({ packageId: id }) => [id, { enabled: !off.includes(id), options: { trust } }])
  return { ...PLAYED_CONFIG, permission, plugins: Object.fromEntries([...off.map((id) => [id, false]), ...trusted]) }
}

export function firstRemains(at: number): Remains {
  return firstOn(at, { directory: machines.newDirectory(), config: configOf(FIRST_CONFIG), has: ['home'] })
}

/** Removes what all lives have left. */
export const forgetRemains = machines.forget

export async function beginLife({ from, random, plugins, answersSent, defect, faults, house, onLife }: Beginning): Promise<Life> {
  const life = await beginOn(machines, {
    from,
    random,
    plugins: () =>
      [...plugins, interactionsPlugin(), filesPlugin({ ripgrepPath: undefined }), subagentsPlugin(), workflowsPlugin(WORKFLOWS)].map(
        (each) => defect.plugin?.(each) ?? each,
      ),
    version: '0.0.0',
    listen: async () => ({ close: answersSent }),
    wrapDisk: (disk, clock) => slowDisk(disk, clock, faults),
    wrapEffects: (effects) => defect.effects?.(house.effects(effects)) ?? house.effects(effects),
    wrapStore: (given) => {
      const store = faultyStore(house.store(given), faults)
      return defect.store?.(store) ?? store
    },
    losesSyncs: defect.losesSyncs === true,
    settle: busyTurns,
  })
  onLife?.(life)
  const fall: Life['fall'] = (how, torn) => {
    const remains = life.remains(how, torn)
    life.running.kill()
    return async () => {
      await life.end()
      return remains
    }
  }
  return {
    ...life,
    runtime: defect.runtime?.(life.runtime) ?? life.runtime,
    fall,
    die: (how, torn) => fall(how, torn)(),
  }
}

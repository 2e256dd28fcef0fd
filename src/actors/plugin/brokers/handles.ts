/**
 * Ids of what the host holds open for plugins: programs, tasks, exchanges, questions, answers (plugin-protocol §10). The one place that
 * makes them, and the one that says what they name.
 *
 * I1 An id means something to the incarnation that it was given to, and to nobody else: that is one plugin, one link, one workspace, one
 *    revision and one generation. To all others it is an id that nobody ever had: the refusal is the same.
 * I2 It names one thing of one kind, from `add` to `remove`, and after that nothing ever again.
 * I3 It cannot be guessed, and says nothing of what it names.
 * I4 Once the table is revoked no id is given or known.
 */
import { createActor, type InspectionEvent } from 'xstate'
import type { ActorRegistry } from '../../../kernel/roots.js'
import { type Supervised, supervise } from '../../../kernel/supervise.js'
import { type HandlesEvent, handlesMachine } from '../../../machines/plugin/handles.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import type { PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { Effects } from '../../../ports/effects.js'

export type HandleKind = 'program' | 'task' | 'exchange' | 'question' | 'answer'

/** What the ids of one incarnation name. */
export interface Handles {
  /** Its ids of one kind. */
  of<Resource>(kind: HandleKind): HandlesOf<Resource>
  /** Permanent (I4). */
  revoke(): void
}

interface HandlesOf<Resource> {
  /** Throws `plugin.generation_closed` once the table is revoked. */
  add(resource: Resource): string
  /** Throws `resource.not_found`, also for what is another's. */
  find(id: string): Resource
  has(id: string): boolean
  remove(id: string): void
}

export interface HandleTables {
  /** The table of an incarnation. */
  open(owner: PluginOwner): Handles
}

interface HandleTablesDeps {
  readonly effects: Pick<Effects, 'clock' | 'log' | 'random'>
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly actors?: ActorRegistry | undefined
}

interface Named {
  readonly kind: HandleKind
  readonly resource: unknown
}

const ID_BYTES = 16

export function createHandleTables({ effects, inspect, actors }: HandleTablesDeps): HandleTables {
  const { log, random } = effects
  /** Of every id in use, whose it is. */
  const holders = new Map<string, PluginOwner>()
  const supervised: Supervised<typeof handlesMachine> = supervise({ effects, kind: 'handles', inspect, actors })

  return {
    open(owner) {
      const { pluginId, instanceId, registryGeneration: generation = 0 } = owner
      const named = new Map<string, Named>()
      const ref = supervised.start(instanceId, (options) =>
        createActor(handlesMachine, { id: `handles:${instanceId}`, input: { pluginId, instanceId, generation }, ...options }),
      )
      const tell = (event: HandlesEvent): void => void supervised.send(instanceId, event)
      const isIssuing = (): boolean => ref?.getSnapshot().hasTag('issuing') === true

      const refuse = (id: string): SvcError => {
        tell({ type: 'handle.refused' })
        const holder = holders.get(id)
        if (holder !== undefined && holder !== owner)
          log.info('a plugin named what another incarnation has open', { pluginId, instanceId, generation, holder: holder.instanceId })
        return new SvcError('resource.not_found', `nothing of the id "${id}" is open`)
      }
      return {
        of: <Resource>(kind: HandleKind): HandlesOf<Resource> => ({
          add(resource) {
            if (!isIssuing()) throw retired() // I4
            const id = `pr_${Buffer.from(random.bytes(ID_BYTES)).toString('hex')}` // I3
            named.set(id, { kind, resource })
            holders.set(id, owner)
            tell({ type: 'handle.issued' })
            return id
          },
          find(id) {
            if (!isIssuing()) throw retired()
            const found = named.get(id)
            if (found?.kind !== kind) throw refuse(id)
            return found.resource as Resource // only `add` of this kind made it
          },
          has: (id) => named.get(id)?.kind === kind,
          remove(id) {
            if (!named.delete(id)) return
            holders.delete(id)
            tell({ type: 'handle.closed' })
          },
        }),
        revoke: () => tell({ type: 'revoked' }),
      }
    },
  }
}

export function retired(): SvcError {
  return new SvcError('plugin.generation_closed', 'plugin instance is retired')
}

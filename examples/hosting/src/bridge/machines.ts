/**
 * Which machine each workspace has, whoever asks.
 *
 * I1 A workspace has one machine at most. One of a later generation takes the place of an earlier one, which is ended first; an earlier one is
 *    never asked for again (409).
 * I2 What is asked of a machine is asked of the one that the request names: owner, generation, provider and handle fit, or it is refused.
 * I3 Of one workspace one thing is done at a time, in the order in which it was asked.
 * I4 What is known is on disk before it is done: a bridge that is started again knows what it has.
 */
import { type Driver, type Place } from '../drivers/driver.js'
import {
  isOf,
  nameOf,
  sameHandle,
  type Allocation,
  type MachineHandle,
  type MachineStatus,
  type ProtocolRequest,
} from '../records/machines.js'
import type { Verb } from '../provider/provider.js'
import type { Ledger, Owned } from './ledger.js'

/** With a status of the contract. */
export class Refusal extends Error {
  readonly status: 400 | 404 | 409 | 429

  constructor(status: Refusal['status'], message: string) {
    super(message)
    this.status = status
  }
}

export interface Machines {
  ask(verb: Verb, request: ProtocolRequest): Promise<MachineStatus>
}

export function createMachines(provider: string, driver: Driver, ledger: Ledger): Machines {
  const lanes = new Map<string, Promise<unknown>>()

  function inLane<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = lanes.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    const settled = mine.then(
      () => undefined,
      () => undefined,
    )
    lanes.set(name, settled)
    void settled.then(() => lanes.get(name) === settled && lanes.delete(name))
    return mine
  }

  const handleOf = (allocation: Allocation): MachineHandle => ({
    owner: allocation.owner,
    generation: allocation.generation,
    provider,
    machine_id: driver.machineId(allocation),
  })

  function statusOf(allocation: Allocation, { state, ready, baseUrl }: Place): MachineStatus {
    const handle = handleOf(allocation)
    const connection =
      state === 'running' && baseUrl !== undefined
        ? { version: 1 as const, handle, agent_api_base_url: baseUrl, transport: driver.transport }
        : null
    const failure = state === 'failed' ? { code: 'unavailable' as const, retryable: true } : null
    return { handle, state, ready: ready && connection !== null, connection, failure }
  }

  async function ensure(allocation: Allocation, owned: Owned | undefined): Promise<MachineStatus> {
    if (owned !== undefined && owned.allocation.generation < allocation.generation) await driver.remove(owned.allocation, 'machine')
    if (owned === undefined || owned.allocation.generation < allocation.generation) await ledger.write({ allocation, isDestroyed: false })
    const place = await driver.inspect(allocation)
    return statusOf(allocation, place.state === 'running' || place.state === 'starting' ? place : await driver.start(allocation))
  }

  async function destroy(allocation: Allocation, owned: Owned | undefined): Promise<MachineStatus> {
    if (owned?.isDestroyed !== true) {
      await driver.remove(allocation, 'machine and volume')
      await ledger.write({ allocation, isDestroyed: true })
    }
    return statusOf(allocation, { state: 'destroyed', ready: false })
  }

  return {
    ask: (verb, { allocation, handle }) =>
      inLane(nameOf(allocation.owner), async () => {
        if (allocation.provider !== provider) throw new Refusal(400, 'this is another provider')
        if (allocation.launch == null) throw new Refusal(400, 'an allocation without a launch descriptor')
        const owned = await ledger.read(allocation.owner)
        refuseForeign(verb, allocation, handle ?? undefined, handleOf(allocation))
        refuseStale(verb, allocation, owned)
        if (verb === 'ensure') return ensure(allocation, owned)
        if (verb === 'destroy') return destroy(allocation, owned)
        if (owned === undefined) throw new Refusal(404, 'this workspace has no machine')
        return statusOf(allocation, await driver[verb](allocation))
      }),
  }
}

function refuseForeign(verb: Verb, allocation: Allocation, handle: MachineHandle | undefined, ours: MachineHandle): void {
  const isNeeded = verb === 'start' || verb === 'stop' || verb === 'destroy'
  if (handle === undefined && isNeeded) throw new Refusal(400, `${verb} needs a handle`)
  if (handle !== undefined && verb === 'ensure') throw new Refusal(400, 'ensure takes no handle')
  if (handle !== undefined && !(isOf(allocation, handle) && sameHandle(handle, ours)))
    throw new Refusal(409, 'the handle is of another machine')
}

function refuseStale(verb: Verb, allocation: Allocation, owned: Owned | undefined): void {
  if (owned === undefined) return
  const { generation } = owned.allocation
  if (allocation.generation < generation) throw new Refusal(409, 'there is a later generation')
  if (owned.isDestroyed && verb !== 'destroy' && verb !== 'inspect') throw new Refusal(409, 'this workspace was destroyed')
  if (allocation.generation > generation) {
    if (verb !== 'ensure') throw new Refusal(404, 'there is no machine of this generation')
    return
  }
  const isSame = JSON.stringify([owned.allocation.spec, owned.allocation.launch]) === JSON.stringify([allocation.spec, allocation.launch])
  if (!isSame) throw new Refusal(409, 'the machine of this generation was made from another spec')
}

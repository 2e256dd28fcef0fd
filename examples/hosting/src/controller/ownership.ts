/**
 * Which workspaces this controller drives.
 *
 * Owns the lease of the controller, and an actor for each workspace that it holds.
 * I1 An actor exists only under a hold; it ends with the lease, and the hold is given back when it has nothing to do.
 * I2 A workspace for which something is wanted is taken by whoever hears of it first, and else by the next look for orphans.
 */
import { createActor, fromPromise, type Actor } from 'xstate'
import type { Bindings } from '../database/bindings.js'
import type { Hold, Leases } from '../database/leases.js'
import { leaseMachine } from '../machines/lease.machine.js'
import { workerMachine } from '../machines/worker.machine.js'
import { nameOf, type WorkspaceKey } from '../records/machines.js'
import type { Steps } from './steps.js'

export interface OwnershipParts {
  readonly id: string
  readonly url: string
  readonly leaseSeconds: number
  readonly inspectSeconds: number
  readonly leases: Leases
  readonly find: Bindings['find']
  readonly stepsOf: (key: WorkspaceKey, hold: Hold) => Steps
  readonly nextName: () => string
  readonly log: (message: string, error?: unknown) => void
}

export interface Ownership {
  /** Something has changed about a workspace: it is taken if it needs somebody. */
  consider(key: WorkspaceKey): void
  /** Takes what others have left. */
  sweep(): Promise<void>
  close(): Promise<void>
}

const ORPHANS = 50

export function createOwnership(parts: OwnershipParts): Ownership {
  const { id, url, leaseSeconds, leases, find, log } = parts
  const driven = new Map<string, Actor<typeof workerMachine>>()
  const taking = new Set<string>()

  const lease = createActor(
    leaseMachine.provide({
      actors: {
        join: fromPromise(async () => {
          const holder = parts.nextName()
          await leases.join(holder, url, leaseSeconds)
          return holder
        }),
        renew: fromPromise<boolean, { readonly holder: string }>(({ input }) => leases.renew(input.holder, leaseSeconds)),
        leave: fromPromise<void, { readonly holder: string }>(({ input }) => leases.leave(input.holder)),
      },
    }),
    { input: { controller: id, lasts: leaseSeconds * 1000 } },
  )
  /** The name under which anything is held; undefined while nothing may be. */
  const holder = () => (lease.getSnapshot().hasTag('driving') ? lease.getSnapshot().context.holder : undefined)
  lease.subscribe((snapshot) => {
    if (snapshot.hasTag('driving')) return
    for (const actor of driven.values()) actor.send({ type: 'stop.requested' })
  })
  lease.start()

  async function take(key: WorkspaceKey): Promise<void> {
    const name = nameOf(key)
    const me = holder()
    if (me === undefined || driven.has(name) || taking.has(name)) return
    taking.add(name)
    try {
      const hold = await leases.claim(me, key)
      if (hold !== undefined && holder() === me) drive(key, hold)
    } finally {
      taking.delete(name)
    }
  }

  function drive(key: WorkspaceKey, hold: Hold): void {
    const name = nameOf(key)
    const steps = parts.stepsOf(key, hold)
    const step = <Result>(what: keyof Steps, run: () => Promise<Result>) =>
      fromPromise<Result, undefined>(async () => {
        try {
          return await run()
        } catch (error) {
          log(`${name}: ${what} failed`, error)
          throw error
        }
      })
    const actor = createActor(
      workerMachine.provide({
        actors: {
          decide: step('decide', steps.decide),
          run: step('run', steps.run),
          verify: step('verify', steps.verify),
          inspect: step('inspect', steps.inspect),
          stop: step('stop', steps.stop),
          advance: step('advance', steps.advance),
          destroy: step('destroy', steps.destroy),
        },
      }),
      { input: { inspectAfter: parts.inspectSeconds * 1000 } },
    )
    driven.set(name, actor)
    actor.subscribe({
      complete: () => {
        driven.delete(name)
        leases
          .release(key, hold)
          // What was asked while it ended was told to nobody who could have taken it.
          .then(() => consider(key))
          .catch((error: unknown) => log(`${name} could not be given back`, error))
      },
    })
    actor.start()
  }

  async function look(key: WorkspaceKey): Promise<void> {
    const actor = driven.get(nameOf(key))
    if (actor !== undefined) return actor.send({ type: 'intent.changed' })
    const bound = await find(key)
    if (bound?.binding.pending != null) await take(key)
  }

  function consider(key: WorkspaceKey): void {
    look(key).catch((error: unknown) => log(`${nameOf(key)} could not be looked at`, error))
  }

  return {
    consider,
    async sweep() {
      if (holder() === undefined) return
      for (const key of await leases.orphans(ORPHANS)) await take(key)
    },
    async close() {
      const left = new Promise<void>((resolve) => void lease.subscribe({ complete: resolve }))
      const isOver = lease.getSnapshot().status !== 'active'
      lease.send({ type: 'stop.requested' })
      if (!isOver) await left
    },
  }
}

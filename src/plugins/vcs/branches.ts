/** Branches of checkouts somebody asks about: told when another one is checked out (subsystems h). */
import { chartOf } from '../../kernel/machine/chart.js'
import { type AnyEventObject, createActor, fromCallback, fromPromise } from 'xstate'
import { supervise } from '../../kernel/supervise.js'
import type { Checkout } from '../../ports/git.js'
import type { NativeHost } from '../../ports/plugin.js'
import { type CheckoutInput, checkoutMachine } from '../../machines/vcs/checkout.machine.js'
import { LIMITS } from '../../protocol/limits.js'

export interface Branches {
  /** The checkout was asked about: it is followed from now on. */
  used(checkout: Checkout): void
  stop(): void
}

interface Followed {
  readonly gitDirectory: string
  branch: string | undefined
}

export function createBranches({ effects, git, rows, actors }: Pick<NativeHost, 'effects' | 'git' | 'rows' | 'actors'>): Branches {
  const { files } = effects
  const followed = new Map<string, Followed>()

  const logic = chartOf(checkoutMachine).provide({
    actors: {
      follow: fromCallback<AnyEventObject, CheckoutInput>(({ input, sendBack }) => {
        const directory = followed.get(input.worktree)?.gitDirectory ?? input.worktree
        const left = new AbortController()
        const head = `${directory}/HEAD`
        files
          .watch(directory, (paths) => {
            if (!left.signal.aborted && paths.some((path) => path === head || path === directory)) sendBack({ type: 'changed' })
          })
          .then(
            (end) => {
              if (end === undefined) sendBack({ type: 'lost' })
              else if (left.signal.aborted) end()
              else left.signal.addEventListener('abort', end)
            },
            () => sendBack({ type: 'lost' }),
          )
        return () => left.abort()
      }),
      look: fromPromise<void, CheckoutInput>(async ({ input: { worktree } }) => {
        const checkout = await git.open(worktree)
        const known = followed.get(worktree)
        if (checkout === undefined || known === undefined) throw new Error('there is no repository any more')
        if (checkout.branch === known.branch) return
        known.branch = checkout.branch
        rows.commit('process', (tx) => tx.emit('vcs.branch.updated', { directory: worktree, branch: checkout.branch ?? null }))
      }),
    },
  })

  const checkouts = supervise<typeof checkoutMachine>({
    effects,
    kind: 'checkout',
    actors,
    most: { count: LIMITS.vcs.followed, giveWay: (oldest) => oldest.send({ type: 'stop.requested' }) },
    onEnded: (worktree) => void followed.delete(worktree),
  })

  return {
    used({ worktree, gitDirectory, branch }) {
      if (checkouts.send(worktree, { type: 'used' }) || checkouts.isDraining) return
      followed.set(worktree, { gitDirectory, branch })
      checkouts.start(worktree, (options) => createActor(logic, { id: `checkout:${worktree}`, input: { worktree }, ...options }))
    },
    stop() {
      void checkouts.drain((ref) => ref.send({ type: 'stop.requested' }))
    },
  }
}

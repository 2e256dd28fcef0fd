/** Branches of checkouts somebody asks about: told when another one is checked out (subsystems h). */
import { type Actor, type AnyEventObject, createActor, fromCallback, fromPromise } from 'xstate'
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
  readonly ref: Actor<typeof checkoutMachine>
  readonly gitDirectory: string
  branch: string | undefined
}

export function createBranches({ effects, git, rows, actors }: Pick<NativeHost, 'effects' | 'git' | 'rows' | 'actors'>): Branches {
  const { clock, files, log } = effects
  const followed = new Map<string, Followed>()

  const logic = checkoutMachine.provide({
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

  function begin({ worktree, gitDirectory, branch }: Checkout): void {
    const [oldest] = followed.values()
    if (followed.size >= LIMITS.vcs.followed) oldest?.ref.send({ type: 'stop.requested' })
    const ref = createActor(logic, { id: `checkout:${worktree}`, input: { worktree }, clock })
    followed.set(worktree, { ref, gitDirectory, branch })
    actors.add(ref, 'checkout')
    ref.subscribe({
      complete: () => void followed.delete(worktree),
      error(error) {
        followed.delete(worktree)
        log.warn('a checkout is no longer followed', { worktree, cause: String(error) })
      },
    })
    ref.start()
  }

  return {
    used(checkout) {
      const known = followed.get(checkout.worktree)
      if (known === undefined) begin(checkout)
      else known.ref.send({ type: 'used' })
    },
    stop() {
      for (const { ref } of followed.values()) ref.send({ type: 'stop.requested' })
    },
  }
}

import { expect, it } from 'vitest'
import type { Checkout } from '../../../src/ports/git.js'
import { createBranches } from '../../../src/plugins/vcs/branches.js'
import { noDoors } from '../../fakes/doors.js'
import { createFakeEffects } from '../../fakes/effects.js'

/** Branches of one checkout whose looks end when the test says so; each sees the branch there is when it begins. */
function follow() {
  const effects = createFakeEffects()
  const there = { branch: 'main' }
  const told: string[] = []
  const looks: (() => void)[] = []
  let changed: () => void = () => undefined
  const watch: typeof effects.files.watch = async (directory, onChange) => {
    changed = () => onChange([`${directory}/HEAD`])
    return () => undefined
  }
  const checkout = () => ({ worktree: '/srv/here', gitDirectory: '/srv/here/.git', ...there }) as Checkout
  const open = () => {
    const seen = checkout()
    return new Promise<Checkout>((resolve) => looks.push(() => resolve(seen)))
  }
  const emit = (_type: string, { branch }: { branch: string }) => told.push(branch)
  const branches = createBranches({
    effects: { ...effects, files: { ...effects.files, watch } },
    git: { ...noDoors.git, open },
    rows: { ...noDoors.rows, commit: (_partition, work) => work({ emit } as never) },
    actors: noDoors.actors,
  })
  branches.used(checkout())
  return { there, told, looks, branches, changed }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('is told as it was seen last, when a look takes longer than one that began after it', async () => {
  const { there, told, looks, branches, changed } = follow()
  for (const branch of ['one', 'two']) {
    there.branch = branch
    changed()
  }
  for (let end = looks.pop(); end !== undefined; end = looks.pop()) {
    end()
    await turn()
  }
  expect(told.at(-1)).toBe('two')
  branches.stop()
})

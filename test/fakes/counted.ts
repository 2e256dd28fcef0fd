import { createHook } from 'node:async_hooks'
import { Actor } from 'xstate'
import { Database } from '../../src/store/disk/driver.js'

/** What is counted while something runs: the same however often it runs, but for promises, of which another Node makes more or less. */
export interface Counts {
  /** SQL statements that were run, those that begin and end transactions included. */
  statements: number
  commits: number
  promises: number
  /** Events that actors have worked off, each of which is a step of the interpreter of machines. */
  steps: number
  /** Calls of `JSON.stringify`, and characters of what they made, without those of `place`. */
  texts: number
  characters: number
}

type Run = (...given: unknown[]) => unknown

/** Counts what the process does while `work` runs; of it nothing is left behind. `place`: a path that is longer elsewhere. */
export async function counted(work: () => Promise<void>, place = ''): Promise<Counts> {
  const counts: Counts = { statements: 0, commits: 0, promises: 0, steps: 0, texts: 0, characters: 0 }
  const ends: (() => void)[] = []
  const replace = (object: object, name: string, by: (run: Run) => Run): void => {
    const before = Reflect.get(object, name) as Run
    Reflect.set(object, name, by(before))
    ends.push(() => void Reflect.set(object, name, before))
  }
  const statement: object = Object.getPrototypeOf(new Database(':memory:').prepare('select 1'))
  for (const name of ['run', 'get', 'all', 'iterate'])
    replace(
      statement,
      name,
      (run) =>
        function (this: unknown, ...given) {
          counts.statements++
          return Reflect.apply(run, this, given)
        },
    )
  replace(
    Database.prototype,
    'exec',
    (run) =>
      function (this: unknown, ...given) {
        counts.statements++
        if (given[0] === 'commit') counts.commits++
        return Reflect.apply(run, this, given)
      },
  )
  replace(
    Actor.prototype,
    'update',
    (run) =>
      function (this: unknown, ...given) {
        counts.steps++
        return Reflect.apply(run, this, given)
      },
  )
  replace(JSON, 'stringify', (run) => (...given) => {
    const text = Reflect.apply(run, JSON, given)
    counts.texts++
    if (typeof text === 'string') counts.characters += text.replaceAll(place, '').length
    return text
  })
  const hook = createHook({ init: (_, type) => void (type === 'PROMISE' && counts.promises++) })
  ends.push(() => void hook.disable())
  hook.enable()
  try {
    await work()
  } finally {
    for (const end of ends) end()
  }
  return counts
}

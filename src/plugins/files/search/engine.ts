/**
 * Chooses the search engine: ripgrep when its program is there and starts, whose lines are confirmed, else our own scan.
 *
 * I1 `LIMITS.tools.searches` go on at once, however many are asked for; others wait for their turn, and more than so many are refused.
 * I2 Of all that our own scan looks at for several searches, one stretch is done in a turn of the event loop.
 */
import { createPause } from '../../../kernel/pause.js'
import { createTurns } from '../../../kernel/turns.js'
import { type NativeHost, ToolError } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { confirmed } from './confirmed.js'
import { ripgrepEngine } from './ripgrep.js'
import type { SearchEngine, Tree } from './search.js'
import { messageOf } from '../../../protocol/message-of.js'

export function createEngine(program: string | undefined, effects: NativeHost['effects']): SearchEngine {
  const pause = createPause() // I2
  const turns = createTurns(LIMITS.tools.searches)
  const scan = async () => (await import('./scan.js')).scanEngine(effects, pause)
  const ripgrep = program === undefined ? undefined : ripgrepEngine(program, effects)
  let usable = ripgrep !== undefined

  /** I1 */
  const inTurn = async <T>(tree: Tree, work: () => Promise<T>): Promise<T> => {
    const giveBack = await turns.take(tree.signal).catch((error: unknown) => {
      tree.signal.throwIfAborted()
      throw new ToolError(`Too many searches are made at the moment (${messageOf(error)}); search again later.`)
    })
    try {
      return await work()
    } finally {
      giveBack()
    }
  }

  const attempt = async <T>(tree: Tree, run: (engine: SearchEngine) => Promise<T>): Promise<T> => {
    if (ripgrep === undefined || !usable) return run(await scan())
    try {
      return await run(ripgrep)
    } catch (error) {
      tree.signal.throwIfAborted()
      usable = false
      effects.log.warn('ripgrep cannot be started; searching without it', {
        program,
        reason: messageOf(error),
      })
      return run(await scan())
    }
  }

  return {
    get name() {
      return usable ? 'ripgrep' : 'scan'
    },
    findText: (tree, query) =>
      inTurn(tree, () =>
        attempt(tree, async (engine) => {
          const answer = await engine.findText(tree, query)
          if (answer.status !== 'found' || engine.name === 'scan') return answer
          const searchAgain = async (one: Tree) => (await scan()).findText(one, query)
          return confirmed({ files: effects.files, searchAgain }, tree, answer)
        }),
      ),
    listPaths: (tree) => inTurn(tree, () => attempt(tree, async (engine) => engine.listPaths(tree))),
  }
}

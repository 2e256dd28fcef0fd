/** Chooses the search engine: ripgrep when its program is there and starts, whose lines are confirmed, else our own scan. */
import type { NativeHost } from '../../../ports/plugin.js'
import { confirmed } from './confirmed.js'
import { ripgrepEngine } from './ripgrep.js'
import type { SearchEngine, Tree } from './search.js'
import { messageOf } from '../../../protocol/message-of.js'

export function createEngine(program: string | undefined, effects: NativeHost['effects']): SearchEngine {
  const scan = async () => (await import('./scan.js')).scanEngine(effects)
  const ripgrep = program === undefined ? undefined : ripgrepEngine(program, effects)
  let usable = ripgrep !== undefined

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
    findText: async (tree, query) =>
      attempt(tree, async (engine) => {
        const answer = await engine.findText(tree, query)
        if (answer.status !== 'found' || engine.name === 'scan') return answer
        const searchAgain = async (one: Tree) => (await scan()).findText(one, query)
        return confirmed({ files: effects.files, searchAgain }, tree, answer)
      }),
    listPaths: async (tree) => attempt(tree, async (engine) => engine.listPaths(tree)),
  }
}

/** The title machine with its effects. Decides nothing. */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { type AnyEventObject, fromCallback, fromPromise } from 'xstate'
import { type TitleInput, titleMachine } from '../../../machines/session/title.machine.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createTurns } from '../../../kernel/turns.js'
import type { Rows, Sources } from '../state/core.js'
import type { Runs } from './run.actor.js'
import { makeTitle, type TitleRequest, titleText } from './title.js'

/** One logic for every title: they share their turns. */
export function titleLogic(core: Rows & Sources, runs: Runs) {
  const turns = createTurns(LIMITS.titles)
  /** What titles in the making are made of, by run: a run may be over and forgotten before its title has its turn. */
  const requests = new Map<string, TitleRequest>()

  function note({ sessionId }: TitleInput, error: unknown): void {
    core.effects.log.debug('no title was generated', { sessionId, cause: String(error) })
  }

  return laidOut(
    chartOf(titleMachine).provide({
      actors: {
        turn: fromCallback<AnyEventObject, TitleInput>(({ input, sendBack }) => {
          const run = runs.get(input.runId)
          if (run === undefined) throw new Error(`run ${input.runId} is not under way`)
          const { session, answering, prompt } = run
          requests.set(input.runId, { session, model: answering.target.model, text: titleText(prompt) })
          const left = new AbortController()
          turns.take(left.signal).then(
            (giveBack) => {
              if (left.signal.aborted) return giveBack()
              left.signal.addEventListener('abort', giveBack)
              sendBack({ type: 'turn.taken' })
            },
            (error: unknown) => {
              note(input, error)
              sendBack({ type: 'turn.refused' })
            },
          )
          return () => {
            left.abort()
            requests.delete(input.runId)
          }
        }),
        generate: fromPromise(async ({ input, signal }) => {
          const request = requests.get(input.runId)
          if (request === undefined) return false
          try {
            return await makeTitle(core, request, signal)
          } catch (error) {
            note(input, error)
            throw error
          }
        }),
      },
    }),
  )
}

/**
 * Callbacks that answer permission requests and questions.
 *
 * I1 Requests of one run are put to its callbacks one after the other.
 * I2 A request that is settled by somebody else is taken back; a callback that throws fails the run for its caller.
 */
import { widerPatterns } from '../../protocol/interaction/wider-patterns.js'
import type { PromptOptions } from './client-types.js'
import { SvcClientError } from './error.js'
import type { Operations } from './operation-types.js'
import type { Told } from './transcript.js'

export interface Asking {
  see(event: Told): void
  /** Takes back every request that is not among these: it was settled unseen. */
  keep(requestIds: ReadonlySet<string>): void
  /** Nobody waits for answers any more. */
  stop(): void
}

export function createAsking(
  interactions: Operations['interactions'],
  { onPermission, onQuestion }: Pick<PromptOptions, 'onPermission' | 'onQuestion'>,
  fail: (error: unknown) => void,
): Asking {
  const open = new Map<string, AbortController>()
  let last: Promise<void> = Promise.resolve()

  function inTurn(requestId: string, answer: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController()
    open.set(requestId, controller)
    last = last
      .then(() => (controller.signal.aborted ? undefined : answer(controller.signal)))
      .catch((error: unknown) => {
        const settled = controller.signal.aborted || (error instanceof SvcClientError && error.code === 'resource.conflict')
        if (!settled) fail(error)
      })
      .finally(() => open.delete(requestId))
  }

  function see(event: Told): void {
    if (event.type === 'settled') open.get(event.requestId)?.abort()
    if (event.type === 'permission' && onPermission !== undefined) {
      const { request } = event
      inTurn(request.id, async (signal) => {
        const answer = await onPermission(request, { signal, wider: widerPatterns(request) })
        if (answer === undefined || signal.aborted) return
        const body = typeof answer === 'string' ? { reply: answer } : answer
        await interactions.permissions.reply({ requestId: request.id, body })
      })
    }
    if (event.type === 'question' && onQuestion !== undefined) {
      const { request } = event
      inTurn(request.id, async (signal) => {
        const answer = await onQuestion(request, { signal })
        if (answer === undefined || signal.aborted) return
        if (answer === 'reject') await interactions.questions.reject({ requestId: request.id })
        else await interactions.questions.reply({ requestId: request.id, body: { answers: answer } })
      })
    }
  }

  return {
    see,
    keep(requestIds) {
      for (const [id, controller] of open) if (!requestIds.has(id)) controller.abort()
    },
    stop() {
      for (const controller of open.values()) controller.abort()
    },
  }
}

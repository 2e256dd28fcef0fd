/**
 * What the conversation asks a person: one thing after the other, answered by a line.
 *
 * I1 Whatever is settled elsewhere is taken away, and what was typed for it answers nothing else.
 * I2 A request is put once, however often it is heard.
 */
import { createLane } from '../../../kernel/lane.js'
import type { Client } from '../../../published/client/client-types.js'
import { SvcClientError } from '../../../published/client/client.js'
import type { PermissionRequest, QuestionRequest } from '../../../protocol/interaction/interaction.js'
import { refusalOf } from '../../../protocol/interaction/refusal-of.js'
import { widerPatterns } from '../../../protocol/interaction/wider-patterns.js'
import { createAnswers, refusalText } from '../../answers/answers.js'
import type { Terminal } from '../../terminal/terminal.js'
import type { Heard } from '../story/heard.js'

export interface Requests {
  hear(event: Heard): void
  /** Whatever is not among these was settled unheard. */
  keep(requestIds: ReadonlySet<string>): void
  /** What is asked now. */
  readonly question: string | undefined
  /** With the one that is asked now. */
  readonly count: number
  answer(text: string): void
  /** Nobody is here any more; what waits goes on waiting for others. */
  stop(): void
}

interface RequestOptions {
  readonly client: () => Client
  readonly note: (text: string) => void
  readonly onChange: () => void
}

const MOST = 1000
const DONE: Readonly<Record<string, string>> = {
  once: 'allowed once',
  always: 'allowed from now on',
  reject: 'refused',
  cancelled: 'withdrawn',
}

export function createRequests({ client, note, onChange }: RequestOptions): Requests {
  const open = new Map<string, AbortController>()
  const heard = new Set<string>()
  /** Answered here: that it counted may be heard after the server has said so, or before. */
  const mine = new Set<string>()
  const lane = createLane({ most: MOST })
  const asked: { now?: { readonly question: string; readonly answer: (text: string) => void } } = {}
  const ask = (question: string, signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      asked.now = { question, answer: resolve }
      onChange()
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    }).finally(() => {
      delete asked.now
      onChange()
    })
  const { onPermission, onQuestion } = createAnswers('ask', { ask, note, error: note } as unknown as Terminal)

  function put(id: string, work: (signal: AbortSignal) => Promise<void>): void {
    if (heard.has(id)) return
    heard.add(id)
    const controller = new AbortController()
    open.set(id, controller)
    onChange()
    lane
      .run(() => (controller.signal.aborted ? Promise.resolve() : work(controller.signal)))
      .catch((error: unknown) => {
        mine.delete(id)
        const isSettled = controller.signal.aborted || (error instanceof SvcClientError && error.code === 'resource.conflict')
        if (!isSettled) note(error instanceof Error ? error.message : String(error))
      })
      .finally(() => {
        open.delete(id)
        onChange()
      })
  }

  function permission(request: PermissionRequest): void {
    put(request.id, async (signal) => {
      const body = await onPermission(request, { signal, wider: widerPatterns(request) })
      if (body?.reply === undefined) return
      mine.add(request.id)
      await client().interactions.permissions.reply({ requestId: request.id, body })
    })
  }

  function question(request: QuestionRequest): void {
    put(request.id, async (signal) => {
      const answers = await onQuestion(request, { signal })
      if (answers === undefined) return
      mine.add(request.id)
      if (answers === 'reject') await client().interactions.questions.reject({ requestId: request.id })
      else await client().interactions.questions.reply({ requestId: request.id, body: { answers } })
    })
  }

  /** Says what counted, and whose it was where that was somebody else. */
  function settle(id: string, reply: string, info: unknown): void {
    const elsewhere = mine.has(id) || reply === 'cancelled' ? '' : ' elsewhere'
    const what = info === null || info === undefined ? '' : `: ${refusalText(refusalOf(info as Parameters<typeof refusalOf>[0]))}`
    if (heard.has(id)) note(`${DONE[reply] ?? reply}${elsewhere}${what}`)
    open.get(id)?.abort()
  }

  return {
    hear(event) {
      if (event.type === 'permission.asked') permission(event.data)
      else if (event.type === 'question.asked') question(event.data)
      else if (event.type === 'permission.replied') settle(event.data.requestID, event.data.reply, event.data.info)
      else if (event.type === 'question.replied') settle(event.data.requestID, 'answered', event.data.info)
      else if (event.type === 'question.rejected') settle(event.data.requestID, 'not answered', event.data.info)
    },
    keep(requestIds) {
      for (const [id, controller] of open) if (!requestIds.has(id)) controller.abort()
    },
    get question() {
      return asked.now?.question
    },
    get count() {
      return open.size
    },
    answer: (text) => asked.now?.answer(text),
    stop() {
      for (const controller of open.values()) controller.abort()
    },
  }
}

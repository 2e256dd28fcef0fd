/** What a person sees of a prompt as it goes: the answer on standard output, everything about it beside. */
import type { PromptEvent } from '../../../published/client/client-types.js'
import type { Terminal } from '../../terminal/terminal.js'
import { createAnswerText } from './answer-text.js'
import { createProgress, type ProgressOptions } from './progress.js'

export interface Presentation {
  show(event: PromptEvent): void
  /** Nothing follows. */
  end(): void
}

/** Programs are told only that events were lost. */
export function createSilentPresentation(terminal: Terminal): Presentation {
  return {
    show: ({ type }) => (type === 'gap' ? terminal.note(LOST) : undefined),
    end: () => undefined,
  }
}

const LOST = 'the server no longer keeps some events of this run; what happened is read again'

export function createPresentation(terminal: Terminal, options: ProgressOptions): Presentation {
  const answer = createAnswerText(terminal)
  const progress = createProgress(terminal, options)
  /** Each state of a call is told once. */
  const calls = new Map<string, string>()

  function show(event: PromptEvent): void {
    switch (event.type) {
      case 'gap':
        return progress.note(LOST)
      case 'text':
        progress.writes(event.partId, event.delta)
        return answer.add(event.messageId, event.partId, event.delta)
      case 'withdrawn':
        return answer.withdraw(event.messageId) ? progress.withdrawn() : undefined
      case 'tool': {
        const { callId, state } = event.part
        if (calls.get(callId) === state.status) return
        calls.set(callId, state.status)
        if (state.status !== 'pending') answer.settle()
        return progress.tool(event.part)
      }
      case 'retry':
        return progress.retry(event)
      case 'compacting':
        return progress.note('The conversation is being compacted.')
      case 'reasoning':
        return progress.thought(event.partId, event.delta)
      case 'permission':
      case 'question':
        answer.settle()
        return progress.rest()
      case 'settled':
        return progress.busy('waiting for the model')
      case 'end':
        return end()
    }
  }

  function end(): void {
    answer.settle()
    progress.rest()
    terminal.break()
  }

  progress.busy('waiting for the model')
  return { show, end }
}

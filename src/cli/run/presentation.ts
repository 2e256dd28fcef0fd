/** What a person sees of a prompt as it goes: the answer on standard output, everything about it beside. */
import type { PromptEvent } from '../../client/client-types.js'
import type { Terminal } from '../terminal.js'
import { createHeldText } from './held-text.js'
import { toolLine } from './tool-line.js'

export interface Presentation {
  show(event: PromptEvent): void
  /** Nothing follows. */
  end(): void
}

/** `withText`: the answer itself is shown as well; as it is said on a terminal, and elsewhere once nothing can withdraw it. */
export function createPresentation(terminal: Terminal, withText: boolean): Presentation {
  let partId: string | undefined
  /** Lines are shown once for each state of a call. */
  const calls = new Map<string, string>()
  const held = createHeldText((text) => {
    terminal.break()
    terminal.text(text)
  })

  function show(event: PromptEvent): void {
    switch (event.type) {
      case 'gap':
        return terminal.note('the server no longer keeps some events of this run; what happened is read again')
      case 'text':
        return onText(event.messageId, event.partId, event.delta)
      case 'withdrawn':
        return onWithdrawn(event.messageId)
      case 'tool': {
        const { callId, state } = event.part
        if (calls.get(callId) === state.status) return
        calls.set(callId, state.status)
        if (state.status !== 'pending') held.settle()
        return note(toolLine(event.part))
      }
      case 'retry':
        return note(`retrying (${event.attempt}): ${event.message}`)
      case 'compacting':
        return note('The conversation is being compacted.')
      case 'end':
        return end()
      // Asked by `createAnswers`; what the model thinks is not shown.
      case 'permission':
      case 'question':
      case 'settled':
      case 'reasoning':
    }
  }

  function onText(message: string, part: string, delta: string): void {
    if (!withText) return
    if (!terminal.isLive) return held.add(message, part, delta)
    if (partId !== part) terminal.break()
    partId = part
    terminal.text(delta)
  }

  function onWithdrawn(message: string): void {
    held.withdraw(message)
    partId = undefined
    if (withText && terminal.isLive) terminal.break()
  }

  function note(text: string | undefined): void {
    if (text !== undefined && withText) terminal.note(text)
  }

  function end(): void {
    held.settle()
    if (withText) terminal.break()
  }

  return { show, end }
}

/** How the message of a step ends: worked out first, and stored then or with what follows. */
import type { AssistantInfo, Message, Part } from '../../../../protocol/message/message.js'
import type { TokenUsage } from '../../../../protocol/message/token-usage.js'
import type { Change } from '../../../events/journal.js'
import { endedCalls } from './recorded-calls.js'
import { endedText, endedThoughts, takeBack } from './recorded-text.js'
import { now, place, type Recording, waitingParts } from './recording.js'

export interface StepEnd {
  readonly finish: string
  readonly tokens: TokenUsage
  readonly cost: number
  readonly error?: { readonly message: string; readonly interrupted?: true }
}

export interface Ending {
  /** As it is then. */
  readonly message: Message
  /** Stores it, and tells of it, inside the caller's commit. */
  store(change: Change): void
}

/** Every open part ends, and the message. */
export function endingOf(recording: Recording, { finish, tokens, cost, error }: StepEnd): Ending {
  const { core, parts, waiting } = recording
  const at = now(recording)
  const time = { ...recording.info.time, completed: at }
  const info: AssistantInfo = { ...recording.info, finish, tokens, cost, time, ...(error === undefined ? {} : { error }) }
  const before: readonly Part[] = [...waitingParts(recording), ...endedCalls(recording), ...endedThoughts(recording)]
  const text = endedText(recording, at)
  const kept = text !== undefined && 'kept' in text ? [text.kept] : []
  const taken = text !== undefined && 'taken' in text ? text.taken : undefined
  const reason = error?.interrupted === true ? 'aborted' : finish
  const last: Part = { ...place(recording), type: 'step-finish', reason, tokens, cost }
  const ended = new Map(parts)
  for (const part of [...before, ...kept, last]) ended.set(part.id, part)
  if (taken !== undefined) ended.delete(taken.id)
  const message = { info, parts: [...ended.values()] }

  function put(change: Change, part: Part): void {
    change.emitPart(core.store.messages.putPart(part), at)
  }

  return {
    message,
    store(change) {
      for (const part of before) put(change, part)
      change.emitMessage(core.store.messages.updateInfo(info))
      for (const part of kept) put(change, part)
      if (taken !== undefined) takeBack(recording, change, taken)
      put(change, last)
      change.after(() => {
        recording.info = info
        waiting.clear()
        parts.clear()
        for (const part of message.parts) parts.set(part.id, part)
      })
    },
  }
}

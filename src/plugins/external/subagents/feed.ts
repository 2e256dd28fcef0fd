/**
 * What a subagent says, on its way to the answer it is shown in, which may not have begun yet.
 *
 * I1 What waits is bounded; of one that says more, the rest is left out.
 * I2 Nothing passes before `open`, nothing after `close`, and nothing twice.
 */
import type { StreamPart } from '../../../ports/provider-adapter.js'

type Push = (part: StreamPart) => void

export interface Feed {
  push(part: StreamPart): void
  open(to: Push): void
  close(): void
}

const nowhere: Push = () => undefined

/** `most` bytes wait. */
export function createFeed(most: number): Feed {
  const waiting: StreamPart[] = []
  let left = most
  let to: Push = (part) => {
    left -= Buffer.byteLength(JSON.stringify(part))
    if (left >= 0) waiting.push(part)
  }
  return {
    push: (part) => to(part),
    open(push) {
      to = push
      for (const part of waiting.splice(0)) push(part)
    },
    close() {
      to = nowhere
      waiting.length = 0
    },
  }
}

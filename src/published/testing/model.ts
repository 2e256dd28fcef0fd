/** The model a test plays: a queue of steps, one for each time svc asks. */
import type { GenerateRequest } from '../../ports/provider-adapter.js'
import { ProviderError } from '../../ports/provider-adapter.js'
import type { HeldStep, ModelRequest, TestModel } from './model-types.js'
import { calls, gate, type PlayedStep, type Push, says } from './steps.js'

export interface PlayedModel {
  readonly model: TestModel
  /** The step for a request. */
  next(request: GenerateRequest): PlayedStep
  /** Why a step was refused, once: there was none left. */
  takeMissing(): string | undefined
}

type Last = (push: Push, signal: AbortSignal, request: GenerateRequest) => Promise<void> | void

export function playModel(): PlayedModel {
  const steps: PlayedStep[] = []
  const requests: GenerateRequest[] = []
  let lastCall = 0
  let missing: string | undefined

  const nextCallId = () => `call_${++lastCall}`
  const fails =
    (message: string, { retryable = false }: { readonly retryable?: boolean } = {}): PlayedStep =>
    () => {
      throw new ProviderError(message, { retryable })
    }
  const callsTool = (tool: string, input: unknown = {}) => calls({ callId: nextCallId(), tool, input })
  const add = (step: PlayedStep): TestModel => {
    steps.push(step)
    return model
  }

  const model: TestModel = {
    says: (text) => add(says(text)),
    callsTool: (tool, input) => add(callsTool(tool, input)),
    callsTools: (...list) => add(calls(...list.map(({ tool, input = {}, callId = nextCallId() }) => ({ tool, input, callId })))),
    fails: (message, options) => add(fails(message, options)),
    waits() {
      const { held, step } = hold()
      add(step)
      return held
    },
    get left() {
      return steps.length
    },
    get requests() {
      return requests.map(requestOf)
    },
  }

  function hold(): { readonly held: HeldStep; readonly step: PlayedStep } {
    const started = gate<ModelRequest>()
    const parts: Last[] = []
    let isOver = false
    let wake = (): void => undefined
    const give = (part: Last, isLast: boolean) => {
      if (isOver) throw new Error('this step of the model has ended: it has said its last word')
      isOver = isLast
      parts.push(part)
      wake()
    }
    const held: HeldStep = {
      started: started.promise,
      streams: (text) => give((push) => push({ type: 'text', delta: text }), false),
      says: (text) => give(says(text), true),
      callsTool: (tool, input) => give(callsTool(tool, input), true),
      fails: (message, options) => give(fails(message, options), true),
    }
    async function step(push: Push, signal: AbortSignal, request: GenerateRequest): Promise<void> {
      started.open(requestOf(request))
      signal.addEventListener('abort', () => wake(), { once: true })
      for (;;) {
        signal.throwIfAborted()
        const part = parts.shift()
        if (part !== undefined) await part(push, signal, request)
        else if (isOver) return
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    }
    return { held, step }
  }

  return {
    model,
    next(request) {
      requests.push(request)
      const step = steps.shift()
      if (step !== undefined) return step
      missing = `The model was asked for its step ${requests.length}, and the test gave it ${requests.length - 1}: add one, such as svc.model.says('Done.').`
      throw new ProviderError(missing, { retryable: false })
    },
    takeMissing() {
      const taken = missing
      missing = undefined
      return taken
    },
  }
}

export function requestOf({ messages, ...request }: GenerateRequest): ModelRequest {
  return { ...request, messages: messages.map((message) => ({ ...message })) }
}

/**
 * Chains of hooks (plugin-protocol §5, choice 26).
 *
 * I1 The caller's value never changes: hooks see a JSON copy, and a failed chain leaves nothing behind.
 * I2 A chain ends with its first failure, and at once when its signal aborts; a call that hangs is ended by the call
 *    timeout of its instance, which nobody waits for after an abort.
 * I3 Whoever listens for the end of a chain listens to a signal of that chain: the one of the caller may be shared by many.
 */
import type * as z from 'zod'
import { SvcError } from '../../../protocol/errors.js'
import type { HookFailure } from '../../../protocol/plugin/hook-failure.js'
import type { HookName } from '../../../ports/contributions.js'
import type { RegisteredHook, RegistryView } from '../../../ports/view.js'
import { messageOf } from '../../../protocol/message-of.js'

export interface HookRun<Value> {
  readonly signal: AbortSignal
  /** Checks what each hook answered, before the next one sees it; a refusal fails the chain and is charged to that hook's plugin. */
  readonly accept: z.ZodType<Value> | ((value: unknown) => Value)
}

/**
 * The value after every hook of this name, each seeing the answer of the one before. Without hooks the value itself.
 * Rejects when a hook fails, naming its plugin; the caller keeps the value it has.
 */
export async function runHooks<Value>(
  view: Pick<RegistryView, 'hooks'>,
  name: HookName,
  context: Readonly<Record<string, unknown>>,
  value: Value,
  { signal, accept }: HookRun<Value>,
): Promise<Value> {
  const chain = view.hooks(name)
  if (chain.length === 0) return value
  const own = AbortSignal.any([signal]) // I3
  let current: unknown = jsonCopy(value)
  let accepted = value
  for (const hook of chain) {
    current = await callHook(hook, { name, context, value: current, signal: own })
    accepted = acceptAnswer(hook, name, current, accept)
  }
  return accepted
}

function acceptAnswer<Value>(hook: RegisteredHook, name: HookName, answer: unknown, accept: HookRun<Value>['accept']): Value {
  try {
    return typeof accept === 'function' ? accept(answer) : accept.parse(answer)
  } catch (error) {
    const reason = `The answer of the hook "${name}" is not usable: ${reasonOf(error)}`
    hook.blame(reason)
    throw failure(hook, name, reason, error)
  }
}

/** The value after the hooks; the value itself when one of them fails, with what failed. Rejects when `signal` aborts. */
export async function tryHooks<Value>(
  view: Pick<RegistryView, 'hooks'>,
  name: HookName,
  context: Readonly<Record<string, unknown>>,
  value: Value,
  run: HookRun<Value>,
): Promise<{ readonly value: Value; readonly failure?: HookFailure }> {
  try {
    return { value: await runHooks(view, name, context, value, run) }
  } catch (error) {
    run.signal.throwIfAborted()
    const { pluginId } = error instanceof SvcError ? error.details : {}
    const message = messageOf(error)
    return { value, failure: { hook: name, ...(typeof pluginId === 'string' && { pluginId }), message } }
  }
}

interface HookCall {
  readonly name: HookName
  readonly context: Readonly<Record<string, unknown>>
  readonly value: unknown
  readonly signal: AbortSignal
}

async function callHook(hook: RegisteredHook, { name, context, value, signal }: HookCall): Promise<unknown> {
  try {
    return await untilAborted(signal, async () => hook.run(context, value, signal))
  } catch (error) {
    if (signal.aborted) throw error
    throw failure(hook, name, `Its hook "${name}" failed: ${reasonOf(error)}`, error)
  }
}

function failure({ pluginId }: RegisteredHook, hook: HookName, reason: string, cause: unknown): SvcError {
  const code = cause instanceof SvcError ? cause.code : 'plugin.failed'
  return new SvcError(code, `Plugin ${pluginId}: ${reason}`, { pluginId, hook }, { cause })
}

function reasonOf(error: unknown): string {
  if (isIssueList(error)) return error.issues.map(({ path, message }) => `${path.map(String).join('.') || 'value'}: ${message}`).join('; ')
  return error instanceof Error && error.message !== '' ? error.message : 'it gave no reason.'
}

function isIssueList(
  error: unknown,
): error is { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] } {
  return error instanceof Error && 'issues' in error && Array.isArray(error.issues)
}

function jsonCopy(value: unknown): unknown {
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? null : JSON.parse(text)
}

/** I2. The outcome of the work, or the abort of the signal, whichever is first. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  let stop = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

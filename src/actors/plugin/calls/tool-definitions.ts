/**
 * The definitions of tools as a model or a client gets them: after the hook `tool.definition` (plugin-protocol §5.1).
 *
 * I1 A tool whose hooks fail keeps its own definition; its plugin is unwell until a whole list was made without a failure.
 * I2 An answer is remembered with the hook that gave it, for the same definition and the same state of the hook; failures are not.
 * I3 A list waits for its hooks no longer than `serviceWait` in all.
 */
import type { Stopping } from '../../../kernel/stopping.js'
import { timeLimit } from '../../../kernel/patience.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { HookFailure } from '../../../protocol/plugin/hook-failure.js'
import type { Clock } from '../../../ports/effects.js'
import type { ToolDefinition } from '../../../ports/provider-adapter.js'
import { createLru, type Lru } from '../../../kernel/lru.js'
import { hookedDefinition } from './hook-values.js'
import { tryHooks, untilAborted } from './hooks.js'
import type { RegisteredHook, RegisteredTool, RegistryView } from '../../../ports/view.js'
import { messageOf } from '../../../protocol/message-of.js'

const NAME = 'tool.definition'
/** Tools whose hooks run at the same time: a plugin takes few calls at once. */
const AT_ONCE = 16
const { rememberedDefinitions, rememberedBytes, serviceWait } = LIMITS.plugins

/** Answers by what was asked, both as JSON. */
const remembered = new WeakMap<RegisteredHook, Lru<string, string>>()

export interface DefinedTools {
  /** In the order of the tools. */
  readonly definitions: readonly ToolDefinition[]
  readonly failures: readonly HookFailure[]
}

/** Rejects when it is stopped, and for no other reason. */
export function defineTools(
  view: Pick<RegistryView, 'hooks'>,
  tools: readonly RegisteredTool[],
  clock: Clock,
  stopping: Pick<Stopping, 'signal'>,
): DefinedTools | Promise<DefinedTools> {
  const own = tools.map((tool) => tool.definition)
  const chain = view.hooks(NAME)
  return chain.length === 0 ? { definitions: own, failures: [] } : definedBy(chain, own, clock, stopping.signal)
}

async function definedBy(
  chain: readonly RegisteredHook[],
  own: readonly ToolDefinition[],
  clock: Clock,
  signal: AbortSignal,
): Promise<DefinedTools> {
  const list = await beginList(chain, clock, signal)
  const definitions: ToolDefinition[] = []
  const failures: HookFailure[] = []
  try {
    for (let from = 0; from < own.length; from += AT_ONCE) {
      for (const { value, failure } of await Promise.all(own.slice(from, from + AT_ONCE).map(list.define))) {
        definitions.push(value)
        if (failure !== undefined) failures.push(failure)
      }
    }
  } finally {
    list.end()
  }
  return { definitions, failures }
}

async function beginList(chain: readonly RegisteredHook[], clock: Clock, signal: AbortSignal) {
  const states = await Promise.all(chain.map(async (hook) => hook.state?.() ?? ''))
  const late = timeLimit(clock, serviceWait, `it took longer than ${serviceWait} ms`) // I3
  /** Last failure of each hook. */
  const failed = new Map<RegisteredHook, string>()

  async function define(definition: ToolDefinition) {
    const { id, description, parameters, outputSchema } = definition
    const value = { id, description, parameters, ...(outputSchema !== undefined && { outputSchema }) }
    const answers: (() => void)[] = []
    const hooks = chain.map((hook, index) => ({
      ...hook,
      async run(context: Readonly<Record<string, unknown>>, given: unknown, ended: AbortSignal): Promise<unknown> {
        const question = JSON.stringify([states[index], context, given])
        const known = answersOf(hook).get(question)
        if (known !== undefined) return JSON.parse(known)
        try {
          const either = AbortSignal.any([ended, late.signal])
          const answer = await untilAborted(either, async () => hook.run(context, given, either))
          answers.push(() => remember(hook, question, answer))
          return answer
        } catch (error) {
          if (!signal.aborted) failed.set(hook, messageOf(error))
          throw error
        }
      },
      blame(reason: string) {
        failed.set(hook, reason)
        hook.blame(reason)
      },
    }))
    const accept = hookedDefinition(id)
    const { value: defined, failure } = await tryHooks({ hooks: () => hooks }, NAME, { toolId: id }, value, { signal, accept })
    if (failure !== undefined) return { value: definition, failure: { ...failure, toolId: id } }
    for (const keep of answers) keep()
    return { value: defined }
  }

  return {
    define,
    end() {
      late.clear()
      for (const [hook, reason] of failed) hook.blame(reason) // I1
    },
  }
}

/** I2 */
function remember(hook: RegisteredHook, question: string, answer: unknown): void {
  const text: string | undefined = JSON.stringify(answer)
  if (text !== undefined && question.length + text.length <= rememberedBytes) answersOf(hook).set(question, text)
}

function answersOf(hook: RegisteredHook): Lru<string, string> {
  const known = remembered.get(hook) ?? createLru<string, string>(rememberedDefinitions)
  remembered.set(hook, known)
  return known
}

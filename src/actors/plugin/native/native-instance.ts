/**
 * The native tier: cooperative code in this process, under the same registry, validation and teardown (service.md, Plugins).
 *
 * I1 Of one plugin, one generation runs at a time: the next starts once nothing of the one before runs.
 * I2 What it does by itself ends when it is to end; tools that are under way may finish until it is retired, and are aborted then.
 */
import { timeLimit } from '../../../kernel/patience.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Clock } from '../../../ports/effects.js'
import type { Hook } from '../../../ports/contributions.js'
import { untilAborted } from '../calls/hooks.js'
import type { PluginInstance, StartInstance } from '../generation/instance.js'
import type { NativeHost, NativePlugin } from '../../../ports/plugin.js'
import { createNativeCalls } from './native-calls.js'

/** Starts generations of a native plugin; what it throws is its failure. */
export function createNativeStarter(plugin: NativePlugin, hostOf: (pluginId: string) => NativeHost): StartInstance {
  let before: Promise<void> = Promise.resolve()
  return async (_number, _onProblem, signal): Promise<PluginInstance> => {
    await untilAborted(signal, () => before) // I1
    const calls = createNativeCalls(plugin.id)
    const host = hostOf(plugin.id)
    const { hooks, ...contributions } = calls.watched(plugin.start(host))
    const bounded = Object.entries(hooks ?? {}).map(([name, hook]) => [name, withinTime(hook, host.effects.clock)] as const)
    let stopped: Promise<void> | undefined
    let end: () => void = () => undefined
    const gone = new Promise<void>((resolve) => (end = resolve))
    before = gone
    const quiesce = () => (stopped ??= stopOf(plugin).catch(() => undefined))
    const retire = () => {
      calls.abort()
      void Promise.all([quiesce(), calls.settled()]).then(end)
    }
    return {
      contributions: { ...contributions, ...(hooks && { hooks: Object.fromEntries(bounded) }) },
      failed: new Promise<never>(() => undefined),
      quiesce: () => void quiesce(),
      retire,
      kill: retire,
      gone,
      droppedFrames: 0,
    }
  }
}

/** What the call timeout is to a process; code that never gives the thread back is beyond any limit. */
function withinTime(hook: Hook, clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): Hook {
  const { callTimeout } = LIMITS.plugins
  return async (context, value, signal) => {
    const late = timeLimit(clock, callTimeout, new SvcError('plugin.failed', `it took longer than ${callTimeout} ms`))
    const either = AbortSignal.any([signal, late.signal])
    try {
      return await untilAborted(either, async () => hook(context, value, either))
    } finally {
      late.clear()
    }
  }
}

async function stopOf(plugin: NativePlugin): Promise<void> {
  await plugin.stop?.()
}

/** The native tier: cooperative code in this process, under the same registry, validation and teardown (service.md, Plugins). */
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Clock } from '../effects.js'
import type { Hook } from './contributions.js'
import { untilAborted } from './hooks.js'
import type { PluginInstance, StartInstance } from './instance.js'
import type { NativeHost, NativePlugin } from './native.js'

/** Starts a native plugin; what it throws is its failure. */
export function startNative(plugin: NativePlugin, host: NativeHost): StartInstance {
  return async (): Promise<PluginInstance> => {
    const { hooks, ...contributions } = plugin.start(host)
    const bounded = Object.entries(hooks ?? {}).map(([name, hook]) => [name, withinTime(hook, host.effects.clock)] as const)
    let stopped: Promise<void> | undefined
    let gone: () => void = () => undefined
    const ended = new Promise<void>((resolve) => (gone = resolve))
    const retire = () => {
      stopped ??= stopOf(plugin).then(gone, gone)
    }
    return {
      contributions: { ...contributions, ...(hooks && { hooks: Object.fromEntries(bounded) }) },
      failed: new Promise<never>(() => undefined),
      retire,
      kill: retire,
      gone: ended,
      droppedFrames: 0,
    }
  }
}

/** What the call timeout is to a process; code that never gives the thread back is beyond any limit. */
function withinTime(hook: Hook, clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): Hook {
  const { callTimeout } = LIMITS.plugins
  return async (context, value, signal) => {
    const late = new AbortController()
    const timer = clock.setTimeout(() => late.abort(new SvcError('plugin.failed', `it took longer than ${callTimeout} ms`)), callTimeout)
    const either = AbortSignal.any([signal, late.signal])
    try {
      return await untilAborted(either, async () => hook(context, value, either))
    } finally {
      clock.clearTimeout(timer)
    }
  }
}

async function stopOf(plugin: NativePlugin): Promise<void> {
  await plugin.stop?.()
}

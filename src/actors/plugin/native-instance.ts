/** The native tier: cooperative code in this process, under the same registry, validation and teardown (service.md, Plugins). */
import type { PluginInstance, StartInstance } from './instance.js'
import type { NativeHost, NativePlugin } from './native.js'

/** Starts a native plugin; what it throws is its failure. */
export function startNative(plugin: NativePlugin, host: NativeHost): StartInstance {
  return async (): Promise<PluginInstance> => {
    const contributions = plugin.start(host)
    let stopped: Promise<void> | undefined
    let gone: () => void = () => undefined
    const ended = new Promise<void>((resolve) => (gone = resolve))
    const retire = () => {
      stopped ??= stopOf(plugin).then(gone, gone)
    }
    return { contributions, failed: new Promise<never>(() => undefined), retire, kill: retire, gone: ended, droppedFrames: 0 }
  }
}

async function stopOf(plugin: NativePlugin): Promise<void> {
  await plugin.stop?.()
}

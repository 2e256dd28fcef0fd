/** The tools of a native plugin that are under way, so that they can end with it. */
import { type Contributions, type ToolContribution, ToolError } from '../../../ports/plugin.js'

export interface NativeCalls {
  /** The same contributions, with tools that are noted while they run. */
  watched(contributions: Contributions): Contributions
  /** Aborts what is under way. */
  abort(): void
  /** Resolves when nothing of it is under way. */
  settled(): Promise<void>
}

export function createNativeCalls(pluginId: string): NativeCalls {
  const underWay = new Map<AbortController, Promise<unknown>>()

  function watched(tool: ToolContribution): ToolContribution {
    return {
      ...tool,
      async invoke(input, context) {
        const controller = new AbortController()
        const abort = () => controller.abort(context.signal.reason)
        context.signal.addEventListener('abort', abort, { once: true })
        if (context.signal.aborted) abort()
        const work = tool.invoke(input, { ...context, signal: controller.signal })
        underWay.set(controller, work)
        try {
          return await work
        } catch (error) {
          if (controller.signal.aborted && !context.signal.aborted) throw new ToolError(`The plugin ${pluginId} was switched off.`)
          throw error
        } finally {
          underWay.delete(controller)
          context.signal.removeEventListener('abort', abort)
        }
      },
    }
  }

  return {
    watched: ({ tools, within, ...others }) => ({
      ...others,
      ...(tools && { tools: tools.map(watched) }),
      ...(within && {
        within(directory, sessionId) {
          const offers = within(directory, sessionId)
          return { ...offers, tools: offers.tools.map(watched) }
        },
      }),
    }),
    abort() {
      for (const controller of underWay.keys()) controller.abort(new Error(`the plugin ${pluginId} has ended`))
    },
    settled: async () => void (await Promise.allSettled(underWay.values())),
  }
}

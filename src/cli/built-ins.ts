/** The built-in plugins, in the order they start. */
import type { NativePlugin } from '../actors/plugin/native.js'
import { filesPlugin } from '../plugins/files/plugin.js'
import { interactionsPlugin } from '../plugins/interactions.js'
import { createOfflinePlugin } from '../plugins/offline/plugin.js'
import { createOpenAICompatiblePlugin } from '../plugins/openai-compatible/plugin.js'

export async function builtInPlugins(): Promise<readonly NativePlugin[]> {
  const ripgrep = await ripgrepPath()
  return [filesPlugin({ ripgrepPath: ripgrep }), interactionsPlugin(), createOpenAICompatiblePlugin(), createOfflinePlugin()]
}

/** Path of the bundled search program; undefined on platforms it is not made for. */
async function ripgrepPath(): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch {
    return undefined
  }
}

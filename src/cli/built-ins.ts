/** The built-in plugins, in the order they start. */
import { createRequire } from 'node:module'
import { childEnvironment } from '../actors/node-environment.js'
import type { NativePlugin } from '../actors/plugin/native.js'
import { filesPlugin } from '../plugins/files/plugin.js'
import { interactionsPlugin } from '../plugins/interactions.js'
import { createOfflinePlugin } from '../plugins/offline/plugin.js'
import { createOpenAICompatiblePlugin } from '../plugins/openai-compatible/plugin.js'
import { shellPlugin } from '../plugins/shell/plugin.js'

export async function builtInPlugins(): Promise<readonly NativePlugin[]> {
  const ripgrep = await ripgrepPath()
  const { resolve } = createRequire(import.meta.url)
  const shell = shellPlugin({
    coreWasm: resolve('web-tree-sitter/web-tree-sitter.wasm'),
    grammarWasm: resolve('tree-sitter-bash/tree-sitter-bash.wasm'),
    allowVariables: childEnvironment,
  })
  return [filesPlugin({ ripgrepPath: ripgrep }), shell, interactionsPlugin(), createOpenAICompatiblePlugin(), createOfflinePlugin()]
}

/** Path of the bundled search program; undefined on platforms it is not made for. */
async function ripgrepPath(): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch {
    return undefined
  }
}

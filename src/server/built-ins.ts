/** The built-in plugins, in the order they start. */
import { createRequire } from 'node:module'
import { childEnvironment } from '../platform/node/environment.js'
import type { Effects } from '../ports/effects.js'
import type { NativePlugin } from '../ports/plugin.js'
import { wholeNumber } from '../protocol/system/variables.js'
import { workflowPlaces } from './workflow-places.js'
import { artifactsPlugin } from '../plugins/artifacts/artifacts.plugin.js'
import { documentsPlugin } from '../plugins/documents/documents.plugin.js'
import { externalPlugin } from '../plugins/external/external.plugin.js'
import { filesPlugin } from '../plugins/files/files.plugin.js'
import { interactionsPlugin } from '../plugins/interactions/interactions.plugin.js'
import { lspPlugin } from '../plugins/lsp/lsp.plugin.js'
import { createAnthropicPlugin } from '../plugins/providers/anthropic/anthropic.plugin.js'
import { createGooglePlugin } from '../plugins/providers/google/google.plugin.js'
import { createOfflinePlugin } from '../plugins/providers/offline/offline.plugin.js'
import { createOpenAICompatiblePlugin } from '../plugins/providers/openai-compatible/openai-compatible.plugin.js'
import { createOpenAIPlugin } from '../plugins/providers/openai/openai.plugin.js'
import { mcpPlugin } from '../plugins/mcp/mcp.plugin.js'
import { ptyPlugin } from '../plugins/pty/pty.plugin.js'
import { memoryPlugin } from '../plugins/memory/memory.plugin.js'
import { semanticPlugin } from '../plugins/semantic/semantic.plugin.js'
import { skillsPlugin } from '../plugins/skills/skills.plugin.js'
import { shellPlugin } from '../plugins/shell/shell.plugin.js'
import { goalsPlugin } from '../plugins/goals/goals.plugin.js'
import { subagentsPlugin } from '../plugins/subagents/subagents.plugin.js'
import { vcsPlugin } from '../plugins/vcs/vcs.plugin.js'
import { webPlugin } from '../plugins/web/web.plugin.js'
import { workflowsPlugin } from '../plugins/workflows/workflows.plugin.js'
import { VERSION } from './version.js'
import { documentsDirectory, readerProgram } from './plugin-programs.js'

/** `env` is the environment of the server: an installation may lengthen the silence it allows a model. `localZone` is the zone of this machine. */
export async function builtInPlugins(env: Effects['env'], localZone = zoneOfMachine): Promise<readonly NativePlugin[]> {
  const ripgrep = await ripgrepPath()
  const { resolve } = createRequire(import.meta.url)
  const shell = shellPlugin({
    coreWasm: resolve('web-tree-sitter/web-tree-sitter.wasm'),
    grammarWasm: resolve('tree-sitter-bash/tree-sitter-bash.wasm'),
    allowVariables: childEnvironment,
  })
  const models = { timeouts: modelTimeouts(env) }
  return [
    filesPlugin({ ripgrepPath: ripgrep }),
    shell,
    interactionsPlugin(),
    createOpenAICompatiblePlugin(models),
    createOpenAIPlugin(models),
    createAnthropicPlugin(models),
    createGooglePlugin(models),
    createOfflinePlugin(),
    ptyPlugin(),
    vcsPlugin(),
    lspPlugin({ env, version: VERSION }),
    mcpPlugin({ env, version: VERSION }),
    externalPlugin({ env }),
    semanticPlugin({ env }),
    subagentsPlugin(),
    goalsPlugin({ env }),
    memoryPlugin(),
    skillsPlugin(),
    artifactsPlugin(),
    documentsPlugin({ directory: documentsDirectory() }),
    webPlugin({ program: readerProgram(), version: VERSION, env }),
    workflowsPlugin({ places: workflowPlaces(env), version: VERSION, localZone }),
  ]
}

/** Path of the bundled search program; undefined on platforms it is not made for. */
async function ripgrepPath(): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch {
    return undefined
  }
}

function zoneOfMachine(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Milliseconds. */
function modelTimeouts(env: Effects['env']): { readonly idle?: number } {
  const idle = wholeNumber(env, 'SVC_AGENT_PROVIDER_STREAM_IDLE_TIMEOUT_MS')
  return idle === undefined ? {} : { idle }
}

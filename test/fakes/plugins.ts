import * as z from 'zod'
import type { Hook } from '../../src/ports/contributions.js'
import { defineTool, type ToolContribution } from '../../src/ports/plugin.js'
import type { Registered, RegisteredHook, RegisteredTool, RegistryView, Stamp, WorkspacePlugins } from '../../src/ports/view.js'

const stamp = (pluginId: string): Stamp => ({
  pluginId,
  generation: 1,
  reach: { type: 'everywhere' },
  use: (work) => work(),
  open: true,
})

export function registered<Contribution>(pluginId: string, contribution: Contribution): Registered<Contribution> {
  return { ...stamp(pluginId), contribution }
}

export function registeredTool(pluginId: string, contribution: ToolContribution): RegisteredTool {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(contribution.input, { io: 'input' })
  const { id, description } = contribution
  return { ...registered(pluginId, contribution), definition: { id, description, parameters } }
}

/** A hook and the failures it was charged with. */
export function registeredHook(pluginId: string, run: Hook): RegisteredHook & { readonly blamed: string[] } {
  const blamed: string[] = []
  return { ...stamp(pluginId), run, blamed, blame: (reason) => void blamed.push(reason) }
}

/** A view with only what a test puts into it. */
export function createFakeView(
  parts: Partial<Omit<RegistryView, 'hooks' | 'tool'>> & { readonly hooks?: Readonly<Record<string, readonly RegisteredHook[]>> } = {},
): RegistryView {
  const { hooks = {}, ...rest } = parts
  const none: readonly RegisteredHook[] = []
  return {
    generation: 1,
    tools: [],
    providers: [],
    agents: [],
    commands: [],
    skills: [],
    preparations: [],
    systemContext: [],
    prompts: [],
    sessionContext: [],
    config: [],
    routes: [],
    sockets: [],
    plugins: [],
    operations: new Map(),
    socketOperations: new Map(),
    ...rest,
    hooks: (name) => hooks[name] ?? none,
    tool: (id) => rest.tools?.find((tool) => tool.contribution.id === id),
  }
}

/** Plugins that show one view to everybody. */
export function createFakePlugins(view: () => RegistryView): WorkspacePlugins & { capabilities(): Promise<[]> } {
  return {
    ready: async () => view(),
    prepared: async () => view(),
    current: () => view(),
    switchedOff: async () => undefined,
    capabilities: async () => [],
    sessionEnded: () => undefined,
    wantsEvents: () => false,
    deliver: () => undefined,
  }
}

export const readTool = defineTool({
  id: 'read',
  description: 'Reads a file.',
  input: z.strictObject({ filePath: z.string(), limit: z.number().int().optional() }),
  permission: 'read',
  needs: async () => [],
  invoke: async () => ({ title: '', output: '' }),
})

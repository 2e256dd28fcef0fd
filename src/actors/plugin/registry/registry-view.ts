/** Published contributions with their stamps, and the views made of them. */
import * as z from 'zod'
import type { ToolDefinition } from '../../../ports/provider-adapter.js'
import { conflictKeys, withFullPaths } from './conflicts.js'
import type { CommandService, Hook, Service } from '../../../ports/contributions.js'
import type { Contributions, ToolContribution } from '../../../ports/plugin.js'
import { promptCommand } from './prompt-commands.js'
import type { Publication } from './publication.js'
import type { Registered, RegisteredHook, RegisteredTool, RegistryView, Stamp } from '../../../ports/view.js'
import { AGENT_PROMPT } from '../../../protocol/plugin/plugin-services.js'
import { messageOf } from '../../../protocol/message-of.js'
import { compare } from '../../../kernel/sort.js'

/** One published set. */
export interface Entry {
  /** With the full paths of its routes. */
  readonly publication: Publication
  /** As it was handed over. */
  readonly source: Publication
  readonly keys: ReadonlySet<string>
  readonly tools: readonly RegisteredTool[]
  readonly hooks: ReadonlyMap<string, RegisteredHook>
  /** Of its prompts. */
  readonly commands: readonly CommandService[]
  readonly stamp: Stamp
}

/** Throws `plugin.invalid` for a set that is wrong in itself. */
export function stampEntry(publication: Publication): Entry {
  const { pluginId, generation, reach, door } = publication
  const contributions = withFullPaths(publication)
  const stamp: Stamp = {
    pluginId,
    generation,
    reach,
    use: (work) => door.use(work),
    get open() {
      return door.open
    },
  }
  return {
    publication: { ...publication, contributions },
    source: publication,
    keys: new Set(conflictKeys(pluginId, contributions)),
    stamp,
    commands: (contributions.prompts ?? [])
      .filter(({ id }) => !id.startsWith(AGENT_PROMPT))
      .map((prompt) => promptCommand(pluginId, prompt)),
    tools: (contributions.tools ?? []).map((contribution) => stamped(stamp, { contribution, definition: defineOf(contribution) })),
    hooks: new Map(
      Object.entries(contributions.hooks ?? {}).map(([name, hook]) => [
        name,
        stamped(stamp, {
          ...(contributions.hookState !== undefined && { state: contributions.hookState }),
          ...(contributions.hookTools !== undefined && { tools: contributions.hookTools }),
          run: reported(publication, name, hook),
          blame: (reason: string) => publication.onHook({ name, failure: reason }),
        }),
      ]),
    ),
  }
}

/** I of the registry: everything a view shows is put together once, when it is made. */
export function createView(entries: readonly Entry[], generation: number, directory: string, sessionId: string | undefined): RegistryView {
  const within = entries.map(({ stamp, publication: { contributions } }) => ({
    stamp,
    offers: contributions.within?.(directory, sessionId) ?? NO_OFFERS,
  }))
  const known = entries.flatMap((entry) => entry.tools)
  const taken = new Set(known.map(({ contribution: { id } }) => id))
  const more = within.flatMap(({ stamp, offers }) =>
    offers.tools
      .filter(({ id }) => !taken.has(id))
      .map((contribution) => stamped(stamp, { contribution, definition: defineOf(contribution) })),
  )
  const tools = more.length === 0 ? known : [...known, ...more]
  const byId = new Map(tools.map((tool) => [tool.contribution.id, tool]))
  const hooks = new Map<string, RegisteredHook[]>()
  for (const entry of entries) for (const [name, hook] of entry.hooks) hooks.set(name, [...(hooks.get(name) ?? []), hook])
  const all = <C>(pick: (contributions: Contributions) => readonly C[] | undefined): Registered<C>[] =>
    entries.flatMap(({ stamp, publication: { contributions } }) =>
      (pick(contributions) ?? []).map((contribution) => stamped(stamp, { contribution })),
    )
  const services = <C extends Service<unknown>>(pick: (contributions: Contributions) => readonly C[] | undefined) => byPriority(all(pick))
  return {
    generation,
    sessionId,
    tools,
    tool: (id) => byId.get(id),
    hooks: (name) => hooks.get(name) ?? NONE,
    providers: entries.flatMap(({ publication: { contributions } }) => contributions.providers ?? []),
    agents: services(({ agents }) => agents),
    commands: byPriority([
      ...all(({ commands }) => commands),
      ...within.flatMap(({ stamp, offers }) => offers.commands.map((contribution) => stamped(stamp, { contribution }))),
      ...entries.flatMap(({ stamp, commands }) => commands.map((contribution) => stamped(stamp, { contribution }))),
    ]),
    preparations: entries.flatMap(({ publication: { contributions } }) =>
      contributions.prepare === undefined ? [] : [contributions.prepare],
    ),
    sessionContext: entries.flatMap(({ publication: { contributions } }) =>
      contributions.sessionContext === undefined ? [] : [contributions.sessionContext],
    ),
    skills: services(({ skills }) => skills),
    systemContext: services(({ systemContext }) => systemContext),
    prompts: services(({ prompts }) => prompts),
    config: services(({ config }) => config),
    routes: all(({ routes }) => routes),
    sockets: all(({ websocketRoutes }) => websocketRoutes),
    operations: byOperation(entries, ({ operations }) => operations),
    socketOperations: byOperation(entries, ({ sockets }) => sockets),
    plugins: entries.map(({ publication: { pluginId, name, version, internal, generation: number, reach, contributions } }) => ({
      pluginId,
      name,
      version,
      internal,
      generation: number,
      reach,
      contributions,
    })),
  }
}

const NONE: readonly RegisteredHook[] = []
const NO_OFFERS = { tools: [], commands: [] }

function byPriority<C extends { readonly id: string; readonly priority: number }>(services: readonly Registered<C>[]): Registered<C>[] {
  return services.toSorted((a, b) => b.contribution.priority - a.contribution.priority || compare(a.contribution.id, b.contribution.id))
}

function byOperation<C>(
  entries: readonly Entry[],
  pick: (contributions: Contributions) => Readonly<Record<string, C>> | undefined,
): ReadonlyMap<string, Registered<C>> {
  return new Map(
    entries.flatMap(({ stamp, publication: { contributions } }) =>
      Object.entries(pick(contributions) ?? {}).map(([id, contribution]) => [id, stamped(stamp, { contribution })] as const),
    ),
  )
}

/** Keeps `open` a live property of the stamp. */
function stamped<T extends object>(stamp: Stamp, more: T): Stamp & T {
  return Object.defineProperty({ ...stamp, ...more }, 'open', { get: () => stamp.open, enumerable: true })
}

function reported({ door, onHook }: Publication, name: string, hook: Hook): Hook {
  return async (context, value, signal) => {
    try {
      const result = await door.use(() => hook(context, value, signal))
      onHook({ name, failure: undefined })
      return result
    } catch (error) {
      if (!signal.aborted) onHook({ name, failure: messageOf(error) })
      throw error
    }
  }
}

function defineOf(contribution: ToolContribution): ToolDefinition {
  let made: Readonly<Record<string, unknown>> | undefined = contribution.parameters
  return {
    id: contribution.id,
    description: contribution.description,
    ...(contribution.outputSchema === undefined ? {} : { outputSchema: contribution.outputSchema }),
    get parameters() {
      if (made === undefined) {
        const { $schema: _dialect, ...schema } = z.toJSONSchema(contribution.input, { io: 'input' })
        made = schema
      }
      return made
    },
  }
}

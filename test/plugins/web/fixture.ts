import { z } from 'zod'
import type { GuardedRequest } from '../../../src/ports/effects.js'
import type { NativeHost, NativePlugin, ToolContext, ToolResult } from '../../../src/ports/plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { noDoors } from '../../fakes/doors.js'

/** Tools of a plugin by id, each parsed, judged and invoked as the service does. */
export function toolsOf(
  make: (effects: ReturnType<typeof createFakeEffects>) => NativePlugin,
  { host, ...overrides }: NonNullable<Parameters<typeof createFakeEffects>[0]> & { host?: Partial<NativeHost> } = {},
) {
  const effects = createFakeEffects(overrides)
  const { tools = [] } = make(effects).start({
    ...noDoors,
    effects,
    outputs: { store: async () => ({ id: 'tool_1', path: '/nowhere' }) },
    questions: { ask: async () => [] },
    todos: { replace: () => undefined },
    planMode: { set: () => true },
    instructions: { nested: async () => [] },
    protectedFiles: { reasons: async () => [] },
    shellEnvironment: async () => ({}),
    config: async () => ({}),
    ...host,
  })
  const find = (id: string) => {
    const tool = tools.find((each) => each.id === id)
    if (tool === undefined) throw new Error(`there is no tool ${id}`)
    return tool
  }
  const contextOf = (over: Partial<ToolContext>): ToolContext => ({
    sessionId: 'ses_1',
    messageId: 'msg_1',
    callId: 'call_1',
    agent: 'build',
    directory: effects.paths.cwd,
    signal: new AbortController().signal,
    progress: () => undefined,
    decisions: (_, patterns) => patterns.map(() => 'allow'),
    ...over,
  })
  return {
    effects,
    ids: tools.map(({ id }) => id),
    schema: (id: string) => z.toJSONSchema(find(id).input, { io: 'input' }),
    async needs(id: string, input: unknown, over: Partial<ToolContext> = {}) {
      return find(id).needs(find(id).input.parse(input), contextOf(over))
    },
    async run(id: string, input: unknown, over: Partial<ToolContext> = {}): Promise<ToolResult> {
      const parsed = find(id).input.parse(input)
      await find(id).needs(parsed, contextOf(over))
      return find(id).invoke(parsed, contextOf(over))
    },
  }
}

/** Answers of the web by address; redirects are followed as the guard does. Notes what was asked. */
export function fakeWeb(pages: Readonly<Record<string, () => Response>>) {
  const asked: string[] = []
  async function guardedFetch(address: string, { refusesRedirect, ...rest }: GuardedRequest): Promise<{ response: Response; url: string }> {
    asked.push(address)
    const response = pages[address]?.() ?? new Response('nothing', { status: 404 })
    const location = response.headers.get('location')
    if (location === null) return { response, url: address }
    const why = refusesRedirect?.(new URL(location, address))
    if (why !== undefined) throw new Error(`${location} ${why}.`)
    return guardedFetch(new URL(location, address).href, { ...rest, ...(refusesRedirect && { refusesRedirect }) })
  }
  return { asked, guardedFetch }
}

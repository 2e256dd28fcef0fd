// Holds sessions-events §4.15, §8.10.
import { expect, it } from 'vitest'
import * as z from 'zod'
import { defineTool, type ToolResult } from '../../../src/ports/plugin.js'
import type { RegisteredHook, RegisteredTool, RegistryView } from '../../../src/ports/view.js'
import { Stoppable } from '../../../src/kernel/stopping.js'
import { standingRules } from '../../../src/actors/session/run/ceilings.js'
import { executeCall, refuseCall } from '../../../src/actors/session/run/executing.js'
import { judgeCall } from '../../../src/actors/session/run/judging.js'
import type { Rows, Sources } from '../../../src/actors/session/state/core.js'
import type { OpenCall, RunScope } from '../../../src/actors/session/run/run-scope.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { SvcError } from '../../../src/protocol/errors.js'
import type { PermissionRule } from '../../../src/protocol/interaction/interaction.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakePlugins, createFakeView, registeredHook, registeredTool } from '../../fakes/plugins.js'

const closed = () => new SvcError('plugin.generation_closed')

interface Generation {
  readonly tool: RegisteredTool
  close(): void
}

/** One generation of a plugin with the tool `echo`, whose needs and input are those of its version. */
function generationOf(version: string, options: { input?: z.ZodType; invoke?: () => Promise<ToolResult> } = {}): Generation {
  let open = true
  const contribution = defineTool({
    id: 'echo',
    description: version,
    input: options.input ?? z.strictObject({ value: z.string() }),
    permission: 'echo',
    needs: async () => [{ permission: 'echo', patterns: [version], title: version }],
    invoke: options.invoke ?? (async (input) => ({ title: version, output: `${version} ${JSON.stringify(input)}` })),
  })
  const stamped = registeredTool('test.echo', contribution)
  const tool: RegisteredTool = {
    ...stamped,
    get open() {
      return open
    },
    async use(work) {
      if (!open) throw closed()
      return work()
    },
  }
  return {
    tool,
    close: () => {
      open = false
    },
  }
}

function setup(
  first: Generation,
  rules: readonly PermissionRule[] = [{ permission: '*', pattern: '*', action: 'allow' }],
  hooks: Readonly<Record<string, readonly RegisteredHook[]>> = {},
) {
  let view: RegistryView = createFakeView({ tools: [first.tool], hooks })
  const recorded: unknown[][] = []
  const configuration = {}
  const core = {
    traces: { of: () => undefined },
    effects: createFakeEffects(),
    plugins: createFakePlugins(() => view),
    configs: { latest: () => configuration },
    store: { approvals: { get: () => [] }, sessions: { get: () => undefined } },
    pluginsHeard: async () => undefined,
    journal: { synced: async () => undefined },
    outputs: { store: () => Promise.reject(new Error('not needed')) },
  } as unknown as Rows & Sources
  const step = {
    info: () => ({ id: 'msg_1' }),
    callFailed: (_callId: string, _tool: string, message: string) => recorded.push(['failed', message]),
    callCompleted: (_callId: string, { output }: ToolResult) => recorded.push(['completed', output]),
    callProgress: () => undefined,
  }
  const input = { value: 'x' }
  const target = { agent: { record: { name: 'build' } }, model: { model: { capabilities: {} } } }
  const layers = { trusted: rules, untrusted: [] }
  const session = { id: 'ses_1', directory: '/project', projectId: 'global' }
  const standing = standingRules(core, session as Session)
  const world = { configuration, standing, above: [], view, target, layers, bypass: false, project: { approvals: 'global:/project' } }
  const call = {
    callId: 'call_1',
    world,
    tool: first.tool,
    given: input,
    input,
    step,
    grants: [],
    explicit: undefined,
    isOfPrompt: false,
    attempt: { tool: first.tool, input, isChanged: false, view },
    asking: undefined,
  } as unknown as OpenCall
  const run = {
    session,
    prompt: {},
    recent: [],
  } as unknown as RunScope
  const work = new Stoppable()
  return {
    recorded,
    publish(...tools: readonly RegisteredTool[]) {
      view = createFakeView({ tools })
    },
    hook(hooks: Readonly<Record<string, readonly RegisteredHook[]>>) {
      view = createFakeView({ tools: view.tools, hooks })
    },
    judge: () => judgeCall(core, run, call, work),
    /** The judgement throws, and what it throws is recorded. */
    async fault() {
      const error: unknown = await judgeCall(core, run, call, work).then(
        (verdict) => expect.fail(`judged: ${verdict}`),
        (thrown: unknown) => thrown,
      )
      expect(recorded).toEqual([])
      refuseCall(core, run, call, { reason: 'fault', error })
    },
    execute: () => executeCall(core, run, call, work),
  }
}

it('runs the tool of the new generation when the old one closed before the call was judged', async () => {
  const old = generationOf('v1')
  const { recorded, publish, judge, execute } = setup(old)
  old.close()
  publish(generationOf('v2').tool)
  expect(await judge()).toBe('allow')
  expect(await execute()).toBe('completed')
  expect(recorded).toEqual([['completed', 'v2 {"value":"x"}']])
})

it('judges anew when the generation closes between judgement and execution', async () => {
  const old = generationOf('v1')
  const { recorded, publish, judge, execute } = setup(old, [
    { permission: '*', pattern: '*', action: 'allow' },
    { permission: 'echo', pattern: 'v3', action: 'deny' },
  ])
  expect(await judge()).toBe('allow')
  old.close()
  publish(generationOf('v2').tool)
  expect(await execute()).toBe('completed')
  expect(recorded).toEqual([['completed', 'v2 {"value":"x"}']])
})

it('runs nothing when the new generation would need what is not allowed', async () => {
  for (const action of ['deny', 'ask'] as const) {
    const old = generationOf('v1')
    const { recorded, publish, judge, execute } = setup(old, [
      { permission: '*', pattern: '*', action: 'allow' },
      { permission: 'echo', pattern: 'v2', action },
    ])
    expect(await judge()).toBe('allow')
    old.close()
    publish(generationOf('v2').tool)
    expect(await execute()).toBe('failed')
    expect(recorded).toEqual([['failed', expect.stringContaining('The tool "echo" is not available any more')]])
  }
})

it('cannot be judged, which is no deny, and says why when the tool is gone, or does not take these arguments any more', async () => {
  const old = generationOf('v1')
  const gone = setup(old)
  old.close()
  await gone.fault()
  expect(gone.recorded).toEqual([
    ['failed', 'The tool "echo" is not available any more: plugin test.echo was replaced or stopped. Nothing was run.'],
  ])

  const other = generationOf('v1')
  const changed = setup(other)
  other.close()
  changed.publish(generationOf('v2', { input: z.strictObject({ text: z.string() }) }).tool)
  await changed.fault()
  expect(changed.recorded).toEqual([['failed', expect.stringContaining('The arguments of "echo" are not valid any more')]])
})

it('never repeats a call that has begun', async () => {
  let begun = 0
  const old = generationOf('v1', {
    invoke: () => {
      begun++
      old.close()
      return Promise.reject(closed())
    },
  })
  const { recorded, publish, judge, execute } = setup(old)
  expect(await judge()).toBe('allow')
  publish(generationOf('v2').tool)
  expect(await execute()).toBe('failed')
  expect(begun).toBe(1)
  expect(recorded).toHaveLength(1)
})

it.each([
  ['tool.before', { value: 'x' }],
  ['tool.after', { title: 'v1', output: 'v1 {"value":"x"}', metadata: {} }],
])('asks the hooks "%s" of the step, and those there are now once one of them has closed', async (name, value) => {
  const heard: unknown[] = []
  const hookOf = (version: string) =>
    registeredHook('test.hook', async (_context, given) => {
      heard.push([version, given])
      return given
    })
  let isOpen = true
  const old = Object.defineProperty(hookOf('old'), 'open', { get: () => isOpen })
  const { hook, judge, execute } = setup(generationOf('v1'), undefined, { [name]: [old] })
  hook({ [name]: [hookOf('new')] })
  expect([await judge(), await execute()]).toEqual(['allow', 'completed'])
  isOpen = false
  expect([await judge(), await execute()]).toEqual(['allow', 'completed'])
  expect(heard).toEqual([
    ['old', value],
    ['new', value],
  ])
})

/** What a machine does because somebody asked for its end goes on when that is asked for again: it is not begun anew. */
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type AnyStateMachine, fromCallback, initialTransition, setup, StateMachine, transition } from 'xstate'
import { expect, test } from 'vitest'
import { mcpConnectionMachine } from '../../src/machines/mcp/mcp-connection.machine.js'

interface Step {
  readonly eventType: string
  readonly target?: readonly Node[] | undefined
  readonly guard?: unknown
}
interface Node {
  readonly id: string
  readonly invoke: readonly unknown[]
  readonly after: readonly unknown[]
  readonly states: Readonly<Record<string, Node>>
  readonly transitions: ReadonlyMap<string, readonly Step[]>
}

/** What asks for an end. */
const END = /^(?:stop|retire|kill|cancel|disconnect|close)\.requested$|^service\.stopping$/

/** States with work or a deadline of their own that such an event of a state around them leads to, though they are entered already. */
function begunAnew(node: Node): string[] {
  const led = [...node.transitions].flatMap(([event, steps]) =>
    END.test(event) ? steps.flatMap(({ target = [] }) => target.map((state) => [event, state] as const)) : [],
  )
  const inside = new Set(descendants(node))
  const wrong = led
    .filter(([, state]) => inside.has(state) && state.invoke.length + state.after.length > 0)
    .filter(([event, state]) => !state.transitions.has(event))
    .map(([event, state]) => `${event} → ${state.id}`)
  return [...wrong, ...Object.values(node.states).flatMap(begunAnew)]
}

function descendants({ states }: Node): Node[] {
  return Object.values(states).flatMap((state) => [state, ...descendants(state)])
}

const rootOf = (machine: AnyStateMachine) => machine.root as unknown as Node
const source = fileURLToPath(new URL('../../src/machines', import.meta.url))
const modules: object[] = await Promise.all(
  readdirSync(source, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.machine.ts'))
    .map((name) => import(`${source}/${name}`)),
)
const machines = modules.flatMap((each) => Object.values(each)).filter((each): each is AnyStateMachine => each instanceof StateMachine)

test('is found where it is so', () => {
  const wrong = setup({ actors: { close: fromCallback(() => undefined) } }).createMachine({
    id: 'wrong',
    initial: 'idle',
    on: { 'stop.requested': { target: '.stopping' } },
    states: { idle: {}, stopping: { invoke: { src: 'close' } } },
  })
  expect(begunAnew(rootOf(wrong))).toEqual(['stop.requested → wrong.stopping'])
})

test.each(machines.map((machine) => [machine.id, machine] as const))(
  '%s begins no work anew that it was asked for twice',
  (_id, machine) => {
    expect(begunAnew(rootOf(machine))).toEqual([])
  },
)

test('a connection that is retired twice is closed once', () => {
  const [idle] = initialTransition(mcpConnectionMachine, { server: 'files', directory: '/srv' })
  const [retiring, first] = transition(mcpConnectionMachine, idle, { type: 'retire.requested' })
  const [same, second] = transition(mcpConnectionMachine, retiring, { type: 'retire.requested' })
  const [still, third] = transition(mcpConnectionMachine, same, { type: 'disconnect.requested' })
  expect([retiring.value, same.value, still.value]).toEqual(['retiring', 'retiring', 'retiring'])
  expect(first.map(({ type }) => type)).toContain('xstate.spawnChild')
  expect([...second, ...third].map(({ type }) => type)).toEqual([])
})

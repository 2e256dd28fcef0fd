// Holds plugin-protocol §3.1; choice 8.
import { expect, test } from 'vitest'
import { packageMachine } from '../../../src/machines/plugin/package.machine.js'
import { packageStateOf } from '../../../src/machines/plugin/package-state.js'
import { PACKAGE_STATES } from '../../../src/protocol/plugin/plugin.js'

type Value = Parameters<typeof packageStateOf>[0]['value']

interface Node {
  readonly path: readonly string[]
  readonly states: Readonly<Record<string, Node>>
}

const leavesOf = (node: Node): Node[] => (Object.keys(node.states).length === 0 ? [node] : Object.values(node.states).flatMap(leavesOf))
const valueOf = ([first = '', ...rest]: readonly string[]): unknown => (rest.length === 0 ? first : { [first]: valueOf(rest) })

test('each innermost state of the package machine is told by one of the eleven names, except while it is leaving', () => {
  const leaves = leavesOf(packageMachine.root)
  // One value for each state there is.
  const names = leaves.map(({ path }) => packageStateOf({ value: valueOf(path) as Value }))
  expect(names.filter((name) => name !== undefined).toSorted()).toEqual([...PACKAGE_STATES].toSorted())
  expect(leaves.filter((_, index) => names[index] === undefined).map(({ path }) => path.join('.'))).toEqual(['leaving', 'gone'])
})

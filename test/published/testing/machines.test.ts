import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { MACHINES } from '../../../src/published/testing/machines.js'

test('every machine is a kind of actors that a test can wait for and a trace can be replayed with', () => {
  const source = fileURLToPath(new URL('../../../src/machines', import.meta.url))
  // What is inside of who uses it (the record of a step, a look, a link, what a lease has opened, a folder of workflows), in a command (what an editor prompts and is asked, the screen of a conversation), or around the runtime (a worker), the inspector shows nowhere.
  const inside = ['step-recorder', 'link', 'look', 'opened', 'workflow-root', 'turn', 'asking', 'screen', 'worker'].map(
    (name) => `${name}.machine.ts`,
  )
  const paths = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.machine.ts') && !inside.includes(basename(path)),
  )
  expect(Object.keys(MACHINES).toSorted()).toEqual(paths.map((path) => basename(path, '.machine.ts')).toSorted())
  expect(Object.values(MACHINES).map(({ id }) => id)).toEqual(Object.keys(MACHINES))
})

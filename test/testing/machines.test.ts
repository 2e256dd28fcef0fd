import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { MACHINES } from '../../src/testing/machines.js'

test('every machine is a kind of actors that a test can wait for and a trace can be replayed with', () => {
  const files = readdirSync(fileURLToPath(new URL('../../src/machines', import.meta.url))).filter((name) => name.endsWith('.machine.ts'))
  expect(Object.keys(MACHINES).toSorted()).toEqual(files.map((name) => name.replace('.machine.ts', '')).toSorted())
  expect(Object.values(MACHINES).map(({ id }) => id)).toEqual(Object.keys(MACHINES))
})

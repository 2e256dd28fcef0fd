/** What is remembered of very many links is forgotten once what they lead to changes, in the time that a test has (threat-model X1, §7). */
import { expect, test } from 'vitest'
import { createFileMemory } from '../../../src/platform/watched/file-memory.js'

const LINKS = 4000

type Deps = Parameters<typeof createFileMemory>[0]

/** A folder of links that all lead to one other folder. */
function place() {
  let told: (path: string, isMove: boolean) => void = () => undefined
  let changes = 0
  const files = {
    entry: async (path: string) => ({ kind: path.startsWith('/w/links/') ? 'link' : 'directory' }),
    readLink: async () => '../real',
  } as unknown as Deps['files']
  const watches: Deps['watches'] = {
    listen(onChange) {
      told = onChange
      return { hear: () => 'heard', end: () => undefined }
    },
  }
  const memory = createFileMemory({ files, watches, onChanged: () => void changes++ })
  /** How many of the paths nothing was remembered of. */
  const askAll = async (paths: readonly string[]) => {
    let computed = 0
    for (const path of paths) await memory.stats.recall(path, async () => (computed++, undefined))
    return computed
  }
  return { memory, askAll, tell: (path: string, isMove: boolean) => told(path, isMove), changes: () => changes }
}

const links = Array.from({ length: LINKS }, (_, index) => `/w/links/${index}`)

test.each<readonly [what: string, path: string, isMove: boolean, forgotten: number]>([
  ['in the folder they lead to', '/w/real/x', false, LINKS],
  ['of the folder they lead to', '/w/real', true, LINKS + 1],
  ['of the folder they are in', '/w/links', true, LINKS],
  ['of one of them', '/w/links/7', true, 1],
  ['beside the folder they lead to', '/w/realm', true, 0],
])('a change %s', async (_, path, isMove, forgotten) => {
  const { askAll, tell, changes } = place()
  const paths = [...links, '/w/real']
  expect(await askAll(paths)).toBe(paths.length)
  expect(await askAll(paths), 'control').toBe(0)
  tell(path, isMove)
  expect(changes()).toBe(forgotten === 0 ? 0 : 1)
  expect(await askAll(paths)).toBe(forgotten)
})

test('links that are moved one after the other cost no more than they are', async () => {
  const { askAll, tell, changes } = place()
  await askAll(links)
  for (const path of links) tell(path, true)
  expect(changes()).toBe(LINKS)
  expect(await askAll(links)).toBe(LINKS)
})

test('what cannot be heard is known for as long as it is so', async () => {
  let hearing: 'heard' | 'refused' = 'refused'
  const files = { entry: async () => ({ kind: 'directory' }), readLink: async () => undefined } as unknown as Deps['files']
  const told: ((path: string, isMove: boolean) => void)[] = []
  const watches: Deps['watches'] = { listen: (onChange) => (told.push(onChange), { hear: () => hearing, end: () => undefined }) }
  const memory = createFileMemory({ files, watches, onChanged: () => undefined })
  await memory.stats.recall('/w/x', async () => undefined)
  expect([memory.isDeaf, memory.isHeard('/w/x')]).toEqual([true, false])
  hearing = 'heard'
  for (const tell of told) tell('/', true)
  await memory.stats.recall('/w/x', async () => undefined)
  expect([memory.isDeaf, memory.isHeard('/w/x')]).toEqual([false, true])
})

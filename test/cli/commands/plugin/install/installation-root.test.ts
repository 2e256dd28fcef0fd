/** What is staged of a package that somebody offers (threat-model F4): names that are the same everywhere, an id that is the name of a folder. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRoom, type Room, stage } from '../../../../../src/cli/commands/plugin/install/installation-root.js'
import { titleOf } from '../../../../../src/cli/commands/plugin/plugin-words.js'
import { createNodeEffects } from '../../../../../src/platform/node/node-effects.js'

let config: string
let room: Room
const effects = createNodeEffects({ logLevel: 'error' })
beforeEach(() => {
  config = mkdtempSync(join(tmpdir(), 'svc-room-'))
  room = openRoom({ paths: { ...effects.paths, config } })
})
afterEach(() => {
  room.close()
  rmSync(config, { recursive: true })
})

function staged(id: string, further: readonly string[] = []) {
  const manifest = JSON.stringify({ id, name: 'a', version: '1', apiVersion: 1, agent: { runtime: 'lua', entrypoint: 'agent.lua' } })
  const files = [['svc-plugin.json', manifest], ['agent.lua', 'return {}'], ...further.map((name) => [name, ''] as const)] as const
  return stage(
    effects,
    room,
    files.map(([path, text]) => ({ path, executable: false, content: Buffer.from(text) })),
  )
}

test.each(['a\nb', 'folder/a\u{1b}[2Jb', 'a\\b', 'a\u{fffd}'])('a file called %j is refused, wherever it comes from', async (name) => {
  const refusal = await staged('dev.example.odd', [name]).catch((error: Error) => error.message)
  expect(refusal).toMatch(/has a name that is not the same everywhere: rename it$/)
  expect(refusal).not.toMatch(/\p{Cc}/u)
})

const LONGEST = `dev.${'a'.repeat(251)}`

test('an id is as long as the name of a folder may be', async () => {
  expect((await staged(LONGEST)).found.id).toBe(LONGEST)
})

test('a longer one is refused', async () => {
  await expect(staged(`${LONGEST}a`)).rejects.toThrow('an id of 256 characters: at most 255')
})

test('a long name is shown in part', () => {
  expect(titleOf('dev.example.a', { name: 'A', version: '' })).toBe('dev.example.a  A')
  expect(titleOf('dev.example.a', { name: 'n'.repeat(100_000), version: '1' })).toBe(`dev.example.a  ${'n'.repeat(80)}… 1`)
})

// Holds subsystems b.12.
/** Texts of a workspace that are searched by patterns: none is looked at again from each of its places, which would take hours for these. */
import { expect, test } from 'vitest'
import type { FileStat } from '../../../src/ports/effects.js'
import { argumentsOf } from '../../../src/machines/session/command.js'
import { inclusionsOf } from '../../../src/machines/session/command-inclusions.js'
import { judgeFormatter } from '../../../src/plugins/files/format/guards.js'
import { turnsDuring } from './meter.js'

const MiB = 1024 * 1024

/** Every file above is the same text. */
function folderOf(text: string) {
  const bytes = Buffer.from(text)
  const stat: FileStat = { kind: 'file', size: bytes.length, modifiedMs: 0, identity: '1', mode: 0o600, exposure: undefined }
  return { read: async () => bytes, stat: async () => stat }
}

test('a manifest of Rust of nothing but line ends names no edition', async () => {
  const { outcome, turns } = await turnsDuring(() => judgeFormatter({ guard: 'rust' }, '/a/b/c.rs', folderOf('\n'.repeat(MiB))))
  expect(outcome).toEqual({ type: 'runs', cwd: '/a/b', args: ['--edition', '2021'] })
  expect(turns).toBeGreaterThanOrEqual(6)
})

test('one of blanks neither, and the edition is found where it stands', async () => {
  const edition = async (text: string) => judgeFormatter({ guard: 'rust' }, '/a.rs', folderOf(text))
  expect(await edition(`${' '.repeat(MiB)}x`)).toMatchObject({ args: ['--edition', '2021'] })
  expect(await edition(`[package]\n${' '.repeat(1000)}edition${' '.repeat(1000)}= "2018"\n`)).toMatchObject({ args: ['--edition', '2018'] })
  expect(await edition('edition = "2015"')).toMatchObject({ args: ['--edition', '2015'] })
  expect(await edition('[a]\nmy-edition = "2015"')).toMatchObject({ args: ['--edition', '2021'] })
})

test('settings of Prettier that are nested without end are taken for code', async () => {
  const text = `{"prettier":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`
  const { outcome } = await turnsDuring(() => judgeFormatter({ guard: 'prettier' }, '/a/b.ts', folderOf(text)))
  expect(outcome).toMatchObject({ type: 'refused' })
})

test('a path of signs that end sentences is included without those at its end', () => {
  const signs = '.'.repeat(500_000)
  expect(inclusionsOf(`see @${signs}a`, '', MiB)).toEqual([{ type: 'file', path: `${signs}a` }])
  expect(inclusionsOf(`see @a${signs}`, '', MiB)).toEqual([{ type: 'file', path: 'a' }])
  expect(inclusionsOf(`see @${'(a)'.repeat(100_000)}.`, '', MiB)).toHaveLength(1)
})

test('a template may name more arguments than a call can take', () => {
  expect(argumentsOf('$1 '.repeat(300_000) + '$2', 'a b c')('2')).toBe('b c')
})

/** What must not stand around a file before a formatter runs on it unasked: whatever could make it run code of the project (threat-model W2). */
import { expect, test } from 'vitest'
import type { NativeHost } from '../../../src/ports/plugin.js'
import { judgeFormatter } from '../../../src/plugins/files/format/guards.js'
import { LIMITS } from '../../../src/protocol/limits.js'

/** A text, or `PIPE`. */
type Content = string
type Files = Parameters<typeof judgeFormatter>[2]
type Stat = Awaited<ReturnType<NativeHost['effects']['files']['stat']>>

const PIPE = 'a pipe'

/** Files by their path, read as the machine reads them. */
function holding(contents: Readonly<Record<string, Content>>): Files {
  return {
    stat: async (path) => {
      const content = contents[path]
      if (content === undefined) return undefined
      return { kind: content === PIPE ? 'other' : 'file', size: content.length } as Stat
    },
    async read(path, maxBytes) {
      const content = contents[path]
      if (content === undefined || content === PIPE || content.length > maxBytes) throw new Error(`${path} cannot be read`)
      return Buffer.from(content)
    },
  }
}

const WANTED = { '/p/package.json': '{"devDependencies": {"prettier": "3.0.0"}}' }
const deep = (folders: number) => `/p${'/a'.repeat(folders)}`
const LARGE = ` #${'x'.repeat(LIMITS.formatters.settings)}`
const MOST = LIMITS.formatters.folders

const RUST: readonly (readonly [what: string, files: Record<string, Content>, path: string, verdict: string])[] = [
  ['nothing is named', {}, '/p/a.rs', 'runs'],
  ['a channel is named', { '/p/rust-toolchain.toml': '[toolchain]\nchannel = "stable"\n' }, '/p/a.rs', 'runs'],
  ['a path is named', { '/p/rust-toolchain.toml': '[toolchain]\npath = "evil"\n' }, '/p/a.rs', 'refused'],
  ['a path is named far above', { '/rust-toolchain': '[toolchain]\npath = "evil"\n' }, `${deep(MOST - 3)}/a.rs`, 'refused'],
  ['the file is too large to be read', { '/p/rust-toolchain.toml': `[toolchain]\npath = "evil"\n${LARGE}` }, '/p/a.rs', 'refused'],
  ['the file is a pipe', { '/p/rust-toolchain': PIPE }, '/p/a.rs', 'refused'],
  ['as many folders as are looked at', {}, `${deep(MOST - 2)}/a.rs`, 'runs'],
  ['more folders than are looked at', {}, `${deep(MOST - 1)}/a.rs`, 'refused'],
]

test.each(RUST)('rustfmt, where %s', async (_, files, path, verdict) => {
  expect(await judgeFormatter({ guard: 'rust' }, path, holding(files))).toMatchObject({ type: verdict })
})

const parser = (value: string) => ({ '/p/.prettierrc': value })

const PRETTIER: readonly (readonly [what: string, files: Record<string, Content>, verdict: string])[] = [
  ['nothing is set', {}, 'runs'],
  ['plain settings', parser('semi: false\n'), 'runs'],
  ['code', { '/p/.prettierrc.mjs': 'export default {}' }, 'refused'],
  ['code from a pipe', { '/p/.prettierrc.cjs': PIPE }, 'refused'],
  ['settings from a pipe', parser(PIPE), 'refused'],
  ['settings that are too large to be read', parser(`semi: false\n${LARGE}`), 'refused'],
  ['a parser of its own, in YAML', parser('semi: false\nparser: babel\n'), 'runs'],
  ['a parser of its own in quotes', parser('{"overrides": [{"files": "*.x", "options": {"parser": "json5"}}]}'), 'runs'],
  ['a parser of its own with a comment', parser('parser: yaml # ours\nsemi: false\n'), 'runs'],
  ['a parser of its own, in TOML', { '/p/.prettierrc.toml': 'parser = "typescript"\n' }, 'runs'],
  ['a parser by its path', parser('parser: ./evil.js\n'), 'refused'],
  ['a parser by its bare name', parser('{"parser": "evil"}'), 'refused'],
  ['a parser that begins like one of its own', parser('{"parser": "babel/../../evil"}'), 'refused'],
  ['a parser that begins like one of its own, unquoted', parser('parser: babel.evil\n'), 'refused'],
  ['a parser on the next line', parser('parser:\n  ./evil.js\n'), 'refused'],
  ['a parser by its path, in TOML', { '/p/.prettierrc.toml': 'parser = "./evil.js"\n' }, 'refused'],
  ['a second parser, by its path', parser('{"parser": "babel", "overrides": [{"options": {"parser": "./evil"}}]}'), 'refused'],
  ['a parser in the package', { '/p/package.json': '{"devDependencies": {"prettier": "3"}, "prettier": {"parser": "babel"}}' }, 'runs'],
  ['a parser of the package by its path', { '/p/package.json': '{"prettier": {"parser": "./evil"}}' }, 'refused'],
]

test.each(PRETTIER)('Prettier, where there is %s', async (_, files, verdict) => {
  expect(await judgeFormatter({ guard: 'prettier' }, '/p/a.js', holding({ ...WANTED, ...files }))).toMatchObject({ type: verdict })
})

test('Prettier looks further up than svc does', async () => {
  const folder = deep(MOST)
  const wanted = { [`${folder}/package.json`]: WANTED['/p/package.json'] }
  const verdictOf = async (files: Record<string, Content>) => judgeFormatter({ guard: 'prettier' }, `${folder}/a.js`, holding(files))
  expect(await verdictOf({ ...wanted, '/p/.prettierrc.js': 'evil()' })).toMatchObject({ type: 'refused' })
  // The nearest settings are the only ones.
  expect(await verdictOf({ ...wanted, [`${folder}/.prettierrc`]: 'semi: false\n' })).toMatchObject({ type: 'runs' })
})

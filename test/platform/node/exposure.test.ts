import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { exposureOf, findExposure } from '../../../src/platform/node/files/file-exposure.js'

const { uid: self, gid: primary } = userInfo()
const STRANGER = 12_345
const base = realpathSync(mkdtempSync(join(tmpdir(), 'svc-exposure-')))
let root: string
let count = 0
beforeEach(() => {
  root = join(base, String(count++))
  mkdirSync(root)
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

const at = (name: string) => join(root, name)
function folder(name: string, mode: number, owner = self): string {
  mkdirSync(at(name))
  chmodSync(at(name), mode)
  if (owner !== self) chownSync(at(name), owner, owner)
  return at(name)
}

describe('a file by itself', () => {
  const OTHER_GROUP = primary + 1
  it.each([
    ['ours', { uid: self, gid: OTHER_GROUP, mode: 0o644 }, undefined],
    ['of the administrator', { uid: 0, gid: 0, mode: 0o644 }, undefined],
    ['of the administrator and its group', { uid: 0, gid: 0, mode: 0o664 }, undefined],
    ['of the administrator and another group', { uid: 0, gid: 50, mode: 0o664 }, 'can be written by a group'],
    ['of another user', { uid: STRANGER, gid: STRANGER, mode: 0o600 }, 'belongs to another user'],
    ['open to everybody', { uid: self, gid: primary, mode: 0o646 }, 'can be written by everybody'],
    ['open to a group', { uid: self, gid: OTHER_GROUP, mode: 0o660 }, 'can be written by a group'],
  ])('%s', (_title, stat, expected) => {
    expect(exposureOf(stat)).toBe(expected)
  })

  it.runIf(self === primary)('made under umask 002 for a private group stays ours', () => {
    expect(exposureOf({ uid: self, gid: primary, mode: 0o664 })).toBeUndefined()
  })
})

describe('what leads to a file', () => {
  it('is every directory from the root of the file system down', () => {
    folder('open', 0o777)
    mkdirSync(at('open/inner/deep'), { recursive: true })
    writeFileSync(at('open/inner/deep/file'), '')
    const exposed = { path: at('open'), how: 'can be written by everybody' }
    expect([findExposure(at('open')), findExposure(at('open/inner/deep/file'))]).toEqual([exposed, exposed])
    chmodSync(at('open'), 0o755)
    expect(findExposure(at('open/inner/deep/file'))).toBeUndefined()
  })

  it('may be a sticky directory, whose names are judged one by one', () => {
    folder('sticky', 0o1777)
    writeFileSync(at('sticky/open'), '')
    chmodSync(at('sticky/open'), 0o666)
    expect([findExposure(at('sticky')), findExposure(at('sticky/open'))]).toEqual([
      undefined,
      { path: at('sticky/open'), how: 'can be written by everybody' },
    ])
  })

  it('is every directory on the way through links, also one that holds only a link in between', () => {
    folder('safe', 0o755)
    folder('open', 0o777)
    writeFileSync(at('safe/file'), '')
    symlinkSync('../open/middle', at('safe/first'))
    symlinkSync(at('safe/file'), at('open/middle'))
    expect(findExposure(at('safe/first'))).toEqual({ path: at('open'), how: 'can be written by everybody' })
    chmodSync(at('open'), 0o755)
    expect(findExposure(at('safe/first'))).toBeUndefined()
  })

  it('ends where nothing is, and where links go round', () => {
    symlinkSync(at('round'), at('round'))
    expect([at('none/below'), at('round')].map(findExposure)).toEqual([undefined, undefined])
  })

  it.runIf(self === 0)('belongs to nobody else, links and sticky directories included', () => {
    folder('sticky', 0o1777)
    folder('theirs', 0o755, STRANGER)
    writeFileSync(at('theirs/file'), '')
    writeFileSync(at('sticky/file'), '')
    chownSync(at('sticky/file'), STRANGER, STRANGER)
    writeFileSync(at('mine'), '')
    symlinkSync(at('mine'), at('sticky/link'))
    const how = 'belongs to another user'
    expect(findExposure(at('sticky/link'))).toBeUndefined()
    lchownSync(at('sticky/link'), STRANGER, STRANGER)
    expect([at('theirs/file'), at('sticky/file'), at('sticky/link')].map(findExposure)).toEqual([
      { path: at('theirs'), how },
      { path: at('sticky/file'), how },
      { path: at('sticky/link'), how },
    ])
    folder('their-sticky', 0o1777, STRANGER)
    expect(findExposure(at('their-sticky'))).toEqual({ path: at('their-sticky'), how })
  })
})

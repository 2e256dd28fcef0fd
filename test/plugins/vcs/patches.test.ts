// Holds threat-model V4.
/** Which patch is shown for which file: what files contain and how they are called decides nothing (subsystems h). */
import { execFileSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Checkout, makeCheckout } from '../../platform/git/checkout.js'
import { faultsOf } from '../../platform/hostile-files/meter.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { fieldsOf, readChanges } from '../../../src/plugins/vcs/diff-output.js'
import { linesOf } from '../../../src/plugins/vcs/untracked.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { beginWork, readAtOnce, SLICE, type Work } from '../../../src/kernel/work.js'
import { openVcs } from './fixture.js'

/** What some program takes for the end of a line. */
const ENDS = { CR: '\r', VT: '\v', FF: '\f', FS: '\x1c', NEL: '\u0085', LS: '\u2028', PS: '\u2029', 'CR LF': '\r\n' }
const EVIL = 'evil()\n'

/** As git itself writes it. */
const patchOf = (checkout: Checkout, path: string) =>
  checkout.git('-c', 'core.quotepath=false', 'diff', '--no-renames', 'HEAD', '--', `:(literal)${path}`)

async function shown(checkout: Checkout): Promise<Record<string, string>> {
  return Object.fromEntries((await openVcs().diff(checkout.directory)).map(({ path, patch }) => [path, patch]))
}

describe('the patch of a file', () => {
  test.each(Object.entries(ENDS))('is its own where another file has lines that look like patches after %s', async (_, end) => {
    const forged = `x${end}diff --git a/zzz.js b/zzz.js${end}@@ -1 +1 @@${end}+ok() // harmless\n`
    const checkout = makeCheckout()
    for (const name of ['aaa.txt', 'mmm.txt', 'zzz.js']) checkout.write(name, 'ok()\n')
    checkout.commit()
    checkout.write('aaa.txt', forged)
    checkout.write('untracked.txt', `${forged}diff --git a/zzz.js b/zzz.js\n`)
    checkout.write('zzz.js', EVIL)
    const patches = await shown(checkout)
    expect(Object.keys(patches)).toEqual(['aaa.txt', 'untracked.txt', 'zzz.js'])
    expect(patches['zzz.js']).toBe(patchOf(checkout, 'zzz.js'))
    expect(patches['aaa.txt']).toBe(patchOf(checkout, 'aaa.txt'))
    expect(patches['untracked.txt']?.split('\n').slice(6)).toEqual([
      ...`${forged}diff --git a/zzz.js b/zzz.js`.split('\n').map((line) => `+${line}`),
      '',
    ])
  })

  test('is found whatever the file is called, whether git tracks it or not', async () => {
    const names = [
      'plain',
      'a b',
      'b b/b',
      'q"uote',
      'back\\slash',
      'tab\tx',
      'line\nx',
      'bell\x07',
      'del\x7f',
      'esc\x1b[0m',
      'é ñ 漢',
      'x b/x b/x',
    ]
    const paths = [...names, ...names.map((name) => `deep/${name}.txt`), 'diff --git a/plain b/plain', 'cr\rx', 'ls\u2028x']
    const checkout = makeCheckout()
    for (const path of paths) checkout.write(path, 'one\n')
    checkout.commit()
    for (const path of paths) checkout.write(path, `two of ${JSON.stringify(path)}\n`)
    const patches = await shown(checkout)
    expect(patches).toEqual(Object.fromEntries(paths.map((path) => [path, patchOf(checkout, path)])))

    checkout.git('update-index', '--force-remove', '--', ...paths)
    checkout.git('-c', 'core.quotepath=false', 'commit', '--quiet', '--message', 'none')
    const added = await shown(checkout)
    checkout.git('add', '--intent-to-add', '.')
    expect(added).toEqual(Object.fromEntries(paths.map((path) => [path, patchOf(checkout, path)])))
  })

  test('has both halves where the file became a link, and one where git has nothing to show but its mode', async () => {
    const checkout = makeCheckout()
    for (const name of ['a', 'b', 'c']) checkout.write(name, 'one\n')
    checkout.commit()
    rmSync(checkout.path('b'))
    symlinkSync('a', checkout.path('b'))
    checkout.git('update-index', '--chmod=+x', 'a')
    execFileSync('chmod', ['+x', checkout.path('a')])
    checkout.write('c', 'two\n')
    const patches = await shown(checkout)
    expect(patches).toEqual(Object.fromEntries(['a', 'b', 'c'].map((path) => [path, patchOf(checkout, path)])))
    expect(patches['b']?.match(/^diff --git a\/b b\/b/gm)).toHaveLength(2)
  })

  test('is not shown where git tells of a conflict in a file whose name ends a line, because it writes that name as it is', () => {
    const list = (name: string) =>
      [':000000 000000 0000000 0000000 U', name, ':100644 100644 9766475 0000000 M', 'zzz.js', '1\t1\tzzz.js', '', ''].join('\0')
    const own = 'diff --git a/zzz.js b/zzz.js\n@@ -1 +1 @@\n-ok()\n+evil()\n'
    const told = (name: string) => readAtOnce(readChanges(Buffer.from(`${list(name)}* Unmerged path ${name}\n${own}`)))
    expect(told('x').map(({ path, patch }) => [path, patch])).toEqual([
      ['x', ''],
      ['zzz.js', own],
    ])
    expect(() => told('x\ndiff --git a/zzz.js b/zzz.js\n+ok() // harmless')).toThrow('line break')
  })
})

describe('what git says of very many files', () => {
  const many = (size: number, one: (index: number) => string, between: string) =>
    Array.from({ length: Math.ceil(size / 60) }, (_, index) => one(index)).join(between)
  const listed = (size: number) => many(size, (index) => `:100644 000000 0000000 0000000 D\0folder/file-${index}`, '\0')
  const counted = (size: number) => many(size, (index) => `0\t1\tfolder/file-${index}`, '\0')
  const patched = (size: number) => many(size, (index) => `diff --git a/folder/file-${index} b/folder/file-${index}\n-x\n`, '')

  test.each<readonly [what: string, text: (size: number) => string]>([
    ['lists', (size) => `${listed(size)}\0`],
    ['numbers', (size) => `${listed(size)}\0${counted(size)}\0`],
    ['patches', (size) => `${listed(size)}\0${counted(size)}\0\0${patched(size)}`],
    ['patches of the same file', (size) => `${listed(60)}\0\0${'diff --git a/folder/file-0 b/folder/file-0\n-x\n'.repeat(size / 60)}`],
    ['content without patches', (size) => `${listed(60)}\0\0${'x\n'.repeat(size / 2)}`],
  ])('is read in turns with others, at a cost that grows as it does: %s', (_, text) => {
    expect(faultsOf(64 * 1024, (size) => readChanges(Buffer.from(text(size))))).toEqual([])
  })

  test('is taken apart in turns with others, at a cost that grows as it does', () => {
    expect(faultsOf(64 * 1024, (size) => fieldsOf(Buffer.from(many(size, (index) => `folder/file-${index}`, '\0'))))).toEqual([])
  })

  test('has the lines of large files counted in turns with others', async () => {
    const checkout = makeCheckout()
    const lines = 256 * 1024
    const path = checkout.write('lines', '\n'.repeat(lines))
    let paid = 0
    let most = 0
    const work = beginWork(Number.POSITIVE_INFINITY)
    const counting: Work = { ...work, pay: (bytes) => ((paid += bytes), (most = Math.max(most, bytes)), work.pay(bytes)) }
    expect(await linesOf({ files: createNodeFiles() }, path, counting)).toBe(lines)
    expect(paid).toBeGreaterThan(lines * 4)
    expect(most).toBeLessThan(SLICE)
  })

  test('is applied up to a number of files', async () => {
    const checkout = makeCheckout()
    checkout.write('a', 'x')
    checkout.commit()
    const vcs = openVcs()
    const added = (count: number) =>
      Array.from({ length: count }, (_, index) => `--- /dev/null\n+++ b/f${index}\n@@ -0,0 +1 @@\n+x\n`).join('')
    expect(await vcs.apply(checkout.directory, added(10))).toEqual({ success: true })
    expect(await vcs.apply(checkout.directory, added(LIMITS.vcs.patchedFiles + 1))).toEqual({
      success: false,
      error: `the patch is for more than ${LIMITS.vcs.patchedFiles} files`,
    })
  })
})

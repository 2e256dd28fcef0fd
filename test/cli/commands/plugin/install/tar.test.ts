import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { missingParts } from '../../../../../src/cli/commands/plugin/install/missing-parts.js'
import { filesOfTarball, packageIn, tarballOf } from '../../../../../src/cli/commands/plugin/install/package-content.js'
import { type ArchivedFile, readTar } from '../../../../../src/cli/commands/plugin/install/tar-read.js'
import type { AgentTarget } from '../../../../../src/protocol/plugin/plugin.js'
import { writeTar } from '../../../../../src/cli/commands/plugin/install/tar-write.js'

const bytes = (text: string) => new TextEncoder().encode(text)
const file = (path: string, text = path, executable = false): ArchivedFile => ({ path, executable, content: bytes(text) })
const shown = (files: readonly ArchivedFile[]) =>
  files.map(({ path, executable, content }) => [path, executable, Buffer.from(content).toString()])
const LONG = `${'folder/'.repeat(20)}${'n'.repeat(90)}.txt`
const LONGER = `${'x'.repeat(150)}/${'y'.repeat(120)}`

/** An archive of one entry, as somebody else made it. */
function archive(name: string, type: string, size = 0): Uint8Array {
  const made = writeTar([{ path: 'a', executable: false, content: new Uint8Array(size) }])
  made.set(new Uint8Array(100), 0)
  made.set(bytes(name), 0)
  made.set(bytes(type), 156)
  made.set(bytes('        '), 148)
  const sum = made.subarray(0, 512).reduce((all, byte) => all + byte, 0)
  made.set(bytes(`${sum.toString(8).padStart(6, '0')}\0 `), 148)
  return made
}

describe('an archive (threat-model F4)', () => {
  test('gives back what was put into it, long names, modes and empty files included', () => {
    const files = [file('a', ''), file('b/run', '#!', true), file('ü/ñ'), file(LONG), file(LONGER, 'z'.repeat(1025))]
    expect(shown(readTar(writeTar(files), 10))).toEqual(shown(files))
  })

  test('is the same bytes for the same files, and what other programs unpack', () => {
    const files = [file('svc-plugin.json', '{}'), file(LONGER)]
    expect(Buffer.compare(tarballOf(files), tarballOf(files))).toBe(0)
    const folder = mkdtempSync(join(tmpdir(), 'svc-tar-'))
    try {
      writeFileSync(join(folder, 'p.tgz'), tarballOf(files))
      expect(spawnSync('tar', ['-xzf', 'p.tgz'], { cwd: folder }).status).toBe(0)
      expect(readFileSync(join(folder, 'package', LONGER), 'utf8')).toBe(LONGER)
      expect(spawnSync('tar', ['-czf', 'q.tgz', 'package'], { cwd: folder }).status).toBe(0)
      expect(shown(filesOfTarball(join(folder, 'q.tgz')))).toEqual(expect.arrayContaining(shown(files)))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test.each([
    ['../a', '0', 'is no name of a file below the package'],
    ['/a', '0', 'is no name of a file below the package'],
    ['a/../../b', '0', 'is no name of a file below the package'],
    ['C:/a', '0', 'is no name of a file below the package'],
    ['a\\..\\b', '0', 'is no name of a file below the package'],
    ['..', '5', 'is no name of a file below the package'],
    ['a\u{1b}]0;title\u{7}', '0', String.raw`"a\u{1b}]0;title\u{7}" is no name of a file below the package`],
    ['a\nb', '0', String.raw`"a\nb" is no name of a file below the package`],
    ['a', '1', 'is a link'],
    ['a', '2', 'is a link'],
    ['a', '3', 'is a device'],
    ['a', '6', 'is a pipe'],
    ['a', 'S', 'is a sparse file'],
    ['a', '9', 'is something'],
  ])('with %j of the type %s is refused', (name, type, problem) => {
    expect(() => readTar(archive(name, type), 10)).toThrow(problem)
  })

  test('is refused where it says one thing and holds another', () => {
    expect(() => readTar(writeTar([file('a'), file('a')]), 10)).toThrow('"a" is in it twice')
    expect(() => readTar(writeTar([file('a'), file('a/b')]), 10)).toThrow('"a" is both a file and a directory')
    expect(() => readTar(writeTar([file('a'), file('b'), file('c')]), 2)).toThrow('more than 2 files')
    expect(() => readTar(archive('a', '0', 4096).subarray(0, 1024), 10)).toThrow('in the middle of a file')
    expect(() => readTar(bytes('x'.repeat(1024)), 10)).toThrow('no tar archive')
    const folder = mkdtempSync(join(tmpdir(), 'svc-tar-'))
    try {
      const bomb = join(folder, 'bomb.tgz')
      writeFileSync(bomb, gzipSync(new Uint8Array(100 * 1024 * 1024)))
      expect(() => filesOfTarball(bomb)).toThrow('it holds more than 64 MiB')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('is refused where a name is longer than a file system takes', () => {
    for (const path of ['n'.repeat(256), `a/${'ü'.repeat(128)}/b`, 'folder/'.repeat(150)])
      expect(() => readTar(writeTar([file(`${path}x`)]), 10)).toThrow('is too long: at most 255 bytes, and 1024 with its folders')
    expect(readTar(writeTar([file('n'.repeat(255))]), 10)).toHaveLength(1)
  })

  test('is read in the time its length takes: directories count, and what cannot be read is not looked at again and again', () => {
    const folders = Buffer.concat(Array.from({ length: 11 }, () => archive('folder', '5').subarray(0, 512)))
    expect(() => readTar(folders, 10)).toThrow('it holds more than 10 files')
    const zeros = archive('a', 'x', 1_000_000)
    zeros.fill(0x30, 512, 512 + 1_000_000)
    zeros.set(bytes('5 '), 512 + 999_998)
    expect(() => readTar(zeros, 10)).toThrow('a header of it cannot be read')
    expect(() => readTar(archive('a', 'x', 2_000_000), 10)).toThrow('a header of it is too long')
    expect(() => readTar(writeTar([file('a'), file('a-b'), file('a/b')]), 10)).toThrow('"a" is both a file and a directory')
    expect(readTar(writeTar([file('a'), file('a-b'), file('ab/c')]), 10)).toHaveLength(3)
  })

  test('of a program that needs what it does not hold is told of', () => {
    const target = (command: string[]): AgentTarget => ({
      runtime: 'process',
      entrypoint: '',
      command,
      capabilities: [],
      scope: 'workspace',
      eventNamespaces: [],
    })
    const files = [file('package.json', '{"dependencies":{"left":"1","right":"1"}}'), file('node_modules/right/index.js'), file('main.js')]
    expect(missingParts(files, target(['node', './main.js']))).toEqual([
      expect.stringContaining('names dependencies that are not in it (left)'),
    ])
    expect(missingParts([file('package.json', '{}')], target(['node', '--quiet', 'main.js']))).toEqual([
      expect.stringContaining('its command names main.js, which is not in it'),
    ])
    expect(missingParts([], target(['python3', '-m', 'http', '/usr/share/x.py']))).toEqual([])
  })

  test('has its package in its outermost folder, or in the one that is named', () => {
    const manifest = 'svc-plugin.json'
    const paths = (files: readonly ArchivedFile[], below?: string) => packageIn(files, below).map(({ path }) => path)
    expect(paths([file(manifest), file('a/b')])).toEqual([manifest, 'a/b'])
    expect(paths([file(`package/${manifest}`), file('package/a')])).toEqual([manifest, 'a'])
    expect(paths([file('r/README'), file(`r/one/${manifest}`), file('r/two/b')], 'one')).toEqual([manifest])
    expect(paths([file('README'), file(`one/${manifest}`)], './one/')).toEqual([manifest])
    expect(paths([file('README'), file(`package/${manifest}`)])).toEqual([manifest])
    expect(paths([file('one/README'), file(`one/package/${manifest}`)])).toEqual([manifest])
    expect(() => packageIn([file('README'), file(`package/${manifest}`)], 'two')).toThrow('no svc-plugin.json in its folder two')
    expect(() => packageIn([file('README'), file(`one/${manifest}`)])).toThrow(
      'there is no svc-plugin.json in its outermost folder, so it is no package of a plugin; there is one in one, which --path takes',
    )
  })
})

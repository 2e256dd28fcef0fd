// Holds threat-model F3.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-files-')))
const files = createNodeFiles()
const never = new AbortController().signal
let directory: string
let count = 0
beforeEach(() => {
  directory = join(root, String(count++))
  mkdirSync(directory)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function put(name: string, content: string | Uint8Array, mode = 0o644): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

describe('stat', () => {
  it('follows links and tells kinds apart', async () => {
    const path = put('a.txt', 'hello', 0o640)
    symlinkSync(path, join(directory, 'link'))
    expect(await files.stat(join(directory, 'link'))).toEqual(await files.stat(path))
    expect(await files.stat(path)).toMatchObject({ kind: 'file', size: 5, mode: 0o640, modifiedMs: Math.trunc(statSync(path).mtimeMs) })
    expect(await files.stat(directory)).toMatchObject({ kind: 'directory' })
    expect(await files.stat('/dev/null')).toMatchObject({ kind: 'other' })
  })

  it('is undefined for what is absent, also below a file or behind a broken link', async () => {
    const path = put('a.txt', '')
    symlinkSync(join(directory, 'nowhere'), join(directory, 'broken'))
    expect(await Promise.all([join(directory, 'none'), join(path, 'below'), join(directory, 'broken')].map(files.stat))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('tells whose file it is', async () => {
    const path = put('a.txt', '')
    expect([(await files.stat(path))?.exposure, (await files.stat('/etc'))?.exposure]).toEqual([undefined, undefined])
    if (process.geteuid?.() !== 0) return
    chownSync(path, 12_345, 12_345)
    expect((await files.stat(path))?.exposure).toBe('belongs to another user')
    await files.writeAtomic(path, 'new content')
    expect(statSync(path)).toMatchObject({ uid: 12_345, gid: 12_345 })
  })

  it('identifies content: same size and time but other content is another identity', async () => {
    const path = put('a.txt', 'one')
    const before = await files.stat(path)
    const other = put('b.txt', 'two')
    execFileSync('touch', ['-r', path, other])
    renameSync(other, path)
    const after = await files.stat(path)
    expect(after).toMatchObject({ size: before?.size, modifiedMs: before?.modifiedMs })
    expect(after?.identity).not.toBe(before?.identity)
    expect((await files.stat(path))?.identity).toBe(after?.identity)
  })
})

describe('read', () => {
  it('gives the whole file, small or large, up to the limit', async () => {
    const small = put('small', 'hé')
    const bytes = Buffer.alloc(700_000, 'abc')
    const large = put('large', bytes)
    expect(await files.read(small, 3)).toEqual(new Uint8Array(Buffer.from('hé')))
    expect(Buffer.from(await files.read(large, 700_000)).equals(bytes)).toBe(true)
    expect(await files.read(put('empty', ''), 0)).toEqual(new Uint8Array())
  })

  it('gives every reader its own bytes', async () => {
    const [first, second] = await Promise.all([files.read(put('a', 'first'), 10), files.read(put('b', 'other'), 10)])
    expect([Buffer.from(first).toString(), Buffer.from(second).toString()]).toEqual(['first', 'other'])
  })

  it('refuses what is larger than the limit', async () => {
    const path = put('large', 'xxxx')
    await expect(files.read(path, 3)).rejects.toMatchObject({ code: 'request.unprocessable', details: { path, size: 4, maxBytes: 3 } })
  })

  it.skipIf(process.platform !== 'linux')('reads files that do not tell their size', async () => {
    expect(Buffer.from(await files.read('/proc/self/status', 100_000)).toString()).toMatch(/^Name:/)
    await expect(files.read('/proc/self/status', 10)).rejects.toMatchObject({ code: 'request.unprocessable' })
  })

  it('rejects with ENOENT for a missing file', async () => {
    await expect(files.read(join(directory, 'none'), 1)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('refuses directories and special files at once', async () => {
    const fifo = join(directory, 'fifo')
    execFileSync('mkfifo', [fifo])
    for (const path of [fifo, '/dev/zero', directory]) {
      await expect(files.read(path, 10)).rejects.toMatchObject({ code: 'request.unprocessable' })
      await expect(collect(files.readChunks(path, never))).rejects.toMatchObject({ code: 'request.unprocessable' })
    }
  })

  it.skipIf(process.platform !== 'linux')('follows links, unless the path was approved as canonical', async () => {
    mkdirSync(join(directory, 'real'))
    const path = put('real/a', 'text')
    symlinkSync(path, join(directory, 'link'))
    symlinkSync(join(directory, 'real'), join(directory, 'folder'))
    const canonical = { canonical: true }
    expect(Buffer.from(await files.read(join(directory, 'link'), 9)).toString()).toBe('text')
    expect(Buffer.from(await files.read(path, 9, canonical)).toString()).toBe('text')
    await expect(files.read(join(directory, 'link'), 9, canonical)).rejects.toMatchObject({ code: 'ELOOP' })
    await expect(files.read(join(directory, 'folder/a'), 9, canonical)).rejects.toThrow('changed into a link')
  })
})

describe.skipIf(process.platform !== 'linux')('a directory that became a link after it was approved', () => {
  const canonical = { canonical: true }

  it('is not written, linked, looked at or made below, at whatever depth it stands', async () => {
    const real = join(directory, 'real')
    mkdirSync(real)
    put('real/a', 'text')
    symlinkSync(real, join(directory, 'folder'))
    for (const path of ['folder/a', 'folder/new/deep/a', 'folder/new'].map((each) => join(directory, each))) {
      await expect(files.writeAtomic(path, 'changed', canonical)).rejects.toThrow('changed into a link')
      await expect(files.makeLink(path, '/etc', canonical)).rejects.toThrow('changed into a link')
    }
    await expect(files.entry(join(directory, 'folder/a'), canonical)).rejects.toThrow('changed into a link')
    await expect(files.readLink(join(directory, 'folder/a'), canonical)).rejects.toThrow('changed into a link')
    expect(readdirSync(real)).toEqual(['a'])
    expect(readFileSync(join(real, 'a'), 'utf8')).toBe('text')
  })

  it('stands in the way of nothing that is where it was', async () => {
    const path = join(directory, 'one/two/three')
    await files.writeAtomic(path, 'text', canonical)
    await files.makeLink(join(directory, 'four/five'), 'where', canonical)
    expect(await files.entry(path, canonical)).toMatchObject({ kind: 'file', size: 4 })
    expect(await files.readLink(join(directory, 'four/five'), canonical)).toBe('where')
    expect(await files.entry(join(directory, 'none/two'), canonical)).toBeUndefined()
    expect(await files.entry(join(path, 'below'), canonical)).toBeUndefined()
  })

  it('takes nothing elsewhere, though it is swapped all the time', async () => {
    const real = join(directory, 'elsewhere')
    mkdirSync(real)
    const folder = join(directory, 'swapped')
    const swap = () => {
      rmSync(folder, { recursive: true, force: true })
      symlinkSync(real, folder)
      rmSync(folder)
      mkdirSync(folder, { recursive: true }) // a write may have made it
    }
    swap()
    const work = Array.from({ length: 300 }, (_, at) => [
      files.writeAtomic(join(folder, `w${at}`, 'deep'), 'x', canonical),
      files.makeLink(join(folder, `l${at}`, 'deep'), '/etc', canonical),
      files.remove(join(folder, `w${at - 1}`, 'deep'), canonical),
    ]).flat()
    const ended = Promise.allSettled(work)
    let isOver = false
    void ended.then(() => (isOver = true))
    for (let turn = 0; turn < 10_000 && !isOver; turn++) {
      swap()
      if (turn % 10 === 0) await new Promise(setImmediate)
    }
    await ended
    expect(readdirSync(real)).toEqual([])
  })
})

describe('reading in chunks', () => {
  it('gives all bytes in order', async () => {
    const bytes = Buffer.alloc(600_001, '0123456789')
    expect((await collect(files.readChunks(put('large', bytes), never))).equals(bytes)).toBe(true)
  })

  it('stops with an error when the signal aborts', async () => {
    const controller = new AbortController()
    const chunks = files.readChunks(put('large', Buffer.alloc(600_000)), controller.signal)[Symbol.asyncIterator]()
    await chunks.next()
    controller.abort(new Error('enough'))
    await expect(chunks.next()).rejects.toThrow('enough')
  })
})

describe('writing', () => {
  it('makes the file and its directories, with the default mode', async () => {
    const path = join(directory, 'x/y/a.txt')
    const umask = process.umask()
    await files.writeAtomic(path, 'héllo')
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['héllo', 0o644 & ~umask])
    expect(readdirSync(join(directory, 'x/y'))).toEqual(['a.txt'])
  })

  it('replaces content and keeps the mode', async () => {
    const path = put('run.sh', 'old content', 0o751)
    await files.writeAtomic(path, new Uint8Array([104, 105]))
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o7777]).toEqual(['hi', 0o751])
  })

  it('sets the mode that is asked for, whether the file is new or not', async () => {
    for (const path of [join(directory, 'new'), put('old', 'x', 0o644)]) {
      await files.writeAtomic(path, 'secret', { mode: 0o600 })
      expect(statSync(path).mode & 0o7777).toBe(0o600)
    }
  })

  it('leaves the other names of a file alone', async () => {
    const path = put('a', 'old')
    linkSync(path, join(directory, 'b'))
    await files.writeAtomic(path, 'new')
    expect(readFileSync(join(directory, 'b'), 'utf8')).toBe('old')
  })

  it('refuses a link, a directory and a special file, and leaves nothing behind', async () => {
    const target = put('target', 'untouched')
    symlinkSync(target, join(directory, 'link'))
    symlinkSync(join(directory, 'nowhere'), join(directory, 'broken'))
    mkdirSync(join(directory, 'folder'))
    execFileSync('mkfifo', [join(directory, 'fifo')])
    for (const [name, what] of [
      ['link', 'a link'],
      ['broken', 'a link'],
      ['folder', 'a directory'],
      ['fifo', 'a special file'],
    ] as const) {
      await expect(files.writeAtomic(join(directory, name), 'x')).rejects.toThrow(`is ${what}; only regular files are written`)
    }
    expect(readFileSync(target, 'utf8')).toBe('untouched')
    expect(readdirSync(directory).toSorted()).toEqual(['broken', 'fifo', 'folder', 'link', 'target'])
  })

  it.skipIf(process.platform !== 'linux')('refuses a directory that became a link after the path was approved', async () => {
    mkdirSync(join(directory, 'real'))
    symlinkSync(join(directory, 'real'), join(directory, 'folder'))
    await files.writeAtomic(join(directory, 'folder/a'), 'x')
    await expect(files.writeAtomic(join(directory, 'folder/b'), 'x', { canonical: true })).rejects.toThrow('changed into a link')
    expect(readdirSync(join(directory, 'real'))).toEqual(['a'])
  })

  it('removes its temporary file when it fails', async () => {
    await expect(files.writeAtomic(join(directory, 'n'.repeat(255)), 'x')).resolves.toBeUndefined()
    await expect(files.writeAtomic(join(directory, 'n'.repeat(256)), 'x')).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
    expect(readdirSync(directory)).toEqual(['n'.repeat(255)])
  })
})

describe('streamed writing', () => {
  it('makes a private new file', async () => {
    const path = join(directory, 'sink')
    const sink = await files.createFile(path)
    await sink.write(Buffer.from('one '))
    await sink.write(Buffer.from('two'))
    await sink.close()
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['one two', 0o600])
    await expect(files.createFile(path)).rejects.toMatchObject({ code: 'EEXIST' })
  })

  it('discards what was written, before and after closing', async () => {
    const sink = await files.createFile(join(directory, 'sink'))
    await sink.write(Buffer.from('x'))
    await sink.discard()
    await sink.discard()
    await sink.close()
    expect(readdirSync(directory)).toEqual([])
  })
})

describe('names', () => {
  it('lists entries by kind, without following links', async () => {
    put('file', '')
    mkdirSync(join(directory, 'folder'))
    symlinkSync('folder', join(directory, 'link'))
    execFileSync('mkfifo', [join(directory, 'fifo')])
    const entries = await files.readDirectory(directory)
    expect(entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'fifo', kind: 'other' },
      { name: 'file', kind: 'file' },
      { name: 'folder', kind: 'directory' },
      { name: 'link', kind: 'link' },
    ])
  })

  it('lists a directory of thousands of names', async () => {
    const names = Array.from({ length: 4000 }, (_, index) => `a-long-name-of-a-file-${String(index).padStart(4, '0')}`)
    for (const name of names) writeFileSync(join(directory, name), '')
    const entries = await files.readDirectory(directory)
    expect(entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(names.map((name) => ({ name, kind: 'file' })))
    await expect(files.readDirectory(join(directory, 'nowhere'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('resolves links', async () => {
    const path = put('file', '')
    symlinkSync('file', join(directory, 'link'))
    expect(await files.realPath(join(directory, 'link'))).toBe(path)
    await expect(files.realPath(join(directory, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('removes what is in the directory that was meant, not where a link leads that took its place', async () => {
    mkdirSync(join(directory, 'meant'))
    mkdirSync(join(directory, 'other'))
    writeFileSync(join(directory, 'other/file'), 'x')
    renameSync(join(directory, 'meant'), join(directory, 'moved'))
    symlinkSync(join(directory, 'other'), join(directory, 'meant'))
    await expect(files.remove(join(directory, 'meant/file'), { canonical: true })).rejects.toMatchObject({ code: 'request.unprocessable' })
    await files.remove(join(directory, 'absent/file'), { canonical: true })
    expect(await files.stat(join(directory, 'other/file'))).toBeDefined()
    await files.remove(join(directory, 'other/file'), { canonical: true })
    expect(await files.stat(join(directory, 'other/file'))).toBeUndefined()
  })

  it('removes files, links and empty directories, and is content with nothing', async () => {
    const path = put('file', 'x')
    symlinkSync('file', join(directory, 'link'))
    await files.makeDirectory(join(directory, 'a/b'), { mode: 0o700 })
    await files.remove(join(directory, 'link'))
    expect(readFileSync(path, 'utf8')).toBe('x')
    await expect(files.remove(join(directory, 'a'))).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    for (const name of ['a/b', 'a', 'file', 'file']) await files.remove(join(directory, name))
    expect(readdirSync(directory)).toEqual([])
  })

  it('removes a tree without following its links, and is content with nothing', async () => {
    put('outside', 'x')
    await files.makeDirectory(join(directory, 'tree/a/b'))
    put('tree/a/b/file', 'x')
    chmodSync(join(directory, 'tree/a/b/file'), 0o400)
    symlinkSync('../outside', join(directory, 'tree/link'))
    symlinkSync('..', join(directory, 'tree/up'))
    await files.removeTree(join(directory, 'tree'))
    await files.removeTree(join(directory, 'tree'))
    symlinkSync('outside', join(directory, 'link'))
    await files.removeTree(join(directory, 'link'))
    expect(readdirSync(directory)).toEqual(['outside'])
  })

  it('opens a new file with exactly the mode it is given', async () => {
    const modes: string[] = []
    for (const mode of [undefined, 0o500, 0o666]) {
      const path = join(directory, `file-${mode}`)
      const sink = await files.createFile(path, mode === undefined ? undefined : { mode })
      await sink.write(Buffer.from('x'))
      await sink.close()
      modes.push((statSync(path).mode & 0o7777).toString(8))
    }
    expect(modes).toEqual(['600', '500', '666'])
  })

  it('renames over an existing file', async () => {
    await files.rename(put('from', 'new'), put('to', 'old'))
    expect([readdirSync(directory), readFileSync(join(directory, 'to'), 'utf8')]).toEqual([['to'], 'new'])
  })
})

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

// Holds sessions-events §10.1.
import { createHash } from 'node:crypto'
import { chmodSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { applyPatch } from 'diff'
import { describe, expect, it } from 'vitest'
import { createLocks } from '../../../src/plugins/files/change/locks.js'
import { createPatch } from '../../../src/plugins/files/change/patch.js'
import { createWorkspace, type Workspace } from './fixture.js'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const base64 = (text: string) => Buffer.from(text).toString('base64')
const state = (text: string, mode = 0o644) => ({ exists: true, contentBase64: base64(text), sha256: sha256(text), mode })
const content = (workspace: Workspace, name: string) => readFileSync(workspace.path(name), 'utf8')

describe('writing a file', () => {
  it('creates it with its directories and records the change', async () => {
    const workspace = createWorkspace()
    const result = await workspace.tool('write').run({ filePath: 'src/deep/a.ts', content: 'one\ntwo\n' })
    expect(content(workspace, 'src/deep/a.ts')).toBe('one\ntwo\n')
    const diff = '--- /dev/null\n+++ src/deep/a.ts\n@@ -0,0 +1,2 @@\n+one\n+two\n'
    expect(result).toEqual({
      title: 'src/deep/a.ts',
      output: 'Created src/deep/a.ts (8 bytes).',
      metadata: {
        path: 'src/deep/a.ts',
        bytes: 8,
        previousBytes: 0,
        created: true,
        snapshots: [{ path: 'src/deep/a.ts', before: { exists: false }, after: state('one\ntwo\n') }],
        diffs: [
          { path: 'src/deep/a.ts', kind: 'added', additions: 2, deletions: 0, oldStart: 1, newStart: 1, afterSha256: sha256('one\ntwo\n') },
        ],
        files: [
          {
            filePath: workspace.path('src/deep/a.ts'),
            relativePath: 'src/deep/a.ts',
            type: 'add',
            patch: diff,
            additions: 2,
            deletions: 0,
          },
        ],
        diff,
        additions: 2,
        deletions: 0,
      },
    })
  })

  it('overwrites it, keeps its mode, and records both states', async () => {
    const workspace = createWorkspace()
    chmodSync(workspace.put('run.sh', 'a\nb\n'), 0o755)
    const result = await workspace.tool('write').run({ filePath: 'run.sh', content: 'a\nc\n' })
    expect(result.output).toBe('Wrote run.sh (4 bytes).')
    expect(statSync(workspace.path('run.sh')).mode & 0o777).toBe(0o755)
    expect(result.metadata).toMatchObject({
      bytes: 4,
      previousBytes: 4,
      created: false,
      snapshots: [{ path: 'run.sh', before: state('a\nb\n', 0o755), after: state('a\nc\n', 0o755) }],
      diff: '--- run.sh\n+++ run.sh\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n',
    })
  })

  it('leaves no snapshot when nothing changes', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'same')
    const result = await workspace.tool('write').run({ filePath: 'a.txt', content: 'same' })
    expect(result.metadata).toEqual({ path: 'a.txt', bytes: 4, previousBytes: 4, created: false, additions: 0, deletions: 0 })
  })

  it('keeps the byte order mark and the line endings of the file it replaces', async () => {
    const workspace = createWorkspace()
    workspace.put('crlf.txt', '\uFEFFa\r\nb\r\n')
    workspace.put('mixed.txt', 'a\r\nb\nc\r\nd\r\n')
    await workspace.tool('write').run({ filePath: 'crlf.txt', content: 'x\ny\n' })
    expect(content(workspace, 'crlf.txt')).toBe('\uFEFFx\r\ny\r\n')
    await workspace.tool('write').run({ filePath: 'crlf.txt', content: '\uFEFFq\r\nr\n' })
    expect(content(workspace, 'crlf.txt')).toBe('\uFEFFq\r\nr\n')
    await workspace.tool('write').run({ filePath: 'mixed.txt', content: 'x\ny\n' })
    expect(content(workspace, 'mixed.txt')).toBe('x\ny\n')
  })

  it('records an absolute path outside the session directory', async () => {
    const workspace = createWorkspace()
    const path = `${workspace.effects.root}/other/a.txt`
    const result = await workspace.tool('write').run({ filePath: path, content: 'x' })
    expect(result.metadata?.['snapshots']).toEqual([{ path, absolute: true, before: { exists: false }, after: state('x') }])
  })

  it('keeps contents over 128 KiB beside, and no derived data of binary files', async () => {
    const workspace = createWorkspace()
    const before = 'x'.repeat(128 * 1024)
    const after = `${before}y`
    workspace.put('big.txt', before)
    const result = await workspace.tool('write').run({ filePath: 'big.txt', content: after })
    expect(result.metadata?.['snapshots']).toEqual([
      { path: 'big.txt', before: state(before), after: { exists: true, sha256: sha256(after), mode: 0o644, stored: true } },
    ])
    expect(result.metadata).not.toHaveProperty('diff')
    workspace.put('data.bin', Buffer.from([0, 1, 2]))
    const binary = await workspace.tool('write').run({ filePath: 'data.bin', content: 'text' })
    expect(Object.keys(binary.metadata ?? {})).toEqual(['path', 'bytes', 'previousBytes', 'created', 'snapshots'])
  })

  it('replaces a link that leads nowhere rather than following it', async () => {
    const workspace = createWorkspace()
    symlinkSync(`${workspace.effects.root}/nowhere`, workspace.path('dangling'))
    expect(await workspace.tool('write').refusal({ filePath: 'dangling', content: 'x' })).toMatch(/^Cannot write dangling: .* is a link/)
  })

  it('refuses directories, parents that are files, and contents over the limit', async () => {
    const workspace = createWorkspace()
    workspace.put('dir/a.txt', 'x')
    const write = workspace.tool('write')
    expect(await write.refusal({ filePath: 'dir', content: 'x' })).toBe('dir is a directory.')
    expect(await write.refusal({ filePath: 'dir/a.txt/b', content: 'x' })).toMatch(/^Cannot write dir\/a.txt\/b: /)
    expect(await write.refusal({ filePath: 'big', content: 'x'.repeat(10 * 1024 * 1024 + 1) })).toMatch(/^The content has 10485761 bytes; /)
    expect(content(workspace, 'dir/a.txt')).toBe('x')
  })
})

describe('editing a file', () => {
  it('replaces one place and reports it', async () => {
    const workspace = createWorkspace()
    workspace.put('a.ts', 'let a = 1\nlet b = 2\nlet c = 3\n')
    const result = await workspace.tool('edit').run({ filePath: 'a.ts', oldString: 'b = 2', newString: 'b = 4\nlet d = 5' })
    expect(content(workspace, 'a.ts')).toBe('let a = 1\nlet b = 4\nlet d = 5\nlet c = 3\n')
    expect(result.title).toBe('a.ts')
    expect(result.output).toBe('Edited a.ts: 1 replacement, +2 -1 lines.')
    expect(result.metadata).toMatchObject({
      path: 'a.ts',
      replaced: 1,
      bytes: 40,
      previousBytes: 30,
      additions: 2,
      deletions: 1,
      diff: '--- a.ts\n+++ a.ts\n@@ -1,3 +1,4 @@\n let a = 1\n-let b = 2\n+let b = 4\n+let d = 5\n let c = 3\n',
      diffs: [{ kind: 'modified', oldStart: 2, newStart: 2 }],
    })
  })

  it('keeps the byte order mark, the line endings, and every byte outside the edit', async () => {
    const workspace = createWorkspace()
    workspace.put('crlf.txt', '\uFEFFone\r\ntwo\r\nthree')
    workspace.put('mixed.txt', 'a\nb\r\nc\r\nd\r\ne\n')
    const edit = workspace.tool('edit')
    await edit.run({ filePath: 'crlf.txt', oldString: 'two\n', newString: '2\nzwei\n' })
    expect(content(workspace, 'crlf.txt')).toBe('\uFEFFone\r\n2\r\nzwei\r\nthree')
    await edit.run({ filePath: 'crlf.txt', oldString: 'one\r\n2', newString: 'x\r\ny' })
    expect(content(workspace, 'crlf.txt')).toBe('\uFEFFx\r\ny\r\nzwei\r\nthree')
    await edit.run({ filePath: 'mixed.txt', oldString: 'b\nc', newString: 'B\nC' })
    expect(content(workspace, 'mixed.txt')).toBe('a\nB\r\nC\r\nd\r\ne\n')
    await edit.run({ filePath: 'mixed.txt', oldString: '\nd\n', newString: '' })
    expect(content(workspace, 'mixed.txt')).toBe('a\nB\r\nCe\n')
  })

  it('replaces every occurrence, and never what it inserted', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'ab ab\r\nab\r\n')
    const result = await workspace.tool('edit').run({ filePath: 'a.txt', oldString: 'ab', newString: 'abab\n', replaceAll: true })
    expect(content(workspace, 'a.txt')).toBe('abab\r\n abab\r\n\r\nabab\r\n\r\n')
    expect(result.metadata).toMatchObject({ replaced: 3 })
  })

  it('names the places of an ambiguous edit and changes nothing', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'x = 1\ny\n  x = 1\n')
    expect(await workspace.tool('edit').refusal({ filePath: 'a.txt', oldString: 'x = 1', newString: 'z' })).toBe(
      'oldString fits more than one place in a.txt:\n1. line 1: x = 1\n2. line 3: x = 1\nAdd lines around it so that it means one place only, or set replaceAll.',
    )
    expect(content(workspace, 'a.txt')).toBe('x = 1\ny\n  x = 1\n')
  })

  it('takes characters that mean something in replacement patterns literally', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'price')
    await workspace.tool('edit').run({ filePath: 'a.txt', oldString: 'price', newString: "$& $1 $` $'", replaceAll: true })
    expect(content(workspace, 'a.txt')).toBe("$& $1 $` $'")
  })

  it('refuses what cannot be done, with the reason', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'abc')
    workspace.put('b.bin', Buffer.from([1, 0, 2]))
    workspace.put('latin1.txt', Buffer.from([0x61, 0xe9]))
    const refusal = async (filePath: string, oldString: string, newString = 'n') =>
      workspace.tool('edit').refusal({ filePath, oldString, newString })
    expect(await refusal('a.txt', 'xyz')).toBe(
      'oldString was not found in a.txt. Read the file again and copy the text exactly as it is now.',
    )
    expect(await refusal('a.txt', 'abc', 'abc')).toBe('oldString and newString are the same: there is nothing to change.')
    expect(await refusal('b.bin', 'a')).toBe('b.bin is a binary file and cannot be edited.')
    expect(await refusal('latin1.txt', 'a')).toBe('latin1.txt is not valid UTF-8 text and cannot be edited.')
    expect(await refusal('c.txt', 'a')).toMatch(/^File not found: c.txt\./)
    expect(workspace.tool('edit').input.safeParse({ filePath: 'a.txt', oldString: '', newString: 'x' }).success).toBe(false)
  })

  it('refuses a replacement that would grow the file beyond the limit', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'a'.repeat(50_000))
    expect(
      await workspace.tool('edit').refusal({ filePath: 'a.txt', oldString: 'a', newString: 'b'.repeat(1000), replaceAll: true }),
    ).toMatch(/would make a.txt larger/)
  })

  it('carries out edits of one file one after the other', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', Array.from({ length: 20 }, (_, index) => `line ${index};\n`).join(''))
    symlinkSync(workspace.path('a.txt'), workspace.path('b.txt'))
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        workspace
          .tool('edit')
          .run({ filePath: index % 2 === 0 ? 'a.txt' : 'b.txt', oldString: `line ${index};`, newString: `done ${index};` }),
      ),
    )
    expect(content(workspace, 'a.txt')).toBe(Array.from({ length: 20 }, (_, index) => `done ${index};\n`).join(''))
  })

  it('does nothing once aborted', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'abc')
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(workspace.tool('edit').run({ filePath: 'a.txt', oldString: 'abc', newString: 'x' }, { signal })).rejects.toThrow('stopped')
    await expect(workspace.tool('write').run({ filePath: 'a.txt', content: 'x' }, { signal })).rejects.toThrow('stopped')
    expect(content(workspace, 'a.txt')).toBe('abc')
  })
})

describe('locks', () => {
  const live = new AbortController().signal

  it('an aborted waiter leaves without letting the next one pass the holder', async () => {
    const locks = createLocks()
    const order: string[] = []
    let release: () => void = () => undefined
    const held = locks.hold('k', live, async () => {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      order.push('first')
    })
    const abort = new AbortController()
    const waiter = locks.hold('k', abort.signal, async () => order.push('second'))
    const last = locks.hold('k', live, async () => order.push('third'))
    abort.abort(new Error('gave up'))
    await expect(waiter).rejects.toThrow('gave up')
    expect(order).toEqual([])
    release()
    await Promise.all([held, last])
    expect([order, locks.size]).toEqual([['first', 'third'], 0])
  })

  it('go on after a failure, do not connect keys, and have a bound', async () => {
    const locks = createLocks()
    await expect(locks.hold('k', live, async () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(await locks.hold('k', live, async () => locks.hold('other', live, async () => 'inner'))).toBe('inner')
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const many = Array.from({ length: 65 }, async () => locks.hold('k', new AbortController().signal, async () => gate))
    await expect(locks.hold('k', live, async () => gate)).rejects.toThrow('More than 64 changes')
    release()
    await Promise.all(many)
    expect(locks.size).toBe(0)
  })
})

describe('patches', () => {
  const lines = (count: number, text: (index: number) => string) => Array.from({ length: count }, (_, index) => `${text(index)}\n`).join('')

  it.each([
    ['a change in the middle of a long file', lines(5000, (i) => `l${i}`), lines(5000, (i) => (i === 2500 ? 'new' : `l${i}`))],
    ['two changes far apart', lines(300, (i) => `l${i}`), lines(300, (i) => (i === 3 || i === 290 ? 'new' : `l${i}`))],
    ['a change of the first line', 'a\nb\nc\n', 'x\nb\nc\n'],
    ['an appended line without a newline', 'a\nb', 'a\nb\nc'],
    ['a lost newline at the end', 'a\nb\n', 'a\nb'],
    ['everything removed', 'a\nb\n', ''],
    ['repeated lines', 'a\na\na\n', 'a\na\n'],
    ['carriage returns', 'a\r\nb\r\n', 'a\r\nc\r\n'],
    ['more changes than are compared', lines(3000, (i) => `old ${i}`).slice(0, 20_000), lines(1000, (i) => `new ${i}`).slice(0, 9000)],
  ])('turn the old text into the new one: %s', (_, before, after) => {
    const { patch, additions, deletions } = createPatch('f', before, after)
    expect(applyPatch(before, patch ?? '', { autoConvertLineEndings: false })).toBe(after)
    expect([additions > 0 || deletions > 0]).toEqual([true])
  })

  it('are left out when they are long, with their counts kept', () => {
    expect(createPatch('f', undefined, 'x'.repeat(99) + lines(1000, () => 'y'.repeat(99)))).toEqual({
      additions: 1000,
      deletions: 0,
      oldStart: 1,
      newStart: 1,
    })
  })

  it('give the comparison up for texts with next to nothing in common', () => {
    for (const count of [3000, 60_000]) {
      const mostly = (mark: string) => lines(count, (i) => (i === count / 2 ? 'the same' : `${mark} ${i}`))
      expect(createPatch('f', mostly('a'), mostly('b'))).toMatchObject({ additions: count, deletions: count })
    }
    const few = (mark: string) => lines(3, (i) => (i === 1 ? 'the same' : `${mark} ${i}`))
    expect(createPatch('f', few('a'), few('b'))).toMatchObject({ additions: 2, deletions: 2 })
  })
})

// Holds sessions-events §10.7.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { asOrdinaryUser } from '../../fakes/ordinary-user.js'
import { createWorkspace } from './fixture.js'

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

function content(output: string): string {
  return /<content>\n([\s\S]*)\n<\/content>/.exec(output)?.[1] ?? output
}

describe('reading a file', () => {
  it('numbers the lines and says where the file ends', async () => {
    const workspace = createWorkspace()
    workspace.put('src/a.ts', 'one\r\ntwo\n\nfour')
    expect(await workspace.tool('read').run({ filePath: 'src/a.ts' })).toEqual({
      title: 'src/a.ts',
      output:
        '<path>src/a.ts</path>\n<type>file</type>\n<content>\n1: one\n2: two\n3: \n4: four\n(End of file, 4 lines in all.)\n</content>',
      metadata: { path: 'src/a.ts', type: 'file', lines: 4, offset: 1, limit: 2000, truncated: false, preview: 'one\ntwo\n\nfour' },
    })
  })

  it('reads the same by an absolute path, by ~ and by a path with dots', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'x')
    workspace.put(`${workspace.effects.paths.home}/b.txt`, 'home')
    const read = workspace.tool('read')
    const byName = await read.run({ filePath: 'a.txt' })
    expect(await read.run({ filePath: workspace.path('a.txt') })).toEqual(byName)
    expect(await read.run({ filePath: './sub/../a.txt' })).toEqual(byName)
    expect(content((await read.run({ filePath: '~/b.txt' })).output)).toBe('1: home\n(End of file, 1 line in all.)')
  })

  it('shows a window and where to continue', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'a\nb\nc\nd\n')
    const read = workspace.tool('read')
    const middle = await read.run({ filePath: 'a.txt', offset: 2, limit: 2 })
    expect(content(middle.output)).toBe('2: b\n3: c\n(Lines 2-3; more follow. Continue with offset=4.)')
    expect(middle.metadata).toMatchObject({ lines: 2, offset: 2, limit: 2, truncated: true })
    expect(content((await read.run({ filePath: 'a.txt', offset: 4 })).output)).toBe('4: d\n(End of file, 4 lines in all.)')
    expect(content((await read.run({ filePath: 'a.txt', offset: 3, limit: 2 })).output)).toBe('3: c\n4: d\n(End of file, 4 lines in all.)')
  })

  it('stops after 2000 lines', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'x\n'.repeat(2001))
    const result = await workspace.tool('read').run({ filePath: 'a.txt', limit: 5000 })
    expect(result.metadata).toMatchObject({ lines: 2000, limit: 2000, truncated: true })
    expect(result.output).toContain('Continue with offset=2001.')
  })

  it('stops at 50 KiB of a larger file and continues there', async () => {
    const workspace = createWorkspace()
    workspace.put('big.txt', `${'y'.repeat(999)}\n`.repeat(1000))
    const read = workspace.tool('read')
    const first = await read.run({ filePath: 'big.txt' })
    expect(Buffer.byteLength(first.output)).toBeLessThan(51_200 + 200)
    expect(first.output).toContain('(Lines 1-51; cut at 50 KiB. Continue with offset=52.)')
    const second = await read.run({ filePath: 'big.txt', offset: 52, limit: 1 })
    expect(content(second.output)).toBe(`52: ${'y'.repeat(999)}\n(Lines 52-52; more follow. Continue with offset=53.)`)
    expect(content((await read.run({ filePath: 'big.txt', offset: 1000 })).output)).toMatch(/End of file, 1000 lines in all/)
  })

  it('cuts long lines at 2000 characters without splitting one', async () => {
    const workspace = createWorkspace()
    workspace.put('long.txt', `${'a'.repeat(1999)}😀😀\n${'b'.repeat(2000)}\n${'é'.repeat(3000)}`)
    const [first, second, third] = content((await workspace.tool('read').run({ filePath: 'long.txt' })).output).split('\n')
    expect([first, second, third]).toEqual([`1: ${'a'.repeat(1999)}...`, `2: ${'b'.repeat(2000)}`, `3: ${'é'.repeat(2000)}...`])
  })

  it('shows the beginning of one line of many megabytes, and what follows it', async () => {
    const workspace = createWorkspace()
    workspace.put('huge.txt', Buffer.concat([Buffer.alloc(9_000_000, 'z'), Buffer.from('\nend\n')]))
    expect(content((await workspace.tool('read').run({ filePath: 'huge.txt' })).output)).toBe(
      `1: ${'z'.repeat(2000)}...\n2: end\n(End of file, 2 lines in all.)`,
    )
  })

  it('reads characters that lie across the chunks of a large file', async () => {
    const workspace = createWorkspace()
    workspace.put('wide.txt', `a${'é'.repeat(700)}\n`.repeat(400))
    const result = await workspace.tool('read').run({ filePath: 'wide.txt', offset: 180, limit: 20 })
    expect(content(result.output).split('\n').slice(0, 20)).toEqual(
      Array.from({ length: 20 }, (_, index) => `${180 + index}: a${'é'.repeat(700)}`),
    )
  })

  it('shows an empty file, and drops a byte order mark', async () => {
    const workspace = createWorkspace()
    workspace.put('empty.txt', '')
    workspace.put('bom.txt', '\uFEFFhello')
    expect(content((await workspace.tool('read').run({ filePath: 'empty.txt' })).output)).toBe('(End of file, 0 lines in all.)')
    expect(content((await workspace.tool('read').run({ filePath: 'bom.txt' })).output)).toBe('1: hello\n(End of file, 1 line in all.)')
  })

  it('refuses an offset past the end', async () => {
    const workspace = createWorkspace()
    workspace.put('a.txt', 'a\nb\n')
    expect(await workspace.tool('read').refusal({ filePath: 'a.txt', offset: 3 })).toBe('Offset 3 is past the end: a.txt has 2 lines.')
  })

  it('refuses binary files, small and large', async () => {
    const workspace = createWorkspace()
    workspace.put('small.bin', Buffer.from([0x61, 0, 0x62]))
    workspace.put('large.bin', Buffer.alloc(400_000))
    expect(await workspace.tool('read').refusal({ filePath: 'small.bin' })).toBe('small.bin is a binary file and cannot be shown as text.')
    expect(await workspace.tool('read').refusal({ filePath: 'large.bin' })).toBe('large.bin is a binary file and cannot be shown as text.')
  })

  it('suggests names that look alike when a file is missing', async () => {
    const workspace = createWorkspace()
    workspace.put('src/server.ts', '')
    workspace.put('src/zzz.md', '')
    expect(await workspace.tool('read').refusal({ filePath: 'src/sever.ts' })).toBe(
      'File not found: src/sever.ts. Did you mean "src/server.ts"?',
    )
    expect(await workspace.tool('read').refusal({ filePath: 'nowhere/x' })).toBe('File not found: nowhere/x.')
    expect(await workspace.tool('read').refusal({ filePath: 'src/zzz.md/x' })).toBe('File not found: src/zzz.md/x.')
  })

  it('refuses special files without waiting for them', async () => {
    const workspace = createWorkspace()
    execFileSync('mkfifo', [workspace.path('pipe')])
    expect(await workspace.tool('read').refusal({ filePath: 'pipe' })).toBe('pipe is not a regular file.')
  })

  it('says that the system denies access', async () => {
    const workspace = createWorkspace()
    const { root } = workspace.effects
    chmodSync(workspace.put('secret', 'x'), 0)
    workspace.put('open', 'x')
    const read = workspace.tool('read')
    expect(await asOrdinaryUser(root, () => read.run({ filePath: 'open' }))).toMatchObject({ title: 'open' })
    const refusal = await asOrdinaryUser(root, () => read.refusal({ filePath: 'secret' }))
    expect(refusal).toBe('Cannot read secret: the operating system denies access.')
  })

  it('stops when the call is aborted', async () => {
    const workspace = createWorkspace()
    workspace.put('big.txt', 'x\n'.repeat(500_000))
    const abort = new AbortController()
    const running = workspace.tool('read').run({ filePath: 'big.txt', offset: 499_999 }, { signal: abort.signal })
    abort.abort(new Error('stopped'))
    await expect(running).rejects.toThrow('stopped')
  })
})

describe('reading images and PDF', () => {
  it('attaches them to the record and to the result', async () => {
    const workspace = createWorkspace()
    workspace.put('logo.PNG', PNG)
    const url = `data:image/png;base64,${PNG.toString('base64')}`
    expect(await workspace.tool('read').run({ filePath: 'logo.PNG' })).toEqual({
      title: 'logo.PNG',
      output: `Image logo.PNG (image/png, ${PNG.length} bytes) is attached.`,
      metadata: { path: 'logo.PNG', type: 'media', truncated: false },
      attachments: [{ mime: 'image/png', url, filename: 'logo.PNG' }],
    })
  })

  it('reads a text that only calls itself an image as text', async () => {
    const workspace = createWorkspace()
    workspace.put('note.png', 'not an image')
    expect(content((await workspace.tool('read').run({ filePath: 'note.png' })).output)).toBe(
      '1: not an image\n(End of file, 1 line in all.)',
    )
  })

  it('refuses one over 20 MiB', async () => {
    const workspace = createWorkspace()
    workspace.put('big.pdf', Buffer.concat([Buffer.from('%PDF-'), Buffer.alloc(20 * 1024 * 1024 - 4)]))
    expect(await workspace.tool('read').refusal({ filePath: 'big.pdf' })).toMatch(/^big.pdf has 20971521 bytes; /)
  })
})

describe('reading a directory', () => {
  it('lists sorted names with a slash behind directories, links to them included', async () => {
    const workspace = createWorkspace()
    workspace.put('b.txt', '')
    workspace.put('a/x', '')
    symlinkSync(workspace.path('a'), workspace.path('link'))
    const result = await workspace.tool('read').run({ filePath: '.' })
    expect(result.output).toBe('<path>.</path>\n<type>directory</type>\n<entries>\na/\nb.txt\nlink/\n(3 entries)\n</entries>')
    expect(result.metadata).toEqual({
      path: '.',
      type: 'directory',
      lines: 3,
      offset: 1,
      limit: 2000,
      truncated: false,
      preview: 'a/\nb.txt\nlink/',
    })
  })

  it('pages by offset and limit', async () => {
    const workspace = createWorkspace()
    for (const name of ['a', 'b', 'c']) workspace.put(`d/${name}`, '')
    const read = workspace.tool('read')
    expect((await read.run({ filePath: 'd', offset: 2, limit: 1 })).output).toContain('\nb\n(Entries 2-2 of 3. Continue with offset=3.)\n')
    expect(await read.refusal({ filePath: 'd', offset: 4 })).toBe('Offset 4 is past the end: d has 3 entries.')
  })

  it('lists an empty directory', async () => {
    const workspace = createWorkspace()
    mkdirSync(workspace.path('empty'))
    expect((await workspace.tool('read').run({ filePath: 'empty' })).output).toContain('<entries>\n(0 entries)\n</entries>')
  })
})

describe('instructions next to a file that is read', () => {
  it('are appended, and named in the record', async () => {
    const asked: string[][] = []
    const nested = async (sessionId: string, directory: string, file: string) => {
      asked.push([sessionId, directory, file])
      return [{ path: '/w/sub/AGENTS.md', text: 'Be brief.\n' }]
    }
    const workspace = createWorkspace({ host: { instructions: { nested } } })
    workspace.put('sub/a.txt', 'x')
    const result = await workspace.tool('read').run({ filePath: 'sub/a.txt' })
    expect(
      result.output.endsWith('</content>\n\n<system-reminder>\nInstructions from /w/sub/AGENTS.md:\nBe brief.\n</system-reminder>'),
    ).toBe(true)
    expect(result.metadata?.['loaded']).toEqual(['/w/sub/AGENTS.md'])
    expect(asked).toEqual([['ses_1', workspace.directory, workspace.path('sub/a.txt')]])
  })

  it('are not asked for at the top of the session directory or outside it', async () => {
    const nested = async () => Promise.reject(new Error('asked'))
    const workspace = createWorkspace({ host: { instructions: { nested } } })
    workspace.put('a.txt', 'x')
    const outside = workspace.put(`${workspace.effects.root}/other/a.txt`, 'x')
    await workspace.tool('read').run({ filePath: 'a.txt' })
    await workspace.tool('read').run({ filePath: outside })
  })

  it('leave out the file itself', async () => {
    const nested = async (_: string, __: string, file: string) => [{ path: file, text: 'x' }]
    const workspace = createWorkspace({ host: { instructions: { nested } } })
    workspace.put('sub/AGENTS.md', 'x')
    expect((await workspace.tool('read').run({ filePath: 'sub/AGENTS.md' })).output).not.toContain('system-reminder')
  })
})

/** Patches and what becomes of the files they name: all of them, or none (sessions-events §10.9). */
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { createWorkspace } from './fixture.js'

type Tree = Readonly<Record<string, string>>
type Case = readonly [name: string, before: Tree, patch: string, after: Tree | RegExp]

const NUMBERS = 'one\ntwo\nthree\nfour\nfive\nsix\n'
const TWICE = 'start\n  a\n  b\nmiddle\n  a\n  b\nend\n'
const update = (path: string, ...lines: string[]) => [`*** Update File: ${path}`, ...lines].join('\n')
const whole = (...files: string[]) => ['*** Begin Patch', ...files, '*** End Patch'].join('\n')
const n = (...lines: string[]) => whole(update('n.txt', ...lines))
const numbers = { 'n.txt': NUMBERS }
const swapped = (from: string, to: string) => ({ 'n.txt': NUMBERS.replace(from, to) })

const APPLIED: readonly Case[] = [
  ['a file is added', {}, whole('*** Add File: a.txt', '+hello', '+world'), { 'a.txt': 'hello\nworld\n' }],
  ['an empty file is added', {}, whole('*** Add File: a.txt'), { 'a.txt': '' }],
  ['a file of one blank line is added', {}, whole('*** Add File: a.txt', '+'), { 'a.txt': '\n' }],
  ['a file is added in new folders', {}, whole('*** Add File: x/y/z.txt', '+deep'), { 'x/y/z.txt': 'deep\n' }],
  ['a file with another script is added', {}, whole('*** Add File: ü/日本.txt', '+🙂 né'), { 'ü/日本.txt': '🙂 né\n' }],
  [
    'lines that look like a patch are content',
    {},
    whole('*** Add File: a.txt', '+*** Add File: b.txt', '+@@', '+-x'),
    { 'a.txt': '*** Add File: b.txt\n@@\n-x\n' },
  ],
  ['a file is deleted', numbers, whole('*** Delete File: n.txt'), {}],
  ['an empty file is deleted', { 'e.txt': '' }, whole('*** Delete File: e.txt'), {}],
  ['a binary file is deleted', { 'b.bin': '\u0000\u0001' }, whole('*** Delete File: b.bin'), {}],
  ['a line is exchanged', numbers, n('@@', '-two', '+zwei'), swapped('two', 'zwei')],
  ['the header of the first chunk may be missing', numbers, n('-two', '+zwei'), swapped('two', 'zwei')],
  ['with lines around it', numbers, n('@@', ' one', '-two', '+zwei', ' three'), swapped('two', 'zwei')],
  ['a line goes', numbers, n('@@', ' one', '-two'), swapped('two\n', '')],
  ['a line comes', numbers, n('@@', ' one', '+eins', ' two'), swapped('one\n', 'one\neins\n')],
  ['the first line', numbers, n('@@', '-one', '+eins'), swapped('one', 'eins')],
  ['the last line', numbers, n('@@', '-six', '+sechs'), swapped('six', 'sechs')],
  ['all lines', { 'a.txt': 'a\nb\n' }, whole(update('a.txt', '@@', '-a', '-b', '+c')), { 'a.txt': 'c\n' }],
  ['all lines go', { 'a.txt': 'a\nb\n' }, whole(update('a.txt', '@@', '-a', '-b')), { 'a.txt': '' }],
  ['something comes into an empty file', { 'a.txt': '' }, whole(update('a.txt', '@@', '+a')), { 'a.txt': 'a\n' }],
  ['what only comes stands at the cursor, first at the top', numbers, n('@@', '+zero'), { 'n.txt': `zero\n${NUMBERS}` }],
  ['and after the line that is named', numbers, n('@@ three', '+three and a half'), swapped('three\n', 'three\nthree and a half\n')],
  ['and at the end of the file', numbers, n('@@', '+seven', '*** End of File'), { 'n.txt': `${NUMBERS}seven\n` }],
  ['a context with marks on both sides', numbers, n('@@ three @@', '-four', '+vier'), swapped('four', 'vier')],
  [
    'a context sets the cursor',
    { 'a.txt': TWICE },
    whole(update('a.txt', '@@ middle', '-  a', '+  c')),
    { 'a.txt': 'start\n  a\n  b\nmiddle\n  c\n  b\nend\n' },
  ],
  [
    'without one the first place counts',
    { 'a.txt': TWICE },
    whole(update('a.txt', '@@', '-  a', '+  c')),
    { 'a.txt': 'start\n  c\n  b\nmiddle\n  a\n  b\nend\n' },
  ],
  [
    'a context is found in spite of its indentation',
    { 'a.txt': 'x\n    if (a) {\n      b\n' },
    whole(update('a.txt', '@@ if (a) {', '-      b', '+      c')),
    { 'a.txt': 'x\n    if (a) {\n      c\n' },
  ],
  [
    'a context above the cursor is found',
    numbers,
    n('@@ five', '-six', '+sechs', '@@ one', '-two', '+zwei'),
    { 'n.txt': 'one\nzwei\nthree\nfour\nfive\nsechs\n' },
  ],
  ['two chunks', numbers, n('@@', '-one', '+eins', '@@', '-six', '+sechs'), { 'n.txt': 'eins\ntwo\nthree\nfour\nfive\nsechs\n' }],
  [
    'the second goes on from the first',
    { 'a.txt': TWICE },
    whole(update('a.txt', '@@', '-  a', '+  c', '@@', '-  a', '+  d')),
    { 'a.txt': 'start\n  c\n  b\nmiddle\n  d\n  b\nend\n' },
  ],
  [
    'chunks in the wrong order',
    numbers,
    n('@@', '-five', '+fünf', '@@', '-two', '+zwei'),
    { 'n.txt': 'one\nzwei\nthree\nfour\nfünf\nsix\n' },
  ],
  [
    'three chunks that touch',
    numbers,
    n('@@', '-one', '+1', '@@', '-two', '+2', '@@', '-three', '+3'),
    { 'n.txt': '1\n2\n3\nfour\nfive\nsix\n' },
  ],
  ['more lines come than go', numbers, n('@@', '-two', '+a', '+b', '+c'), swapped('two', 'a\nb\nc')],
  ['fewer lines come than go', numbers, n('@@', '-two', '-three', '-four', '+x'), swapped('two\nthree\nfour', 'x')],
  [
    'removed and added lines in turn',
    numbers,
    n('@@', '-one', '+1', ' two', '-three', '+3', ' four'),
    { 'n.txt': '1\ntwo\n3\nfour\nfive\nsix\n' },
  ],
  [
    'the file has drifted',
    { 'n.txt': `new\nnew\n${NUMBERS}` },
    n('@@', ' one', '-two', '+zwei', ' three'),
    { 'n.txt': `new\nnew\n${NUMBERS.replace('two', 'zwei')}` },
  ],
  [
    'other indentation: the lines that stay keep theirs',
    { 'a.py': 'def f():\n        a\n        b\n' },
    whole(update('a.py', '@@', '     a', '-    b', '+        c')),
    { 'a.py': 'def f():\n        a\n        c\n' },
  ],
  [
    'tabs instead of blanks',
    { 'a.go': 'x {\n\ty\n\tz\n}\n' },
    whole(update('a.go', '@@', '   y', '-  z', '+\tw')),
    { 'a.go': 'x {\n\ty\n\tw\n}\n' },
  ],
  [
    'an exact place is better than one of other indentation',
    { 'a.txt': '    a\na\n' },
    whole(update('a.txt', '@@', '-a', '+b')),
    { 'a.txt': '    a\nb\n' },
  ],
  ['blank lines of a chunk', { 'a.txt': 'a\n\nb\n' }, whole(update('a.txt', '@@', ' a', ' ', '-b', '+c')), { 'a.txt': 'a\n\nc\n' }],
  ['whose space is missing', { 'a.txt': 'a\n\nb\n' }, whole(update('a.txt', '@@', ' a', '', '-b', '+c')), { 'a.txt': 'a\n\nc\n' }],
  ['a blank line goes', { 'a.txt': 'a\n\nb\n' }, whole(update('a.txt', '@@', ' a', '-', ' b')), { 'a.txt': 'a\nb\n' }],
  ['a blank line comes', { 'a.txt': 'a\nb\n' }, whole(update('a.txt', '@@', ' a', '+', ' b')), { 'a.txt': 'a\n\nb\n' }],
  [
    'the end of the file is meant',
    { 'a.txt': 'x\ny\nx\n' },
    whole(update('a.txt', '@@', '-x', '+z', '*** End of File')),
    { 'a.txt': 'x\ny\nz\n' },
  ],
  ['the end of the file is meant, and it stands elsewhere', numbers, n('@@', '-two', '+zwei', '*** End of File'), swapped('two', 'zwei')],
  [
    'line ends of Windows stay',
    { 'w.txt': 'a\r\nb\r\nc\r\n' },
    whole(update('w.txt', '@@', ' a', '-b', '+x', '+y')),
    { 'w.txt': 'a\r\nx\r\ny\r\nc\r\n' },
  ],
  [
    'mixed line ends stay where they are',
    { 'w.txt': 'a\r\nb\nc\r\nd\r\n' },
    whole(update('w.txt', '@@', '-c', '+x')),
    { 'w.txt': 'a\r\nb\nx\r\nd\r\n' },
  ],
  ['a patch with line ends of Windows', numbers, n('@@', '-two', '+zwei').replaceAll('\n', '\r\n'), swapped('two', 'zwei')],
  ['a byte order mark stays', { 'b.txt': '\uFEFFa\nb\n' }, whole(update('b.txt', '@@', '-a', '+x')), { 'b.txt': '\uFEFFx\nb\n' }],
  ['no line end at the end: another line changes', { 'o.txt': 'a\nb' }, whole(update('o.txt', '@@', '-a', '+x')), { 'o.txt': 'x\nb' }],
  ['no line end at the end: the last changes', { 'o.txt': 'a\nb' }, whole(update('o.txt', '@@', '-b', '+x')), { 'o.txt': 'a\nx' }],
  ['no line end at the end: one more comes', { 'o.txt': 'a\nb' }, whole(update('o.txt', '@@', ' b', '+c')), { 'o.txt': 'a\nb\nc' }],
  ['no line end at the end: the last goes', { 'o.txt': 'a\nb' }, whole(update('o.txt', '@@', ' a', '-b')), { 'o.txt': 'a' }],
  ['no line end, and those of Windows', { 'o.txt': 'a\r\nb' }, whole(update('o.txt', '@@', ' b', '+c')), { 'o.txt': 'a\r\nb\r\nc' }],
  [
    'a long file',
    { 'l.txt': `${'x\n'.repeat(5000)}needle\n${'x\n'.repeat(5000)}` },
    whole(update('l.txt', '@@', '-needle', '+pin')),
    { 'l.txt': `${'x\n'.repeat(5000)}pin\n${'x\n'.repeat(5000)}` },
  ],
  [
    'text of other scripts',
    { 'u.txt': 'größe\n日本語\n🙂\n' },
    whole(update('u.txt', '@@', ' größe', '-日本語', '+ελληνικά')),
    { 'u.txt': 'größe\nελληνικά\n🙂\n' },
  ],
  [
    'a line that begins with a sign',
    { 'a.txt': '- x\n+ y\n' },
    whole(update('a.txt', '@@', '-- x', '+- z', ' + y')),
    { 'a.txt': '- z\n+ y\n' },
  ],
  ['a file is renamed', numbers, n('*** Move to: m.txt'), { 'm.txt': NUMBERS }],
  [
    'a file is renamed and changed',
    numbers,
    n('*** Move to: d/m.txt', '@@', '-two', '+zwei'),
    { 'd/m.txt': NUMBERS.replace('two', 'zwei') },
  ],
  ['a binary file is renamed', { 'b.bin': '\u0000x' }, whole(update('b.bin', '*** Move to: c.bin')), { 'c.bin': '\u0000x' }],
  [
    'several files',
    { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' },
    whole('*** Add File: d.txt', '+d', '*** Delete File: b.txt', update('a.txt', '@@', '-a', '+x'), update('c.txt', '@@', '-c', '+y')),
    { 'a.txt': 'x\n', 'c.txt': 'y\n', 'd.txt': 'd\n' },
  ],
  [
    'with blank lines between them',
    { 'a.txt': 'a\n' },
    whole('*** Add File: d.txt', '+d', '', update('a.txt', '@@', '-a', '+x'), ''),
    { 'a.txt': 'x\n', 'd.txt': 'd\n' },
  ],
  ['one file twice', numbers, whole(update('n.txt', '@@', '-one', '+eins'), update('n.txt', '@@', '-eins', '+uno')), swapped('one', 'uno')],
  ['a file is added and changed', {}, whole('*** Add File: a.txt', '+a', update('a.txt', '@@', '-a', '+b')), { 'a.txt': 'b\n' }],
  ['a file is deleted and added anew', numbers, whole('*** Delete File: n.txt', '*** Add File: n.txt', '+new'), { 'n.txt': 'new\n' }],
  [
    'two names are exchanged',
    { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    whole(update('a.txt', '*** Move to: t.txt'), update('b.txt', '*** Move to: a.txt'), update('t.txt', '*** Move to: b.txt')),
    { 'a.txt': 'b\n', 'b.txt': 'a\n' },
  ],
  [
    'a renamed file makes room',
    { 'a.txt': 'a\n' },
    whole(update('a.txt', '*** Move to: b.txt'), '*** Add File: a.txt', '+new'),
    { 'a.txt': 'new\n', 'b.txt': 'a\n' },
  ],
  [
    'one path by two names',
    numbers,
    whole(update('n.txt', '@@', '-one', '+eins'), update('./n.txt', '@@', '-two', '+zwei')),
    { 'n.txt': 'eins\nzwei\nthree\nfour\nfive\nsix\n' },
  ],
  ['blanks around the patch', numbers, `\n\n${n('@@', '-two', '+zwei')}\n\n`, swapped('two', 'zwei')],
  ['a name with blanks', { 'a b.txt': 'a\n' }, whole(update('a b.txt', '@@', '-a', '+b')), { 'a b.txt': 'b\n' }],
]

const REFUSED: readonly Case[] = [
  ['no envelope', numbers, 'hello', /line 1: the patch begins with/],
  ['a unified diff', numbers, '--- a/n.txt\n+++ b/n.txt\n@@ -1 +1 @@\n-one\n+eins', /a unified diff is not taken/],
  ['no end', numbers, '*** Begin Patch\n*** Delete File: n.txt', /line 2: the patch ends with/],
  ['nothing in it', numbers, whole(), /changes nothing/],
  ['something else in it', numbers, whole('hello'), /line 2: .* is expected, not "hello"/],
  ['no name', numbers, whole('*** Delete File: '), /line 2: the name of the file is missing/],
  ...['\0', '\x1b', '\x7f', '\u009b'].flatMap((control): Case[] => [
    ['a name with a control character', numbers, whole(`*** Add File: c.txt${control}x`, '+x'), /line 2: .* control character/],
    ['a name with a control character', numbers, whole(`*** Delete File: n.txt${control}`), /line 2: .* control character/],
    ['a new name with a control character', numbers, n(`*** Move to: c.txt${control}x`), /line 3: .* control character/],
  ]),
  ['an added file without signs', {}, whole('*** Add File: a.txt', 'hello'), /line 3: every line of an added file/],
  ['something below a deleted file', numbers, whole('*** Delete File: n.txt', '-one'), /line 3: nothing stands below/],
  ['an update of nothing', numbers, n(), /line 2: nothing is changed/],
  ['a chunk that changes nothing', numbers, n('@@', ' one'), /the chunk changes nothing/],
  ['a chunk with stray text', numbers, n('@@', 'one'), /line 4: a line of a chunk begins with/],
  ['lines after the end of the file', numbers, n('@@', '-six', '*** End of File', '+seven'), /another chunk begins with/],
  ['a file that is there is added', numbers, whole('*** Add File: n.txt', '+x'), /n\.txt exists already/],
  ['a file that is not there is deleted', {}, whole('*** Delete File: a.txt'), /There is no file a\.txt/],
  ['a file that is not there is changed', {}, whole(update('a.txt', '@@', '-a', '+b')), /There is no file a\.txt/],
  [
    'a file is moved over another',
    { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    whole(update('a.txt', '*** Move to: b.txt')),
    /b\.txt exists already: nothing is moved/,
  ],
  ['a deleted file is changed', numbers, whole('*** Delete File: n.txt', update('n.txt', '@@', '-one', '+x')), /There is no file n\.txt/],
  ['lines that are not there', numbers, n('@@', '-seven', '+x'), /The chunk at line 3 of the patch does not fit: its lines, from "seven"/],
  ['lines that are there in another order', numbers, n('@@', '-two', '-one', '+x'), /does not fit/],
  ['a context that is not there', numbers, n('@@ seven', '+x'), /there is no line "seven"/],
  ['two chunks for one line', numbers, n('@@', '-two', '+a', '@@', '-two', '+b'), /changes lines that another chunk changes/],
  [
    'chunks that overlap',
    numbers,
    n('@@', ' one', '-two', '+a', ' three', '@@', ' two', '-three', '+b'),
    /changes lines that another chunk changes/,
  ],
  ['a binary file is changed', { 'n.txt': 'a\u0000b\n' }, n('@@', '-a', '+b'), /is a binary file and cannot be patched/],
  [
    'the last of several files does not fit',
    { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    whole('*** Add File: c.txt', '+c', update('a.txt', '@@', '-a', '+x'), update('b.txt', '@@', '-z', '+x')),
    /b\.txt: The chunk at line 9/,
  ],
]

describe('a patch', () => {
  test.each(APPLIED)('is applied: %s', async (_name, before, patch, after) => {
    const workspace = createWorkspace()
    for (const [name, content] of Object.entries(before)) workspace.put(name, content)
    await workspace.tool('apply_patch').run({ patchText: patch })
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    const found = names.flatMap((name) => (existsSync(workspace.path(name)) ? [[name, readFileSync(workspace.path(name), 'utf8')]] : []))
    expect(Object.fromEntries(found)).toEqual(after)
  })

  test.each(REFUSED)('is refused, and changes nothing: %s', async (_name, before, patch, message) => {
    const workspace = createWorkspace()
    for (const [name, content] of Object.entries(before)) workspace.put(name, content)
    expect(await workspace.tool('apply_patch').refusal({ patchText: patch })).toMatch(message as RegExp)
    for (const [name, content] of Object.entries(before)) expect(readFileSync(workspace.path(name), 'utf8')).toBe(content)
    for (const name of ['c.txt']) expect(existsSync(workspace.path(name))).toBe(false)
  })
})

describe('apply_patch', () => {
  const patchText = whole('*** Add File: new.txt', '+x', update('n.txt', '@@', '-two', '+zwei'), '*** Delete File: old.txt')

  it('asks once for all files, and for each directory outside', async () => {
    const workspace = createWorkspace()
    const needs = await workspace
      .tool('apply_patch')
      .needs({ patchText: whole('*** Delete File: a', '*** Delete File: b/c', '*** Delete File: /srv/x/d', '*** Delete File: /srv/x/e') })
    expect(needs.map(({ permission, patterns }) => [permission, patterns])).toEqual([
      ['external_directory', ['/srv/x/*']],
      ['edit', ['a', 'b/c', '/srv/x/d', '/srv/x/e']],
    ])
    expect(needs[1]?.title).toBe('Patch 4 files')
  })

  it('needs an explicit answer when one of them is protected', async () => {
    const reasons = async (paths: readonly string[]) => paths.map((path) => (path.endsWith('/b') ? 'it runs by itself' : undefined))
    const workspace = createWorkspace({ host: { protectedFiles: { reasons } } })
    const needs = await workspace.tool('apply_patch').needs({ patchText: whole('*** Delete File: a', '*** Delete File: b') })
    expect(needs[0]?.explicit).toBe('it runs by itself')
  })

  it('tells what it did, with the states of every file', async () => {
    const workspace = createWorkspace()
    workspace.put('n.txt', NUMBERS)
    workspace.put('old.txt', 'gone\n')
    const { output, title, metadata } = await workspace.tool('apply_patch').run({ patchText })
    expect([title, output]).toEqual(['3 files', 'Applied the patch, +2 -2 lines:\nA new.txt\nM n.txt\nD old.txt'])
    expect(metadata).toMatchObject({
      snapshots: [
        { path: 'new.txt', before: { exists: false }, after: { exists: true } },
        { path: 'n.txt', before: { exists: true }, after: { exists: true } },
        { path: 'old.txt', before: { exists: true }, after: { exists: false } },
      ],
      files: [{ type: 'add' }, { type: 'update' }, { type: 'delete' }],
    })
  })

  it('keeps the mode of a file that it moves', async () => {
    const workspace = createWorkspace()
    chmodSync(workspace.put('run.sh', '#!/bin/sh\n'), 0o755)
    await workspace.tool('apply_patch').run({ patchText: whole(update('run.sh', '*** Move to: go.sh')) })
    expect(statSync(workspace.path('go.sh')).mode & 0o777).toBe(0o755)
  })

  it('takes back what it wrote when a later file cannot be written', async () => {
    const workspace = createWorkspace()
    workspace.put('n.txt', NUMBERS)
    workspace.put('old.txt', 'gone\n')
    workspace.put('file', '')
    const text = whole(
      '*** Add File: new.txt',
      '+x',
      update('n.txt', '@@', '-two', '+zwei'),
      '*** Delete File: old.txt',
      '*** Add File: file/below',
      '+x',
    )
    await expect(workspace.tool('apply_patch').run({ patchText: text })).rejects.toThrow(/file\/below/)
    expect(readFileSync(workspace.path('n.txt'), 'utf8')).toBe(NUMBERS)
    expect([existsSync(workspace.path('new.txt')), existsSync(workspace.path('old.txt'))]).toEqual([false, true])
  })

  it('does nothing where a link leads elsewhere since it was judged', async () => {
    const workspace = createWorkspace()
    workspace.put('n.txt', NUMBERS)
    symlinkSync(workspace.path('n.txt'), workspace.path('link'))
    await workspace.tool('apply_patch').run({ patchText: whole(update('link', '@@', '-two', '+zwei')) })
    expect(readFileSync(workspace.path('n.txt'), 'utf8')).toBe(NUMBERS.replace('two', 'zwei'))
    expect(
      await workspace
        .tool('apply_patch')
        .invoke({ patchText: n('@@', '-one', '+x') })
        .catch(String),
    ).toMatch(/was not checked/)
  })
})

/** Files that no repository holds. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Flood, Flooded } from './scene.js'

const MiB = 1024 * 1024

/** In the repository of the place. */
export function makeFiles({ place: { repo }, size }: Flooded): void {
  const share = size === 'whole' ? 1 : 0.02
  writeFileSync(join(repo, 'line.txt'), 'a needle in hay '.repeat((100 * MiB * share) / 16))
  writeFileSync(join(repo, 'lines.txt'), 'a needle\n'.repeat((100 * MiB * share) / 9))
  writeFileSync(join(repo, 'editable.txt'), 'some words of a line \n'.repeat((9 * MiB * share) / 22))
  writeFileSync(join(repo, 'near.txt'), '  if (a) {\n    return b\n  }\n'.repeat(20_000 * share))
  mkdirSync(join(repo, 'many'))
  for (let index = 0; index < 200_000 * share; index++) writeFileSync(join(repo, 'many', `file-${index}.txt`), '')
  mkdirSync(join(repo, 'deep'))
  mkdirSync(join(repo, 'deep', ...Array.from({ length: 500 }, () => 'd')), { recursive: true })
  mkdirSync(join(repo, 'cycle'))
  symlinkSync('..', join(repo, 'cycle', 'up'))
  symlinkSync('self', join(repo, 'cycle', 'self'))
  for (let index = 0; index < 2000 * share; index++) symlinkSync(`link-${index + 1}`, join(repo, 'cycle', `link-${index}`))
  execFileSync('mkfifo', [join(repo, 'fifo')])
}

const once = (name: string, tool: string, ...inputs: readonly object[]): Flood => ({ name, run: ({ callTool }) => callTool(tool, inputs) })

export const FILES: readonly Flood[] = [
  once('read a file of one line', 'read', { filePath: 'line.txt' }),
  once('read the end of a long file', 'read', { filePath: 'lines.txt', offset: 11_000_000 }, { filePath: 'lines.txt', offset: 99_999_999 }),
  once('grep a file of one line', 'grep', { pattern: 'needle', path: 'line.txt' }, { pattern: '(a+)+$', path: 'line.txt' }),
  once('grep a long file', 'grep', { pattern: 'needle', path: 'lines.txt' }, { pattern: '.*.*.*x', path: 'lines.txt' }),
  once('grep everything', 'grep', { pattern: 'needle' }, { pattern: 'nothing of this' }),
  once('edit a file of one line', 'edit', { filePath: 'line.txt', oldString: 'needle', newString: 'b', replaceAll: true }),
  once('edit a long file', 'edit', { filePath: 'editable.txt', oldString: 'words', newString: 'b', replaceAll: true }),
  once('edit what is not there', 'edit', { filePath: 'editable.txt', oldString: 'some  words of  a line\nnot there', newString: 'b' }),
  once('edit what nearly fits', 'edit', {
    filePath: 'near.txt',
    oldString: 'if (a) {\nreturn c\n}\n'.repeat(200),
    newString: 'b',
  }),
  once('edit with a large text', 'edit', { filePath: 'editable.txt', oldString: 'x'.repeat(400_000), newString: 'b' }),
  once('read a directory of many files', 'read', { filePath: 'many' }, { filePath: 'many', offset: 150_000 }),
  once('glob many files', 'glob', { pattern: 'many/*.txt' }, { pattern: '**/*{1,2,3,4}*.txt' }, { pattern: '*'.repeat(200) }),
  once('grep many files', 'grep', { pattern: 'needle', path: 'many' }),
  once('a name that is nearly one of many', 'read', { filePath: 'many/file-x.txt' }),
  once('a deep directory', 'glob', { pattern: '**/nothing', path: 'deep' }, { pattern: `${'d/'.repeat(400)}*` }),
  once('links in cycles', 'glob', { pattern: '**/*.txt', path: 'cycle' }, { pattern: 'cycle/up/cycle/up/cycle/up/**/x' }),
  once(
    'read links in cycles',
    'read',
    { filePath: 'cycle/self' },
    { filePath: 'cycle/link-0' },
    { filePath: `cycle/${'up/cycle/'.repeat(400)}x` },
  ),
  once(
    'read what is no file',
    'read',
    ...['fifo', '/dev/zero', '/dev/full', '/dev/random', '/proc/self/mem', '/proc/kmsg', '/dev/tty'].map((filePath) => ({ filePath })),
  ),
  once('change what is no file', 'edit', ...['fifo', '/dev/zero'].map((filePath) => ({ filePath, oldString: 'a', newString: 'b' }))),
  once('grep what is no file', 'grep', { pattern: 'a', path: 'fifo' }, { pattern: 'a', path: '/dev/zero' }),
  once('a long name', 'read', { filePath: 'a/'.repeat(2000) }, { filePath: 'a'.repeat(4000) }),
  once('a large file written', 'write', ...[0, 1, 2, 3].map((index) => ({ filePath: `new-${index}`, content: 'a\n'.repeat(170_000) }))),
  once('a large file replaced', 'write', ...[0, 1, 2, 3].map((index) => ({ filePath: `new-${index}`, content: 'b\n'.repeat(170_000) }))),
]
const SAMPLE = [
  'read a file of one line',
  'grep a file of one line',
  'edit a long file',
  'glob many files',
  'links in cycles',
  'read what is no file',
]
export const SAMPLED_FILES = FILES.filter(({ name }) => SAMPLE.includes(name))

// Holds subsystems b.9.
import { describe, expect, it } from 'vitest'
import { expandCommand, splitArguments } from '../../../src/machines/session/command.js'
import { inclusionsOf } from '../../../src/machines/session/command-inclusions.js'

const expand = (template: string, written: string) => expandCommand(template, written, 1000)

describe('a template', () => {
  it.each([
    ['first=$1 rest=$2', "one 'two three' four", 'first=one rest=two three four'],
    ['$2 $1', 'a b', 'b a'],
    ['<$1><$2>', 'a', '<a><>'],
    ['all: $ARGUMENTS.', ' a  "b" ', 'all:  a  "b" .'],
    ['$1 of $ARGUMENTS', 'a b', 'a b of a b'],
    ['Go.', ' now ', 'Go.\n\n now'],
    ['Go.', ' ', 'Go.'],
    ['costs $0 or $x', '', 'costs $0 or $x'],
    ['$1', '$2 $ARGUMENTS', '$2 $ARGUMENTS'],
  ])('%j with %j', (template, written, expected) => {
    expect(expand(template, written)).toBe(expected)
  })

  it('is not expanded beyond what a prompt may hold, however often arguments are named', () => {
    expect(expandCommand('$ARGUMENTS '.repeat(50_000), 'x'.repeat(1_000_000), 2_000_000)).toBeUndefined()
    expect(expandCommand('Go.', 'x'.repeat(10), 5)).toBeUndefined()
  })
})

describe('arguments', () => {
  it.each([
    ['a  b\tc', ['a', 'b', 'c']],
    [`'a b' "c 'd'" ''`, ['a b', "c 'd'", '']],
    ['[a b] c', ['[a b]', 'c']],
    [`it's "open [too`, ["it's", '"open', '[too']],
    ['', []],
  ])('%j', (written, expected) => {
    expect(splitArguments(written)).toEqual(expected)
  })

  it('of many open brackets are split in one pass', () => {
    expect(splitArguments('[ '.repeat(200_000))).toHaveLength(200_000)
  })
})

describe('inclusions', () => {
  const inclusions = (template: string, written = '') =>
    inclusionsOf(template, written, 1000)?.map((found) => (found.type === 'shell' ? `$ ${found.command}` : found.path))

  it.each([
    ['See @src/a.ts, @b.md. Then !`git log -$1`!', '5 more', ['src/a.ts', 'b.md', '$ git log -5 more']],
    ['!`cat @x` and @x and @x', '', ['$ cat @x', 'x']],
    ['@$1 of @$2', 'one "two three"', ['one', 'two three']],
    ['mail a@b.c, `@code`, @@ and @', '', []],
    ['Go.', '!`rm x` @y', []],
  ])('of %j with %j', (template, written, expected) => {
    expect(inclusions(template, written)).toEqual(expected)
  })

  it('do not grow beyond what a prompt may hold', () => {
    expect(inclusionsOf('!`echo $ARGUMENTS`', 'x'.repeat(2000), 1000)).toBeUndefined()
  })
})

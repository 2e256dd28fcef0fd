import { describe, expect, it } from 'vitest'
import { expandCommand, splitArguments } from '../../src/machines/command.js'

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

import { describe, expect, it } from 'vitest'
import { expandCommand, expandTemplate, splitArguments } from '../../../src/actors/resource/commands.js'
import { containing } from './matchers.js'
import { createWorkspace } from './workspace.js'

describe('expanding a template', () => {
  it.each([
    ['first=$1 rest=$2', "one 'two three' four", 'first=one rest=two three four'],
    ['$1', 'a b c', 'a b c'],
    ['$2-$1', 'a b c', 'b c-a'],
    ['[$1][$2][$3]', 'a', '[a][][]'],
    ['all: $ARGUMENTS', 'a  "b c"', 'all: a  "b c"'],
    ['$1 of $ARGUMENTS', 'a b', 'a b of a b'],
    ['plain', 'a b', 'plain\n\na b'],
    ['plain', '   ', 'plain'],
    ['  plain  ', '', 'plain'],
    ['$1', '$ARGUMENTS $2', '$ARGUMENTS $2'],
    ['costs $0 and $ARGUMENTSX', 'x', 'costs $0 and $ARGUMENTSX\n\nx'],
    ['see $1 and $1', 'a b', 'see a b and a b'],
    ['run !`rm -rf /` on @file', '', 'run !`rm -rf /` on @file'],
  ])('%j with %j', (template, args, expected) => {
    expect(expandTemplate(template, args)).toBe(expected)
  })

  it('splits arguments at white space, keeping quoted and bracketed ones whole', () => {
    expect(splitArguments(`a  "b c" 'd "e"' [Image 1] it's "open`)).toEqual(['a', 'b c', 'd "e"', '[Image 1]', "it's", '"open'])
  })

  it('spells a command without a template out', () => {
    expect(expandCommand({ name: 'summarize' }, 'now')).toBe('/summarize now')
    expect(expandCommand({ name: 'summarize' }, '')).toBe('/summarize')
    expect(expandCommand({ name: 'go', template: 'Go $1.' }, 'home')).toBe('Go home.')
  })
})

describe('commands of a directory', () => {
  it('are the built-in ones', async () => {
    const workspace = createWorkspace()
    expect(await workspace.resources.commands(workspace.work)).toEqual([
      { name: 'init', description: 'Study the project and write AGENTS.md.', template: containing('AGENTS.md') },
      { name: 'summarize', description: 'Summarise the conversation so far.' },
    ])
  })

  it('merge configured ones over them', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', {
      command: { summarize: { template: 'Sum up.', agent: 'plan', model: 'a/b' }, init: { description: 'Mine.' } },
    })
    expect(await workspace.resources.commands(workspace.work)).toEqual([
      { name: 'init', description: 'Mine.', template: containing('AGENTS.md') },
      { name: 'summarize', description: 'Summarise the conversation so far.', template: 'Sum up.', agent: 'plan', model: 'a/b' },
    ])
  })
})

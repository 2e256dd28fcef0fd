import { describe, expect, test } from 'vitest'
import type { Heard } from '../../../src/cli/screen/story/heard.js'
import { blockLines, more, NOTHING, type OpenText, take, takeAll } from '../../../src/cli/screen/story/open-text.js'
import { createStory, type Story } from '../../../src/cli/screen/story/story.js'
import type { Line } from '../../../src/cli/terminal/span.js'

const texts = (lines: readonly Line[]) =>
  lines.map((line) =>
    line
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  )
const event = (type: string, data: object): Heard => ({ type, data }) as unknown as Heard

const ROOT = 'ses_1'
const time = { created: 1, completed: 2 }
const info = (id: string, more: object = {}, sessionId = ROOT) =>
  event('message.updated', {
    sessionID: sessionId,
    info: { id, role: 'assistant', sessionId, mode: 'build', time: { created: 1 }, ...more },
  })
const user = (id: string) =>
  event('message.updated', { sessionID: ROOT, info: { id, role: 'user', sessionId: ROOT, time: { created: 1 } } })
const part = (id: string, messageId: string, fields: object, sessionId = ROOT) =>
  event('message.part.updated', { sessionID: sessionId, part: { id, messageId, sessionId, ...fields }, time: 1 })
const delta = (partID: string, messageID: string, text: string, partType = 'text') =>
  event('message.part.delta', { sessionID: ROOT, messageID, partID, partType, field: 'text', delta: text })
const idle = event('session.status', { sessionID: ROOT, status: { type: 'idle' } })
const call = (id: string, status: string, more: object = {}) => ({
  type: 'tool',
  tool: 'bash',
  callId: id,
  state: { status, input: { command: 'ls' }, output: 'a\nb', title: 'ls', metadata: {}, time: { start: 0, end: 1 }, ...more },
})

function open(isThinking = false): Story {
  return createStory({
    sessionId: ROOT,
    isVerbose: false,
    isThinking: () => isThinking,
    isEchoed: () => false,
    now: () => 5000,
    isAfter: false,
  })
}
function heard(story: Story, ...events: readonly Heard[]): Story {
  for (const each of events) story.hear(each)
  return story
}
const done = (story: Story, width = 60) => texts(story.take(width, 20))
const live = (story: Story, width = 60) => texts(story.live(width, 20))

describe('a story', () => {
  const turn = [
    user('m1'),
    part('p1', 'm1', { type: 'text', text: 'do it' }),
    info('m2'),
    part('p2', 'm2', { type: 'reasoning', text: 'I think\nmore', time: { start: 1000, end: 2000 } }),
    delta('p3', 'm2', 'First **one**.\n\nSec'),
    part('p4', 'm2', call('c1', 'completed')),
    delta('p5', 'm2', 'Last.'),
    info('m2', { time }),
    idle,
  ]
  const said = ['› do it', '', '∴ thought 1.0 s: I think', '', 'First one.', '', 'Sec', '', '● bash ls', '  a', '  b', '', 'Last.']

  test('tells a turn once, in its order', () => {
    const story = heard(open(), ...turn)
    expect([done(story), live(story), story.activity]).toEqual([said, [], undefined])
  })

  test('tells nothing twice, however often it is heard', () => {
    const story = open()
    const told = turn.flatMap((each) => {
      heard(story, each, ...turn.slice(0, turn.indexOf(each) + 1).filter(({ type }) => type !== 'message.part.delta'))
      return done(story)
    })
    heard(story, ...turn)
    expect([told.filter((line) => line !== ''), done(story)]).toEqual([said.filter((line) => line !== ''), []])
  })

  test('is the same at once and piece by piece', () => {
    const story = open()
    expect(turn.flatMap((each) => done(heard(story, each)))).toEqual(said)
  })

  test('shows text as it comes, and adds what a whole part has more', () => {
    const story = heard(open(), info('m2'), delta('p', 'm2', 'Half a **par'))
    expect([done(story), live(story), story.activity?.text]).toEqual([[], ['Half a **par'], 'writing'])
    heard(story, part('p', 'm2', { type: 'text', text: 'Half a **paragraph**' }), delta('p', 'm2', ' and more'))
    expect(live(story)).toEqual(['Half a paragraph and more'])
    heard(story, part('p', 'm2', { type: 'text', text: 'Half a **paragraph** and more', time: { start: 0, end: 1 } }))
    expect([done(story), live(story)]).toEqual([['Half a paragraph and more'], []])
  })

  test('says of a step that failed that it does not count', () => {
    const story = heard(open(), info('m2'), part('s1', 'm2', { type: 'step-start' }), delta('p', 'm2', 'Wrong.\n\nand'))
    expect(done(story)).toEqual(['Wrong.'])
    heard(story, part('s2', 'm2', { type: 'step-start' }), delta('q', 'm2', 'Right.'), info('m2', { time }))
    expect(done(story)).toEqual(['', 'the attempt failed; what it said above does not count', '', 'Right.'])
  })

  test('shows what runs, what failed, and that it was interrupted', () => {
    const story = heard(open(), info('m2'), part('p', 'm2', call('c', 'running')))
    expect([live(story), story.activity?.text]).toEqual([['○ bash ls'], 'bash'])
    heard(
      story,
      part('p', 'm2', call('c', 'error', { error: 'no such file' })),
      info('m2', { time, error: { message: 'Aborted', interrupted: true } }),
    )
    expect(done(story)).toEqual(['✗ bash ls', '  no such file', '', 'interrupted'])
  })

  test('loses no text of a step that began with an empty one, and thought first', () => {
    const story = heard(
      open(),
      info('m2'),
      part('s1', 'm2', { type: 'step-start' }),
      part('p1', 'm2', { type: 'text', text: '', time: { start: 1 } }),
      part('p2', 'm2', { type: 'reasoning', text: '', time: { start: 1000 } }),
      delta('p2', 'm2', 'Hm.', 'reasoning'),
      delta('p1', 'm2', 'First.'),
    )
    expect([done(story), live(story)]).toEqual([['∴ thought 4.0 s: Hm.'], ['', 'First.']])
    heard(story, delta('p3', 'm2', 'Again.', 'reasoning'), delta('p1', 'm2', '\n\nSecond.'))
    heard(story, info('m2', { time }), part('p1', 'm2', { type: 'text', text: 'First.\n\nSecond.', time: { start: 1, end: 2 } }))
    expect([done(story), live(story)]).toEqual([['', 'First.', '', '∴ thought: Again.', '', 'Second.'], []])
  })

  test('shows no summary that stands for the conversation, and what the runtime tells the agent in a line', () => {
    const told = { id: 'm3', role: 'user', sessionId: ROOT, time: { created: 1 }, system: '<svc-runtime-notification>' }
    const story = heard(
      open(),
      info('m2', { mode: 'compaction' }),
      delta('p1', 'm2', 'A summary.'),
      part('p1', 'm2', { type: 'text', text: 'A summary.' }),
      info('m2', { mode: 'compaction', time }),
      event('message.updated', { sessionID: ROOT, info: told }),
      part('p2', 'm3', { type: 'text', text: 'A task has ended.\n\nstatus: completed\n<task_result>\nlong\n</task_result>' }),
    )
    expect([done(story), live(story)]).toEqual([['told: A task has ended. · status: completed'], []])
  })

  test('has what subagents do below what began them', () => {
    const created = (id: string, parentId: string) =>
      event('session.created', { sessionID: id, info: { id, parentId, agent: 'explore', title: 't' } })
    const story = heard(
      open(),
      created('ses_2', ROOT),
      created('ses_3', 'ses_2'),
      info('c1', {}, 'ses_2'),
      part('p', 'c1', call('c', 'completed'), 'ses_2'),
      part('q', 'c2', call('d', 'completed'), 'ses_3'),
      part('r', 'c9', call('e', 'completed'), 'ses_other'),
    )
    expect(done(story)).toEqual(['│ ● bash ls', '│ │ ● bash ls'])
  })

  test('shows all that is thought where that is wanted', () => {
    const story = heard(open(true), info('m2'), delta('p', 'm2', 'I think\nand think', 'reasoning'))
    expect(live(story)).toEqual(['∴ thinking  0.0 s', 'I think', 'and think'])
    heard(story, idle)
    expect(done(story)).toEqual(['∴ thought', 'I think', 'and think'])
  })
})

describe('a text that is being written', () => {
  /** Everything that was done, at last all of it; and the highest that was open. */
  function written(text: string, step: number, width = 40, height = 8) {
    let open: OpenText = NOTHING
    const pieces = []
    let highest = 0
    for (let at = 0; at < text.length; at += step) {
      const taken = take(more(open, text.slice(at, at + step)), width, height)
      pieces.push(...taken.done)
      open = taken.open
      highest = Math.max(highest, blockLines(open.rest, width).length)
    }
    const all = [...pieces, ...takeAll(open)]
    return { lines: all.flatMap(({ text: piece }) => texts(blockLines(piece, width))), highest }
  }
  const code = `Before.\n\n\`\`\`js\n${Array.from({ length: 60 }, (_, index) => `let a${index} = 1`).join('\n')}\n\`\`\`\n\nAfter.`
  const prose = `${Array.from({ length: 300 }, (_, index) => `word${index}`).join(' ')}.`
  const list = Array.from({ length: 40 }, (_, index) => `${index + 1}. item ${index}`).join('\n')

  test.each([1, 7, 50])('never is higher than there is room, and nothing is lost, by %i characters', (step) => {
    for (const text of [code, prose, list]) {
      const { lines, highest } = written(text, step)
      const words = (all: string) => all.match(/[\w.]+/g)?.filter((word) => word !== 'js')
      expect(words(lines.join(' '))).toEqual(words(text))
      expect(highest).toBeLessThanOrEqual(8 + step)
    }
  })
})

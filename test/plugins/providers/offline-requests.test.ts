import { describe, expect, it } from 'vitest'
import { understand } from '../../../src/plugins/providers/offline/requests.js'

const calls = (prompt: string) => understand(prompt).map((request) => ('tool' in request ? { [request.tool]: request.input } : request))

describe('the offline model understands', () => {
  it.each([
    ['read @b.py', [{ read: { filePath: 'b.py' } }]],
    [
      'read a.txt\n[image: shot.png]\n\n[shot.png (image/png) was not sent: the model does not take it]',
      [{ read: { filePath: 'a.txt' } }, { attached: 'shot.png' }],
    ],
    ['read a.txt', [{ read: { filePath: 'a.txt' } }]],
    ['Please read the file src/a b.txt', [{ unclear: 'read the file src/a b.txt' }]],
    ['please read "a b.txt".', [{ read: { filePath: 'a b.txt' } }]],
    ['show me a.txt from line 3 to 7', [{ read: { filePath: 'a.txt', offset: 3, limit: 5 } }]],
    ['list', [{ read: { filePath: '.' } }]],
    ['list files in src', [{ read: { filePath: 'src' } }]],
    ['search for "two words" in src.', [{ grep: { pattern: 'two words', path: 'src' } }]],
    ['grep needle', [{ grep: { pattern: 'needle' } }]],
    ['find files like *.ts in test', [{ glob: { pattern: '*.ts', path: 'test' } }]],
    ['write notes/a.txt: hello: world', [{ write: { filePath: 'notes/a.txt', content: 'hello: world' } }]],
    [
      'edit a.txt: replace "x" with \'y z\' everywhere',
      [{ edit: { filePath: 'a.txt', oldString: 'x', newString: 'y z', replaceAll: true } }],
    ],
    ['run `ls -la; echo then done`', [{ bash: { command: 'ls -la; echo then done', description: 'Run ls -la; echo then done' } }]],
    ['$ echo hi.', [{ bash: { command: 'echo hi.', description: 'Run echo hi.' } }]],
    ['plan: a, b', [{ todowrite: { todos: ['a', 'b'].map((content) => ({ content, status: 'pending', priority: 'medium' })) } }]],
    [
      'delegate to explore: look around',
      [{ task: { description: 'look around', prompt: 'look around', subagent_type: 'explore', background: false } }],
    ],
    ['call hello {"name": "Ada", "loud": true}.', [{ hello: { name: 'Ada', loud: true } }]],
    ['call the tool count_words', [{ count_words: {} }]],
    ['call a-b with {"when": "now, then later"}', [{ 'a-b': { when: 'now, then later' } }]],
    ['call hello {"name": "Ada"}, then list', [{ hello: { name: 'Ada' } }, { read: { filePath: '.' } }]],
    ['call hello {name: Ada}', [{ unclear: 'call hello {name: Ada}' }]],
    ['read a.txt and then list src', [{ read: { filePath: 'a.txt' } }, { read: { filePath: 'src' } }]],
    [
      '1. read a.txt\n\n2) now run pwd\n- make me rich',
      [{ read: { filePath: 'a.txt' } }, { bash: { command: 'pwd', description: 'Run pwd' } }, { unclear: 'make me rich' }],
    ],
    ['help', [{ help: true }]],
  ])('%s', (prompt, expected) => {
    expect(calls(prompt)).toEqual(expected)
  })

  it('asks with the given options, or yes and no', () => {
    const options = (...labels: string[]) => labels.map((label) => ({ label, description: label }))
    expect(calls('ask Which colour? (red / green)')).toEqual([
      { question: { questions: [{ question: 'Which colour?', header: 'Which colour?', options: options('red', 'green') }] } },
    ])
    expect(calls('ask me: Go on?')).toEqual([
      { question: { questions: [{ question: 'Go on?', header: 'Go on?', options: options('Yes', 'No') }] } },
    ])
  })

  it('takes the lines after "write" as content, up to the next request or the end of a fenced block', () => {
    expect(calls('write a.txt:\none\ntwo\nread a.txt')).toEqual([
      { write: { filePath: 'a.txt', content: 'one\ntwo' } },
      { read: { filePath: 'a.txt' } },
    ])
    expect(calls('1. write a.md:\n```md\nlist\n```\n2. list')).toEqual([
      { write: { filePath: 'a.md', content: 'list\n' } },
      { read: { filePath: '.' } },
    ])
  })
})

/** What `svc request` takes. */
import { type Group, JSON_OUT, SERVER, type Word } from '../../line/page.js'

const COMMON = { server: { ...SERVER, otherwise: 'the local one' }, json: JSON_OUT } as const
const REQUEST = { name: 'request', needs: 'the number of a request, or its id; see svc requests' } as const satisfies Word

export const REQUEST_PAGES = {
  name: 'request',
  alias: 'requests',
  summary: 'list and answer what waits for you, in every session; also svc requests',
  pages: [
    {
      name: 'request list',
      summary: 'permissions and questions that wait for an answer',
      words: [],
      options: {
        session: { type: 'text', value: 'id', completes: 'session', help: 'only of this session and those it delegated to' },
        watch: { type: 'flag', help: 'go on, and tell what is asked and answered from now on' },
        ...COMMON,
      },
      examples: [
        ['svc requests', 'every one that waits'],
        ['svc requests --watch', 'and those that come, until Ctrl-C'],
      ],
    },
    {
      name: 'request answer',
      summary: 'answer one: y, a, w or n to a permission, a text to a question',
      words: [REQUEST, { name: 'answer', many: true }],
      options: {
        decline: { type: 'flag', help: 'refuse the permission, or leave the question without an answer' },
        ...COMMON,
      },
      examples: [
        ['svc requests answer 1 y', 'allows it, this time'],
        ['svc requests answer 1 a', 'and remembers that; svc permissions lists it'],
        ['svc requests answer 2 "use the other file"', 'to a permission: no, and what to do instead'],
        ['svc requests answer 3 1 "my own words"', 'two questions at once: the first option, and a text'],
      ],
    },
    {
      name: 'request show',
      summary: 'one request, and what became of it: which answer counted, whose it was and when',
      words: [REQUEST],
      options: COMMON,
      examples: [['svc requests show per_…', 'also when it is long answered']],
    },
  ],
  notes: [
    'A number stays with its request: it is never given to another one while it can be confused. y: this time. a: always, what is exactly the same. w: always, and also the wider patterns that are shown. n: no. Any other text is a no that the agent reads.',
    'Whoever answers second is told which answer counted, and the exit code is 1.',
  ],
} as const satisfies Group

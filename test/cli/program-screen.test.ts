// The conversation that `svc` alone opens: the built program at real terminals, beside one server.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGate, finish, hold, refusal, reply, startModelServer, text } from '../fixtures/model-server.js'
import { across, CTRL, flat, leave, openConversation, type Opening, script } from './conversation.js'
import { type Home, makeHome } from './program.js'

let home: Home
let url: string
let model: Awaited<ReturnType<typeof startModelServer>>
const half = createGate()

const never = { delayMs: 60_000, text: 'never' }

beforeAll(async () => {
  model = await startModelServer(({ body }) => {
    if (body?.tools === undefined) return reply(text('A title'), finish('stop'))
    if (JSON.stringify(body.messages).includes('half'))
      return reply(text('Half a paragraph,'), hold(half), text(' and the **rest**.'), finish('stop'))
    return refusal(500, 'no reply is left')
  })
  home = makeHome()
  mkdirSync(join(home.path, '.config/svc'), { recursive: true })
  const scripted = {
    npm: '@ai-sdk/openai-compatible',
    auth: 'none',
    options: { baseURL: model.url },
    models: { scripted: { name: 'Scripted' } },
  }
  const config = { model: 'svc/offline', permission: { bash: 'ask' }, provider: { test: scripted } }
  writeFileSync(join(home.path, '.config/svc/config.json'), JSON.stringify(config))
  ;({ url } = await home.serve())
})
afterAll(async () => {
  await home.close()
  await model.close()
})

const open = (opening: Opening = {}) => openConversation(home, opening)

const TURN = script(
  {
    text: '# Plan\n\nI change **two** and look at what is there, which takes a line of its own and more:\n\n- first `a.txt`\n- then the rest',
  },
  {
    tool: 'todowrite',
    input: {
      todos: [
        { content: 'change a.txt', status: 'completed', priority: 'high' },
        { content: 'look 漢字', status: 'in_progress', priority: 'low' },
      ],
    },
  },
  { text: 'Now the edit.' },
  { tool: 'edit', input: { filePath: 'a.txt', oldString: 'two', newString: 'zwei' } },
  { text: 'And a look.' },
  { tool: 'read', input: { filePath: 'nothing.txt' } },
  { text: 'Done.' },
)

/** Of the turn, whatever the width breaks. */
const SHOWN = [
  'Plan',
  'I change two and look at what is there, which takes a line of its own and more:',
  '• first a.txt',
  '• then the rest',
  '● todowrite 1 todo',
  '☑ change a.txt',
  '▸ look 漢字',
  'Now the edit.',
  '● edit a.txt',
  '@@ -1,3 +1,3 @@ one -two +zwei three',
  'And a look.',
  '✗ read nothing.txt',
  'File not found: nothing.txt.',
  'Done.',
]

/** What comes is whole: whoever leaves before that leaves what is being written. */
const AT_REST = { test: (shown: string) => !shown.includes('Ctrl-C stops it'), toString: () => 'a conversation at rest' }

describe.each([40, 80, 200])('at %i columns', (cols) => {
  test.each(['', '1'])('a turn stands there once, with NO_COLOR="%s" too', async (NO_COLOR) => {
    const at = home.elsewhere()
    writeFileSync(join(at.workspace, 'a.txt'), 'one\ntwo\nthree\n')
    const screen = open({ at, env: { NO_COLOR }, size: { cols, rows: 30 } })
    await screen.shows(/^› $/m)
    screen.say(TURN)
    await screen.shows(/^Done\.$[^]*svc\/offline/m)
    await screen.shows(AT_REST)
    const { code, screen: shown } = await leave(screen)
    expect([code, shown.replaceAll(/\s/g, '')]).toEqual([0, expect.stringContaining(SHOWN.join('').replaceAll(' ', ''))])
  })
})

test('text is there as it comes, and its marks once its paragraph is whole', async () => {
  const screen = open({ args: ['--model', 'test/scripted'] })
  await screen.shows(/^› $/m)
  screen.say('half')
  await screen.shows(/^Half a paragraph,$/m)
  half.open()
  await screen.shows(/^Half a paragraph, and the rest\.$/m)
  expect((await leave(screen)).code).toBe(0)
})

test('what is being written when somebody leaves stays as far as it was seen', async () => {
  const screen = open()
  await screen.shows(/^› $/m)
  screen.say(script({ text: 'All of it.\n\nAnd this' }, { delayMs: 60_000, text: ' never' }))
  await screen.shows(/^And this$/m)
  const { code, screen: shown } = await leave(screen)
  expect([code, shown]).toEqual([0, expect.stringMatching(/^All of it\.$[^]*^And this$/m)])
})

test('what is asked is shown and answered, and what was being typed waits for that', async () => {
  const screen = open()
  await screen.shows(/^› $/m)
  screen.say(script({ delayMs: 300, text: 'I ask.' }, { tool: 'bash', input: { command: 'echo allowed' } }, { text: 'Ran.' }))
  await screen.shows(/Ctrl-C stops it/)
  screen.type('a thought')
  await screen.shows(/^Allow Run: echo allowed[^]*^› $/m)
  screen.type('y\r')
  await screen.shows(/^Ran\.$[^]*^› a thought$/m)
  await screen.shows(AT_REST)
  screen.type(CTRL.u)
  const { code, screen: shown } = await leave(screen)
  expect([code, shown]).toEqual([
    0,
    expect.stringMatching(/^allowed once: Run: echo allowed[^]*^● bash echo allowed$[^]*^ {2}allowed$[^]*^Ran\.$/m),
  ])
})

test('a request that is answered elsewhere is gone here', async () => {
  const screen = open()
  await screen.shows(/^› $/m)
  screen.say(script({ tool: 'bash', input: { command: 'echo elsewhere' } }, { text: 'Went on.' }))
  await screen.shows(/^Allow Run: echo elsewhere/m)
  const pending = (await (await fetch(`${url}/v2/interactions/permissions`)).json()) as readonly {
    readonly id: string
    readonly title: string
  }[]
  const id = pending.find(({ title }) => title.includes('echo elsewhere'))?.id ?? ''
  await fetch(`${url}/v2/interactions/permissions/${id}/reply`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"reply":"reject"}',
  })
  await screen.shows(/^refused elsewhere: Run: echo elsewhere/m)
  expect(screen.screen()).not.toMatch(/\[y\] once/)
  await leave(screen)
})

test('Ctrl-C stops the run and gives back what waits; again, and once more, it leaves', async () => {
  const screen = open()
  await screen.shows(/^› $/m)
  screen.say(script({ text: 'Begun.\n\nThen' }, never))
  await screen.shows(/^Then$/m)
  screen.say('steered')
  await screen.shows(/waits: steered/)
  screen.say('/queue queued')
  await screen.shows(/waits: queued/)
  screen.type(CTRL.c)
  await screen.shows(/^interrupted$[^]*^› steered\n {2}queued$/m)
  expect(screen.screen()).not.toMatch(/waits:/)
  screen.type(CTRL.c)
  await screen.shows(/^› $/m)
  screen.type(CTRL.c)
  await screen.shows(/Ctrl-C again/)
  screen.type(CTRL.c)
  expect((await screen.ended).code).toBe(0)
})

test('a command of the person is run and shown, and what was typed before is found again', async () => {
  const screen = open()
  await screen.shows(/^› $/m)
  screen.type('!echo by hand\r')
  await screen.shows(/^Allow Run: echo by hand/m)
  screen.type('y\r')
  await screen.shows(/● .*echo by hand[^]*^ {2}by hand$/m)
  screen.type(`${CTRL.r}by ha`)
  await screen.shows(/^› !echo by hand\n {2}search: by ha/m)
  screen.type(`\r${CTRL.u}/stat`)
  await screen.shows(/^› \/stat\n {2}\/status$/m)
  screen.type('\t\r')
  await screen.shows(/^directory {2}/m)
  await leave(screen)
})

test('a conversation goes on with what was said, its newest part first', async () => {
  const at = home.elsewhere()
  const first = open({ at })
  await first.shows(/^› $/m)
  first.say(script({ text: 'The first answer.' }))
  await first.shows(/^The first answer\.$/m)
  first.say('/rename a name of its own')
  await first.shows(/it is called a name of its own now/)
  await leave(first)
  const second = open({ at, args: ['-c'], size: { cols: 120, rows: 30 } })
  await second.shows(/^The first answer\.\n\n› \n.* · a name of its own$/m)
  second.say('/undo')
  await second.shows(/^taken back: /m)
  second.say('/undo')
  await second.shows(/Nothing is left to undo/)
  await leave(second)
})

test('the window may change its size', async () => {
  const screen = open()
  await screen.shows(/^› $/m)
  screen.say(script({ text: `${'word '.repeat(30)}end.` }, { text: `\n\nThen` }, never))
  await screen.shows(/^Then$/m)
  screen.resize({ cols: 40, rows: 20 })
  await screen.shows(/^Then$[^]*^› $/m)
  screen.resize({ cols: 100, rows: 40 })
  screen.type(CTRL.c)
  await screen.shows(/^interrupted$/m)
  const shown = screen.screen()
  expect([shown.match(/word/g)?.length, shown.match(/end\./g)?.length, shown.match(/^› ?$/gm)?.length]).toEqual([60, 2, 1]) // once in the prompt, once in the answer
  await leave(screen)
})

describe('plain lines', () => {
  test.each([
    ['where the terminal can do nothing else', [], { TERM: 'dumb' }],
    ['where somebody asks for them', ['--plain'], {}],
  ])('%s', async (_, args, env: Record<string, string>) => {
    const screen = open({ args, env: { NO_COLOR: '1', ...env } })
    await screen.shows(/Ctrl-D leaves/)
    screen.type(
      `${script({ tool: 'bash', input: { command: 'echo plain' } }, { text: 'A *plain* answer.' })
        .split('\n')
        .join('\\\r')}\r`,
    )
    await screen.shows(/\[y\] once/)
    screen.type('y\r')
    await screen.shows(/^A plain answer\.$/m)
    screen.type('/cost\r')
    await screen.shows(/tokens in/)
    const failing = script({ error: { message: 'overloaded', status: 503, times: 1, retryAfterMs: 500 } }, { text: 'Again.' })
    screen.type(`${failing.split('\n').join('\\\r')}\r`)
    await screen.shows(across('attempt 2 of 4: Provider "svc" answered 503: overloaded', ', in 0.5 s', 'Again.'))
    const { code, screen: shown } = await leave(screen)
    // What was typed stands there once, as the terminal has echoed it.
    expect([code, flat(shown).match(/echoplain"/g)?.length, shown.match(/^›/gm)]).toEqual([0, 1, null])
  })

  test('without a terminal there is no conversation', async () => {
    const { code, stderr } = await home.run([])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^svc: a command is needed/)])
  })
})

// What people do in a conversation, one after the other in one of each width: the built program at real terminals, beside one server.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { across, flat, leave, type Opened, openConversation, type Opening, script } from './conversation.js'
import { type Home, makeHome } from './program.js'

let home: Home

beforeAll(async () => {
  home = makeHome()
  mkdirSync(join(home.path, '.config/svc'), { recursive: true })
  const seeing = {
    npm: '@ai-sdk/openai-compatible',
    auth: 'none',
    options: { baseURL: 'http://127.0.0.1:9/v1' },
    models: { seeing: { name: 'Seeing', modalities: { input: ['text', 'image'] } } },
  }
  const config = { model: 'svc/offline', agent: { title: { disable: true } }, permission: { bash: 'ask' }, provider: { test: seeing } }
  writeFileSync(join(home.path, '.config/svc/config.json'), JSON.stringify(config))
  await home.serve()
})
afterAll(() => home.close())

const open = (opening: Opening = {}) => openConversation(home, opening)

const shows = (screen: Opened, ...texts: readonly string[]) => screen.shows(across(...texts))

const INNER = script(
  { tool: 'read', input: { filePath: 'a.txt' } },
  { tool: 'read', input: { filePath: 'nothing.txt' } },
  { text: 'Inner.' },
)

describe.each([
  [40, ''],
  [80, '1'],
  [200, ''],
])('at %i columns, with NO_COLOR="%s"', (cols, NO_COLOR) => {
  test('what is thought, tried again and delegated, and every command of a session', async () => {
    const at = home.elsewhere()
    writeFileSync(join(at.workspace, 'a.txt'), 'one\ntwo\n')
    const screen = open({ at, env: { NO_COLOR }, size: { cols, rows: 30 } })
    await screen.shows(/^› $/m)
    screen.say(script({ reasoning: 'It is simple.\nOr is it?' }, { text: 'First.' }))
    await shows(screen, '∴ thought: It is simple.', 'First.', '›')
    screen.type('/thinking\r')
    await shows(screen, 'what the model thinks is shown')
    screen.say(script({ reasoning: 'It is not.\nIt never was.' }, { text: 'Second.' }))
    await shows(screen, '∴ thought', 'It is not.', 'It never was.', 'Second.')
    screen.say(script({ error: { message: 'overloaded', status: 503, times: 1, retryAfterMs: 1500 } }, { text: 'Third.' }))
    await shows(screen, 'attempt 2 of 4: Provider', ', in 1 s')
    await shows(screen, 'Third.')
    screen.say(
      script({ tool: 'task', input: { description: 'look around', prompt: INNER, subagent_type: 'general' } }, { text: 'Fourth.' }),
    )
    // Both are read at a time: what ends first is told first.
    for (const inner of ['│ ● read a.txt', '│ ✗ read nothing.txt'])
      await shows(screen, '● task look around', inner, 'told: A task you delegated has ended.', 'status: completed')
    await screen.shows(/^› $/m)
    screen.say(script({ tool: 'edit', input: { filePath: 'a.txt', oldString: 'two', newString: 'zwei' } }, { text: 'Fifth.' }))
    await shows(screen, '● edit a.txt', '-two', '+zwei', 'Fifth.')
    for (const [typed, ...shown] of [
      ['/rename My work', 'it is called My work now'],
      ['/undo', 'taken back:', '(a.txt)', '/redo brings it back'],
      ['/redo', 'brought back:', '(a.txt)'],
      ['/redo', 'Nothing is undone.'],
      ['/cost', 'tokens in', 'cost 0.0000'],
      ['/status', 'session', 'My work', 'state      idle', 'model      svc/offline', 'agent      build'],
      ['/model', 'there are test/seeing, svc/offline'],
      ['/model no/such', 'from now on no/such, which is not known here'],
      ['/model svc/offline', 'from now on svc/offline'],
      ['/agent nobody', 'There is no agent "nobody"; there are build, plan'],
      ['/agent plan', 'from now on plan'],
      ['/agent', 'from now on the usual agent'],
      ['/goal a small thing', 'goal (active): a small thing'],
      ['/goal pause', 'goal (paused): a small thing'],
      ['/goal clear', 'the session has no goal'],
      ['/permissions', 'nothing is remembered here; svc agents tells the rules'],
      ['/export out.json', 'written to', 'out.json'],
      ['/export out.json', 'out.json is there already; /export <file> writes another one'],
      ['/fork', 'this is a copy; the original is', '∴ thought', 'Fifth.'],
      ['/sessions', 'Fork - My work (this one)', 'My work', '/sessions <number> goes on in it'],
      ['/sessions 2', 'going on in', '(My work)', 'Fifth.'],
      ['/sessions 77', 'There is no session 77'],
      ['/compact', 'the conversation is being compacted', 'the conversation was compacted: a summary stands for what came before'],
      ['/diff', 'nothing differs from the last commit'],
      ['/satus', 'there is no command /satus; did you mean /status?'],
      ['/new', 'a new session: ses_'],
    ] as const) {
      screen.type(`${typed}\r`)
      await shows(screen, ...shown)
    }
    const { code, screen: shown } = await leave(screen)
    expect([code, flat(shown).match(/asummarystands/g)?.length, existsSync(join(at.workspace, 'out.json'))]).toEqual([0, 1, true])
    expect(shown).not.toMatch(/Requests of the user so far|\bat async\b|· New session/)
    expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(cols)
  })
})

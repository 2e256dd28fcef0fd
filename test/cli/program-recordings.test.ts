/** What stands on the screen of a person, recorded at a real terminal. A change of these pictures is looked at, then `vitest -u`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finish, refusal, reply, startModelServer, text } from '../fixtures/model-server.js'
import { script } from './conversation.js'
import { type Home, makeHome } from './program.js'
import { record } from './recording.js'

let home: Home
let model: Awaited<ReturnType<typeof startModelServer>>

function place() {
  return {
    cwd: home.workspace,
    env: { PATH: process.env['PATH'] ?? '', HOME: home.path, SVC_AGENT_STATE_DIR: home.state, TERM: 'xterm-256color' },
  }
}

beforeAll(async () => {
  const replies = [reply(text('Half an answer'), { type: 'cut' }), reply(text('The *whole* answer.'), finish('stop'))]
  model = await startModelServer(({ body }) => {
    if (body?.tools === undefined) return reply(text('A title'), finish('stop'))
    return replies.shift() ?? refusal(500, 'no reply is left')
  })
  home = makeHome()
  writeFileSync(join(home.workspace, 'svc.json'), '{ "permission": { "bash": "ask" } }')
  mkdirSync(join(home.path, '.config/svc'), { recursive: true })
  const scripted = {
    npm: '@ai-sdk/openai-compatible',
    auth: 'none',
    options: { baseURL: model.url },
    models: { scripted: { name: 'Scripted' } },
  }
  writeFileSync(join(home.path, '.config/svc/config.json'), JSON.stringify({ model: 'svc/offline', provider: { test: scripted } }))
  const { url } = await home.serve([], { SVC_AGENT_PROVIDER_RETRY_INITIAL_MS: '1' })
  // What is said at the first use of a directory is said whichever test comes first.
  const query = new URLSearchParams({ directory: home.workspace })
  await fetch(`${url}/v2/sessions?${query}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
})
afterAll(async () => {
  await home.close()
  await model.close()
})

describe('svc run at a terminal', () => {
  test('shows edits, commands and what is to do', async () => {
    writeFileSync(join(home.workspace, 'a.txt'), 'one\ntwo\nthree\n')
    const steps = script(
      { text: '# Plan\n\nI change **two** and look:\n\n- first `a.txt`\n- then the rest' },
      {
        tool: 'todowrite',
        input: {
          todos: [
            { content: 'change a.txt', status: 'completed', priority: 'high' },
            { content: 'look', status: 'in_progress', priority: 'low' },
          ],
        },
      },
      { text: 'Now the edit.' },
      { tool: 'edit', input: { filePath: 'a.txt', oldString: 'two', newString: 'zwei' } },
      { text: 'And a look.' },
      { tool: 'read', input: { filePath: 'nothing.txt' } },
      { text: 'Done.' },
    )
    const recording = record(['run', steps], place())
    expect(await recording.ended).toMatchSnapshot()
  })

  test('asks for a permission, and shows the end of what the command said', async () => {
    const recording = record(['run', script({ tool: 'bash', input: { command: 'seq 1 9' } }, { text: 'Nine.' })], place())
    await recording.shows(/\[n\] no/)
    recording.type('y\r')
    expect(await recording.ended).toMatchSnapshot()
  })

  test('says an answer once, although its first attempt failed', async () => {
    const { code, screen } = await record(['run', '--model', 'scripted', 'hi'], place()).ended
    expect(code).toBe(0)
    expect(screen).not.toContain('Half')
    expect(screen).toMatchSnapshot()
  })

  test('is interrupted by Ctrl-C, and goes on', async () => {
    const running = record(['run', script({ text: 'Begun.\n\nThen' }, { delayMs: 60_000, text: 'never' })], place())
    await running.shows(/Begun/)
    running.type('\u0003')
    expect(await running.ended).toMatchSnapshot('interrupted')
    expect(await record(['run', '-c', script({ text: 'Gone on.' })], place()).ended).toMatchSnapshot('resumed')
  })
})

describe('svc chat', () => {
  test('takes lines, steers what runs, takes turns back, and says how to go on', async () => {
    const chat = record(['chat'], place())
    const say = async (shown: RegExp, ...lines: readonly string[]) => {
      chat.type(lines.join('\\\r') + '\r')
      await chat.shows(shown)
    }
    await chat.shows(/Ctrl-D leaves\n›/)
    await say(
      /● write/,
      ...script({ text: 'I write.' }, { tool: 'write', input: { filePath: 'chat.txt', content: 'hello' } }, { text: 'Written.' }).split(
        '\n',
      ),
    )
    await chat.shows(/^Written\.$/m)
    await say(/taken back/, '/undo')
    await say(/did you mean \/help/, '/hlep')
    await say(/^Slow\.$/m, ...script({ text: 'Slow.\n\nThen' }, { delayMs: 60_000, text: 'never' }).split('\n'))
    await say(/said to the run/, 'faster')
    chat.type('\u0003')
    // What was said to the run that is over is given back; Ctrl-U takes it out of the line, and Ctrl-D leaves from an empty one.
    await chat.shows(/^Then\ntaken back: faster\n› faster$/m)
    chat.type('\u0015')
    chat.type('\u0004')
    expect(await chat.ended).toMatchSnapshot()

    const again = record(['chat', '-c'], place())
    await again.shows(/^svc, .*\nSlow\.[^]*Ctrl-D leaves\n›/m)
    again.type('\u0004')
    expect((await again.ended).code).toBe(0)
  })
})

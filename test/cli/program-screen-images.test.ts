// Images that go along with what is said, and commands of the person: the built program at real terminals, beside one server.
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/published/client/client.js'
import { finish, reply, startModelServer, text } from '../fixtures/model-server.js'
import { across, CTRL, leave, openConversation } from './conversation.js'
import { type Home, makeHome } from './program.js'

let home: Home
let url: string
let model: Awaited<ReturnType<typeof startModelServer>>

/** One transparent point. */
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')
const paste = (pasted: string) => `\u001b[200~${pasted}\u001b[201~`

beforeAll(async () => {
  model = await startModelServer(() => reply(text('Seen.'), finish('stop')))
  home = makeHome()
  mkdirSync(join(home.path, '.config/svc'), { recursive: true })
  const models = {
    seeing: { name: 'Seeing', modalities: { input: ['text', 'image'] } },
    blind: { name: 'Blind', modalities: { input: ['text'] } },
  }
  const provider = { npm: '@ai-sdk/openai-compatible', auth: 'none', options: { baseURL: model.url }, models }
  const config = { model: 'test/seeing', agent: { title: { disable: true } }, provider: { test: provider } }
  writeFileSync(join(home.path, '.config/svc/config.json'), JSON.stringify(config))
  ;({ url } = await home.serve())
})
afterAll(async () => {
  await home.close()
  await model.close()
})

/** A folder of programs in which the clipboard is told by `content`. */
function clipboard(content: Buffer): string {
  const folder = mkdtempSync(join(home.path, 'bin-'))
  writeFileSync(join(folder, 'content'), content)
  writeFileSync(join(folder, 'wl-paste'), `#!/bin/sh\ncat '${join(folder, 'content')}'\n`)
  chmodSync(join(folder, 'wl-paste'), 0o755)
  return `${folder}:${process.env['PATH'] ?? ''}`
}

const imagesIn = (index: number) => JSON.stringify(model.requests[index]?.body?.messages).match(/data:image\/png;base64,[\w+/=]+/g)

test.each([40, 80, 200])(
  'at %i columns an image is taken along, pasted or dropped, and it is said where a model takes none',
  async (cols) => {
    const at = home.elsewhere()
    writeFileSync(join(at.workspace, 'a dropped.png'), PNG)
    const screen = openConversation(home, { at, env: { PATH: clipboard(PNG) }, size: { cols, rows: 30 } })
    await screen.shows(/^› $/m)
    screen.type(CTRL.v)
    await screen.shows(/^› \[image 1: pasted\.png\] ?$/m)
    screen.type(paste(`'${join(at.workspace, 'a dropped.png')}'`))
    await screen.shows(across('[image 2: a dropped.png]'))
    const before = model.requests.length
    screen.type(' what is this?\r')
    await screen.shows(/^ {2}with pasted\.png$[^]*^ {2}with a dropped\.png$[^]*^Seen\.$/m)
    const sent = `data:image/png;base64,${PNG.toString('base64')}`
    expect(imagesIn(before)).toEqual([sent, sent])
    screen.type('/model test/blind\r')
    await screen.shows(/from now on test\/blind/)
    screen.type(CTRL.v)
    await screen.shows(/^› \[image 1: pasted\.png\] ?$/m)
    screen.type('and this?\r')
    await screen.shows(across('test/blind takes no images: it is told that there is one, and not what is on it', 'Seen.'))
    expect(imagesIn(before + 1)).toBeNull()
    // A mark that is taken away takes its image away.
    screen.type('/model test/seeing\r')
    await screen.shows(/from now on test\/seeing/)
    screen.type(CTRL.v)
    await screen.shows(/^› \[image 1: pasted\.png\] ?$/m)
    screen.type(`${CTRL.u}no image\r`)
    await screen.shows(/^› no image$[^]*^Seen\.$/m)
    expect((await leave(screen)).code).toBe(0)
  },
)

test('where the clipboard has no image, that is said; what is no image is text; a command of the person is kept, and no model asked', async () => {
  const at = home.elsewhere()
  mkdirSync(join(at.workspace, 'src'))
  writeFileSync(join(at.workspace, 'src/notes.md'), 'the notes')
  const screen = openConversation(home, {
    at,
    env: { PATH: clipboard(Buffer.from('only text')), NO_COLOR: '1' },
    size: { cols: 60, rows: 40 },
  })
  await screen.shows(/^› $/m)
  screen.type(CTRL.v)
  await screen.shows(/there is no image in the clipboard, or nothing here that/)
  const before = model.requests.length
  screen.type('!printf "%s-%s" by hand; exit 3\r')
  await screen.shows(/by-hand[^]*^› $/m)
  expect(model.requests.length).toBe(before)
  const { sessions } = createClient({ baseUrl: url })
  const [session] = (await sessions.list({ directory: at.workspace })).items
  const { items } = await sessions.messages({ sessionId: session?.id ?? '' })
  expect(items.map(({ info, parts }) => [info.role, parts.map(({ type }) => type)])).toMatchInlineSnapshot(`
    [
      [
        "user",
        [
          "text",
        ],
      ],
      [
        "assistant",
        [
          "step-start",
          "tool",
          "step-finish",
        ],
      ],
    ]
  `)
  // Files and agents are completed, a folder on its way.
  screen.type('see @sr')
  await screen.shows(/^ {2}@src\/$/m)
  screen.type('\t')
  await screen.shows(/^ {2}@src\/notes\.md$/m)
  screen.type('\t')
  await screen.shows(/^› see @src\/notes\.md ?$/m)
  screen.type('and @gone.md\r')
  await screen.shows(/@gone\.md leads to no file; it is sent as text[^]*^ {2}with notes\.md$[^]*^Seen\.$/m)
  expect(JSON.stringify(model.requests.at(-1)?.body?.messages)).toContain('the notes')
  const { code, screen: shown } = await leave(screen)
  expect([code, shown.match(/Seen\./g)?.length]).toEqual([0, 1])
})

/** The example clients against the built program: run as their READMEs say. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { finish, refusal, type Reply, reply, startModelServer, stay, text, toolCall } from '../../fixtures/model-server.js'
import { CHROMIUM, IN_CHROMIUM, startBrowser } from '../server/browser.js'
import { openTerminal } from '../server/documents.js'
import { type House, openHouse, type Room } from '../server/house.js'
import { installExample, runNode } from '../server/installed.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'
import { toolParts } from '../server/transcript.js'
import { PATIENCE } from '../../fakes/patience.js'

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url))

let scene: Scene
const closers: (() => unknown)[] = []
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
  await scene.close()
})

const script = (...steps: readonly object[]) => `\`\`\`svc-script\n${steps.map((step) => JSON.stringify(step)).join('\n')}\n\`\`\``

/** Of a test whose example needs no more of a server than that it answers, with the offline model. */
let house: House
beforeAll(async () => {
  house = await openHouse({ model: 'svc/offline' })
})
afterAll(() => house.close())

async function enter(config?: object): Promise<Room> {
  const room = await house.room([], config)
  closers.push(() => room.close())
  return room
}

describe('the headless script', () => {
  test('prints the answer and the tools it took', async () => {
    const { place, server } = await enter()
    const example = installExample(place, 'headless-script')
    const ran = await runNode(place, [join(example, 'ask.mjs'), 'read README.md'], { SVC_URL: server.url })
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('hello') as string })
    expect(ran.stderr).toMatch(/^\[.*README\.md.*\]$/m)
  })

  test('refuses what is not looking, and goes on', async () => {
    const { place, server } = await enter({ model: 'svc/offline', permission: { bash: 'ask' } })
    const example = installExample(place, 'headless-script')
    const ran = await runNode(place, [join(example, 'ask.mjs'), 'run touch made.txt'], { SVC_URL: server.url })
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('failed') as string })
    expect(existsSync(join(place.repo, 'made.txt'))).toBe(false)
  })

  test('says where no server answers', async () => {
    const example = installExample(scene.place, 'headless-script')
    const ran = await runNode(scene.place, [join(example, 'ask.mjs'), 'hi'], { SVC_URL: 'http://127.0.0.1:9' })
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('No server answers at http://127.0.0.1:9')
  })
})

describe('the CI job', () => {
  async function job(prompt: string) {
    const { place, server } = await enter()
    const example = installExample(place, 'ci-job')
    place.write('prompt.md', prompt)
    return { place, ran: await runNode(place, [join(example, 'job.mjs'), 'prompt.md'], { SVC_URL: server.url }) }
  }

  test('passes when everything went well', async () => {
    const { place, ran } = await job('write CHANGES.md: nothing new')
    expect(ran).toEqual({ code: 0, stderr: '', stdout: expect.stringContaining('CHANGES.md') as string })
    expect(place.read('CHANGES.md').trim()).toBe('nothing new')
  })

  test('fails when a tool is refused', async () => {
    const { place, ran } = await job(script({ tool: 'write', input: { filePath: 'other.txt', content: 'x' } }, { text: 'done' }))
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: write: /m) as string })
    expect(existsSync(join(place.repo, 'other.txt'))).toBe(false)
  })

  test('fails when the model fails', async () => {
    const { ran } = await job(script({ error: { message: 'no credit', status: 402 } }))
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('no credit') as string })
  })
})

describe('the CI job in shell', () => {
  test('ends with the code of the run, and leaves the answer and the record', async () => {
    scene.place.write('svc.json', '{ "permission": { "edit": { "*": "ask", "CHANGES.md": "allow" } } }')
    const example = installExample(scene.place, 'ci-job')
    const terminal = openTerminal(scene.place)
    const job = (prompt: string) => terminal.run(`sh '${join(example, 'job.sh')}' '${prompt}'`)
    const record = () => JSON.parse(scene.place.read('run.json')) as unknown
    expect(await job('write CHANGES.md: nothing new')).toMatchObject({ code: 0 })
    expect(record()).toMatchObject({ status: 'done', model: 'svc/offline', refused: [] })
    expect(scene.place.read('answer.md')).toContain('CHANGES.md')
    expect(await job('write other.txt: x')).toMatchObject({ code: 3 })
    expect(record()).toMatchObject({ status: 'refused', refused: [{ permission: 'edit', patterns: ['other.txt'] }] })
    expect(await job(script({ error: { message: 'no credit', status: 402 } }))).toMatchObject({ code: 1 })
    expect(record()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('no credit') as string } })
  })
})

describe('the workflow', () => {
  const WORKFLOW = 'weekly-notes'

  test('is valid, says when it will run, and writes the notes it is for and nothing else', async () => {
    const model = await play([
      reply(
        toolCall({ id: 'c1', name: 'bash', input: { command: 'git log --since="7 days ago" --stat', description: 'the week' } }),
        toolCall({ index: 1, id: 'c2', name: 'bash', input: { command: 'rm README.md', description: 'no part of it' } }),
        finish('tool_calls'),
      ),
      reply(
        toolCall({ id: 'c3', name: 'write', input: { filePath: 'WEEKLY.md', content: 'It began.\n' } }),
        toolCall({ index: 1, id: 'c4', name: 'write', input: { filePath: 'other.md', content: 'no part of it' } }),
        finish('tool_calls'),
      ),
      reply(text('Written.'), finish('stop')),
    ])
    scene.place.write(`.svc/workflows/${WORKFLOW}.md`, readFileSync(join(EXAMPLES, 'workflow', `${WORKFLOW}.md`), 'utf8'))
    const svc = (...args: string[]) => runNode(scene.place, [PROGRAM, 'workflow', ...args], { TZ: 'Europe/Berlin' })
    expect(await svc('validate')).toMatchObject({ code: 0, stderr: '' })
    const preview = await svc('preview', WORKFLOW, '--from', '2026-10-20', '--count', '2', '--json')
    expect(JSON.parse(preview.stdout)).toMatchObject({
      upcoming: [{ utc: '2026-10-23T14:00:00Z' }, { utc: '2026-10-30T15:00:00Z' }], // summer time ends between them
    })

    const server = await scene.start()
    const stream = await server.stream({ tail: true })
    expect(await svc('run', WORKFLOW)).toMatchObject({ code: 0 })
    const ended = await stream.waitFor((event) => event.type === 'workflow.run.updated' && event.data.run.finishedAt != null)
    if (ended.type !== 'workflow.run.updated') throw new Error('another event')
    const { run } = ended.data
    const calls = toolParts(await server.messages(run.sessionId ?? ''))
    expect([run.status, ...calls.map(({ callId, state }) => [callId, state.status])]).toEqual([
      'completed',
      ['c1', 'completed'],
      ['c2', 'error'],
      ['c3', 'completed'],
      ['c4', 'error'],
    ])
    expect(scene.place.read('WEEKLY.md')).toBe('It began.\n')
    expect(['README.md', 'other.md'].map((name) => existsSync(join(scene.place.repo, name)))).toEqual([true, false])
    expect(model.asked()).toBe(3)
  })
})

describe.skipIf(CHROMIUM === undefined)(`the web chat ${IN_CHROMIUM}`, () => {
  test('holds a conversation, survives a restart in mid-turn and shows what was interrupted', async () => {
    const chat = await serveChat()
    const model = await play([
      reply(text('Hello ', 'there.'), finish('stop')),
      reply(text('Half an '), stay),
      reply(text('Back.'), finish('stop')),
    ])
    const server = await scene.start({}, 0, ['--cors', chat])
    const port = Number(new URL(server.url).port)
    const page = await openPage(`${chat}/?server=${server.url}&directory=${encodeURIComponent(scene.place.repo)}`)

    await say(page, 'Hi')
    await page.locator('.assistant', { hasText: 'Hello there.' }).waitFor()
    await say(page, 'Tell me more')
    await page.locator('.assistant', { hasText: 'Half an' }).waitFor()
    await server.kill()
    await scene.start({}, port, ['--cors', chat])
    await page.locator('.error', { hasText: 'The server was stopped before the answer was complete.' }).waitFor()
    await say(page, 'Are you there?')
    await page.locator('.assistant', { hasText: 'Back.' }).waitFor()

    const said = [
      'Hi',
      'Hello there.',
      'Tell me more',
      'Half an ',
      'The server was stopped before the answer was complete.',
      'Are you there?',
      'Back.',
    ]
    expect(await page.locator('#messages > div').allTextContents()).toEqual(said)
    await page.reload()
    await page.locator('.assistant', { hasText: 'Back.' }).waitFor()
    // What a killed server had not stored yet is gone.
    const stored = await page.locator('#messages > div').allTextContents()
    expect(stored.filter((each) => each !== 'Half an ')).toEqual(said.filter((each) => each !== 'Half an '))
    expect(model.asked()).toBe(3)
  })

  test('asks for permission with buttons; under an origin that is not listed it is told which', async () => {
    const chat = await serveChat()
    scene.place.configure({ permission: { edit: 'ask' } })
    const server = await scene.start({}, 0, ['--cors', chat])
    const page = await openPage(`${chat}/?server=${server.url}&directory=${encodeURIComponent(scene.place.repo)}`)
    await say(page, 'write new.txt: made by hand')
    await page.getByRole('button', { name: 'Once' }).click()
    await page.locator('.tool', { hasText: 'completed' }).waitFor()
    expect(scene.place.read('new.txt').trim()).toBe('made by hand')

    const unlisted = chat.replace('127.0.0.1', 'localhost')
    await page.goto(unlisted)
    const call = `import('/client.js').then(({ createClient }) => createClient({ baseUrl: '${server.url}' }).sessions.list()).catch(({ code, message }) => ({ code, message }))`
    expect(await page.evaluate(call)).toEqual({
      code: 'client.origin_forbidden',
      message: `The server at ${server.url} does not let pages of ${unlisted} call it: start it with \`svc serve --cors ${unlisted}\`.`,
    })
  })
})

async function say(page: Page, words: string): Promise<void> {
  await page.locator('button[name=send]:not([disabled])').waitFor()
  await page.locator('textarea').fill(words)
  await page.locator('textarea').press('Enter')
}

/** Starts the server of the chat; answers its origin. */
async function serveChat(): Promise<string> {
  const example = installExample(scene.place, 'web-chat')
  const child = spawn(process.execPath, [join(example, 'serve.mjs'), '0'], { env: scene.place.env, stdio: ['ignore', 'pipe', 'inherit'] })
  closers.push(() => child.kill())
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += String(chunk)
    const origin = /http:\S+/.exec(printed)?.[0]
    if (origin !== undefined) return origin
  }
  throw new Error(`the chat was not served: ${printed}`)
}

/** A model that gives these replies in order, and a title whenever it is asked for one. */
async function play(replies: readonly Reply[]): Promise<{ asked(): number }> {
  const left = [...replies]
  const model = await startModelServer(({ body }) => {
    if (body?.tools === undefined) return reply(text('A title'), finish('stop'))
    return left.shift() ?? refusal(500, 'no reply is left')
  })
  closers.push(() => model.close())
  scene.place.configure(withModel(model.url))
  return { asked: () => replies.length - left.length }
}

/** A page that throws nothing. */
async function openPage(address: string): Promise<Page> {
  const browser = await startBrowser()
  closers.push(() => browser.close())
  const page = await browser.newPage()
  page.setDefaultTimeout(PATIENCE)
  const thrown: string[] = []
  page.on('pageerror', (error) => thrown.push(error.message))
  closers.push(() => expect(thrown).toEqual([]))
  await page.goto(address)
  return page
}

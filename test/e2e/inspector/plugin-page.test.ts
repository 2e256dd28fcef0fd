// What the page of a plugin shows of what it offers, holds, uses and was called for; its texts are hostile (threat-model S4, G5).
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { writeAddress } from '../../../src/programs/page/address.js'
import type { InspectorTree } from '../../../src/protocol/system/inspector.js'
import { finish, reply, text, toolCall } from '../../fixtures/model-server.js'
import { CHROMIUM, closePages, IN_CHROMIUM, openPage, startBrowser, type Watched } from '../server/browser.js'
import { type House, openHouse, type Room } from '../server/house.js'
import { writePackage } from '../server/plugins.js'
import { pictureOf } from './picture.js'

const SHOTS = process.env['SVC_TEST_SCREENSHOTS']
const SECRET = 'the-quick-brown-secret'
const HOSTILE = '<img src=x onerror=alert(1)>\u202Egpj.exe\u200B'
const SHOWN = '<img src=x onerror=alert(1)>\\u{202e}gpj.exe\\u{200b}'

/** Asks for its configuration, and for what it was not granted, in each call of its tool; `id`: of its part of messages. */
const program = (id: string) => `import { createInterface } from 'node:readline'
const send = (frame) => process.stdout.write(JSON.stringify(frame) + '\\n')
const offer = {
  protocol: 'svc-plugin/2',
  tools: [{ id: 'greet', description: 'A tool.', parameters: { type: 'object' } }],
  hooks: ['chat.messages'],
  routes: [{ descriptor: { id: 'greetings', method: 'GET', path: '/greetings', scope: 'workspace' } }],
  services: { commands: [{ id: 'greeting' }] },
  messageParts: [{ id: ${JSON.stringify(id)}, version: 1, schema: { type: 'nonsense' } }],
  mcp: [{ id: ${JSON.stringify(id)} }],
}
let owner
let call
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    owner = params.owner
    send({ id, result: offer })
  } else if (method === 'tool.invoke') {
    call = id
    send({ id: 1, method: 'host.config.get', params: { key: '${SECRET}' }, owner })
    send({ id: 2, method: 'host.workspace.read', params: { path: '${SECRET}' }, owner })
  } else if (method === 'shutdown') process.exit(0)
  else if (method === undefined && id === 2) send({ id: call, result: { output: '${SECRET}' } })
  else if (method === 'hook.invoke') send({ id, result: params.value })
  else if (method !== undefined && id !== undefined) send({ id, result: [] })
}).on('close', () => process.exit(0))
`

let browser: Browser
let house: House
let room: Room | undefined

async function open(
  id: string,
  agent: object,
  partId: string,
  viewport = { width: 1280, height: 900 },
): Promise<Watched & { readonly key: string }> {
  room = await house.room((request) =>
    request.body?.messages.at(-1)?.role === 'tool' || request.body?.tools === undefined
      ? reply(text('Done.'), finish('stop'))
      : reply(toolCall({ id: 'c1', name: 'greet', input: { text: SECRET } }), finish('tool_calls')),
  )
  writePackage(house.place, id, { agent, files: { 'plugin.mjs': program(partId) } })
  await room.server.get('/v2/plugins/lifecycle')
  const { plugins } = await room.server.get<InspectorTree>('/v2/inspector/tree')
  const key = plugins.find(({ pluginId, workspace }) => pluginId === id && workspace === room?.place.repo)?.key ?? ''
  const address = writeAddress({
    tab: 'plugins',
    actor: undefined,
    plugin: key,
    session: undefined,
    at: undefined,
    lanes: [],
    isSequence: false,
  })
  const watched = await openPage(browser, `${room.server.url}/v2/inspector${address}`, { viewport })
  await watched.page.locator('#status.live').waitFor()
  await watched.page.locator('#plugin-moves [data-act="approve"]').waitFor()
  return { ...watched, key }
}

/** Approves by the button, with the keyboard; answers what was shown. */
async function approveByKeys(page: Page): Promise<string> {
  await page.locator('#plugin-moves [data-act="approve"]').focus()
  await page.keyboard.press('Enter')
  const shown = await page.locator('#confirm dl').innerText()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.locator('#plugin-head .state-active').waitFor()
  return shown
}

async function shot(page: Page, name: string): Promise<void> {
  const { png, illegible } = await pictureOf(page)
  if (SHOTS !== undefined) {
    mkdirSync(SHOTS, { recursive: true })
    writeFileSync(join(SHOTS, `${name}.png`), png)
  }
  expect(illegible).toEqual([])
}

const said = (page: Page, id: string) => page.locator(`#plugin-${id}`).innerText()

describe.skipIf(CHROMIUM === undefined)(`the page of a plugin ${IN_CHROMIUM}`, () => {
  beforeAll(async () => {
    browser = await startBrowser()
    house = await openHouse({ permission: { '*': 'allow' } })
  })
  afterAll(async () => {
    await house.close()
    await browser.close()
  })
  afterEach(async () => {
    await closePages(browser)
    await room?.close()
    room = undefined
  })

  test('shows what it offers, its leases, its quotas and its last calls, and nothing of what was asked', async () => {
    const id = 'dev.example.shown'
    const { page, troubles } = await open(id, { capabilities: ['config-read', 'provider-access'] }, 'greeting-part')
    expect(await said(page, 'offers')).toContain('It says what it offers when it runs.')
    expect(await approveByKeys(page)).toMatch(
      /config-read: it may read the effective configuration[\s\S]*provider-access: it may call model providers/,
    )
    await expect
      .poll(() => said(page, 'offers'))
      .toMatch(/tools\s+greet[\s\S]*hooks\s+chat\.messages[\s\S]*commands\s+greeting[\s\S]*routes\s+greetings\s*GET/)
    expect(await said(page, 'offers')).toMatch(/has no effect: the schema of messageParts \(greeting-part\)/)
    await expect.poll(() => said(page, 'quotas')).toMatch(/0 of 500,000 tokens a day[\s\S]*cost 0 of 1 a day/)
    const lease = page.locator('[data-capability="config-read"]')
    expect(await lease.innerText()).toMatch(/granted[\s\S]*0 calls/)

    const session = await room?.server.createSession()
    const stream = await room?.server.stream({ tail: true })
    await room?.server.prompt(session?.id ?? '', { prompt: 'go' })
    await stream?.idle(session?.id ?? '')
    await expect.poll(() => lease.innerText()).toMatch(/used[\s\S]*1 call\b[\s\S]*last/)
    const line = (method: string) => page.locator('#plugin-calls p', { hasText: method }).first()
    await expect.poll(() => line('tool.invoke').innerText()).toMatch(/→[\s\S]*greet[\s\S]*session …[\s\S]*ok after/)
    expect(await line('host.config.get').innerText()).toMatch(/←[\s\S]*ok after/)
    expect(await line('host.workspace.read').getAttribute('class')).toBe('bad')
    expect(await line('host.workspace.read').innerText()).toContain('request.forbidden')
    expect(await said(page, 'commands')).toContain(`svc plugin update ${id} --diff`)
    expect(await page.content()).not.toContain(SECRET)
    expect((await room?.server.call('GET', '/v2/inspector/tree'))?.text).not.toContain(SECRET)
    await shot(page, 'plugin-facts')
    await page.keyboard.press('t')
    await shot(page, 'plugin-facts-dark')

    await line('tool.invoke').locator('.link').focus()
    await page.keyboard.press('Enter')
    await page.locator('#chart svg[data-machine="session"]').waitFor()
    expect(troubles).toEqual([])
  })

  test('an update says what is new of what it asks for, and a narrow window shows everything below each other', async () => {
    const id = 'dev.example.updated'
    const viewport = { width: 420, height: 800 }
    const { page, troubles, key } = await open(id, { capabilities: ['config-read'] }, 'part', viewport)
    await approveByKeys(page)
    writePackage(house.place, id, { agent: { capabilities: ['config-read', 'event-publish'] }, files: { 'plugin.mjs': program('other') } })
    await page.locator('#plugin-head .state-update-available').waitFor()
    expect(await said(page, 'commands')).toContain(`svc plugin restore ${id} --directory ${room?.place.repo} --source user`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    const inSight = async (part: string) => {
      await page.locator(`#plugin-${part}`).scrollIntoViewIfNeeded()
      const box = await page.locator(`#plugin-${part}`).boundingBox()
      return box !== null && box.x >= 0 && box.x + box.width <= viewport.width && box.width > 300
    }
    for (const part of ['chart', 'why', 'moves', 'commands', 'offers', 'generations', 'leases', 'quotas', 'calls', 'log'])
      expect([part, await inSight(part)]).toEqual([part, true])
    await shot(page, 'plugin-narrow')
    expect(await approveByKeys(page)).toMatch(/instead of[\s\S]*new: event-publish: it may publish events/)
    expect(key).not.toBe('')
    expect(troubles).toEqual([])
  })

  test('hostile texts are shown as they are, what is unseen in writing, where a person decides and where they read', async () => {
    const plain = 'a plain purpose'
    const agent = (purpose: string) => ({
      capabilities: ['secret-use'],
      secrets: [{ alias: 'token', purpose, hosts: ['api.example.com'] }],
    })
    const hostile = await open('dev.example.hostile', agent(HOSTILE), HOSTILE)
    const approval = await approveByKeys(hostile.page)
    expect(approval).toContain(SHOWN)
    await expect.poll(() => said(hostile.page, 'offers')).toContain(SHOWN)
    expect(await said(hostile.page, 'leases')).toContain(SHOWN)
    expect(await hostile.page.locator('main img, dialog img').count()).toBe(0)
    expect(await hostile.page.locator('body').innerText()).not.toMatch(/[\u202E\u200B]/)
    await shot(hostile.page, 'plugin-hostile')
    expect(hostile.troubles).toEqual([])
    await room?.close()

    // The control: what has nothing to hide stands there as it was written.
    const harmless = await open('dev.example.harmless', agent(plain), 'a-part')
    expect(await approveByKeys(harmless.page)).toContain(plain)
    await expect.poll(() => said(harmless.page, 'offers')).toContain('a-part')
    expect(await said(harmless.page, 'leases')).toContain(plain)
  })
})

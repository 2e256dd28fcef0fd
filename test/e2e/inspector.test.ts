import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { InspectorTrace } from '../../src/protocol/inspector.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../fixtures/model-server.js'
import { CHROMIUM, openPage, startBrowser, type Watched } from './browser.js'
import { makePlace, withModel } from './place.js'
import { approve, toolProgram, untilState, writePackage } from './plugins.js'
import { openScene, PROGRAM, type Scene, type Server } from './server.js'

const SECRET = 'the-quick-brown-secret'
const ID = 'dev.example.greeter'
const SHOTS = process.env['SVC_TEST_SCREENSHOTS']

let browser: Browser
let scene: Scene | undefined
let model: ModelServer | undefined

async function begin(permission: object, env: Readonly<Record<string, string>> = {}): Promise<Server> {
  model = await startModelServer((request) =>
    request.body?.messages.at(-1)?.role === 'tool'
      ? reply(text('Done.'), finish('stop'))
      : reply(toolCall({ id: `c${request.index}`, name: 'write', input: { filePath: 'a.txt', content: SECRET } }), finish('tool_calls')),
  )
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { permission }))
  return scene.start(env)
}

async function shot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return
  mkdirSync(SHOTS, { recursive: true })
  await page.screenshot({ path: join(SHOTS, `${name}.png`) })
}

const live = ({ page }: Watched) => page.locator('#status.live').waitFor()
const row = (page: Page, name: string) => page.locator('#tree .row', { hasText: name }).first()
const current = (page: Page) => page.locator('#chart .box.current').first().getAttribute('data-state')

/** Nothing went wrong in the page, and it asked nobody but its server. */
function expectClean({ troubles, requests }: Watched, origin: string): void {
  expect(troubles).toEqual([])
  expect(requests.filter((url) => !url.startsWith(origin) && !/^(data|blob):/.test(url))).toEqual([])
}

describe.skipIf(CHROMIUM === undefined)('in a browser (skipped where there is no Chromium)', () => {
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())
  afterEach(async () => {
    await scene?.close()
    await model?.close()
    scene = undefined
    model = undefined
  })

  test('the tree and the chart follow a run that asks for a permission, and arrows light up within 100 ms', async () => {
    const server = await begin({ edit: 'ask' })
    const watched = await openPage(browser, `${server.url}/inspector`)
    const { page } = watched
    await live(watched)
    await row(page, 'runtime').waitFor()
    expect(await row(page, 'package:dev.svc.files@built-in').innerText()).toContain('active')

    const stream = await server.stream({ tail: true })
    const session = await server.createSession()
    await page.evaluate(watchLights)
    await server.prompt(session.id, { prompt: SECRET })
    const asked = await stream.waitFor((event) => event.type === 'permission.asked')
    await row(page, `session:${session.id}`).click()
    await expect.poll(() => current(page), { timeout: 5000 }).toBe('running')
    await page.locator('#tree .row .state', { hasText: 'asking' }).first().click()
    await page.locator('#chart svg[data-machine="tool-call"] .box.current').waitFor()
    await shot(page, 'permission')

    await row(page, `session:${session.id}`).click()
    await page.locator('#chart svg[data-machine="session"]').waitFor()
    const requestId = asked.type === 'permission.asked' ? asked.data.id : ''
    await server.call('POST', `/v2/interactions/permissions/${requestId}/reply`, { reply: 'once' })
    await expect.poll(() => current(page), { timeout: 5000 }).toBe('idle')
    await server.prompt(session.id, { prompt: 'again' })
    await stream.waitFor((event) => event.type === 'permission.asked' && event.data.id !== requestId)
    await expect.poll(() => current(page), { timeout: 5000 }).toBe('running')

    const trace = InspectorTrace.parse(JSON.parse((await server.call('GET', '/v2/inspector/trace')).text))
    const moves = trace.records.filter(({ type, actorId }) => type === 'transition' && actorId === `session:${session.id}`)
    const lights = await page.evaluate(() => (window as unknown as { lights: number[] }).lights)
    const delays = lights.flatMap((at) => {
      const cause = moves.findLast((move) => move.at <= at)
      return cause === undefined ? [] : [at - cause.at]
    })
    expect(delays.length).toBeGreaterThan(1)
    // The quickest, because tests share their machine with others.
    expect(Math.min(...delays)).toBeLessThanOrEqual(100)

    expect(JSON.stringify(trace)).not.toContain(SECRET)
    expect(await page.content()).not.toContain(SECRET)
    expectClean(watched, server.url)
  })

  test('a plugin update that fails is shown with the revision that keeps serving', async () => {
    const server = await begin({})
    const place = scene?.place
    if (place === undefined) throw new Error('there is no place')
    const stream = await server.stream({ tail: true })
    writePackage(place, ID, { files: { 'plugin.mjs': toolProgram('greet', 'one') } })
    await approve(server, place, ID)
    await untilState(stream, ID, 'active')
    const watched = await openPage(browser, `${server.url}/inspector`)
    await live(watched)
    await watched.page.keyboard.press('2')
    const line = watched.page.locator(`tr[data-plugin="${ID}"]`)
    await expect.poll(() => line.getAttribute('data-state'), { timeout: 5000 }).toBe('active')

    writePackage(place, ID, { files: { 'plugin.mjs': 'throw new Error("it never starts")\n' } })
    const from = stream.events.length
    await approve(server, place, ID)
    await untilState(stream, ID, 'loading', from)
    await untilState(stream, ID, 'update-available', from)
    await expect.poll(() => line.getAttribute('data-state'), { timeout: 5000 }).toBe('update-available')
    await expect
      .poll(() => line.innerText(), { timeout: 5000 })
      .toMatch(/serves 1[\s\S]*the new revision did not start[\s\S]*retained-last-known-good/)
    await shot(watched.page, 'plugins')
    await line.getByRole('button', { name: ID }).click()
    await watched.page.locator('#chart svg[data-machine="package"]').waitFor()
    expect(await current(watched.page)).toBe('update-available')
    await shot(watched.page, 'package')
    expectClean(watched, server.url)
  })

  test('a workflow that fires shows its occurrences, its run and the session that works for it', async () => {
    const server = await begin({})
    const repo = scene?.place.repo ?? ''
    const head = 'id: report\nname: Report\nschedule: { frequency: daily, timezone: UTC, time: "09:00" }'
    scene?.place.write('.svc/workflows/report.md', `---\n${head}\n---\n${SECRET}\n`)
    const watched = await openPage(browser, `${server.url}/inspector`)
    const { page } = watched
    await live(watched)
    await page.keyboard.press('3')
    await page.locator('#workspace').fill(repo)
    await page.keyboard.press('Enter')
    const line = page.locator('tr[data-workflow="report"]')
    await line.waitFor()
    expect(await line.innerText()).toMatch(/paused[\s\S]*T09:00/)
    const fired = await server.call('POST', '/v2/plugins/dev.svc.workflows/report/run')
    expect(fired.status).toBe(200)
    await expect.poll(() => line.innerText(), { timeout: 15_000 }).toMatch(/completed[\s\S]*manual/)
    await shot(page, 'workflows')
    await page.locator('#tab-actors').click()
    await row(page, 'session:').waitFor()
    expect(await page.content()).not.toContain(SECRET)
    expectClean(watched, server.url)
  })

  test('a trace that was saved opens without a server, steps back and forward, and shows no prompt', async () => {
    const server = await begin({})
    const watched = await openPage(browser, `${server.url}/inspector`, { colorScheme: 'dark' })
    const { page } = watched
    await live(watched)
    const stream = await server.stream({ tail: true })
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: SECRET })
    await stream.idle(session.id)
    await page.locator('#log .row.stop', { hasText: 'run' }).first().waitFor()
    await shot(page, 'dark')
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('s')])
    const file = join(scene?.place.root ?? '', 'trace.json')
    await download.saveAs(file)
    expectClean(watched, server.url)
    await server.stop()

    const address = execFileSync(process.execPath, [PROGRAM, 'inspect', '--trace', file], {
      encoding: 'utf8',
      env: scene?.place.env,
    }).trim()
    const offline = await openPage(browser, address)
    await offline.page.locator('#status.trace').waitFor()
    await row(offline.page, `session:${session.id}`).click()
    await expect.poll(() => current(offline.page), { timeout: 5000 }).toBe('idle')
    const states = new Set<string | null>()
    const { records } = InspectorTrace.parse(JSON.parse(readFileSync(file, 'utf8')))
    for (let step = 0; step < records.length; step++) {
      await offline.page.keyboard.press('[')
      if ((await row(offline.page, `session:${session.id}`).count()) > 0)
        states.add(await row(offline.page, `session:${session.id}`).locator('.state').innerText())
    }
    expect(states).toEqual(new Set(['idle', 'looking', 'running']))
    await expect.poll(() => offline.page.locator('#place').innerText()).toMatch(/^0 of/)
    await offline.page.locator('#position').fill(String(records.length))
    await expect.poll(() => current(offline.page), { timeout: 5000 }).toBe('idle')
    expect(offline.troubles).toEqual([])
    expect(offline.requests.filter((url) => !/^(file|data):/.test(url))).toEqual([])

    const bare = await openPage(browser, pathToFileURL(join(PROGRAM, '../inspector.html')).href)
    await bare.page.locator('#file').setInputFiles(file)
    await bare.page.locator('#status.trace').waitFor()
    await row(bare.page, `session:${session.id}`).waitFor()
    expect(bare.troubles).toEqual([])
  })

  test('asks for the token of a server that has one, and shows nothing before', async () => {
    const server = await begin({}, { SVC_AGENT_TOKEN: 'open-sesame' })
    const watched = await openPage(browser, `${server.url}/inspector`)
    await watched.page.locator('#credential').waitFor()
    expect(await watched.page.locator('#tree .row').count()).toBe(0)
    await watched.page.locator('#token').fill('open-sesame')
    await watched.page.keyboard.press('Enter')
    await live(watched)
    await row(watched.page, 'runtime').waitFor()
  })

  test('three thousand actors stay usable: few rows exist, and the filter and the keys answer at once', async () => {
    scene = openScene(makePlace())
    const file = join(scene.place.root, 'large.json')
    writeFileSync(file, JSON.stringify(largeTrace(3000)))
    const { page, troubles } = await openPage(browser, pathToFileURL(join(PROGRAM, '../inspector.html')).href)
    await page.locator('#file').setInputFiles(file)
    await row(page, 'runtime').waitFor()
    expect(await page.locator('#count').innerText()).toBe('3001 actors')
    expect(await page.locator('#tree .row').count()).toBeLessThan(100)
    await page.locator('#tree').focus()
    await page.keyboard.press('End')
    await page.locator('#tree .row[aria-selected=true]', { hasText: 'session:2999' }).waitFor()
    const took = await page.evaluate(async () => {
      const field = document.querySelector<HTMLInputElement>('#filter')
      const began = performance.now()
      for (const value of ['session:1', 'session:12', 'session:123', 'session:1234']) {
        if (field !== null) field.value = value
        field?.dispatchEvent(new Event('input'))
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      }
      return (performance.now() - began) / 4
    })
    expect(took).toBeLessThan(200)
    await row(page, 'session:1234').waitFor()
    expect(troubles).toEqual([])
  })
})

describe('svc inspect', () => {
  const inspect = (env: Readonly<Record<string, string>>, ...args: string[]) =>
    spawnSync(process.execPath, [PROGRAM, 'inspect', ...args], { encoding: 'utf8', env })

  afterEach(async () => {
    await scene?.close()
    await model?.close()
    scene = undefined
    model = undefined
  })

  test('prints the address of the local server, once it has answered', async () => {
    const server = await begin({}, { SVC_AGENT_TOKEN: 'open-sesame' })
    const env = scene?.place.env ?? {}
    expect(inspect({ ...env, SVC_AGENT_TOKEN: 'open-sesame' })).toMatchObject({ status: 0, stdout: `${server.url}/inspector\n` })
    const refused = inspect(env)
    expect([refused.status, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('Set SVC_AGENT_TOKEN')
  })

  test('says what is missing: a server, or a trace that can be read', () => {
    scene = openScene(makePlace({ 'other.json': '{}' }))
    const { env, repo } = scene.place
    expect(inspect(env)).toMatchObject({ status: 1, stderr: expect.stringContaining('start one with "svc serve"') })
    expect(inspect(env, '--trace', join(repo, 'other.json')).stderr).toContain('is not a trace')
    expect(inspect(env, '--trace', join(repo, 'none.json')).stderr).toContain('cannot be read')
  })
})

/** Runs in the page: notes when an arrow lights up. */
function watchLights(): void {
  const lights: number[] = []
  Object.assign(window, { lights })
  new MutationObserver((changes) => {
    for (const { target, oldValue } of changes) {
      const isLit = target instanceof Element && target.classList.contains('fired')
      if (isLit && !(oldValue ?? '').includes('fired')) lights.push(Date.now())
    }
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['class'], attributeOldValue: true })
}

function largeTrace(sessions: number): object {
  const actor = (id: string, kind: string, machine: string) => ({ id, kind, name: id, machine, state: ['idle'], startedAt: 1, restarts: 0 })
  return {
    format: 'svc-inspector-trace',
    version: 1,
    createdAt: 1,
    serverVersion: '0.1.0',
    machines: [],
    actors: [
      actor('runtime', 'runtime', 'runtime'),
      ...Array.from({ length: sessions }, (_, index) => actor(`session:${String(index).padStart(4, '0')}`, 'session', 'session')),
    ],
    plugins: [],
    records: [],
    dropped: 0,
  }
}

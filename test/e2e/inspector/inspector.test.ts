import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, FileChooser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { checkTrace } from '../../../src/published/testing/replay/check-trace.js'
import { recordedActors, replay } from '../../../src/published/testing/replay/replay.js'
import { readTrace } from '../../../src/protocol/system/trace-text.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { CHROMIUM, closePages, IN_CHROMIUM, openPage, startBrowser, type Watched } from '../server/browser.js'
import { shot as shown } from './shot.js'
import { makePlace, withModel } from '../server/place.js'
import { claimsAt, DAEMON_KEY, sign } from '../../fakes/signed.js'
import { approve, lifecycleOf, toolProgram, untilState, writePackage } from '../server/plugins.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import { momentText, saveBeforeDue } from '../server/moments.js'

const SECRET = 'the-quick-brown-secret'
const ID = 'dev.example.greeter'

let browser: Browser
let scene: Scene | undefined
let model: ModelServer | undefined

async function begin(
  permission: object,
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
  call = { name: 'write', input: { filePath: 'a.txt', content: SECRET } as object },
): Promise<Server> {
  model = await startModelServer((request) =>
    request.body?.messages.at(-1)?.role === 'tool' || request.body?.tools === undefined
      ? reply(text('Done.'), finish('stop'))
      : reply(toolCall({ id: `c${request.index}`, ...call }), finish('tool_calls')),
  )
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { permission }))
  return scene.start(env, 0, flags)
}

/** As `shown`, and nothing is wider than the window. */
async function shot(page: Page, name: string, shows: readonly string[]): Promise<void> {
  await shown(page, name, shows)
  expect(await page.evaluate(tooWide)).toEqual([])
}

/** Saves a trace as a person does; answers its file. */
async function saveTrace(page: Page): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save trace' }).click()])
  const file = join(scene?.place.root ?? '', 'trace.json')
  await download.saveAs(file)
  return file
}

/** Opens a saved trace without a server, and with nobody to ask. */
async function openOffline(file: string): Promise<Watched> {
  const address = execFileSync(process.execPath, [PROGRAM, 'inspect', '--trace', file], { encoding: 'utf8', env: scene?.place.env }).trim()
  const offline = await openPage(browser, address)
  await offline.page.locator('#status.trace').waitFor()
  return offline
}

function expectNobodyAsked({ troubles, requests }: Watched): void {
  expect(troubles).toEqual([])
  expect(requests.filter((url) => !/^(file|data):/.test(url))).toEqual([])
}

const live = ({ page }: Watched) => page.locator('#status.live').waitFor()
/** The row of the first actor whose id has this in it. */
const row = (page: Page, id: string) => page.locator(`#tree .row[data-actor*="${id}"]`).first()
const current = (page: Page) => page.locator('#chart .box.current').first().getAttribute('data-state')

/** Nothing went wrong in the page, and it asked nobody but its server. */
function expectClean({ troubles, requests }: Watched, origin: string): void {
  expect(troubles).toEqual([])
  expect(requests.filter((url) => !url.startsWith(origin) && !/^(data|blob):/.test(url))).toEqual([])
}

describe.skipIf(CHROMIUM === undefined)(`the page ${IN_CHROMIUM}`, () => {
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())
  afterEach(async () => {
    await closePages(browser)
    await scene?.close()
    await model?.close()
    scene = undefined
    model = undefined
  })

  test('the tree and the chart follow a run that asks for a permission, and the arrows that are taken light up', async () => {
    const server = await begin({ edit: 'ask' })
    const watched = await openPage(browser, `${server.url}/v2/inspector`)
    const { page } = watched
    await live(watched)
    await row(page, 'runtime').waitFor()
    expect(await page.locator('#tree .row').last().innerText()).toMatch(/▸\s*built-in plugins \(\d+\)/)
    await page.locator('#tree .row').last().click()
    expect(await row(page, 'package:dev.svc.files@built-in').innerText()).toMatch(/dev\.svc\.files\s+active/)

    const stream = await server.stream({ tail: true })
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: SECRET })
    const asked = await stream.waitFor((event) => event.type === 'permission.asked')
    await row(page, `session:${session.id}`).click()
    await expect.poll(() => current(page)).toBe('working.running')
    await page.locator('#tree .row .state', { hasText: 'asking' }).first().click()
    await page.locator('#chart svg[data-machine="tool-call"] .box.current').waitFor()
    await shot(page, 'permission', ['tool-call', 'asking'])

    await page.keyboard.press('q')
    const lanes = page.locator('#heads [data-lane]')
    await expect.poll(() => lanes.allInnerTexts()).toEqual([`session …${session.id.slice(-7)}`, 'run', expect.stringMatching(/^call:/)])
    await page.locator('#steps .row.sequence .state + text', { hasText: 'asking' }).waitFor()
    const arrows = page.locator('#steps .row.sequence:has(.arrow) text')
    expect(await arrows.allTextContents()).toEqual(expect.arrayContaining(['tool.called', 'judge done']))
    await shot(page, 'sequence', ['asking', 'run'])
    await page.keyboard.press('t')
    await shot(page, 'sequence-dark', ['asking', 'run'])
    await page.keyboard.press('t')
    const asking = page.locator('#steps .row.sequence', { hasText: 'asking' }).last()
    const sequenceNumber = await asking.getAttribute('data-sequence')
    await asking.click()
    await page.locator(`#steps .row.now[data-sequence="${sequenceNumber}"]`).waitFor()
    await row(page, '/run/call:').click()
    await page.keyboard.press('x')
    await expect.poll(() => lanes.count()).toBe(1)
    expect(new URL(page.url()).hash).toContain(`at=${sequenceNumber}-`)
    const shown = () => page.locator('#caption').innerText()
    const caption = await shown()
    await page.reload()
    await page.locator('#chart svg[data-machine="tool-call"] .box.current').waitFor()
    await page.locator(`#steps .row.now[data-sequence="${sequenceNumber}"]`).waitFor()
    expect([(await shown()).split(' · ').slice(0, 2), await lanes.count()]).toEqual([caption.split(' · ').slice(0, 2), 1])
    await page.evaluate(watchLights)
    await page.keyboard.press('p')
    await page.locator('#lanes-clear').click()
    await page.keyboard.press('q')

    await row(page, `session:${session.id}`).click()
    await page.locator('#chart svg[data-machine="session"]').waitFor()
    const requestId = asked.type === 'permission.asked' ? asked.data.id : ''
    await server.call('POST', `/v2/interactions/permissions/${requestId}/reply`, { reply: 'once' })
    await expect.poll(() => current(page)).toBe('idle')
    await server.prompt(session.id, { prompt: 'again' })
    await stream.waitFor((event) => event.type === 'permission.asked' && event.data.id !== requestId)
    await expect.poll(() => current(page)).toBe('working.running')

    const lights = await page.evaluate(() => (window as unknown as { lights: string[] }).lights)
    expect(lights).toEqual(expect.arrayContaining(['working→looking', 'looking→idle', 'idle→looking', 'looking→working']))
    expect((await server.call('GET', '/v2/inspector/trace')).text).not.toContain(SECRET)
    expect(await page.content()).not.toContain(SECRET)
    expectClean(watched, server.url)
  })

  test('the page of a package: approved and reloaded by its buttons, draining, and what keeps serving when an update fails', async () => {
    const server = await begin({ '*': 'allow' }, {}, [], { name: 'greet', input: {} })
    const place = scene?.place
    if (place === undefined) throw new Error('there is no place')
    const stream = await server.stream({ tail: true })
    const other = { workspaceId: '/somewhere/else', packageId: ID, revision: 'sha256:0', capabilities: [] }
    const approvals = join(dirname(place.configFile), 'config.json')
    writeFileSync(approvals, JSON.stringify({ plugins: { [ID]: { options: { trust: [other] } } } }))
    const program = (text: string) => toolProgram('greet', text, `if (frame.method === 'initialize') console.error('it begins: ${text}')`)
    writePackage(place, ID, { agent: { capabilities: ['config-read'] }, files: { 'plugin.mjs': program('one') } })
    const { revision } = (await lifecycleOf(server, ID)) ?? { revision: '' }
    const watched = await openPage(browser, `${server.url}/v2/inspector`)
    const { page } = watched
    await live(watched)
    await page.keyboard.press('2')
    const listed = page.locator(`#plugin-own [data-plugin="${ID}"]`)
    const state = (wanted: string) => expect.poll(() => listed.getAttribute('data-state')).toBe(wanted)
    const button = (act: string) => page.locator(`#plugin-moves [data-act="${act}"]`)
    const generation = (number: number) => page.locator(`#plugin-generations [data-generation="${number}"]`)
    const dialog = page.locator('#confirm')
    await state('permission-required')
    await page.locator('#plugin-chart .box.current[data-state="resting.permission-required"]').waitFor()
    await shot(page, 'package-permission-required', [ID, 'permission-required', 'Approve…'])

    await button('approve').click()
    await dialog.filter({ hasText: revision }).filter({ hasText: 'config-read' }).waitFor()
    await shot(page, 'package-approve', ['Approve exactly this?', revision])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await button('approve').focus()
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Approve exactly this' }).click()
    await state('active')
    const written = JSON.parse(readFileSync(approvals, 'utf8')) as { plugins: Record<string, { options: { trust: object[] } }> }
    expect(written.plugins[ID]?.options.trust).toEqual([
      other,
      expect.objectContaining({
        revision,
        digest: expect.stringMatching(/^sha256:/),
        workspaceId: place.repo,
        capabilities: ['config-read'],
      }),
    ])
    await expect.poll(() => generation(1).innerText()).toMatch(/#1 serves[\s\S]*calls inside\s*0[\s\S]*streams\s*0[\s\S]*dropped\s*0/)
    await page.locator('#plugin-log', { hasText: 'it begins: one' }).waitFor()

    await button('reload').click()
    await dialog.locator('.yes').click()
    await expect.poll(() => generation(2).innerText()).toContain('#2 serves')
    expect(JSON.parse(readFileSync(approvals, 'utf8'))).toEqual(written)

    const waits = toolProgram('greet', 'three').replace("frame.method === 'tool.invoke'", 'false')
    writePackage(place, ID, { agent: { capabilities: ['config-read'] }, files: { 'plugin.mjs': waits } })
    await state('update-available')
    await button('approve').click()
    await dialog.locator('.yes').click()
    await expect.poll(() => generation(3).innerText()).toContain('#3 serves')
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: SECRET })
    await expect.poll(() => generation(3).innerText()).toMatch(/calls inside\s*1/)
    writePackage(place, ID, { agent: { capabilities: ['config-read'] }, files: { 'plugin.mjs': program('four') } })
    await state('update-available')
    await button('approve').click()
    await dialog.locator('.yes').click()
    await expect.poll(() => generation(4).innerText()).toContain('#4 serves')
    expect(await generation(3).innerText()).toMatch(/#3 draining[\s\S]*leaves\s*in at most[\s\S]*calls inside\s*1/)
    await shot(page, 'package-draining', ['#3', '#4', 'draining'])

    const from = stream.events.length
    writePackage(place, ID, {
      agent: { capabilities: ['config-read'] },
      files: { 'plugin.mjs': 'console.error("it never starts")\nprocess.exit(1)\n' },
    })
    await untilState(stream, ID, 'update-available', from)
    await button('approve').click()
    await dialog.locator('.yes').click()
    await page.locator('#plugin-why', { hasText: 'the new revision did not start' }).waitFor()
    expect(await page.locator('#plugin-why').innerText()).toMatch(/retained-last-known-good[\s\S]* found, [\s\S]* serves/)
    await page.locator('#plugin-log', { hasText: 'it never starts' }).waitFor()
    await shot(page, 'package-update-available', [ID, 'update-available', 'Reload'])
    await page.keyboard.press('t')
    await shot(page, 'package-update-available-dark', [ID, 'update-available', 'Reload'])

    await button('disable').click()
    await dialog.locator('.yes').click()
    await state('disabled')
    await page.locator('#plugin-head .link').click()
    await page.locator('#chart svg[data-machine="package"]').waitFor()
    expect(await current(page)).toBe('resting.disabled')
    expect(await page.content()).not.toContain(SECRET)
    expectClean(watched, server.url)
  })

  test('a workflow that fires shows its occurrences, its run and the session that works for it', async () => {
    const server = await begin({})
    const repo = scene?.place.repo ?? ''
    const save = (fields: string) =>
      scene?.place.write('.svc/workflows/report.md', `---\nid: report\nname: Report\n${fields}\n---\n${SECRET}\n`)
    save('schedule: { frequency: daily, timezone: UTC, time: "09:00" }')
    const watched = await openPage(browser, `${server.url}/v2/inspector`)
    const { page } = watched
    await live(watched)
    await page.keyboard.press('3')
    await page.locator('#workspace').fill(repo)
    await page.keyboard.press('Enter')
    const line = page.locator('tr[data-workflow="report"]')
    await line.waitFor()
    expect(await line.innerText()).toMatch(/inactive[\s\S]*every day at 09:00\s+UTC[\s\S]*if it were active[\s\S]*-\d\d 09:00 /)
    await saveBeforeDue(await server.stream({ tail: true }), (at) => save(`active: true\nschedule: { at: "${momentText(at)}" }`))
    await expect.poll(() => line.innerText()).toMatch(/completed[\s\S]*schedule/)
    await line.getByRole('button', { name: 'Run now' }).click()
    await expect.poll(() => line.innerText()).toMatch(/completed [^\n]* manual/)
    await line.getByRole('button', { name: 'Pause' }).click()
    await expect.poll(() => line.innerText()).toContain('inactive')
    await line.getByRole('button', { name: 'Activate' }).click()
    await expect.poll(() => line.getByRole('button', { name: 'Pause' }).count()).toBe(1)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await line.getByRole('button', { name: 'report.md' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('.svc/workflows/report.md')
    await shot(page, 'workflows', ['report', 'completed', 'once, at', 'Run now'])
    const [run] = (await server.get<{ items: { id: string; title: string }[] }>('/v2/sessions')).items
    await line.getByRole('button', { name: 'session' }).first().click()
    await page.locator(`#session-list [data-session="${run?.id ?? ''}"][aria-current="true"]`).waitFor()
    expect(await page.locator('#session-head').innerText()).toContain(run?.title ?? 'a title')
    await page.locator('#session-head').getByRole('button', { name: 'Actor and log' }).click()
    await row(page, 'session:').waitFor()
    expect(await page.content()).not.toContain(SECRET)
    expectClean(watched, server.url)
  })

  test('a workflow that came with the checkout is accepted by its button, and then runs by schedule', async () => {
    const server = await begin({})
    const repo = scene?.place.repo ?? ''
    scene?.place.write(
      '.svc/workflows/report.md',
      '---\nid: report\nname: Report\nactive: true\nschedule: { frequency: daily }\n---\nReport.\n',
    )
    execFileSync('git', ['add', '--all'], { cwd: repo })
    const watched = await openPage(browser, `${server.url}/v2/inspector`)
    const { page } = watched
    await live(watched)
    await page.keyboard.press('3')
    await page.locator('#workspace').fill(repo)
    await page.keyboard.press('Enter')
    const line = page.locator('tr[data-workflow="report"]')
    await line.waitFor()
    expect(await line.innerText()).toContain('acceptance required')
    expect(await page.locator('#workflow-rows').innerText()).toContain('acceptance-required')
    await line.getByRole('button', { name: 'Accept' }).click()
    await line.getByRole('button', { name: 'Pause' }).waitFor()
    expect(await line.innerText()).toMatch(/active[\s\S]*every day at 00:00/)
    expect(await line.getByRole('button', { name: 'Accept' }).count()).toBe(0)
    expectClean(watched, server.url)
  })

  test('the turns of a session show what they changed, what is undone, and where it was compacted', async () => {
    const server = await begin({ edit: 'allow' })
    const { id } = await server.createSession()
    for (const prompt of [`first ${SECRET}`, 'second', 'third']) {
      await server.prompt(id, { prompt })
      await server.call('POST', `/v2/sessions/${id}/wait`)
    }
    expect((await server.call('POST', `/v2/sessions/${id}/compact`)).status).toBe(204)
    expect((await server.call('POST', `/v2/sessions/${id}/undo`)).status).toBe(200)
    const watched = await openPage(browser, `${server.url}/v2/inspector#tab=sessions`)
    const { page } = watched
    await live(watched)
    await page.locator(`[data-session="${id}"]`).click()
    await page.locator('#turns-caption').waitFor()
    const turns = await page.locator('#turns li').evaluateAll((items) => items.map(({ className }) => className))
    expect(turns.slice(0, 2)).toEqual(['applied', 'applied'])
    expect(turns.at(-1)).toBe('reverted')
    const { items } = await server.get<{ items: { id: string; title: string }[] }>('/v2/sessions')
    const names = await page
      .locator('#session-list [data-session]')
      .evaluateAll((all) => all.map((each) => [each.querySelector('.id')?.textContent, each.querySelector('.name')?.textContent]))
    expect(names).toEqual(items.map((session) => [session.id, session.title]))
    expect(await page.locator('#turns li').first().innerText()).toContain('write · changed a.txt')
    expect(await page.locator('#turns li', { hasText: 'compacted' }).count()).toBe(1)
    expect(await page.locator('#turns path.compaction').count()).toBe(1)
    expect(await page.locator('#turns path.cursor').count()).toBe(1)
    await shot(page, 'sessions', ['write · changed a.txt', 'undone', 'compacted'])
    expect(await page.content()).not.toContain(SECRET)
    expect(new URL(page.url()).hash).toContain(`session=${id}`)
    expectClean(watched, server.url)
  })

  test('what waits is answered in the page, who comes late is told what counted, and a remembered answer is explained and taken back', async () => {
    const call = { name: 'bash', input: { command: 'touch made.txt', description: 'Make it' } as object }
    const server = await begin({ bash: 'ask' }, {}, [], call)
    const repo = scene?.place.repo ?? ''
    const stream = await server.stream({ tail: true })
    const watched = await openPage(browser, `${server.url}/v2/inspector#tab=requests`)
    const { page } = watched
    await live(watched)
    await page.locator('#request-note', { hasText: 'Nothing waits' }).waitFor()
    const { id } = await server.createSession()
    const ask = async () => {
      const from = stream.events.length
      await server.prompt(id, { prompt: 'go' })
      const asked = await stream.waitFor((event) => event.type === 'permission.asked', from)
      const requestId = asked.type === 'permission.asked' ? asked.data.id : ''
      const request = page.locator(`[data-request="${requestId}"]`)
      await request.waitFor()
      return { requestId, request, from }
    }
    const press = (name: string) => page.locator('#requests').getByRole('button', { name, exact: true }).click()
    const decided = page.locator('#explanation')

    const first = await ask()
    expect(await first.request.innerText()).toContain('touch made.txt')
    expect(await first.request.innerText()).toContain(id)
    expect(await page.locator('#waiting').innerText()).toBe('1')
    await shot(page, 'requests', ['touch made.txt', 'Allow once', 'What would be decided'])
    const path = `/v2/interactions/permissions/${first.requestId}`
    await page.route(`**${path}/reply`, async (route) => {
      await server.call('POST', `${path}/reply`, { reply: 'reject', message: 'not now' })
      await route.continue()
    })
    await press('Allow once')
    await page.locator('#message', { hasText: 'Your answer came too late: it is refused (not now), by local at' }).waitFor()
    await first.request.waitFor({ state: 'detached' })
    await stream.idle(id, first.from)
    await page.locator('#message').getByRole('button', { name: 'Close' }).click()

    const second = await ask()
    await press('Allow always')
    await second.request.waitFor({ state: 'detached' })
    expect(await server.get(`/v2/interactions/permissions/${second.requestId}`)).toMatchObject({ state: 'answered', reply: 'always' })
    await page.locator('#remembered-place').fill(repo)
    await page.locator('#remembered-place').press('Enter')
    const answer = page.locator('[data-answer]')
    await answer.waitFor()
    expect(await answer.innerText()).toMatch(/bash:\s+touch made\.txt[\s\S]*local gave on \d{4}-/)
    expect(await answer.innerText()).toContain(id)
    await page.locator('#explain-command').fill('touch made.txt')
    await page.keyboard.press('Enter')
    await decided.filter({ hasText: /allowed: touch made\.txt[\s\S]*by the answer .* that local gave on/ }).waitFor()
    await shot(page, 'remembered', ['touch made.txt', 'Take back'])
    await press('Take back')
    await answer.waitFor({ state: 'detached' })
    await press('Explain')
    await decided.filter({ hasText: 'asked: touch made.txt' }).waitFor()
    await stream.idle(id, second.from)
    const third = await ask()
    await press('Refuse')
    await third.request.waitFor({ state: 'detached' })
    await stream.idle(id, third.from)

    const options = [
      { label: 'Blue', description: 'as the others' },
      { label: 'Red', description: 'it stands out' },
    ]
    Object.assign(call, { name: 'question', input: { questions: [{ question: 'Which colour?', header: 'Colour', options }] } })
    const asked = async (sessionId: string) => {
      await server.prompt(sessionId, { prompt: 'go on' })
      const event = await stream.waitFor(({ type, data }) => type === 'question.asked' && JSON.stringify(data).includes(sessionId))
      const questionId = event.type === 'question.asked' ? event.data.id : ''
      const row = page.locator(`[data-request="${questionId}"]`)
      await row.waitFor()
      return { questionId, row }
    }
    const { questionId, row } = await asked(id)
    await row.getByRole('radio', { name: 'Red' }).check()
    await row.getByRole('textbox').fill('green')
    // What is typed stays while others are asked.
    const other = await asked((await server.createSession()).id)
    expect([await row.getByRole('textbox').inputValue(), await row.getByRole('radio', { name: 'Red' }).isChecked()]).toEqual([
      'green',
      true,
    ])
    await row.getByRole('button', { name: 'Answer' }).click()
    await row.waitFor({ state: 'detached' })
    await other.row.getByRole('button', { name: 'Decline' }).click()
    await page.locator('#request-note', { hasText: 'Nothing waits' }).waitFor()
    const outcomes = await Promise.all([questionId, other.questionId].map((one) => server.get(`/v2/interactions/questions/${one}`)))
    expect(outcomes).toEqual([
      expect.objectContaining({ state: 'answered', answers: [['green']] }),
      expect.not.objectContaining({ answers: expect.anything() }),
    ])
    expect(watched.troubles).toEqual([])
  })

  test('a trace that was saved opens without a server, steps back and forward, and shows no prompt', async () => {
    const server = await begin({})
    const watched = await openPage(browser, `${server.url}/v2/inspector`, { colorScheme: 'dark' })
    const { page } = watched
    await live(watched)
    const stream = await server.stream({ tail: true })
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: SECRET })
    await stream.idle(session.id)
    await page.locator('#log .row.stop', { hasText: 'run' }).first().waitFor()
    await shot(page, 'dark', ['runtime', 'session'])
    const file = await saveTrace(page)
    expectClean(watched, server.url)
    await server.stop()

    const offline = await openOffline(file)
    await row(offline.page, `session:${session.id}`).click()
    await expect.poll(() => current(offline.page)).toBe('idle')
    const states = new Set<string>()
    const trace = readTrace(readFileSync(file, 'utf8'))
    const { records } = trace
    const place = offline.page.locator('#place')
    const shown = offline.page.locator(`#tree .row[data-actor="session:${session.id}"] .state`)
    const at = async (step: number) => {
      await place.filter({ hasText: new RegExp(`^${step} of `) }).waitFor()
      for (const state of await shown.allInnerTexts()) states.add(state)
    }
    for (let step = records.length - 1; step > records.length - 10; step--) {
      await offline.page.keyboard.press('[')
      await at(step)
    }
    const moves = records.flatMap(({ actorId, type }, index) =>
      actorId === `session:${session.id}` && type === 'transition' ? [index] : [],
    )
    for (const step of moves.flatMap((index) => [index, index + 1])) {
      await offline.page.locator('#position').fill(String(step))
      await at(step)
    }
    expect(states).toEqual(new Set(['idle', 'looking', 'running']))
    await offline.page.locator('#position').fill(String(records.length))
    await expect.poll(() => current(offline.page)).toBe('idle')
    expectNobodyAsked(offline)
    expect(JSON.stringify(trace)).not.toContain(SECRET)
    expect(checkTrace(trace)).toEqual([])
    expect(() => replay(trace, { actor: `session:${session.id}` })).toThrow('--inspect-payloads')

    const bare = await openPage(browser, pathToFileURL(join(PROGRAM, '../inspector.html')).href)
    await bare.page.locator('#file').setInputFiles(file)
    await bare.page.locator('#status.trace').waitFor()
    await row(bare.page, `session:${session.id}`).waitFor()
    expect(bare.troubles).toEqual([])
  })

  test('a trace with payloads opens without a server, and every actor that began in it replays with its machine', async () => {
    const server = await begin({ edit: 'ask' }, {}, ['--inspect-payloads'])
    const place = scene?.place
    if (place === undefined) throw new Error('there is no place')
    const watched = await openPage(browser, `${server.url}/v2/inspector`)
    await live(watched)
    const stream = await server.stream({ tail: true })
    const session = await server.createSession()
    writePackage(place, ID, { files: { 'plugin.mjs': toolProgram('greet', 'one') } })
    await approve(server, place, ID)
    await untilState(stream, ID, 'active')
    await server.prompt(session.id, { prompt: 'go' })
    const asked = await stream.waitFor((event) => event.type === 'permission.asked')
    const requestId = asked.type === 'permission.asked' ? asked.data.id : ''
    await server.call('POST', `/v2/interactions/permissions/${requestId}/reply`, { reply: 'once' })
    await stream.idle(session.id)
    await watched.page.locator('#log .row.stop', { hasText: 'run' }).first().waitFor()
    const file = await saveTrace(watched.page)
    expectClean(watched, server.url)
    await server.stop()

    const offline = await openOffline(file)
    const { page } = offline
    await page.locator('#log-filter').fill('tool.called')
    await page.locator('#log .row', { hasText: '"callId":' }).first().click()
    await expect.poll(() => page.locator('#record').innerText()).toMatch(/event\s+tool\.called[\s\S]*"callId": "/)
    await shot(page, 'record', ['tool.called', 'Go to this moment'])
    await page.locator('#record').getByTitle('Close').click()
    await page.locator('#filter').fill('call:') // rows below the fold are not there
    const call = page.locator('#tree .row', { hasText: 'tool-call' })
    expect(await call.count()).toBe(0)
    await page.locator('#log-filter').fill('execution.settled')
    // In one step: the filter is applied a frame later, and moves the rows.
    await page.locator('#log .row.transition', { hasText: 'execution.settled' }).first().dispatchEvent('click', { detail: 2 })
    await call.first().click()
    await expect.poll(() => current(page)).toBe('settled')
    await page.locator('#back').click()
    await expect.poll(() => current(page)).toBe('executing.working')
    await page.locator('#forward').click()
    await expect.poll(() => current(page)).toBe('settled')
    await shot(page, 'trace', ['tool-call', 'settled'])
    expectNobodyAsked(offline)

    const trace = readTrace(readFileSync(file, 'utf8'))
    const replayed = recordedActors(trace).map((each) => replay(trace, each))
    expect(checkTrace(trace)).toEqual([])
    expect(new Set(replayed.map(({ machine }) => machine))).toEqual(
      new Set(['session', 'run', 'tool-call', 'interaction', 'subscription', 'package', 'workspace', 'generation', 'instance']),
    )
    expect(replayed.find(({ machine }) => machine === 'tool-call')?.steps.map(({ before }) => before.join())).toEqual([
      'judging',
      'asking',
      'judging',
      'executing.working',
    ])
    const states = (id: string) => trace.records.flatMap(({ actorId, after }) => (actorId === id && after ? [after.join()] : []))
    expect(states(`interaction:${requestId}`)).toEqual(['asked.waiting.attended', 'answered'])
    expect(states('subscription:1')).toEqual(['live'])
    expect(replayed.find(({ actor }) => actor.startsWith(`package:${ID}`))?.state).toEqual(['running.serving.active'])
    expect(replayed.find(({ machine }) => machine === 'run')).toMatchObject({ done: true, output: { end: 'finished' } })
  })

  test('everything can be reached and done with the keyboard alone, in the light and in the dark', async () => {
    const server = await begin({})
    const stream = await server.stream({ tail: true })
    const watched = await openPage(browser, `${server.url}/v2/inspector`)
    const { page } = watched
    const { keyboard } = page
    const pressed = (id: string) => page.locator(id).getAttribute('aria-pressed')
    // From the beginning: choosers are caught only once the browser was told to, and it is not waited for that.
    const choosers: FileChooser[] = []
    page.on('filechooser', (chooser) => choosers.push(chooser))
    await live(watched)
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: 'go' })
    await stream.idle(session.id)
    await row(page, `session:${session.id}`).waitFor()
    await expect.poll(() => page.locator(`#tree .row[data-actor^="session:${session.id}/"]`).count()).toBe(0)
    await keyboard.press('/')
    await keyboard.type('session:')
    await expect.poll(() => page.locator('#tree .row:not([data-actor^="session:"])').count()).toBe(0)
    await keyboard.press('Enter')
    await keyboard.press('End')
    await page.locator('#chart svg[data-machine="session"]').waitFor()
    expect(await page.locator('#tree .row[aria-selected=true]').getAttribute('data-actor')).toBe(`session:${session.id}`)
    await keyboard.press('p')
    await expect.poll(() => pressed('#pause')).toBe('true')
    // Of how many it is one may grow meanwhile.
    const place = async () => (await page.locator('#place').innerText()).split(' of ')[0]
    const end = await place()
    await keyboard.press('[')
    await expect.poll(place).not.toBe(end)
    const past = page.locator('#past')
    for (const [key, says] of [
      ['2', 'the chart is as it was, all else here is as it is now'],
      ['3', 'what stands here is as it is now'],
      ['1', 'tree, chart and log are as they were'],
    ] as const) {
      await keyboard.press(key)
      await past.filter({ hasText: new RegExp(`^The past \\S+, record \\d+ of \\d+: ${says}`) }).waitFor()
      expect([key, await page.locator('#status').innerText(), await page.locator('body.past').count()]).toEqual([key, 'connected', 1])
    }
    await shot(page, 'past', ['The past', 'Back to the present', 'connected'])
    await keyboard.press(']')
    await expect.poll(place).toBe(end)
    await keyboard.press('p')
    await expect.poll(() => pressed('#pause')).toBe('false')
    await expect.poll(() => past.isVisible()).toBe(false)
    expect(await page.locator('#status').innerText()).toBe('live')
    await page.locator('#position').fill('0')
    await page.locator('#log .note', { hasText: 'had happened yet' }).getByRole('button', { name: 'Forward' }).waitFor()
    await page.locator('#ended', { hasText: 'It has not begun yet.' }).getByRole('button', { name: 'Go to its begin' }).waitFor()
    await page.locator('#present').click()
    await page.locator('#chart svg[data-machine="session"]').waitFor()
    await page.locator('#log-filter').fill('nothing like this')
    await page
      .locator('#log .note', { hasText: 'is shown: only those with "nothing like this".' })
      .getByRole('button', { name: 'Show all' })
      .click()
    await page.locator('#log .row').first().waitFor()
    await page.locator('#tree').focus()
    await keyboard.press('j')
    await expect.poll(() => page.locator('#only').isChecked()).toBe(true)
    const [download] = await Promise.all([page.waitForEvent('download'), keyboard.press('s')])
    expect(download.suggestedFilename()).toMatch(/^svc-trace-.*\.json$/)
    await download.path()
    await keyboard.press('o')
    await expect.poll(() => choosers.map((chooser) => chooser.isMultiple())).toEqual([false])

    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await back()
    await shot(page, 'light', ['session …', 'Save trace'])
    await keyboard.press('t')
    await expect.poll(back).not.toBe(light)
    await keyboard.press('t')
    await expect.poll(back).toBe(light)
    for (const [key, view, shows] of [
      ['2', 'plugins', 'built-in plugins'],
      ['3', 'workflows', 'Workspace'],
      ['1', 'actors', 'session …'],
    ] as const) {
      await keyboard.press(key)
      await page.locator(`#${view}`, { hasText: shows }).waitFor()
      if (view === 'plugins') {
        await page.locator('#plugin-own-none', { hasText: 'svc plugin init' }).waitFor()
        await page.locator('#plugin-built-in [data-plugin="dev.svc.files"]').waitFor()
      }
      await shot(page, `light-${view}`, [shows])
    }
    const reached = new Set<string>()
    for (let step = 0; step < 40; step++) {
      await keyboard.press('Tab')
      reached.add(await page.evaluate(() => document.activeElement?.id ?? ''))
    }
    expect([...reached]).toEqual(
      expect.arrayContaining(['tab-actors', 'pause', 'position', 'save', 'theme', 'filter', 'tree', 'chart', 'only', 'log-filter', 'log']),
    )
    expectClean(watched, server.url)
  })

  test('asks for the token of a server that has one, and shows nothing before', async () => {
    const server = await begin({}, { SVC_AGENT_TOKEN: 'open-sesame' })
    const watched = await openPage(browser, `${server.url}/v2/inspector`)
    await watched.page.locator('#credential').waitFor()
    expect(await watched.page.locator('#tree .row').count()).toBe(0)
    await watched.page.locator('#token').fill('open-sesame')
    await watched.page.keyboard.press('Enter')
    await live(watched)
    await row(watched.page, 'runtime').waitFor()
  })

  test('says what is wrong with a token, shows a tenant nothing, and the operator everything', async () => {
    const TOKENS = { tokens: [{ token: 'of-acme', tenantId: 'acme', directoryPrefixes: ['/'] }] }
    const server = await begin(
      {},
      { SVC_AGENT_TOKEN: 'open-sesame', SVC_AGENT_AUTH_CONFIG: JSON.stringify(TOKENS), SVC_DAEMON_TOKEN: DAEMON_KEY },
    )
    const { page } = await openPage(browser, `${server.url}/v2/inspector`)
    const signed = sign(claimsAt(Date.now(), { directoryPrefixes: ['/'] }))
    for (const [token, status, says] of [
      ['wrong', 'token', 'does not take this token'],
      ['of-acme', 'off', 'not for hosted callers'],
      [signed, 'off', 'for the operator of this server alone'],
    ] as const) {
      await page.locator('#credential').waitFor()
      await page.locator('#token').fill(token)
      await page.keyboard.press('Enter')
      await page.locator('#message', { hasText: says }).waitFor()
      await page.locator(`#status.${status}`).waitFor()
      expect(await page.locator('#tree .row').count()).toBe(0)
    }
    await page.locator('#token').fill('open-sesame')
    await page.keyboard.press('Enter')
    await page.locator('#status.live').waitFor()
    await row(page, 'runtime').waitFor()
    expect([await page.locator('#message').isVisible(), await page.locator('#credential').isVisible()]).toEqual([false, false])
  })

  test('three thousand actors can be scrolled, filtered and selected, with only the rows in sight in the page', async () => {
    scene = openScene(makePlace())
    const file = join(scene.place.root, 'large.json')
    writeFileSync(file, JSON.stringify(largeTrace(3000)))
    const { page, troubles } = await openPage(browser, pathToFileURL(join(PROGRAM, '../inspector.html')).href)
    await page.locator('#file').setInputFiles(file)
    await row(page, 'runtime').waitFor()
    expect(await page.locator('#count').innerText()).toBe('3001 actors')
    expect(await row(page, 'runtime').locator('.age').innerText()).toBe('60 s')
    expect(await page.locator('#tree .row').count()).toBeLessThan(100)
    await page.locator('#tree').focus()
    await page.keyboard.press('End')
    await page.locator('#tree .row[aria-selected=true]', { hasText: 'session:2999' }).waitFor()
    await page.locator('#tree').evaluate((tree) => tree.scrollTo(0, 1000 * 24))
    await row(page, 'session:0999').waitFor()
    expect(await page.locator('#tree .row').count()).toBeLessThan(100)
    await page.locator('#filter').fill('session:1234')
    await row(page, 'session:1234').click()
    await page.locator('#caption', { hasText: 'session:1234' }).waitFor()
    expect(await page.locator('#tree .row').count()).toBe(1)
    await shot(page, 'many', ['session:1234'])
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
    expect(inspect({ ...env, SVC_AGENT_TOKEN: 'open-sesame' })).toMatchObject({ status: 0, stdout: `${server.url}/v2/inspector\n` })
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

/** Runs in the page: what can be scrolled to the side, besides the chart. */
function tooWide(): string[] {
  const areas = [document.documentElement, ...document.querySelectorAll('main > section, #tree, #log')]
  return areas.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ id, tagName }) => id || tagName)
}

/** Runs in the page: notes which arrows light up. */
function watchLights(): void {
  const lights: string[] = []
  Object.assign(window, { lights })
  new MutationObserver((changes) => {
    for (const { target, oldValue } of changes) {
      if (!(target instanceof SVGElement) || !target.classList.contains('fired') || (oldValue ?? '').includes('fired')) continue
      lights.push(`${target.dataset['from']}→${target.dataset['to']}`)
    }
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['class'], attributeOldValue: true })
}

function largeTrace(sessions: number): object {
  const actor = (id: string, kind: string, machine: string) => ({ id, kind, name: id, machine, state: ['idle'], startedAt: 1, restarts: 0 })
  return {
    format: 'svc-inspector-trace',
    version: 1,
    createdAt: 60_001,
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

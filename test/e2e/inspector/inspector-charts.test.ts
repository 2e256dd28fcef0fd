/** The charts of the inspector as a person sees them: every machine, in the panel and in the whole window, in light and dark. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createCharts } from '../../../src/actors/inspector/charts.js'
import { layoutOf } from '../../../src/actors/inspector/layouts.js'
import type { InspectedActor, InspectedMachine, InspectedPlugin, InspectedState } from '../../../src/protocol/system/inspector.js'
import { CHROMIUM, closePages, IN_CHROMIUM, openPage, startBrowser, type Watched } from '../server/browser.js'
import { pictureOf } from './picture.js'
import { makePlace, type Place } from '../server/place.js'
import { PROGRAM } from '../server/server.js'

const SHOTS = process.env['SVC_TEST_SCREENSHOTS']
/** What is seen of each is more in the light. */
const SHARES = [
  ['light', 1, 4],
  ['light', 2, 4],
  ['light', 3, 4],
  ['light', 4, 4],
  ['dark', 1, 1],
] as const
/** Pixels; smaller text is hidden. */
const READABLE = 8

const source = fileURLToPath(new URL('../../../src/machines', import.meta.url))
const modules: object[] = await Promise.all(
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.machine.ts'))
    .map((name) => import(`${source}/${name}`)),
)
const machines = createCharts()
  .all(modules.flatMap((module) => Object.values(module)))
  .map((machine): InspectedMachine => ({ ...machine, layout: layoutOf(machine.id), overview: layoutOf(`${machine.id}/overview`) }))

/** Every machine in its initial state and, one record later, where its first transition leads. */
function traceOf(shown: readonly InspectedMachine[], plugins: readonly InspectedPlugin[]): object {
  const steps = shown.map(({ id, root }, index) => {
    const before = innermost(root)
    const target = find(root, before[0] ?? '')?.transitions.find(({ targets }) => targets !== undefined)?.targets?.[0]
    const after = target === undefined ? before : innermost(find(root, target) ?? root)
    const actor = { id: `runtime:${id}`, kind: 'runtime', name: id, machine: id, state: after, startedAt: 1, restarts: 0 }
    return { actor, record: { sequence: index + 1, at: 1000, actorId: actor.id, type: 'transition', event: 'go', before, after } }
  })
  return {
    format: 'svc-inspector-trace',
    version: 1,
    createdAt: 60_001,
    serverVersion: '0.1.0',
    machines: shown,
    actors: [...steps.map(({ actor }) => actor), ...plugins.flatMap(actorsOf)],
    plugins,
    records: steps.map(({ record }) => record),
    dropped: 0,
  }
}

const REVISION = (digit: string) => `sha256:${digit.repeat(64)}`
const GENERATION = (key: string, number: number, state: string, revision: string): InspectedPlugin['generations'][number] => ({
  number,
  actorId: `package:${key}/generation:${number}`,
  state: [state],
  revision: REVISION(revision),
  readyAt: 50_000,
  leases: state === 'draining' ? 2 : 0,
  frames: { framesIn: 31, framesOut: 29, bytesIn: 40_212, bytesOut: 3801, dropped: state === 'draining' ? 3 : 0, streams: 1 },
})
const PLUGIN = (name: string, fields: Partial<InspectedPlugin>): InspectedPlugin => ({
  key: `dev.example.${name}@/home/ada/project`,
  pluginId: `dev.example.${name}`,
  origin: 'package',
  workspace: '/home/ada/project',
  state: 'active',
  verdict: 'trusted',
  source: 'user',
  scope: 'workspace',
  revision: REVISION('a'),
  digest: REVISION('b'),
  runtime: 'process',
  requestedCapabilities: ['workspace-read', 'config-read'],
  grantedCapabilities: ['workspace-read', 'config-read'],
  unprovidedCapabilities: [],
  generations: [],
  strikes: 0,
  droppedFrames: 0,
  diagnostics: [],
  ...fields,
})
const STATES: readonly InspectedPlugin[] = [
  PLUGIN('waits', {
    state: 'permission-required',
    verdict: 'untrusted',
    requestedCapabilities: ['workspace-read', 'config-write'],
    grantedCapabilities: [],
    unprovidedCapabilities: ['config-write'],
    diagnostics: [{ code: 'permission-required', message: 'external trust is required' }],
  }),
  PLUGIN('retained', {
    state: 'update-available',
    revision: REVISION('c'),
    retainedRevision: REVISION('a'),
    serving: 2,
    generations: [GENERATION('dev.example.retained@/home/ada/project', 2, 'serving', 'a')],
    diagnostics: [
      {
        code: 'failed',
        message: 'the new revision did not start: The plugin process exited with code 1.',
        action: 'inspect logs or restore the retained revision',
      },
      { code: 'retained-last-known-good', message: `the approved revision ${REVISION('a')} keeps serving` },
    ],
  }),
  PLUGIN('unwell', {
    state: 'degraded',
    serving: 1,
    strikes: 1,
    generations: [GENERATION('dev.example.unwell@/home/ada/project', 1, 'serving', 'a')],
    diagnostics: [
      { code: 'degraded', message: 'message.before failed: it threw', action: 'inspect logs or restore the retained revision' },
    ],
  }),
  PLUGIN('replaced', {
    serving: 3,
    droppedFrames: 2,
    generations: [2, 3].map((number) =>
      GENERATION('dev.example.replaced@/home/ada/project', number, number === 3 ? 'serving' : 'draining', String(number)),
    ),
  }),
]

/** The package and its generations. */
function actorsOf({ key, state, generations }: InspectedPlugin): InspectedActor[] {
  const paths: Readonly<Record<string, string>> = {
    'permission-required': 'resting.permission-required',
    'update-available': 'running.serving.update-available',
    degraded: 'running.degraded',
    active: 'running.serving.active',
  }
  const common = { startedAt: 40_000, since: 55_000, restarts: 0 }
  const id = `package:${key}`
  return [
    { ...common, id, kind: 'package', name: id, machine: 'package', state: [paths[state] ?? ''] },
    ...generations.map((each) => ({
      ...common,
      id: each.actorId,
      parentId: id,
      kind: 'generation',
      name: `generation:${each.number}`,
      machine: 'generation',
      state: each.state,
    })),
  ]
}

function keep(name: string, png: Buffer): void {
  if (SHOTS === undefined) return
  mkdirSync(SHOTS, { recursive: true })
  writeFileSync(join(SHOTS, `${name}.png`), png)
}

/** Text that nobody can read in a picture, which is kept under a name. */
async function illegibleIn(page: Page, name: string): Promise<readonly string[]> {
  const { png, illegible } = await pictureOf(page)
  keep(name, png)
  return illegible
}

function innermost(state: InspectedState): string[] {
  if (state.type === 'parallel') return state.states.flatMap(innermost)
  const initial = state.states.find(({ key }) => key === state.initial)
  return initial === undefined ? [state.path] : innermost(initial)
}

function find(state: InspectedState, path: string): InspectedState | undefined {
  return state.path === path ? state : state.states.flatMap((child) => find(child, path) ?? [])[0]
}

describe.skipIf(CHROMIUM === undefined)(`charts ${IN_CHROMIUM}`, () => {
  let browser: Browser
  let place: Place
  beforeAll(async () => {
    browser = await startBrowser()
    place = makePlace()
  })
  afterAll(async () => {
    await browser.close()
    place.remove()
  })
  afterEach(() => closePages(browser))

  async function open(
    shown: readonly InspectedMachine[],
    colorScheme: 'light' | 'dark' = 'light',
    plugins: readonly InspectedPlugin[] = [],
  ): Promise<Watched> {
    const file = join(place.root, 'trace.json')
    writeFileSync(file, JSON.stringify(traceOf(shown, plugins)))
    const watched = await openPage(browser, pathToFileURL(join(PROGRAM, '../inspector.html')).href, { colorScheme, hasTouch: true })
    await watched.page.locator('#file').setInputFiles(file)
    await watched.page.locator('#status.trace').waitFor()
    return watched
  }

  const choose = async (page: Page, id: string): Promise<void> => {
    await page.locator(`#tree .row[data-actor="runtime:${id}"]`).click()
    await page.locator(`#chart [data-machine="${id}"]`).waitFor()
  }

  test.each(SHARES)('every chart can be read in %s: part %i of %i', async (scheme, part, parts) => {
    const { page, troubles } = await open(machines, scheme)
    const pictured = new Set<string>()
    for (const { id } of machines.filter((_, index) => index % parts === part - 1)) {
      await choose(page, id)
      // The places of things are the same in the dark, their colours are not: these follow from the classes of a text, and each is pictured once.
      const views = scheme === 'light' || SHOTS !== undefined ? (['panel', 'window'] as const) : (['panel'] as const)
      for (const view of views) {
        if (view === 'window') await page.keyboard.press('f')
        await expect.poll(() => page.evaluate(outside), { message: `${id} in the ${view}` }).toEqual([])
        // Its panel has grown at once; the drawing is fitted to it when the browser tells of that.
        const cuts = async () => (view === 'window' ? page.locator('#chart > .cut').count() : 0)
        await expect.poll(cuts, { message: `cuts of ${id}` }).toBe(0)
        const classes = await page.evaluate(classesOfTexts)
        const isNew = views.length > 1 || classes.some((each) => !pictured.has(each))
        const illegible = isNew ? await illegibleIn(page, `chart-${id}-${scheme}-${view}`) : []
        for (const each of classes) pictured.add(each)
        const { collisions, small, hidden } = await page.evaluate(textsOf, READABLE)
        expect([id, view, illegible, collisions, small]).toEqual([id, view, [], [], []])
        expect([id, view, hidden]).toEqual([id, view, 0])
      }
      if (views.length > 1) await page.keyboard.press('f')
    }
    expect(troubles).toEqual([])
  })

  test.each(['light', 'dark'] as const)('the page of a package can be read in every state in %s', async (scheme) => {
    const { page, troubles } = await open(machines, scheme, STATES)
    await page.keyboard.press('2')
    for (const { key, state } of STATES) {
      await page.locator(`#plugin-own [data-key="${key}"]`).click()
      await page.locator('#plugin-head .badge', { hasText: state }).waitFor()
      await page.locator('#plugin-chart .box.current').waitFor()
      expect([state, await page.evaluate(outside)]).toEqual([state, []])
      const { png, illegible, texts } = await pictureOf(page)
      keep(`package-${key.split('@')[0]}-${scheme}`, png)
      expect([state, illegible, await page.evaluate(textsOf, READABLE)]).toEqual([state, [], { collisions: [], small: [], hidden: 0 }])
      expect(texts).toEqual(
        expect.arrayContaining(['Why it is where it is', 'What moves it on', 'Generations', 'A trace holds no lines of plugins.']),
      )
      expect(await page.locator('#plugin-moves button').count()).toBe(0)
      expect(await page.locator('#plugin-moves').innerText()).toContain('svc plugin')
    }
    await page.reload()
    expect(new URL(page.url()).hash).toContain(`plugin=${STATES.at(-1)?.key.split('@')[0]}`)
    expect(troubles).toEqual([])
  })

  test('a chart fits, zooms by wheel, pinch and key, moves, fits again, and follows the state when it does not fit', async () => {
    const { page } = await open(machines)
    await choose(page, 'runtime')
    await page.keyboard.press('f')
    await page.locator('#chart > svg:not(.cut)').waitFor()
    const chart = page.locator('#chart')
    const scale = () => page.evaluate(() => document.querySelector<SVGGraphicsElement>('#chart svg > g')?.getScreenCTM()?.a ?? 0)
    const box = async (path: string) => (await page.locator(`#chart .box[data-state="${path}"] > rect`).first().boundingBox()) ?? nowhere
    const fitted = await scale()
    const at = await box('stopped')
    await page.mouse.move(at.x + 1, at.y + 1)
    await page.mouse.wheel(0, -400)
    await expect.poll(scale).toBeGreaterThan(1.5 * fitted)
    expect(Math.abs((await box('stopped')).x - at.x)).toBeLessThan(2)
    expect(await page.evaluate(outside)).not.toEqual([])
    await page.keyboard.press('0')
    await expect.poll(scale).toBeCloseTo(fitted)

    await page.keyboard.press('+')
    await expect.poll(scale).toBeCloseTo(1.25 * fitted)
    await page.locator('#chart svg').dblclick({ position: { x: 5, y: 5 } })
    await expect.poll(scale).toBeCloseTo(fitted)

    const before = await box('serving')
    await page.mouse.move(before.x + 5, before.y + 5)
    await page.mouse.down()
    await page.mouse.move(before.x + 45, before.y + 25)
    await page.mouse.up()
    const dragged = await box('serving')
    expect([Math.round(dragged.x - before.x), Math.round(dragged.y - before.y)]).toEqual([40, 20])
    await chart.focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(async () => Math.round((await box('serving')).x - dragged.x)).toBe(60)
    await page.keyboard.press('0')

    await pinch(page, { x: before.x, y: before.y })
    await expect.poll(scale).toBeGreaterThan(1.5 * fitted)
    await page.keyboard.press('0')
    await page.setViewportSize({ width: 1000, height: 600 })
    await expect.poll(scale).toBeLessThan(fitted)
    expect(await page.evaluate(outside)).toEqual([])

    for (let step = 0; step < 6; step++) await page.keyboard.press('+')
    await page.locator('#position').fill('0')
    await page.locator('#chart .box.current[data-state="starting.recovering"]').waitFor()
    const seen = await box('starting.recovering')
    const panel = (await chart.boundingBox()) ?? nowhere
    expect(seen.x >= panel.x && seen.x + seen.width <= panel.x + panel.width).toBe(true)
    expect(seen.y >= panel.y && seen.y + seen.height <= panel.y + panel.height).toBe(true)
  })

  test('a chart that is too large for its panel is no smaller than it can be read, and shows where the actor is', async () => {
    const { page } = await open(machines)
    const scale = () => page.evaluate(() => document.querySelector<SVGGraphicsElement>('#chart svg > g')?.getScreenCTM()?.a ?? 0)
    await choose(page, 'run')
    await page.locator('#chart > .cut').waitFor()
    expect(await scale()).toBeCloseTo(0.8)
    expect(await page.evaluate(outside)).toEqual([])
    await page.locator('#position').fill('0')
    const [begin = ''] = machines.filter(({ id }) => id === 'run').flatMap(({ root }) => innermost(root))
    await page.locator(`#chart .box.current[data-state="${begin}"]`).waitFor()
    expect(await page.evaluate(outside)).toEqual([])
    // Nothing but the names of states is left of one that somebody makes smaller.
    for (let step = 0; step < 3; step++) await page.locator('#smaller').click()
    await page.locator('#chart > .small').waitFor()
    expect(await page.evaluate(namesOutside)).toEqual([])
  })

  test('panels are resized with the pointer and with keys, within bounds, and stay so; what is broken in the store counts as nothing', async () => {
    const { page, troubles } = await open(machines)
    await choose(page, 'runtime')
    const rows = () => page.locator('#log').evaluate(({ clientHeight }) => clientHeight / 20)
    expect(await rows()).toBeGreaterThanOrEqual(15)
    const width = () => page.locator('#left').evaluate((element) => element.getBoundingClientRect().width)
    const [tree, log] = [page.locator('#left-edge'), page.locator('#below-edge')]
    const told = (edge: typeof tree) =>
      edge.evaluate((element) => ['role', 'aria-orientation', 'aria-controls'].map((name) => element.getAttribute(name)))
    expect([await told(tree), await told(log)]).toEqual([
      ['separator', 'vertical', 'left'],
      ['separator', 'horizontal', 'below'],
    ])
    const value = async (edge: typeof tree, name = 'now') => Number(await edge.getAttribute(`aria-value${name}`))
    const first = await width()
    await expect.poll(() => value(tree)).toBe(Math.round(first))

    const at = (await tree.boundingBox()) ?? nowhere
    await page.mouse.move(at.x, at.y + 200)
    await page.mouse.down()
    await page.mouse.move(at.x + 60, at.y + 210)
    await page.mouse.up()
    expect(await width()).toBeCloseTo(first + 60, -1)
    await tree.focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => value(tree)).toBe(Math.round(first + 60) + 16)
    for (const [key, bound] of [
      ['Home', 'min'],
      ['End', 'max'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(async () => [await width(), await value(tree)]).toEqual([await value(tree, bound), await value(tree, bound)])
    }
    await log.focus()
    await page.keyboard.press('ArrowUp')
    await expect.poll(rows).toBeGreaterThan(15.5)
    const kept = [await width(), await rows()]
    await page.reload()
    await page.locator('#file').setInputFiles(join(place.root, 'trace.json'))
    await page.locator('#status.trace').waitFor()
    expect([await width(), await rows()]).toEqual(kept)

    await page.setViewportSize({ width: 900, height: 700 })
    await expect.poll(width).toBe(540)
    for (const key of ['6', '5', '4', '3', '2', '1']) {
      await page.keyboard.press(key)
      expect([key, await page.evaluate(cramped)]).toEqual([key, []])
    }
    await page.setViewportSize({ width: 1280, height: 720 })
    await tree.focus()
    await page.keyboard.press('Enter')
    await expect.poll(width).toBeCloseTo(first)
    for (const broken of ['{', '[]', '{"left":"wide","below":-4,"record":1e9,"other":7}']) {
      await page.evaluate((text) => localStorage.setItem('svc-inspector-panels', text), broken)
      await page.reload()
      await page.locator('#file').setInputFiles(join(place.root, 'trace.json'))
      await page.locator('#status.trace').waitFor()
      expect([broken, await width(), Math.floor(await rows())]).toEqual([broken, first, 15])
    }
    expect(troubles).toEqual([])
  })

  test('a chart marks what happened last, shows what can happen, and dims what cannot', async () => {
    const { page } = await open(machines)
    await choose(page, 'runtime')
    const arrows = (name: string) =>
      page.locator(`#chart .line.${name}`).evaluateAll((lines) => lines.map((line) => `${line.dataset['from']} ${line.dataset['to']}`))
    expect(await page.locator('#chart .box.current').getAttribute('data-state')).toBe('starting.startingPlugins')
    expect(await arrows('last')).toEqual(['starting.recovering starting.startingPlugins'])
    expect((await arrows('near')).toSorted()).toEqual([
      'starting killing',
      'starting stopping',
      'starting.startingPlugins starting.startingSessions',
    ])
    expect(await arrows('far')).toContain('serving stopping')
    expect(await page.locator('#chart .box.far[data-state="serving"]').count()).toBe(1)
    expect(await page.locator('#chart .box.far[data-state="killing"]').count()).toBe(0)
    await page.locator('#position').fill('0')
    await page.locator('#chart .box.current[data-state="starting.recovering"]').waitFor()
    expect(await arrows('last')).toEqual([])
    const state = page.locator('#tree .row[data-actor="runtime:runtime"] .state')
    expect([await state.innerText(), await state.getAttribute('title')]).toEqual(['recovering', 'starting.recovering'])
    await page.locator('#legend summary').click()
    await expect.poll(() => page.locator('#legend svg').textContent()).toContain('cannot happen from here')
    expect(await page.evaluate(cutOff)).toEqual([])
  })

  test('a machine that came without a layout is listed', async () => {
    const { page, troubles } = await open(machines.map(({ layout: _layout, ...machine }) => machine))
    await choose(page, 'runtime')
    expect(await page.locator('#chart .list .current').innerText()).toBe('startingPlugins')
    expect((await page.locator('#chart .list').innerText()).split(/\s+/)).toEqual(
      expect.arrayContaining(['serving', 'stopping', 'refusing']),
    )
    expect(troubles).toEqual([])
  })
})

const nowhere = { x: -1, y: -1, width: 0, height: 0 }

/** Runs in the page: states that are not wholly in the panel; of a chart that is too large for it, the current one. */
function outside(): string[] {
  const states = document.querySelector('.panel:not([hidden] *) > .cut') === null ? '.box' : '.box.current'
  const shown = document.querySelector('.panel:has(> svg)[id]:not([hidden] *)')
  const panel = shown?.getBoundingClientRect() ?? new DOMRect()
  return [...(shown?.querySelectorAll<SVGElement>(states) ?? [])].flatMap((box) => {
    const { left, right, top, bottom } = box.getBoundingClientRect()
    const isInside = left >= panel.left && right <= panel.right && top >= panel.top && bottom <= panel.bottom
    return isInside ? [] : [box.dataset['state'] ?? '']
  })
}

/** Runs in the page: labels that lie on each other or on the name of a state, text that is too small, and how many texts are hidden. */
function textsOf(readable: number): { collisions: string[]; small: string[]; hidden: number } {
  const texts = [...document.querySelectorAll<SVGTextElement>('.panel:not([hidden] *) text')]
  const seen = texts.filter((text) => text.getClientRects().length > 0)
  const areas = seen.map((text) => ({ text: text.textContent ?? '', owner: text.parentElement, area: text.getBoundingClientRect() }))
  const collisions = areas.flatMap((a, index) =>
    areas.slice(index + 1).flatMap((b) => {
      const [width, height] = [
        Math.min(a.area.right, b.area.right) - Math.max(a.area.left, b.area.left),
        Math.min(a.area.bottom, b.area.bottom) - Math.max(a.area.top, b.area.top),
      ]
      return a.owner !== b.owner && width > 1 && height > 1 ? [`${a.text} on ${b.text}`] : []
    }),
  )
  const small = areas.filter(({ area }) => area.height < readable).map(({ text }) => text)
  return { collisions, small, hidden: texts.length - seen.length }
}

/** Runs in the page: of each text of the chart, the classes it and what it lies in have. */
function classesOfTexts(): string[] {
  return [...document.querySelectorAll('.panel:not([hidden] *) text')].map((text) => {
    const chain: string[] = []
    for (let each: Element | null = text; each !== null; each = each.parentElement) chain.push(each.getAttribute('class') ?? '')
    return chain.join(' < ')
  })
}

/** Runs in the page: words of the legend that do not fit into it. */
function cutOff(): string[] {
  const edge = document.querySelector('#legend svg')?.getBoundingClientRect().right ?? 0
  return [...document.querySelectorAll('#legend text')].flatMap((text) =>
    text.getBoundingClientRect().right > edge ? [text.textContent] : [],
  )
}

/** Runs in the page: names of states that are wider than the box of their state. */
function namesOutside(): string[] {
  return [...document.querySelectorAll('#chart .box')].flatMap((box) => {
    const [name, rect] = [box.querySelector('.key')?.getBoundingClientRect(), box.querySelector('rect')?.getBoundingClientRect()]
    const fits = name !== undefined && rect !== undefined && name.left >= rect.left - 1 && name.right <= rect.right + 1
    return fits ? [] : [box.getAttribute('data-state') ?? '']
  })
}

/** Runs in the page: what is to be pressed and lies under something else or outside of the window, and whether the page scrolls to the side. */
function cramped(): string[] {
  const places = 'header button, header input[type="range"], #filter, #chart-head > *, #log-controls > *, #past button'
  const hidden = [...document.querySelectorAll<HTMLElement>(places)].filter((element) => {
    if (!element.checkVisibility()) return false
    const { left, right, top, bottom } = element.getBoundingClientRect()
    const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
    return found === null || !(element.contains(found) || found.contains(element)) || left < 0 || right > innerWidth
  })
  const isWide = document.documentElement.scrollWidth > innerWidth
  return [...hidden.map(({ id, textContent }) => id || (textContent ?? '')), ...(isWide ? ['the page'] : [])]
}

/** Two fingers part. */
async function pinch(page: Page, { x, y }: { readonly x: number; readonly y: number }): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', apart: number) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [-1, 1].map((side, id) => ({ x: x + side * apart, y, id })),
    })
  await touch('touchStart', 20)
  for (const apart of [30, 40, 50]) await touch('touchMove', apart)
  await touch('touchEnd', 50)
  await session.detach()
}

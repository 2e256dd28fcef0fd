import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTrace } from '../../../src/protocol/system/trace-text.js'
import { checkTrace } from '../../../src/published/testing/replay/check-trace.js'
import { DEFECTS } from '../../simulation/defects.js'
import type { History } from '../../simulation/history.js'
import { traceOf } from '../../simulation/recorded.js'
import { CHROMIUM, closePages, IN_CHROMIUM, openPage, startBrowser } from '../server/browser.js'
import { makePlace, type Place } from '../server/place.js'
import { PROGRAM } from '../server/server.js'
import { shot } from './shot.js'

const LOST = 'an abort that is lost'
const HISTORY: History = [
  { do: 'create' },
  { do: 'wait', ms: 1000 },
  { do: 'restart' },
  { do: 'abort', session: 0, queue: 'go-on' },
  { do: 'prompt', session: 0, name: 2, delivery: 'queue', plays: [{ as: 'hangs', words: 2 }] },
  { do: 'wait', ms: 1000 },
  { do: 'abort', session: 0, queue: 'go-on' },
]

describe.skipIf(CHROMIUM === undefined)(`the trace of a history that fails, ${IN_CHROMIUM}`, () => {
  let browser: Browser
  let place: Place
  beforeAll(async () => {
    browser = await startBrowser()
    place = makePlace()
  })
  afterAll(async () => {
    await closePages(browser)
    await browser.close()
    place.remove()
  })

  test('is gone through step by step, with the machines drawn as they were then', async () => {
    const recorded = await traceOf(1, HISTORY, DEFECTS[LOST]?.() ?? {})
    const file = join(place.root, 'failed.json')
    writeFileSync(file, JSON.stringify(recorded))
    const trace = readTrace(JSON.stringify(recorded))
    expect(checkTrace(trace)).toEqual([])
    const marks = trace.records.filter(({ actorId }) => actorId === 'history').map(({ after }) => after?.[0])
    expect(marks).toEqual([
      'step 3: restart',
      'step 4: abort session 0, queue go-on',
      'step 5: prompt session 0, name 2, delivery queue',
      'step 6: wait ms 1000',
      'step 7: abort session 0, queue go-on',
      expect.stringMatching(/^does not hold: an abort that was acknowledged ends its run: the run \S+ goes on$/),
    ])

    const address = execFileSync(process.execPath, [PROGRAM, 'inspect', '--trace', file], { encoding: 'utf8', env: place.env }).trim()
    const { page, troubles, requests } = await openPage(browser, address)
    await page.locator('#status.trace').waitFor()
    const history = page.locator('#tree .row[data-actor="history"] .state')
    const run = page.locator('#tree .row[data-actor$="/run"]')
    const current = () => page.locator('#chart svg .box.current').first().getAttribute('data-state')
    expect(await history.innerText()).toMatch(/^does not hold: an abort/)
    await run.click()
    const atEnd = await current()
    await page.locator('#log .row.mark.failure', { hasText: 'does not hold' }).waitFor()
    await shot(page, 'simulated-fault', ['does not hold: an abort that was acknowledged ends its run'])

    const seen: (string | null | undefined)[] = []
    for (const mark of marks.slice(0, -1).toReversed()) {
      await page.keyboard.press('{')
      await expect.poll(() => history.innerText()).toBe(mark)
      await page.locator('#past', { hasText: mark ?? '' }).waitFor()
      const isAbort = mark?.startsWith('step 7') === true
      if (isAbort) await shot(page, 'simulated-abort', ['step 7: abort session 0, queue go-on'])
      seen.push(isAbort ? await current() : undefined)
    }
    expect(seen.filter((state) => state !== undefined)).toEqual([atEnd])
    await expect.poll(() => run.count()).toBe(0)
    await page.locator('#ended', { hasText: 'It has not begun yet.' }).waitFor()
    await page.getByRole('button', { name: 'Step ▶' }).click()
    await expect.poll(() => history.innerText()).toBe(marks[1])
    expect(await run.count()).toBe(0)
    for (let step = 0; step < 2; step++) await page.getByRole('button', { name: 'Step ▶' }).click()
    await run.waitFor()
    await expect.poll(current).toBe(atEnd)
    await shot(page, 'simulated-prompt', ['step 6: wait ms 1000'])
    expect(troubles).toEqual([])
    expect(requests.filter((url) => !/^(file|data):/.test(url))).toEqual([])
  })

  test('of what did happen to a machine the log tells between the steps', async () => {
    const file = join(place.root, 'failed.json')
    const address = execFileSync(process.execPath, [PROGRAM, 'inspect', '--trace', file], { encoding: 'utf8', env: place.env }).trim()
    const { page } = await openPage(browser, address)
    await page.locator('#status.trace').waitFor()
    await page.locator('#log-filter').fill('step 5')
    const row = page.locator('#log .row.mark')
    await expect.poll(() => row.count()).toBe(1)
    await row.click()
    await page.locator('#record', { hasText: 'hangs' }).waitFor()
  })
})

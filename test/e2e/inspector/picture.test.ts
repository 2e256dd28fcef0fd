/** The pictures of pages are looked at in a way that can tell. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM, IN_CHROMIUM, startBrowser } from '../server/browser.js'
import { pictureOf } from './picture.js'

describe.skipIf(CHROMIUM === undefined)(`a picture ${IN_CHROMIUM}`, () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await startBrowser()
    page = await (await browser.newContext()).newPage()
  })
  afterAll(() => browser.close())

  test('shows what is in sight, and tells what cannot be read', async () => {
    await page.setContent(`<body style="background: #202020; font: 16px sans-serif">
      <p style="color: white">plain</p>
      <p style="color: #303030">faint</p>
      <p style="color: #202020">hidden in the ground</p>
      <p style="color: white; opacity: 0">not drawn</p>
      <svg style="display: none"><text y="20">not there</text></svg>
      <div style="position: relative; color: white"><p>covered</p><b style="position: absolute; inset: 0; background: #202020"></b></div>
      <p style="color: white; margin-top: 3000px">below</p>`)
    const { texts, illegible } = await pictureOf(page)
    expect(texts).toEqual(['plain', 'faint', 'hidden in the ground', 'not drawn'])
    expect(illegible).toEqual(['faint', 'hidden in the ground', 'not drawn'])
  })

  test('is taken once more where a frame was painted in part: what can be read then could be read', async () => {
    await page.setContent('<body style="background: #202020; font: 16px sans-serif"><p style="color: #202020">late</p>')
    // The first picture lies between two looks at the texts.
    await page.evaluate(() => {
      const walk = document.createTreeWalker.bind(document)
      let looks = 0
      document.createTreeWalker = (...given) => {
        looks += 1
        if (looks > 2) document.querySelector('p')?.style.setProperty('color', 'white')
        return walk(...given)
      }
    })
    expect(await pictureOf(page)).toMatchObject({ texts: ['late'], illegible: [] })
  })
})

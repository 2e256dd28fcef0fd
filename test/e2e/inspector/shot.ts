/** What tests of the page look at, and keep for people. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { pictureOf } from './picture.js'

const SHOTS = process.env['SVC_TEST_SCREENSHOTS']

/** The page as it is seen: `shows` can be read in the picture, as all its text; kept where SVC_TEST_SCREENSHOTS says. */
export async function shot(page: Page, name: string, shows: readonly string[]): Promise<void> {
  const { png, texts, illegible } = await pictureOf(page)
  if (SHOTS !== undefined) {
    mkdirSync(SHOTS, { recursive: true })
    writeFileSync(join(SHOTS, `${name}.png`), png)
  }
  expect(shows.filter((text) => !texts.some((seen) => seen.includes(text)))).toEqual([])
  expect(illegible).toEqual([])
}

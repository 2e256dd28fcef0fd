/** A real browser, when this machine has one: pages that note what they asked for and what went wrong in them. */
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const PLACES = [
  process.env['SVC_TEST_CHROMIUM'] ?? '',
  // Has no window to draw, and takes a third less.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Path of a browser; undefined where there is none. */
export const CHROMIUM = PLACES.find((path) => path !== '' && existsSync(path))

/** Part of the titles of tests that need it: skipped tests say why. */
export const IN_CHROMIUM =
  CHROMIUM === undefined ? '(skipped: no Chromium here; install chromium, or name one in SVC_TEST_CHROMIUM)' : 'in Chromium'
if (CHROMIUM === undefined)
  process.stderr.write('Tests in a browser are skipped: no Chromium here; install chromium, or name one in SVC_TEST_CHROMIUM.\n')

export interface Watched {
  readonly page: Page
  /** Messages of the console that say something is wrong, and errors nobody caught. */
  readonly troubles: readonly string[]
  /** Addresses that were asked for. */
  readonly requests: readonly string[]
}

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** Pages that nobody looks at any more would go on asking servers that are gone. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()))
}

export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, acceptDownloads: true, ...options })
  const page = await context.newPage()
  const troubles: string[] = []
  const requests: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(String(error)))
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(url)
  return { page, troubles, requests }
}

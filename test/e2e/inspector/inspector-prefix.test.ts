/** The inspector behind a reverse proxy that puts a path before everything. */
import { createServer, request as ask, type Server as Proxy } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { CHROMIUM, IN_CHROMIUM, openPage, startBrowser } from '../server/browser.js'
import { makePlace } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const PATH = '/agent'
let scene: Scene
let proxy: Proxy | undefined
afterEach(async () => {
  proxy?.closeAllConnections()
  proxy?.close()
  await scene.close()
})

/** As `location /agent/ { proxy_pass http://127.0.0.1:PORT/; }` of nginx does it; other paths are nobody's. Answers its origin. */
async function proxyTo(target: () => string): Promise<string> {
  proxy = createServer((request, response) => {
    if (request.url?.startsWith(`${PATH}/`) !== true) return void response.writeHead(410).end()
    const { port } = new URL(target())
    const headers = { ...request.headers, host: `127.0.0.1:${port}` }
    const onward = ask({ host: '127.0.0.1', port, path: request.url.slice(PATH.length), method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    response.once('close', () => onward.destroy())
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

describe.skipIf(CHROMIUM === undefined)(`behind a path ${IN_CHROMIUM}`, () => {
  test('the address leads to the inspector, which shows what is live and does what its buttons say', async () => {
    scene = openScene(makePlace())
    let server: Server | undefined
    const origin = await proxyTo(() => server?.url ?? '')
    const outside = `${origin}${PATH}`
    // A page that comes through a proxy has the origin of the proxy.
    server = await scene.start({}, 0, ['--cors', origin])
    scene.place.write('.svc/workflows/report.md', '---\nid: report\nname: Report\nschedule: { frequency: daily }\n---\nReport.\n')
    const browser = await startBrowser()
    try {
      const { page, requests } = await openPage(browser, `${outside}/`)
      await page.getByRole('link', { name: 'The inspector' }).click()
      await page.locator('#status.live').waitFor()
      await page.locator('#tree .row[data-actor*="runtime"]').first().waitFor()
      for (const tab of ['Plugins', 'Sessions', 'Programs']) await page.getByRole('tab', { name: tab }).click()
      await page.getByRole('tab', { name: 'Requests' }).click()
      await page.locator('#request-note', { hasText: 'Nothing waits' }).waitFor()
      await page.getByRole('tab', { name: 'Workflows' }).click()
      await page.locator('#workspace').fill(scene.place.repo)
      await page.keyboard.press('Enter')
      const line = page.locator('tr[data-workflow="report"]')
      await line.getByRole('button', { name: 'Activate' }).click()
      await line.getByRole('button', { name: 'Pause' }).waitFor()
      expect(await page.locator('#message').isVisible()).toBe(false)
      expect(requests.filter((url) => !url.startsWith(`${outside}/`) && !url.startsWith('data:'))).toEqual([])
      expect(requests).toContain(`${outside}/v2/inspector/events`)
    } finally {
      await browser.close()
    }
  })
})

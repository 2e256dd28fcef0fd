import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, type Socket, connect as connectTo, createServer as createProxy } from 'node:net'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CHROMIUM, IN_CHROMIUM, openPage, startBrowser } from '../server/browser.js'
import { makePlace } from '../server/place.js'
import { openScene } from '../server/server.js'
import { createTerminal } from './terminals.js'
import { PATIENCE } from '../../fakes/patience.js'

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/terminals/${name}`, import.meta.url))
const TOKEN = 'browser-test'

interface Shown {
  readonly screen: 'normal' | 'alternate'
  readonly lines: readonly string[]
}

interface State {
  readonly received: string
  readonly cursor: number
  readonly connections: number
  readonly ended: boolean
}

/** A loopback server of the page, with the terminal program of browsers bundled into it. */
async function servePage(): Promise<string> {
  const bundle = await build({
    entryPoints: [fixture('page.js')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    minify: true,
  })
  const script = bundle.outputFiles[0]?.text ?? ''
  const style = readFileSync(createRequire(import.meta.url).resolve('@xterm/xterm/css/xterm.css'), 'utf8')
  const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><style>${style}</style><div id="terminal"></div><script type="module" src="/page.js"></script>`
  const server = createServer((request, answer) => {
    const isScript = request.url === '/page.js'
    answer.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8').end(isScript ? script : html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${portOf(server.address())}`
}

/** A network between page and server that can be cut. */
async function openNetwork(to: () => number) {
  const ends = new Set<Socket>()
  const join = (near: Socket, far: Socket) => {
    ends.add(near)
    near.pipe(far)
    near
      .on('error', () => undefined)
      .once('close', () => {
        ends.delete(near)
        far.destroy()
      })
  }
  const proxy = createProxy((near) => {
    const far = connectTo(to(), '127.0.0.1')
    join(near, far)
    join(far, near)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const end of ends) end.resetAndDestroy()
  }
  onTestFinished(() => {
    proxy.close()
    cut()
  })
  return { address: `127.0.0.1:${portOf(proxy.address())}`, cut }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('it does not listen')
  return address.port
}

const shown = (page: Page) => page.evaluate<Shown>('shown()')
const stateOf = (page: Page) => page.evaluate<State>('state')
const until = (page: Page, condition: string) => page.waitForFunction(condition, undefined, { timeout: PATIENCE, polling: 10 })
const showing = (page: Page, text: string) => until(page, `shown().lines.some((line) => line.includes(${JSON.stringify(text)}))`)

describe('a terminal in a browser', () => {
  test.skipIf(CHROMIUM === undefined)(
    `runs a full-screen program, is taken up again by cursor after the network was cut, and resizes, ${IN_CHROMIUM}`,
    async () => {
      const origin = await servePage()
      let port = 0
      const network = await openNetwork(() => port)
      const scene = openScene(makePlace())
      onTestFinished(() => scene.close())
      const server = await scene.start({ SVC_AGENT_TOKEN: TOKEN }, 0, ['--cors', origin, '--allow-host', network.address])
      port = Number(new URL(server.url).port)
      const record = join(scene.place.root, 'written')
      const terminal = await createTerminal(server, { command: [process.execPath, fixture('full-screen.mjs'), record] })

      const browser = await startBrowser()
      onTestFinished(() => browser.close())
      const query = new URLSearchParams({ server: `http://${network.address}`, terminal: terminal.id, token: TOKEN })
      const { page, troubles } = await openPage(browser, `${origin}/?${query.toString()}`)

      await showing(page, 'size 80x24 frame 0')
      expect((await shown(page)).screen).toBe('alternate')
      await page.keyboard.type('xyz')
      await showing(page, 'frame 3 keys xyz é€😀')
      const { lines } = await shown(page)
      expect([lines[0], lines[23]]).toEqual([`┌${'─'.repeat(78)}┐`, `└${'─'.repeat(78)}┘`])

      await page.keyboard.type('a')
      for (const [cut, frame] of [40, 120, 200].entries()) {
        await until(page, `Number(/frame (\\d+)/.exec(shown().lines[1])?.[1]) >= ${frame}`)
        network.cut()
        await until(page, `state.connections === ${cut + 2}`) // a page that is slow may have nothing to cut before
      }
      await showing(page, 'frame 303')
      expect((await stateOf(page)).connections).toBe(4)

      await page.evaluate('resizeTerminal(100, 30)')
      await showing(page, 'size 100x30')
      expect((await shown(page)).lines[29]).toBe(`└${'─'.repeat(98)}┘`)
      await page.keyboard.type('q')
      await until(page, 'state.ended && shown().screen === "normal"')

      const { received, cursor } = await stateOf(page)
      expect(received).toBe(readFileSync(record, 'utf8'))
      expect(cursor).toBe(received.length)
      expect(troubles.filter((trouble) => !/WebSocket connection|ERR_CONNECTION/.test(trouble))).toEqual([])
    },
  )
})

/**
 * `npm run --silent build && node bench/inspector.mjs [--pairs N]`: what the inspector costs, and how quick it is.
 *
 * Blocks of turns on one server follow one another with nobody looking, with a viewer of the stream, and with nobody again.
 * What a page shows is measured in a real browser, when this machine has one. Figures are milliseconds.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const pairs = Number(process.argv[process.argv.indexOf('--pairs') + 1]) || 12
const STEPS = 4
const ACTORS = 1000
const BLOCK = 30
/** Turns at the begin of a block that are not counted: opening the inspector is no part of a prompt. */
const WARM_UP = 5
const work = mkdtempSync(join(root, 'node_modules/.svc-bench-'))
const rows = []
process.env['SVC_TEST_PROGRAM'] ??= join(root, 'dist/main.js')

try {
  const parts = await load()
  await served(parts, overhead)
  if (parts.CHROMIUM === undefined) process.stdout.write('There is no browser here; nothing is measured in a page.\n')
  else {
    await served(parts, lights)
    await served(parts, crowd)
  }
  print()
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Sources and test programs as one module: this file is no TypeScript. */
async function load() {
  const tests = ['test/e2e/server/place', 'test/e2e/server/server', 'test/e2e/server/browser', 'test/fixtures/model-server']
  const contents = tests.map((name) => `export * from ${JSON.stringify(`./${name}.ts`)}`).join('\n')
  const outfile = join(work, 'parts.mjs')
  const shared = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' }
  await build({ ...shared, stdin: { contents, resolveDir: root, loader: 'ts' }, outfile, define: { SVC_VERSION: '"bench"' } })
  return import(pathToFileURL(outfile).href)
}

/** A server whose model reads a file `STEPS` times and is done then. */
async function served(parts, measure) {
  const { makePlace, openScene, startModelServer, withModel, reply, toolCall, finish, text } = parts
  const place = makePlace({ 'README.md': 'x\n' })
  const model = await startModelServer(({ body, index }) => {
    const answered = body?.messages.filter(({ role }) => role === 'tool').length ?? 0
    if (answered >= STEPS) return reply(text('Done.'), finish('stop'))
    return reply(toolCall({ id: `call_${index}`, name: 'read', input: { filePath: 'README.md', limit: 1 + index } }), finish('tool_calls'))
  })
  place.configure(withModel(model.url))
  const scene = openScene(place)
  const server = await scene.start()
  try {
    await measure(server, parts)
  } finally {
    await scene.close()
    await model.close()
  }
}

/** A whole turn of a new session: prompt, steps, tool calls, idle. */
async function turn(server) {
  const { id } = await server.createSession()
  return timed(async () => {
    await server.prompt(id, { prompt: 'go on' })
    await server.call('POST', `/v2/sessions/${id}/wait`)
  })
}

async function overhead(server) {
  const block = async () => {
    for (let n = 0; n < WARM_UP; n++) await turn(server)
    const times = []
    const before = cpuOf(server.pid)
    for (let n = 0; n < BLOCK; n++) times.push(await turn(server))
    return { times, cpu: cpuOf(server.pid) - before }
  }
  const watched = async () => {
    const close = await openViewer(server)
    const measured = await block()
    await close()
    return measured
  }
  await block()
  const found = { closed: [], again: [], open: [] }
  const spent = { closed: 0, again: 0, open: 0 }
  const measures = [
    ['closed', block],
    ['open', watched],
    ['again', block],
  ]
  for (let n = 0; n < pairs; n++) {
    // Each comes first, second and third equally often.
    const turned = [...measures.slice(n % 3), ...measures.slice(0, n % 3)]
    for (const [name, act] of turned) {
      const { times, cpu } = await act()
      found[name].push(times)
      spent[name] += cpu
    }
  }
  const over = (name) => median(found[name].map((times, n) => 100 * (median(times) / median(found.closed[n]) - 1)))
  report(`turn of ${STEPS} tool calls, inspector closed`, found.closed.flat())
  report('the same again, to see the noise', found.again.flat())
  report('the same, inspector open', found.open.flat())
  rows.push(['closed again over closed, per cent', over('again')], ['open over closed, per cent', over('open')])
  for (const [name, total] of Object.entries(spent)) rows.push([`processor time of the server per turn, ${name}`, total / (pairs * BLOCK)])
}

/** Milliseconds, in steps of ten; it depends less than time on what else the machine does. Nothing where there is no /proc. */
function cpuOf(pid) {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return Number.NaN
  const [, , , , , , , , , , , user = 0, system = 0] = readFileSync(file, 'utf8').split(') ')[1].split(' ')
  return 10 * (Number(user) + Number(system))
}

/** A viewer in a process of its own; answers the function that ends it. */
async function openViewer(server) {
  const program = `for await (const chunk of (await fetch(process.argv[1])).body) if (chunk.length > 0) process.stdout.write('.')`
  const args = ['--input-type=module', '-e', program, `${server.url}/v2/inspector/events`]
  const viewer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(viewer.stdout, 'data')
  viewer.stdout.resume()
  return () => {
    viewer.kill()
    return once(viewer, 'close')
  }
}

/** From a transition in the server to its arrow in the page. */
async function lights(server, { startBrowser, openPage }) {
  const browser = await startBrowser()
  try {
    const { page } = await openPage(browser, `${server.url}/v2/inspector`)
    await page.locator('#status.live').waitFor()
    const { id } = await server.createSession()
    const prompt = async () => {
      await server.prompt(id, { prompt: 'go on' })
      await server.call('POST', `/v2/sessions/${id}/wait`)
    }
    await prompt()
    await page.locator(`#tree .row[data-actor="session:${id}"]`).click()
    await page.evaluate(() => {
      const seen = []
      Object.assign(window, { seen })
      new MutationObserver((changes) => {
        for (const { target, oldValue } of changes)
          if (target.classList.contains('fired') && !oldValue.includes('fired'))
            seen.push({ way: `${target.dataset.from}→${target.dataset.to}`, at: Date.now() })
      }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['class'], attributeOldValue: true })
    })
    const delaysOf = async (pause) => {
      const { sequence } = await server.get('/v2/inspector/trace').then(({ records }) => records.at(-1))
      for (let n = 0; n < 40; n++) {
        await prompt()
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
      await page.waitForFunction(() => window.seen.length > 0 && Date.now() - window.seen.at(-1).at > 300)
      const { records } = await server.get('/v2/inspector/trace')
      const seen = await page.evaluate(() => window.seen.splice(0))
      return records
        .filter((record) => record.sequence > sequence && record.type === 'transition' && record.actorId === `session:${id}`)
        .flatMap(({ before, after, at }) => {
          const index = seen.findIndex((light) => light.way === `${before[0]}→${after[0]}` && light.at >= at)
          return index === -1 ? [] : [seen.splice(index, 1)[0].at - at]
        })
    }
    for (const [what, pause] of [
      ['transition in the server to arrow in the page', 200],
      ['the same, prompts without a pause', 0],
    ]) {
      const delays = await delaysOf(pause)
      report(what, delays)
      rows.push(['longest of them', Math.max(...delays)])
    }
  } finally {
    await browser.close()
  }
}

/** What a page with a thousand live sessions does in answer to a hand. */
async function crowd(server, { startBrowser, openPage }) {
  const browser = await startBrowser()
  try {
    for (let n = 0; n < ACTORS; n += 20) {
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const { id } = await server.createSession()
          await server.prompt(id, { prompt: 'go on' })
        }),
      )
    }
    const { page } = await openPage(browser, `${server.url}/v2/inspector`)
    await page.locator('#status.live').waitFor()
    await page.locator('#tree .row').first().waitFor()
    const { actors } = await server.get('/v2/inspector/tree')
    rows.push(['live actors', actors.length])
    const trees = []
    for (let n = 0; n < 20; n++) trees.push(await timed(() => server.get('/v2/inspector/tree')))
    report('the tree as JSON', trees)
    const drawn = await page.evaluate(async () => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      const tree = document.querySelector('#tree')
      const filter = document.querySelector('#filter')
      const time = async (act) => {
        const began = performance.now()
        act()
        await frame()
        return performance.now() - began
      }
      const type = (value) => () => {
        filter.value = value
        filter.dispatchEvent(new Event('input'))
      }
      const times = { filter: [], scroll: [], select: [] }
      for (let n = 0; n < 40; n++) {
        times.filter.push(await time(type(`session:ses_${'abcdef0123'[n % 10]}`)))
        times.filter.push(await time(type('')))
        times.scroll.push(await time(() => tree.scrollTo(0, (n * 24 * 997) % (24 * 1000))))
        times.select.push(await time(() => tree.querySelectorAll('.row')[8].click()))
      }
      return times
    })
    for (const [what, times] of Object.entries(drawn)) report(`${what} in the page, to the next picture`, times)
  } finally {
    await browser.close()
  }
}

async function timed(act) {
  const start = performance.now()
  await act()
  return performance.now() - start
}

function sortedOf(times) {
  return times.toSorted((a, b) => a - b)
}

function median(times) {
  return sortedOf(times)[Math.floor(times.length / 2)]
}

function report(what, times) {
  rows.push([what, median(times), sortedOf(times)[Math.floor(times.length * 0.95)], times.length])
}

function print() {
  process.stdout.write(`${'ms'.padEnd(48)}${'p50'.padStart(9)}${'p95'.padStart(9)}\n`)
  for (const [what, p50, p95, count] of rows) {
    const figures = [p50, p95].map((value) => (value === undefined ? '' : value.toFixed(2)).padStart(9)).join('')
    process.stdout.write(`${what.padEnd(48)}${figures}${count === undefined ? '' : ` (${count})`}\n`)
  }
}

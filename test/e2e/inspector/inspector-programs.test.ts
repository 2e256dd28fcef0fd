/** The view of programs in the inspector: what waits, exactly what would start, and the buttons that accept it and take that back (choice 34). */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ProgramStanding } from '../../../src/protocol/acceptance/acceptance.js'
import type { FormatterStatus } from '../../../src/protocol/format/formatter-routes.js'
import type { LspStatus } from '../../../src/protocol/lsp/lsp.js'
import type { McpCatalogEntry } from '../../../src/protocol/mcp/mcp.js'
import { CHROMIUM, closePages, IN_CHROMIUM, openPage, startBrowser } from '../server/browser.js'
import { pictureOf } from './picture.js'
import { makePlace } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const SCRIPTED = fileURLToPath(new URL('../../fixtures/lsp-scripted.mjs', import.meta.url))
const PLUGINS = '/v2/plugins/dev.svc.'

let browser: Browser
let scene: Scene | undefined

/** A workspace for which a language server with a build tool, a formatter and an MCP server wait. */
async function begin(env: Readonly<Record<string, string>> = {}) {
  scene = openScene(
    makePlace({
      'a.ts': 'x\n',
      'Cargo.toml': '[package]\nname = "a"\n',
      'src/main.rs': 'fn main() {}\n',
      'package.json': '{"devDependencies": {"prettier": "3"}}',
      'prettier.config.js': 'export default {}\n',
    }),
  )
  const { place } = scene
  const bin = join(place.root, 'bin')
  const mark = join(place.home, 'mark')
  mkdirSync(bin)
  for (const name of ['typescript-language-server', 'rust-analyzer'])
    writeFileSync(
      join(bin, name),
      `#!${process.execPath}\nrequire('fs').writeFileSync(${JSON.stringify(mark)}, 'x')\nimport(${JSON.stringify(SCRIPTED)})\n`,
      {
        mode: 0o755,
      },
    )
  for (const name of ['cargo', 'prettier']) writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 })
  const bring = (word: string) =>
    place.write(
      'svc.json',
      JSON.stringify({ mcp: { theirs: { type: 'local', command: ['/bin/sh', '-c', `exit ${word}`], environment: { MODE: word } } } }),
    )
  bring('1')
  place.configure({ formatter: true })
  const server = await scene.start({ PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`, ...env })
  return { server, place, mark, bring }
}

const row = (page: Page, id: string) => page.locator(`#program-rows tr[data-program="${id}"]`)

/** Types the directory that is meant. */
async function lookAt(page: Page, directory: string): Promise<void> {
  await page.locator('#program-place').fill(directory)
  await page.locator('#program-place').press('Enter')
}

async function standings(server: Server): Promise<Record<string, ProgramStanding['state'] | undefined>> {
  const servers = await server.get<LspStatus[]>(`${PLUGINS}lsp`)
  const formatters = await server.get<FormatterStatus[]>(`${PLUGINS}files/formatters`)
  const catalog = await server.get<Record<string, McpCatalogEntry>>(`${PLUGINS}mcp/catalog`)
  const of = (all: readonly { readonly id: string; readonly acceptance: ProgramStanding | null }[], wanted: string) =>
    all.find(({ id }) => id === wanted)?.acceptance?.state
  return {
    typescript: of(servers, 'typescript'),
    rust: of(servers, 'rust'),
    prettier: of(formatters, 'prettier'),
    theirs: catalog['theirs']?.acceptance?.state,
  }
}

describe.skipIf(CHROMIUM === undefined)(`programs of a workspace ${IN_CHROMIUM}`, () => {
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())
  afterEach(async () => {
    await closePages(browser)
    await scene?.close()
    scene = undefined
  })

  test('are shown with every word of what would start, are accepted by a click, and start no more when that is taken back', async () => {
    const { server, place, mark } = await begin()
    const { page, troubles, requests } = await openPage(browser, `${server.url}/v2/inspector`)
    await page.locator('#status.live').waitFor()
    await page.keyboard.press('5')
    await lookAt(page, place.repo)
    const ids = ['typescript', 'rust', 'prettier', 'theirs'] as const
    const lines = {
      typescript: ['typescript-language-server', '--stdio'],
      rust: ['rust-analyzer', 'cargo', 'metadata', '--no-deps', '--offline', '--format-version', '1'],
      prettier: ['prettier', '--write', '$FILE'],
      theirs: ['/bin/sh', '-c', 'exit 1'],
    }
    for (const id of ids) {
      await row(page, id).locator('.state-waiting').waitFor()
      expect(await row(page, id).locator('code').allInnerTexts()).toEqual(lines[id])
    }
    expect(await row(page, 'theirs').innerText()).toContain('variable MODE=1')
    const { illegible } = await pictureOf(page)
    expect(illegible).toEqual([])

    const hover = () => server.call('GET', `${PLUGINS}lsp/hover?file=a.ts&line=0&character=0`)
    await hover()
    expect(existsSync(mark)).toBe(false)
    for (const id of ids) {
      await row(page, id).getByRole('button', { name: 'Accept' }).click()
      await row(page, id).locator('.state-accepted').waitFor()
    }
    expect(await standings(server)).toEqual({
      typescript: 'accepted',
      rust: 'accepted',
      prettier: 'accepted',
      theirs: 'accepted',
    })
    await hover()
    expect(existsSync(mark)).toBe(true)
    for (const id of ids) {
      await row(page, id).getByRole('button', { name: 'Take back' }).click()
      await row(page, id).locator('.state-waiting').waitFor()
    }
    expect(await standings(server)).toEqual({ typescript: 'waiting', rust: 'waiting', prettier: 'waiting', theirs: 'waiting' })
    expect(troubles).toEqual([])
    expect(requests.filter((url) => !url.startsWith(server.url) && !/^(data|blob):/.test(url))).toEqual([])
  })

  test('are shown with what is unseen in them written out, and run nothing of their text', async () => {
    const { server, place, bring } = await begin()
    bring('\u202e0 #\n<img src=x onerror=document.title=1>')
    const { page, troubles } = await openPage(browser, `${server.url}/v2/inspector#tab=programs`)
    await page.locator('#status.live').waitFor()
    await lookAt(page, place.repo)
    await row(page, 'theirs').locator('.state-waiting').waitFor()
    const said = '\\u{202e}0 #\\n<img src=x onerror=document.title=1>'
    expect(await row(page, 'theirs').locator('code').allInnerTexts()).toEqual(['/bin/sh', '-c', `exit ${said}`])
    expect(await row(page, 'theirs').locator('small').allInnerTexts()).toContain(`variable MODE=${said}`)
    expect(await page.locator('#program-rows img').count()).toBe(0)
    expect(troubles).toEqual([])
  })

  test('are accepted as they were shown: what has changed since is refused, and shown anew', async () => {
    const { server, place, bring } = await begin({ SVC_AGENT_TOKEN: 'open-sesame' })
    const { page } = await openPage(browser, `${server.url}/v2/inspector#tab=programs`)
    await page.locator('#token').fill('open-sesame')
    await page.keyboard.press('Enter')
    await page.locator('#status.live').waitFor()
    await lookAt(page, place.repo)
    await row(page, 'theirs').locator('.state-waiting').waitFor()
    // The page goes on seeing what was there when it was looked at.
    const before = await server.get<object>(`${PLUGINS}mcp/catalog`)
    await page.route('**/mcp/catalog*', (route) => route.fulfill({ json: before }))
    bring('2')
    await row(page, 'theirs').getByRole('button', { name: 'Accept' }).click()
    await page.locator('#message', { hasText: 'is another one by now' }).waitFor()
    expect((await standings(server))['theirs']).toBe('waiting')
    await page.unroute('**/mcp/catalog*')
    await page.locator('#tab-programs').click()
    await row(page, 'theirs').locator('code', { hasText: 'exit 2' }).waitFor()
    await row(page, 'theirs').getByRole('button', { name: 'Accept' }).click()
    await row(page, 'theirs').locator('.state-accepted').waitFor()
    expect((await standings(server))['theirs']).toBe('accepted')
  })

  test('of another directory are shown when that is typed, and a directory that is none says why', async () => {
    const { server, place } = await begin()
    const { page } = await openPage(browser, `${server.url}/v2/inspector#tab=programs`)
    await lookAt(page, place.repo)
    await row(page, 'theirs').waitFor()
    const other = join(place.root, 'other')
    mkdirSync(other)
    await lookAt(page, other)
    await page.locator('#program-note', { hasText: 'No program loads code of this workspace.' }).waitFor()
    expect(await page.locator('#program-rows tr').count()).toBe(0)
    await lookAt(page, join(place.root, 'none'))
    await page.locator('#program-note', { hasText: 'none' }).waitFor()
    await lookAt(page, place.repo)
    await row(page, 'theirs').getByRole('button', { name: 'Accept' }).click()
    await row(page, 'theirs').locator('.state-accepted').waitFor()
  })
})

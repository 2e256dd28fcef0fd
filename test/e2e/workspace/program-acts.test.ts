/**
 * Programs that load code of a workspace, at the built program: a language server on the search path loads what the project planted, an MCP server
 * stands in a file of the repository. Neither starts before an act, whoever asks (choice 34).
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import type { LspStatus } from '../../../src/protocol/lsp/lsp.js'
import type { McpCatalogEntry } from '../../../src/protocol/mcp/mcp.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { lackingSandbox } from '../server/bubblewrap.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'
import { toolParts } from '../server/transcript.js'

const NO_SANDBOX = lackingSandbox()
const LSP = '/v2/plugins/dev.svc.lsp'
const MCP = '/v2/plugins/dev.svc.mcp'
const SCRIPTED = fileURLToPath(new URL('../../fixtures/lsp-scripted.mjs', import.meta.url))

let scene: Scene | undefined
let model: ModelServer | undefined
afterEach(async () => {
  await scene?.close()
  await model?.close()
})

/** What the project plants: it leaves a mark outside of the project, and one in it. */
const planted = (mark: string) =>
  `for (const path of [${JSON.stringify(mark)}, 'inside']) try { require('fs').writeFileSync(path, 'x') } catch {}`
const ASK = { name: 'lsp', input: { operation: 'diagnostics', filePath: 'p/a.ts' } }

/** A language server as real ones are: it loads `typescript` of the project. */
async function start(
  config: object,
  calls: readonly { readonly name: string; readonly input: object }[] = [],
  files: Readonly<Record<string, string>> = {},
) {
  model = await startModelServer([
    ...calls.map((call, at) => reply(toolCall({ id: `c${at}`, ...call }), finish('tool_calls'))),
    reply(text('done'), finish('stop')),
  ])
  scene = openScene(makePlace({ 'README.md': 'hello\n', ...files }))
  const { place } = scene
  const mark = join(place.home, 'mark')
  const bin = join(place.root, 'bin')
  mkdirSync(bin)
  const server = `#!${process.execPath}\ntry { require(process.cwd() + '/node_modules/typescript/lib/tsserver.js') } catch {}\nimport(${JSON.stringify(SCRIPTED)})\n`
  writeFileSync(join(bin, 'typescript-language-server'), server, { mode: 0o755 })
  place.configure(withModel(model.url, config))
  const env = { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` }
  const plant = () => {
    for (const [name, content] of Object.entries(filesOf(mark))) place.write(name, content)
  }
  return { place, mark, plant, env, server: await scene.start(env) }
}

const filesOf = (mark: string) => ({
  'p/tsconfig.json': '{}',
  'p/a.ts': 'bad\n',
  'p/node_modules/typescript/package.json': '{"name":"typescript","version":"5.4.0"}',
  'p/node_modules/typescript/lib/tsserver.js': planted(mark),
})

const svc = async ({ place, env }: Awaited<ReturnType<typeof start>>, ...words: string[]) =>
  (await promisify(execFile)(process.execPath, [PROGRAM, ...words, '--dir', place.repo], { env: { ...place.env, ...env } })).stdout

const writes = (mark: string) =>
  Object.entries(filesOf(mark)).map(([filePath, content]) => ({ name: 'write', input: { filePath, content } }))

describe('a language server', () => {
  test('starts for no question before it is accepted, for every one after it, also after a restart, and for none once that is taken back', async () => {
    const begun = await start({})
    const { server, plant, mark, place, env } = begun
    plant()
    const ask = async (at = server) => (await at.call('GET', `${LSP}/document-symbols?file=p/a.ts`)).body
    const row = async () => (await server.get<LspStatus[]>(LSP)).find(({ id }) => id === 'typescript')
    expect([await ask(), await server.call('POST', `${LSP}/touch`, { file: 'p/a.ts' }), existsSync(mark)]).toMatchObject([
      [],
      { body: [] },
      false,
    ])
    expect(await row()).toMatchObject({
      status: 'error',
      acceptance: { state: 'waiting' },
      detected: { message: expect.stringMatching('svc lsp accept typescript') },
    })
    expect(await svc(begun, 'lsp', 'list')).toMatch(/typescript +waits +typescript-language-server --stdio/)
    expect(await svc(begun, 'lsp', 'accept', 'typescript')).toContain('typescript-language-server --stdio')
    expect((await row())?.status).toBe('available')
    expect([existsSync(mark), await ask(), existsSync(mark)]).toEqual([false, [], true])
    expect((await row())?.status).toBe('connected')
    await server.stop()
    rmSync(mark)
    const again = (await scene?.start(env)) ?? server
    await again.call('GET', `${LSP}/hover?file=p/a.ts&line=0&character=0`)
    expect(existsSync(mark)).toBe(true)
    expect(await again.call('DELETE', `${LSP}/typescript/acceptance?directory=${place.repo}`)).toMatchObject({
      status: 200,
      body: { removed: true },
    })
    rmSync(mark)
    expect([await ask(again), existsSync(mark)]).toEqual([[], false])
  })

  test('is asked for in the run of a model that wants it; the answer is the act, and lasts', async () => {
    const { server, plant, mark } = await start({ permission: { '*': 'allow' } }, [ASK, ASK])
    plant()
    await server.call('GET', `${LSP}/diagnostics?file=p/a.ts`) // Then models have the tool.
    const stream = await server.stream({ tail: true })
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: 'go on' })
    const asked = await stream.waitFor(({ type }) => type === 'permission.asked')
    const { id, ...request } = asked.data as { id: string }
    expect(request).toMatchObject({
      permission: 'bash',
      patterns: ['typescript-language-server --stdio'],
      always: [],
      title: expect.stringContaining('now and later'),
    })
    expect(existsSync(mark)).toBe(false)
    await server.call('POST', `/v2/interactions/permissions/${id}/reply`, { reply: 'once' })
    await stream.idle(session.id)
    expect(existsSync(mark)).toBe(true)
    expect(stream.events.filter(({ type }) => type === 'permission.asked')).toHaveLength(1)
    expect(await server.get(`${LSP}/acceptances`)).toMatchObject([
      { name: 'typescript', commands: [['typescript-language-server', '--stdio']] },
    ])
  })

  test('that the installation names does not start in a run whose rules deny its line', async () => {
    const { server, plant, mark } = await start({ permission: { '*': 'allow', bash: 'deny' }, lsp: { typescript: {} } }, [ASK])
    plant()
    const stream = await server.stream({ tail: true })
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: 'go on' })
    await stream.idle(session.id)
    const [part] = toolParts(await server.messages(session.id))
    expect(part?.state).toMatchObject({
      status: 'completed',
      output: expect.stringMatching(/Nothing was found.\n.*rule of this agent denies/),
    })
    expect([existsSync(mark), stream.events.some(({ type }) => type === 'permission.asked')]).toEqual([false, false])
    await server.call('GET', `${LSP}/hover?file=p/a.ts&line=0&character=0`)
    expect(existsSync(mark)).toBe(true) // The installation itself stands for it.
  })

  test.skipIf(NO_SANDBOX !== '')(
    `starts in the sandbox where that is on, and there for nobody whose rules deny its line${NO_SANDBOX}`,
    async () => {
      const marks = join(process.cwd(), 'none')
      const denied = await start({ permission: { '*': 'allow', sandbox: 'on', bash: 'deny' }, lsp: { typescript: {} } }, [
        ...writes(marks),
        ASK,
      ])
      const run = async ({ server }: typeof denied) => {
        const stream = await server.stream({ tail: true })
        const session = await server.createSession()
        await server.prompt(session.id, { prompt: 'go on' })
        await stream.idle(session.id)
        return toolParts(await server.messages(session.id)).map(({ state }) => state.status)
      }
      expect(await run(denied)).toEqual(['completed', 'completed', 'completed', 'completed', 'completed'])
      const inside = () => existsSync(join(denied.place.repo, 'p/inside'))
      expect(inside()).toBe(false)
      const [, , , loaded = ''] = Object.keys(filesOf(''))
      denied.place.write(loaded, planted(denied.mark))
      await denied.server.call('GET', `${LSP}/hover?file=p/a.ts&line=0&character=0`)
      expect([inside(), existsSync(denied.mark)]).toEqual([true, false])
    },
  )
})

test('a server of the repository is listed and not connected until it is accepted, and asks again when a pull changes it', async () => {
  const begun = await start({})
  const { server, place, mark } = begun
  const bring = (word: string) =>
    place.write('svc.json', JSON.stringify({ mcp: { theirs: { type: 'local', command: ['/bin/sh', '-c', `echo ${word} >> "${mark}"`] } } }))
  const entry = async () => (await server.get<Record<string, McpCatalogEntry>>(`${MCP}/catalog`))['theirs']
  bring('one')
  expect(await entry()).toMatchObject({
    status: { status: 'disabled' },
    configScope: 'workspace',
    configWritable: true,
    acceptance: { state: 'waiting' },
  })
  expect(await server.call('POST', `${MCP}/theirs/connect`)).toMatchObject({ status: 200, body: false })
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'go on' })
  await server.call('POST', `/v2/sessions/${session.id}/wait`)
  expect([existsSync(mark), await svc(begun, 'mcp')]).toEqual([false, expect.stringMatching(/theirs +waits/)])
  expect(await svc(begun, 'mcp', 'accept', 'theirs')).toContain('/bin/sh -c')
  await server.call('POST', `${MCP}/theirs/connect`)
  expect(readFileSync(mark, 'utf8')).toMatch(/^(one\n)+$/)
  rmSync(mark)
  bring('two')
  expect([await server.call('POST', `${MCP}/theirs/connect`), await entry(), existsSync(mark)]).toMatchObject([
    { body: false },
    { acceptance: { state: 'waiting' } },
    false,
  ])
  expect(await server.call('PATCH', `${MCP}/theirs/config`, { enabled: false })).toMatchObject({ status: 200, body: { enabled: false } })
  expect(JSON.parse(place.read('svc.json'))).toMatchObject({ mcp: { theirs: { type: 'local', enabled: false } } })
})

/** What the registry and the configuration say of a language server, in what it is told and in what runs. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { listenForLsp } from '../../fixtures/lsp-socket.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { LspStatus } from '../../../src/protocol/lsp/lsp.js'
import { openLsp, scripted } from './fixture.js'

const AT = { line: 0, character: 0 }

async function listening(habit: string) {
  const server = await listenForLsp(habit)
  onTestFinished(server.close)
  return server
}

/** What the server of a file has received. */
async function received(lsp: ReturnType<typeof openLsp>, file: string) {
  const [hover] = (await lsp.call('hover', { ...AT, file })) as { contents: string }[]
  return JSON.parse(hover?.contents ?? '[]') as readonly {
    method?: string
    params?: { textDocument?: { languageId?: string }; rootUri?: string }
  }[]
}

const rowsOf = async (lsp: ReturnType<typeof openLsp>) => LspStatus.array().parse(await lsp.call('status'))
const connected = async (lsp: ReturnType<typeof openLsp>) => (await rowsOf(lsp)).filter(({ status }) => status === 'connected')

describe('a server behind a socket', () => {
  it('is asked like any other, and left, not ended', async () => {
    const server = await listening('plain')
    const lsp = openLsp({ it: { endpoint: server.endpoint, extensions: ['it'] } })
    lsp.write('a.it', 'bad')
    expect(await rowsOf(lsp)).toMatchObject([{ status: 'available', command: [`tcp://${server.endpoint}`], command_source: 'config' }])
    expect(await lsp.call('definition', { ...AT, file: 'a.it' })).toHaveLength(1)
    expect(await lsp.call('diagnostics', { file: 'a.it' })).toMatchObject([{ message: 'bad in version 0' }])
    expect([(await connected(lsp)).length, lsp.alive(), server.sockets.length]).toEqual([1, 0, 1])
    await lsp.call('shutdown')
    await expect.poll(() => server.ended).toHaveLength(1)
    expect(server.ended).not.toEqual([7]) // Its connection ended it: it was not told to exit.
    expect((await received(lsp, 'a.it'))[0]?.method).toBe('initialize')
    expect(server.sockets).toHaveLength(2)
  })

  it('whose connection breaks is reached again when its rest is over', async () => {
    const server = await listening('dies')
    const lsp = openLsp({ it: { endpoint: server.endpoint, extensions: ['it'] } })
    lsp.write('a.it', 'bad')
    expect(await lsp.call('diagnostics', { file: 'a.it' })).toHaveLength(1)
    expect(await lsp.call('hover', { ...AT, file: 'a.it' })).toEqual([])
    const again = lsp.call('diagnostics', { file: 'a.it' })
    await expect.poll(async () => (await rowsOf(lsp))[0]?.detected.message).toBe('its connection was closed')
    lsp.clock.advance(LIMITS.lsp.retry.first)
    expect(await again).toMatchObject([{ message: 'bad in version 0' }])
    expect(server.sockets).toHaveLength(2)
  })

  it('that is not there answers nothing, and its status says so', async () => {
    const server = await listening('plain')
    server.close()
    const lsp = openLsp({ it: { endpoint: server.endpoint, extensions: ['it'] } })
    lsp.write('a.it', 'a')
    expect(await lsp.call('definition', { ...AT, file: 'a.it' })).toEqual([])
    expect(await rowsOf(lsp)).toMatchObject([{ status: 'error', detected: { message: expect.stringContaining('ECONNREFUSED') } }])
  })

  it('that accepts and says nothing is given up, and so is one that floods', async () => {
    const server = await listening('floods')
    const lsp = openLsp({ it: { endpoint: server.endpoint, extensions: ['it'] } })
    lsp.write('a.it', 'a')
    await lsp.call('hover', { ...AT, file: 'a.it' })
    await expect.poll(async () => (await rowsOf(lsp))[0]?.detected.message).toBe('it sends without end')
    await expect.poll(() => server.ended).toHaveLength(1)
  })
})

describe('a configured server', () => {
  it('is told the language of each route, also under another name than that of its adapter', async () => {
    const lsp = openLsp({
      it: {
        command: scripted('plain'),
        routes: [{ language: 'one', extensions: ['it'] }, { language: 'two', filenamePatterns: ['It*'] }, { extensions: ['three'] }],
      },
      ts: { command: scripted('plain'), adapter: 'typescript' },
      typescript: false,
    } as unknown as Record<string, object>)
    for (const file of ['a.it', 'Itfile', 'a.three', 'a.tsx']) lsp.write(file, '')
    const language = async (file: string) =>
      (await received(lsp, file)).findLast(({ method }) => method === 'textDocument/didOpen')?.params?.textDocument?.languageId
    expect([await language('a.it'), await language('Itfile'), await language('a.three'), await language('a.tsx')]).toEqual([
      'one',
      'two',
      'it',
      'typescriptreact',
    ])
    expect(lsp.alive()).toBe(2)
  })

  it('is not asked for what its capabilities do not list', async () => {
    const lsp = openLsp({ it: { command: scripted('all'), extensions: ['it'], capabilities: ['hover'] } })
    lsp.write('a.it', 'a')
    expect(await lsp.call('definition', { ...AT, file: 'a.it' })).toEqual([])
    expect(await lsp.call('hover', { ...AT, file: 'a.it' })).toHaveLength(1)
  })

  it('of Rust runs for the workspace that cargo names, and for the package when it names none inside', async () => {
    const rust = (strategy: object) => ({ rust: { command: scripted('plain'), ...strategy } })
    const rootOf = async (lsp: ReturnType<typeof openLsp>, file: string) => {
      lsp.write(file, '')
      const [row] = await lsp.call('hover', { ...AT, file }).then(() => connected(lsp))
      await lsp.call('shutdown')
      return row?.workspace.root.slice(lsp.directory.length)
    }
    const [cargo, marker] = [openLsp(rust({})), openLsp(rust({ rootStrategy: 'nearestMarker' }))]
    for (const lsp of [cargo, marker]) {
      const said = `#!/bin/sh\ncase "$PWD" in */outside) echo '{"workspace_root":"/"}' ;; */broken) exit 1 ;; *) echo '{"workspace_root":"${lsp.directory}/all"}' ;; esac\n`
      lsp.install('cargo', said)
      for (const name of ['all/one', 'outside', 'broken']) lsp.write(`${name}/Cargo.toml`, '')
    }
    expect(await rootOf(cargo, 'all/one/src/a.rs')).toBe('/all')
    expect(await rootOf(cargo, 'outside/a.rs')).toBe('/outside')
    expect(await rootOf(cargo, 'broken/a.rs')).toBe('/broken')
    expect(await rootOf(marker, 'all/one/src/a.rs')).toBe('/all/one')
  })
})

describe('programs', () => {
  it('that nobody asks end, and the next question starts them again', async () => {
    const lsp = openLsp({ it: { command: scripted('silent'), extensions: ['it'] } })
    lsp.write('a.it', 'a')
    await lsp.call('hover', { ...AT, file: 'a.it' })
    lsp.clock.advance(LIMITS.lsp.idle - 1)
    expect(lsp.alive()).toBe(1)
    await lsp.call('hover', { ...AT, file: 'a.it' })
    lsp.clock.advance(LIMITS.lsp.idle - 1)
    expect(lsp.alive()).toBe(1)
    lsp.clock.advance(1)
    await expect.poll(() => lsp.alive()).toBe(0)
    expect((await rowsOf(lsp))[0]?.status).toBe('available')
    expect(await lsp.call('hover', { ...AT, file: 'a.it' })).toHaveLength(1)
    expect(lsp.alive()).toBe(1)
  })

  it(`are ${LIMITS.lsp.clients} at most: the one asked longest ago ends`, async () => {
    const lsp = openLsp({ it: { command: scripted('silent'), extensions: ['it'], markers: ['it.toml'] } })
    const projects = Array.from({ length: LIMITS.lsp.clients + 1 }, (_, index) => `p${index}`)
    for (const project of projects) {
      lsp.write(`${project}/it.toml`, '')
      lsp.write(`${project}/a.it`, '')
    }
    const ask = (project = '') => lsp.call('hover', { ...AT, file: `${project}/a.it` })
    await Promise.all(projects.slice(0, -1).map(ask))
    expect(lsp.alive()).toBe(LIMITS.lsp.clients)
    await ask('p0')
    expect(await ask(projects.at(-1))).toHaveLength(1)
    await expect.poll(() => lsp.alive()).toBe(LIMITS.lsp.clients)
    const opened = async (project: string) =>
      (await received(lsp, `${project}/a.it`)).filter(({ method }) => method === 'textDocument/hover')
    expect(await opened('p0')).toHaveLength(3) // It runs still.
    expect(await opened('p1')).toHaveLength(1) // It was started anew.
    await expect.poll(() => lsp.alive()).toBe(LIMITS.lsp.clients)
  })
})

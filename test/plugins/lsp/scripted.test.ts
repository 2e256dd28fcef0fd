// Holds subsystems e.5, e.7.
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { LspStatus } from '../../../src/protocol/lsp/lsp.js'
import { openLsp, scripted } from './fixture.js'

const open = (habit: string, more: object = {}) =>
  openLsp({ it: { command: scripted(habit), extensions: ['it'], language: 'it', ...more } })
const AT = { file: 'a.it', line: 0, character: 0 }

/** What the server has received, as it tells in a hover. */
async function received(lsp: ReturnType<typeof openLsp>): Promise<readonly { method?: string; params?: unknown; answer?: string }[]> {
  const [hover] = (await lsp.call('hover', AT)) as { contents: string }[]
  return JSON.parse(hover?.contents ?? '[]')
}

const statusOf = async (lsp: ReturnType<typeof openLsp>) => LspStatus.array().parse(await lsp.call('status'))[0]

describe('a language server', () => {
  it('is started by the first question, told of the file as it is, and ended by a shutdown', async () => {
    const lsp = open('plain')
    lsp.write('a.it', 'one\ntwo')
    expect([(await statusOf(lsp))?.status, lsp.alive()]).toEqual(['available', 0])
    expect((await received(lsp)).map(({ method }) => method)).toEqual([
      'initialize',
      'initialized',
      'textDocument/didOpen',
      'textDocument/hover',
    ])
    expect([(await statusOf(lsp))?.status, lsp.alive()]).toEqual(['connected', 1])
    expect(await lsp.call('shutdown')).toEqual({ shutdown: true })
    expect([(await statusOf(lsp))?.status, lsp.alive()]).toEqual(['available', 0])
    expect(await received(lsp)).toHaveLength(4)
  })

  it.each([
    ['incremental', { range: { start: { line: 0, character: 0 }, end: { line: 1, character: 3 } }, text: 'b' }],
    ['full', { text: 'b' }],
  ])('is told of a change once, %s', async (habit, change) => {
    const lsp = open(habit)
    lsp.write('a.it', 'o\nt😀')
    await received(lsp)
    await received(lsp)
    lsp.write('a.it', 'b')
    const changes = (await received(lsp)).flatMap(({ method, params }) => (method === 'textDocument/didChange' ? [params] : []))
    expect(changes).toEqual([{ textDocument: { uri: `file://${lsp.directory}/a.it`, version: 1 }, contentChanges: [change] }])
  })

  it('is told nothing it does not want to be told', async () => {
    const lsp = open('none,closed')
    lsp.write('a.it', 'a')
    await received(lsp)
    await lsp.call('touch', {}, { file: 'a.it', text: 'b' })
    expect((await received(lsp)).map(({ method }) => method)).toEqual([
      'initialize',
      'initialized',
      'textDocument/hover',
      'textDocument/hover',
    ])
  })

  it('is told the text of a touch as saved, with the text where it wants it', async () => {
    const lsp = open('save-text')
    lsp.write('a.it', 'a')
    expect(await lsp.call('touch', {}, { file: 'a.it', text: 'mine' })).toEqual([
      { language: 'it', path: 'a.it', notified: true, cachedDiagnostics: 0 },
    ])
    const saved = (await received(lsp)).find(({ method }) => method === 'textDocument/didSave')
    expect(saved?.params).toEqual({ textDocument: { uri: `file://${lsp.directory}/a.it` }, text: 'mine' })
  })

  it.each(['utf-8', 'utf-16', 'utf-32'])('has places translated into %s and back', async (encoding) => {
    const lsp = open(encoding)
    lsp.write('a.it', 'ä😀x\r\ny')
    const at = async (line: number, character: number) => {
      const [place] = (await lsp.call('definition', { file: 'a.it', line, character })) as { range: { start: object } }[]
      return place?.range.start
    }
    expect(await at(0, 6)).toEqual({ line: 1, character: 7 })
    expect(await at(0, 3)).toEqual({ line: 1, character: 3 }) // within the emoji: before it
    expect(await at(0, 99)).toEqual({ line: 1, character: 8 })
    expect(await at(1, 1)).toEqual({ line: 2, character: 2 })
    expect(await at(9, 9)).toEqual({ line: 2, character: 2 })
  })

  it('gets an answer to everything it asks, at once', async () => {
    const settings = { a: { b: 1 }, 'a.b': 2 }
    const lsp = open('curious', { settings })
    lsp.write('a.it', 'a')
    await received(lsp)
    const answers = (await received(lsp)).filter(({ answer }) => answer !== undefined)
    expect(answers).toEqual([
      { answer: 's1', result: [settings, { b: 1 }, 2, null] },
      { answer: 's2', error: { code: -32602, message: '"items" is missing' } },
      { answer: 's3', result: [{ uri: `file://${lsp.directory}`, name: lsp.directory.split('/').at(-1) }] },
      { answer: 's4', error: { code: -32803, message: 'nothing is registered later' } },
      { answer: 's5', result: { applied: false, failureReason: 'servers change no files' } },
      { answer: 's6', result: { success: false } },
      { answer: 's7', result: null },
      { answer: 's8', error: { code: -32803, message: 'no progress is shown' } },
      { answer: 's9', error: { code: -32803, message: 'nothing is shown that could be refreshed' } },
      { answer: 's10', error: { code: -32601, message: 'there is no svc/unknown' } },
    ])
  })
})

describe('diagnostics', () => {
  const messages = async (lsp: ReturnType<typeof openLsp>) =>
    ((await lsp.call('diagnostics', { file: 'a.it' })) as { message: string }[]).map(({ message }) => message)

  it('follow the file, and what comes too late is dropped', async () => {
    const lsp = open('late')
    lsp.write('a.it', 'bad')
    expect(await messages(lsp)).toEqual(['bad in version 0'])
    lsp.write('a.it', 'bad again')
    expect(await messages(lsp)).toEqual(['bad in version 1'])
    await received(lsp)
    expect(await messages(lsp)).toEqual(['bad in version 1'])
    lsp.write('a.it', 'good')
    expect(await messages(lsp)).toEqual([])
    lsp.clock.advance(LIMITS.lsp.updatedPause)
    expect(lsp.told).toContainEqual({ type: 'lsp.updated', data: {} })
  })

  it('stay when the server is killed in the middle of a question, which answers nothing; the next one starts it again', async () => {
    const lsp = open('dies')
    lsp.write('a.it', 'bad')
    expect(await messages(lsp)).toEqual(['bad in version 0'])
    expect(await lsp.call('hover', AT)).toEqual([])
    const again = messages(lsp)
    await expect.poll(async () => (await statusOf(lsp))?.detected.message).toMatch('its program has ended with code 3')
    await expect.poll(() => lsp.alive()).toBe(0)
    lsp.clock.advance(LIMITS.lsp.retry.first)
    expect(await again).toEqual(['bad in version 0'])
    expect([(await statusOf(lsp))?.status, lsp.alive()]).toEqual(['connected', 1])
  })
})

describe('a model', () => {
  it('is told of errors in what it has changed, once a server runs, and of none after the repair', async () => {
    const lsp = open('plain')
    lsp.write('a.it', 'bad')
    expect(await lsp.changed('a.it')).toMatchObject({ output: 'Done.' })
    expect(lsp.alive()).toBe(0)
    lsp.write('a.it', 'good')
    await lsp.call('hover', AT)
    lsp.write('a.it', 'bad')
    expect(await lsp.changed('a.it')).toMatchObject({
      output: 'Done.\n\nErrors in a.it:\n  line 1:1: bad in version 1',
      metadata: { lspTouch: ['a.it'], diagnostics: [{ path: 'a.it', message: 'bad in version 1' }] },
    })
    lsp.write('a.it', 'good')
    expect(await lsp.changed('a.it')).toMatchObject({ output: 'Done.', metadata: { lspTouch: ['a.it'], diagnostics: [] } })
  })

  it('has a tool that asks, where servers are configured by name', async () => {
    const lsp = open('all')
    lsp.write('a.it', 'bad')
    expect(lsp.tools()).toEqual([])
    await lsp.prepare()
    expect(JSON.parse(await lsp.ask({ operation: 'goToDefinition', filePath: 'a.it', line: 0, character: 1 }))).toEqual([
      { path: 'a.it', range: { start: { line: 1, character: 2 }, end: { line: 1, character: 2 } }, language: 'it' },
    ])
    expect(await lsp.ask({ operation: 'documentSymbol', filePath: 'a.it' })).toMatch('"kind": "method"')
    expect(await lsp.ask({ operation: 'diagnostics', filePath: 'a.it' })).toMatch('bad in version 0')
    const found = JSON.parse(await lsp.ask({ operation: 'workspaceSymbol', query: 'all' }))
    expect(found).toMatchObject([{ name: 'all!', kind: 'function', path: 'a.it', range: { start: { line: 1, character: 1 } } }])
    expect(JSON.parse(await lsp.ask({ operation: 'workspaceSymbol', query: 'all', filePath: 'a.it' }))).toEqual(found)
    expect(JSON.parse(await lsp.ask({ operation: 'status' }))).toEqual([
      { id: 'it', status: 'connected', language: 'it', root: lsp.directory },
    ])
    await lsp.call('shutdown')
    expect(await lsp.ask({ operation: 'workspaceSymbol', query: 'all' })).toBe('Nothing was found.')
    expect(lsp.alive()).toBe(0)
    await expect(lsp.ask({ operation: 'hover' })).rejects.toThrow('needs "filePath"')
    await expect(lsp.ask({ operation: 'hover', filePath: 'a.it' })).rejects.toThrow('needs "line" and "character"')
    await expect(lsp.ask({ operation: 'diagnostics', filePath: 'b.it' })).rejects.toThrow('There is no file b.it.')
  })
})

describe('a hostile language server', () => {
  it.each([
    ['lies', 'it sent a message of more than 16777216 bytes'],
    ['headless', 'it sent a head of a message that is too long'],
    ['refuses', 'not today'],
    ['short', 'it sent a message without a length'],
    ['asks', 'it asks without end'],
    ['floods', 'it sends without end'],
    ['wide', `it sent a message that has more than ${LIMITS.foreign.messageContainers} lists and objects`],
  ])('that %s is ended, and told so', async (habit, reason) => {
    const lsp = open(habit)
    lsp.write('a.it', 'a')
    await lsp.call('hover', AT)
    await expect.poll(async () => (await statusOf(lsp))?.detected.message).toBe(reason)
    await expect.poll(() => lsp.alive()).toBe(0)
  })

  it('that never says what it can is given up after half a minute, and asked again later', async () => {
    const lsp = open('mum')
    lsp.write('a.it', 'a')
    const late = lsp.call('hover', AT)
    await expect.poll(() => lsp.clock.nextTimer).toBe(LIMITS.lsp.initialize)
    lsp.clock.advance(LIMITS.lsp.initialize)
    expect(await late).toEqual([])
    expect((await statusOf(lsp))?.detected.message).toBe('the server did not answer initialize in time')
    await expect.poll(() => lsp.alive()).toBe(0)
    expect(await lsp.call('hover', AT)).toEqual([]) // It has never answered: nobody waits for it.
  })

  it('that shouts, and publishes without end, costs bounded memory and answers still', async () => {
    const lsp = open('shouts,publishes')
    lsp.write('a.it', 'bad')
    expect(await lsp.call('hover', AT)).toHaveLength(1)
    expect(await lsp.call('diagnostics', { file: 'a.it' })).toHaveLength(1)
    const { length } = JSON.stringify(await lsp.call('diagnostics', { file: '/srv/2999.it' }))
    expect(length).toBeLessThan(LIMITS.lsp.fileDiagnostics)
  })

  it('costs no other server anything while it floods or asks', async () => {
    const lsp = openLsp({
      flood: { command: scripted('floods'), extensions: ['flood'] },
      asks: { command: scripted('asks'), extensions: ['asks'] },
      well: { command: scripted('silent'), extensions: ['it'] },
    })
    for (const name of ['a.it', 'a.flood', 'a.asks']) lsp.write(name, 'a')
    await lsp.call('hover', AT)
    const odd = Promise.all(['a.flood', 'a.asks'].map((file) => lsp.call('hover', { ...AT, file })))
    for (let count = 0; count < 20; count++) expect(await lsp.call('hover', AT)).toHaveLength(1)
    await odd
    await expect.poll(() => lsp.alive()).toBe(1)
    expect(await lsp.call('hover', AT)).toHaveLength(1)
  })

  it('that does not answer costs its questions the time they may take, and no other server anything', async () => {
    const lsp = openLsp({
      mute: { command: scripted('mute,silent'), extensions: ['mute'] },
      well: { command: scripted('silent'), extensions: ['it'] },
    })
    lsp.write('a.it', 'a')
    lsp.write('a.mute', 'a')
    const late = lsp.call('hover', { ...AT, file: 'a.mute' })
    await expect.poll(() => lsp.clock.nextTimer).toBe(LIMITS.lsp.request)
    expect(await lsp.call('hover', AT)).toHaveLength(1)
    lsp.clock.advance(LIMITS.lsp.request)
    expect(await late).toEqual([])
    expect(await lsp.call('definition', { ...AT, file: 'a.mute' })).toHaveLength(1)
  })
})

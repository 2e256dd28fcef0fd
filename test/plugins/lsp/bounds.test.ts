// Holds subsystems e.6.
/** What is kept of what a language server says, and how its bytes become messages. */
import { describe, expect, it } from 'vitest'
import { createDiagnostics } from '../../../src/plugins/lsp/clients/diagnostics.js'
import { createFrameSplitter } from '../../../src/plugins/lsp/link/frames.js'
import { LIMITS } from '../../../src/protocol/limits.js'

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }
const said = (path: string, items: unknown, version?: number, current?: number) => ({
  path,
  version,
  items,
  encoding: 'utf-16' as const,
  current,
})
const many = (count: number, length: number) => Array.from({ length: count }, () => ({ range, message: 'x'.repeat(length) }))

describe('diagnostics that are kept', () => {
  it('are bounded in number and size for each file, and what is none is dropped', () => {
    const diagnostics = createDiagnostics(() => undefined)
    diagnostics.accept(said('/many', many(LIMITS.lsp.diagnostics * 2, 1)))
    diagnostics.accept(said('/large', many(100, 100_000)))
    diagnostics.accept(said('/odd', [1, {}, { range, message: 'yes' }, { range: 1, message: 'no' }]))
    diagnostics.accept(said('/none', 'nothing'))
    const count = (path: string) => diagnostics.of(path)?.items.length
    expect([count('/many'), count('/large'), count('/odd'), count('/none')]).toEqual([LIMITS.lsp.diagnostics, 5, 1, undefined])
  })

  it('are bounded in files and in all: what was said longest ago goes', () => {
    const diagnostics = createDiagnostics(() => undefined)
    for (let file = 0; file <= LIMITS.lsp.diagnosticFiles; file++) diagnostics.accept(said(`/${file}`, many(1, 1)))
    expect([diagnostics.paths.length, diagnostics.of('/0'), diagnostics.of('/1')?.items.length]).toEqual([
      LIMITS.lsp.diagnosticFiles,
      undefined,
      1,
    ])
    for (let file = 0; file < 100; file++) diagnostics.accept(said(`/large-${file}`, many(4, 100_000)))
    const size = diagnostics.paths.reduce((sum, path) => sum + JSON.stringify(diagnostics.of(path)?.items).length, 0)
    expect(size).toBeLessThanOrEqual(LIMITS.lsp.allDiagnostics * 1.01)
    expect(diagnostics.of('/large-99')?.items).toHaveLength(4)
  })

  it('are of no older version than was told, or accepted, until the server starts anew', () => {
    const diagnostics = createDiagnostics(() => undefined)
    expect(diagnostics.accept(said('/a', many(1, 1), 2, 3))).toBe(false)
    expect(diagnostics.accept(said('/a', many(1, 1), 3, 3))).toBe(true)
    expect(diagnostics.accept(said('/a', many(2, 1), 2, undefined))).toBe(false)
    diagnostics.restart()
    expect(diagnostics.of('/a')?.items).toHaveLength(1)
    expect(diagnostics.accept(said('/a', [], 0, 0))).toBe(true)
    expect(diagnostics.of('/a')).toBe(undefined)
  })
})

describe('messages', () => {
  /** What is read of a text that comes in pieces of some bytes. */
  function read(text: string, size: number) {
    const heard: string[] = []
    const frames = createFrameSplitter({
      onFrame: (body) => heard.push(new TextDecoder().decode(body)),
      onFault: (reason) => heard.push(`fault: ${reason}`),
    })
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += size) frames.push(bytes.subarray(at, at + size))
    return heard
  }

  it.each([1, 2, 7, 4096])('are found in pieces of %i bytes', (size) => {
    const head = (length: number) => `Content-Length: ${length}\r\n\r\n`
    const typed = 'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:  6\r\n\r\n'
    expect(read(`${head(2)}{}${typed}"😀"${head(0)}${head(4)}null`, size)).toEqual(['{}', '"😀"', '', 'null'])
  })

  it.each([
    ['Content-Length: 16777217\r\n\r\n', `it sent a message of more than ${LIMITS.lsp.messageBytes} bytes`],
    ['Content-Length: -1\r\n\r\n', 'it sent a message without a length'],
    ['Content-Length: 1e9\r\n\r\n', 'it sent a message without a length'],
    ['Content-Length: 9999999999999\r\n\r\n', 'it sent a message without a length'],
    ['\r\n\r\n', 'it sent a message without a length'],
    ['X: y\r\n\r\n{}', 'it sent a message without a length'],
    ['x'.repeat(LIMITS.lsp.headBytes + 1), 'it sent a head of a message that is too long'],
  ])('end with a head like %j', (text, reason) => {
    expect(read(`Content-Length: 2\r\n\r\n{}${text}Content-Length: 2\r\n\r\n{}`, 64)).toEqual(['{}', `fault: ${reason}`])
  })

  it('that claim more than they bring wait for it, and no room is made for the claim', () => {
    const frames = createFrameSplitter({ onFrame: () => expect.unreachable(), onFault: () => expect.unreachable() })
    const before = process.memoryUsage().arrayBuffers
    const many = Array.from({ length: 64 }, () => createFrameSplitter({ onFrame: () => undefined, onFault: () => undefined }))
    for (const each of [frames, ...many]) each.push(new TextEncoder().encode(`Content-Length: ${LIMITS.lsp.messageBytes}\r\n\r\n{`))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(LIMITS.lsp.messageBytes)
  })
})

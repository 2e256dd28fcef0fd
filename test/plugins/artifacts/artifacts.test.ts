// Holds sessions-events §10.4.
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { artifactsPlugin } from '../../../src/plugins/artifacts/artifacts.plugin.js'
import { toolsOf } from '../web/fixture.js'

/** One artifact, of session `ses_1`, that comes in pieces of `size` bytes. */
function scene(content: string | Uint8Array, size = 7) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  return toolsOf(() => artifactsPlugin(), {
    host: {
      artifacts: {
        open: async (sessionId, reference) =>
          sessionId === 'ses_1' && reference === 'tool_a'
            ? { id: 'tool_a', title: 'tool_a', mediaType: 'text/plain', size: bytes.length, bytes: pieces() }
            : undefined,
      },
    },
  })
}

const artifact = 'tool_a'

describe('artifact_read', () => {
  it('pages, whole characters and lines, wherever the pieces are cut', async () => {
    const { run } = scene('één\r\ntwee\n\nvier')
    expect(await run('artifact_read', { artifact, limit: 2 })).toMatchObject({
      output: '1: één\n2: twee\n\n(It goes on: read from offset 3.)',
      metadata: { artifact, byteCount: 17, lines: 2, truncated: true, next: 3 },
    })
    expect((await run('artifact_read', { artifact, offset: 3 })).output).toBe('3: \n4: vier\n\n(End of the artifact.)')
    await expect(run('artifact_read', { artifact, offset: 9 })).rejects.toThrow('fewer than 9 lines')
  })

  it('shows the beginning of a line without end, and no more bytes than a model gets', async () => {
    const long = scene(`${'x'.repeat(3_000_000)}\nnext`, 65_536)
    const { output } = await long.run('artifact_read', { artifact })
    expect(output).toBe(`1: ${'x'.repeat(LIMITS.artifactTools.line)}...\n2: next\n\n(End of the artifact.)`)
    const wide = scene(`${'y'.repeat(1000)}\n`.repeat(200), 65_536)
    const first = await wide.run('artifact_read', { artifact })
    expect(Buffer.byteLength(first.output)).toBeLessThan(LIMITS.artifactTools.bytes + 100)
    expect(first.metadata).toMatchObject({ truncated: true, lines: 50, next: 51 })
  })

  it('shows nothing of another session, nothing that is not there, nothing binary', async () => {
    const { run } = scene(Uint8Array.of(97, 0, 98))
    await expect(run('artifact_read', { artifact }, { sessionId: 'ses_2' })).rejects.toThrow('has no artifact "tool_a"')
    await expect(run('artifact_search', { artifact: 'tool_b', query: 'x' })).rejects.toThrow('has no artifact "tool_b"')
    await expect(run('artifact_read', { artifact })).rejects.toThrow('is binary')
  })
})

describe('artifact_search', () => {
  it('finds lines with a text as it is written', async () => {
    const { run } = scene('a.c\nabc\nA.C\nxa.cx')
    expect((await run('artifact_search', { artifact, query: 'a.c' })).output).toBe('2 lines:\n1: a.c\n4: xa.cx')
    expect((await run('artifact_search', { artifact, query: 'a.c', limit: 1 })).output).toBe('1 lines, and there are more:\n1: a.c')
    expect((await run('artifact_search', { artifact, query: 'none' })).output).toBe('No line has it.')
  })

  it('shows what is around it in a long line', async () => {
    const { run } = scene(`${'x'.repeat(500_000)}needle${'y'.repeat(500_000)}`, 65_536)
    const { output } = await run('artifact_search', { artifact, query: 'needle' })
    expect(output).toContain('xneedley')
    expect(output.length).toBeLessThan(LIMITS.artifactTools.line + 50)
  })
})

it.each([
  ['artifact_read', { artifact }],
  ['artifact_search', { artifact, query: 'x' }],
])('%s has a closed schema and is judged by what it is asked for', async (id, input) => {
  const { schema, needs } = scene('')
  expect(schema(id)).toMatchObject({ type: 'object', additionalProperties: false, required: Object.keys(input) })
  for (const property of Object.values(schema(id).properties ?? {})) expect(property).toHaveProperty('description')
  expect(await needs(id, input)).toMatchObject([{ permission: id, patterns: [artifact] }])
})

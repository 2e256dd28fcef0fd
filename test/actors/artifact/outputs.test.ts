// Holds sessions-events §3.6, §10.3; threat-model §6.5.3.
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { boundOutput, createManagedOutputs, settleOutput } from '../../../src/actors/artifact/outputs.js'
import { followBounds } from '../../../src/actors/artifact/storage-bounds.js'
import type { ManagedOutputs } from '../../../src/ports/plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'

const lines = (count: number, text = 'x') => Array.from({ length: count }, (_, index) => `${text}${index + 1}`).join('\n')
const unused: ManagedOutputs = { store: async () => Promise.reject(new Error('stored')) }

describe('bounding a text', () => {
  it.each([
    ['an empty text', ''],
    ['2000 lines', lines(2000)],
    ['2000 lines that end with a newline', `${lines(2000)}\n`],
    ['51,200 bytes', 'é'.repeat(25_600)],
  ])('leaves %s alone', (_, text) => {
    expect(boundOutput(text)).toEqual({ text, truncated: false })
  })

  it('keeps the first and the last thousand lines of a longer one', () => {
    const all = lines(2001).split('\n')
    expect(boundOutput(lines(2001), 'See elsewhere.')).toEqual({
      text: [
        '(The output has 2001 lines, 10898 bytes, and was cut. See elsewhere.)',
        '',
        ...all.slice(0, 1000),
        '... 1 line omitted ...',
        ...all.slice(1001),
      ].join('\n'),
      truncated: true,
    })
  })

  it('keeps a text that ends with a newline as it ends', () => {
    const bounded = boundOutput(`${lines(3000)}\n`).text.split('\n')
    expect(bounded.slice(-3)).toEqual(['x2999', 'x3000', ''])
    expect(bounded.filter((line) => line.startsWith('x'))).toHaveLength(2000)
    expect(bounded).toContain('... 1000 lines omitted ...')
  })

  it('keeps half of the bytes at each end when lines are long', () => {
    const text = lines(100, 'y'.repeat(1000))
    const bounded = boundOutput(text).text
    expect(Buffer.byteLength(bounded)).toBeLessThan(51_200 + 200)
    expect(bounded.slice(bounded.indexOf('\n\n') + 2).startsWith(text.slice(0, 25_600))).toBe(true)
    expect(bounded.endsWith(text.slice(-25_600))).toBe(true)
  })

  it.each([0, 1, 2, 3])('splits no character of one long line (shifted by %i)', (shift) => {
    const bounded = boundOutput(`${'a'.repeat(shift)}${'😀'.repeat(30_000)}`).text
    expect(/\p{Surrogate}/u.test(bounded)).toBe(false)
    expect(bounded).toMatch(/\n\.\.\. \d+ bytes omitted \.\.\.\n/)
  })
})

describe('settling a result', () => {
  const place = { tool: 'bash', sessionId: 'ses_1', outputs: unused }

  it('adds how to show it', async () => {
    expect(await settleOutput({ title: 't', output: 'a\nbé' }, place)).toEqual({
      title: 't',
      output: 'a\nbé',
      metadata: { render: { version: 1, tool: 'bash', title: 't', lineCount: 2, byteCount: 5, hasSnapshots: false, kind: 'text' } },
    })
  })

  it.each([
    [{ snapshots: [{}], todos: [] }, 'diff', true],
    [{ snapshots: [], todos: [] }, 'todo', false],
    [{ diagnostics: [] }, 'lsp', false],
    [{}, 'text', false],
  ])('with %j is of kind %s', async (metadata, kind, hasSnapshots) => {
    expect((await settleOutput({ title: '', output: '', metadata }, place)).metadata['render']).toMatchObject({
      kind,
      hasSnapshots,
      lineCount: 0,
    })
  })

  it('wraps metadata that is no object', async () => {
    const result = { title: '', output: '', metadata: JSON.parse('[1]') as Record<string, unknown> }
    expect((await settleOutput(result, place)).metadata).toMatchObject({ raw: [1] })
  })

  it('makes its text well-formed and keeps attachments', async () => {
    const attachments = [{ mime: 'image/png', url: 'data:,', filename: 'a.png' }]
    expect(await settleOutput({ title: '\uD800t', output: 'a\uDC00😀', attachments }, place)).toMatchObject({
      title: '\uFFFDt',
      output: 'a\uFFFD😀',
      attachments,
    })
  })

  it('keeps the whole of a cut output in a file', async () => {
    const effects = createFakeEffects()
    const outputs = createManagedOutputs({ effects, directory: `${effects.paths.state}/tool-output` })
    const output = lines(2500)
    const settled = await settleOutput({ title: 'List', output, metadata: { exit: 0 } }, { ...place, outputs })
    const path = String(settled.metadata['outputPath'])
    const id = path.slice(path.lastIndexOf('/') + 1)
    expect(readFileSync(path, 'utf8')).toBe(output)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(
      settled.output.startsWith(`(The output has 2500 lines, ${output.length} bytes, and was cut. The whole output is in ${path}: `),
    ).toBe(true)
    expect(settled.metadata).toEqual({
      exit: 0,
      truncated: true,
      outputPath: path,
      artifact: {
        id,
        uri: `artifact://tool-output/${id}`,
        kind: 'tool-output',
        tool: 'bash',
        title: 'List',
        path,
        byteCount: output.length,
        summary: `Output of bash: 2500 lines, ${output.length} bytes`,
      },
      render: {
        version: 1,
        tool: 'bash',
        title: 'List',
        lineCount: 2003,
        byteCount: Buffer.byteLength(settled.output),
        hasSnapshots: false,
        kind: 'text',
      },
    })
    expect(id).toMatch(/^tool_/)
  })

  it('takes a result its tool has bounded as it is, up to twice the limits', async () => {
    const metadata = { truncated: true }
    expect((await settleOutput({ title: '', output: lines(4000), metadata }, place)).output).toBe(lines(4000))
    const settled = await settleOutput(
      { title: '', output: lines(4001), metadata },
      { ...place, outputs: { store: async () => ({ id: 'tool_1', path: '/p' }) } },
    )
    expect(settled.metadata).toMatchObject({ truncated: true, outputPath: '/p' })
  })

  it('does not lose the result when the file cannot be written', async () => {
    const settled = await settleOutput({ title: '', output: lines(3000) }, place)
    expect(settled.output).toContain('could not be saved')
    expect(Object.keys(settled.metadata)).toEqual(['truncated', 'render'])
  })
})

describe('managed files', () => {
  const setup = () => {
    const effects = createFakeEffects()
    const directory = `${effects.paths.state}/tool-output`
    return { effects, directory, outputs: createManagedOutputs({ effects, directory }) }
  }
  const info = { tool: 't', title: 't', sessionId: 's' }

  it('hold at most 32 MiB and no half character', async () => {
    const { path } = await setup().outputs.store(`a${'é'.repeat(17 * 1024 * 1024)}`, info)
    expect(statSync(path).size).toBe(32 * 1024 * 1024 - 1)
  })

  it('are removed seven days after they were written, and not before', async () => {
    const { effects, directory, outputs } = setup()
    const now = effects.clock.now()
    const old = await outputs.store('old', info)
    const young = await outputs.store('young', info)
    utimesSync(old.path, now / 1000, (now - 7 * 86_400_000 - 1) / 1000)
    utimesSync(young.path, now / 1000, (now - 7 * 86_400_000 + 1) / 1000)
    expect(await outputs.sweep()).toBe(false)
    expect((await effects.files.readDirectory(directory)).map(({ name }) => name)).toEqual([young.id])
  })

  it('are removed beyond the bytes they may take, the oldest first', async () => {
    const { effects, directory } = setup()
    const bounds = followBounds(async () => ({ storage: { outputsMiB: 25 / 1024 / 1024 } }))
    const outputs = createManagedOutputs({ effects, directory, bounds })
    await bounds.refresh()
    const now = effects.clock.now() / 1000
    const stored = await Promise.all([1, 2, 3].map(() => outputs.store('x'.repeat(10), info)))
    stored.forEach(({ path }, age) => utimesSync(path, now, now - 60 * age))
    expect(await outputs.sweep()).toBe(false)
    const [first, second] = stored
    const left = (await effects.files.readDirectory(directory)).map(({ name }) => name)
    expect(new Set(left)).toEqual(new Set([first?.id, second?.id]))
  })

  it('are removed in bounded steps', async () => {
    const { effects, directory, outputs } = setup()
    await effects.files.makeDirectory(directory)
    for (let index = 0; index < 1001; index++) {
      writeFileSync(`${directory}/f${index}`, '')
      utimesSync(`${directory}/f${index}`, 0, 0)
    }
    expect([await outputs.sweep(), await outputs.sweep()]).toEqual([true, false])
    expect(await effects.files.readDirectory(directory)).toEqual([])
  })

  it('need not be there to be swept', async () => {
    expect(await setup().outputs.sweep()).toBe(false)
  })
})

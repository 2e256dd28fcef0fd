/** A formatter that would run code of the workspace is asked for in the run; the answer is the act, and without it files stay as they are written (choice 34). */
import { chmodSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import { type NativeHost, type ToolContext, ToolError } from '../../../src/ports/plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createWorkspace } from './fixture.js'

type Answer = readonly string[] | Error | Promise<readonly string[]>

interface Options {
  readonly formatter?: unknown
  readonly host?: Partial<NativeHost>
  readonly isThere?: boolean
}

/** A workspace whose settings of Prettier are code, and a `prettier` that says so in the file. */
function place(answers: readonly Answer[] = [], { formatter = true, host = {}, isThere = true }: Options = {}) {
  const bin = join(createFakeEffects().root, 'bin')
  mkdirSync(bin, { recursive: true })
  if (isThere) writeFileSync(join(bin, 'prettier'), '#!/bin/sh\nprintf formatted > "$2"\n')
  if (isThere) chmodSync(join(bin, 'prettier'), 0o755)
  const asked: Record<string, unknown>[] = []
  const workspace = createWorkspace({
    processes: createNodeProcesses(`${bin}:/usr/bin:/bin`),
    path: '/usr/bin:/bin',
    host: {
      config: async () => ({ formatter }),
      questions: {
        async ask(_context, questions) {
          const answer = answers[asked.length] ?? new Error('nobody expected a question')
          asked.push(...(questions as Record<string, unknown>[]))
          if (answer instanceof Error) throw answer
          return [await answer]
        },
      },
      ...host,
    },
  })
  workspace.put('package.json', '{"devDependencies": {"prettier": "3"}}')
  workspace.put('prettier.config.mjs', 'export default {}')
  const read = (name: string) => readFileSync(workspace.path(name), 'utf8')
  const write = async (name: string, context: Partial<ToolContext> = {}) => {
    const { output } = await workspace.tool('write').run({ filePath: name, content: 'as written' }, context)
    return { output, text: read(name) }
  }
  return { workspace, asked, read, write }
}

const LEFT = { output: 'Created a.js (10 bytes).', text: 'as written' }
const ALLOW = ['Allow']

test('is asked for with the line it would run and why, runs once that is allowed, and is not asked for again', async () => {
  const { workspace, asked, write } = place([ALLOW])
  expect(await write('a.js')).toMatchObject({ text: 'formatted', output: expect.stringContaining('Formatted with prettier') })
  expect(asked).toEqual([
    {
      header: 'Formatter',
      question: expect.stringMatching(
        /"prettier" run in this workspace, now and later\? prettier --write '\$FILE'\n.*nobody has accepted that: .*prettier\.config\.mjs/,
      ),
      options: [{ label: 'Allow' }, { label: 'Not in this session', description: 'files stay as they are written' }],
      acceptance: { kind: 'formatter', name: 'prettier', directory: workspace.directory, command: "prettier --write '$FILE'" },
    },
  ])
  expect((await write('b.js', { sessionId: 'ses_2' })).text).toBe('formatted')
  expect(asked).toHaveLength(1)
  expect(await workspace.operation('v2.plugins.files.formatters')).toEqual(
    expect.arrayContaining([expect.objectContaining({ id: 'prettier', acceptance: expect.objectContaining({ state: 'accepted' }) })]),
  )
})

test.each([
  ['no', [['Not in this session']]],
  ['own words', [['Allow, but later']]],
  ['nothing', [[]]],
  ['two answers', [['Allow', 'Not in this session']]],
  ['a dismissal', [new ToolError('The question was dismissed.')]],
] as const)('%s leaves the file as it was written, and the session is not asked again', async (_what, answers) => {
  const { workspace, asked, write, read } = place(answers)
  expect(await write('a.js')).toEqual(LEFT)
  await workspace.tool('edit').run({ filePath: 'a.js', oldString: 'as', newString: 'was' })
  const patch = ['*** Begin Patch', '*** Add File: c.js', '+patched', '*** End Patch'].join('\n')
  await workspace.tool('apply_patch').run({ patchText: patch })
  expect([read('a.js'), read('c.js'), asked.length]).toEqual(['was written', 'patched\n', 1])
})

test.each(['edit', 'apply_patch'])('%s asks as well', async (tool) => {
  const { workspace, asked, read } = place([ALLOW])
  workspace.put('a.js', 'as\n')
  const patch = ['*** Begin Patch', '*** Update File: a.js', '@@', '-as', '+was', '*** End Patch'].join('\n')
  await workspace.tool(tool).run(tool === 'edit' ? { filePath: 'a.js', oldString: 'as', newString: 'was' } : { patchText: patch })
  expect([read('a.js'), asked.length]).toEqual(['formatted', 1])
})

test('another session is asked anew, and the same one when another command would run', async () => {
  const formatter: Record<string, object> = {}
  const { asked, write } = place([['no'], ['no'], ALLOW], { formatter })
  expect((await write('a.js')).text).toBe('as written')
  expect((await write('a.js', { sessionId: 'ses_2' })).text).toBe('as written')
  formatter['prettier'] = { environment: { MODE: 'other' } }
  expect([(await write('a.js')).text, asked.length]).toEqual(['formatted', 3])
})

test('calls that run side by side ask once, and each is formatted after the answer', async () => {
  let answer: (given: readonly string[]) => void = () => undefined
  const { asked, write } = place([new Promise((resolve) => (answer = resolve))])
  const both = Promise.all([write('a.js'), write('b.js')])
  await expect.poll(() => asked.length).toBe(1)
  answer(ALLOW)
  expect((await both).map(({ text }) => text)).toEqual(['formatted', 'formatted'])
  expect(asked).toHaveLength(1)
})

test('a call that is aborted while it asks has changed nothing, and the next one asks', async () => {
  const call = new AbortController()
  const { workspace, asked, write } = place([
    new Promise((_, reject) => {
      call.signal.addEventListener('abort', () => reject(new ToolError('The call was aborted.')))
    }),
    ALLOW,
  ])
  const first = write('a.js', { signal: call.signal })
  await expect.poll(() => asked.length).toBe(1)
  call.abort()
  await expect(first).rejects.toThrow('aborted')
  expect(() => readFileSync(workspace.path('a.js'))).toThrow('ENOENT')
  expect([(await write('a.js')).text, asked.length]).toEqual(['formatted', 2])
})

test.each<[string, Options, Partial<ToolContext>]>([
  ['nobody answers', {}, { unattended: true }],
  ['a rule of the run denies the line', {}, { decisions: (_, patterns) => patterns.map(() => 'deny') }],
  ['its program is missing', { isThere: false }, {}],
  ['the file is protected', { host: { protectedFiles: { reasons: async (paths) => paths.map(() => 'it configures svc') } } }, {}],
  ['no formatter is switched on', { formatter: false }, {}],
])('nobody is asked where %s', async (_what, options, context) => {
  const { asked, write } = place([ALLOW], options)
  expect([await write('a.js', context), asked]).toEqual([LEFT, []])
})

test('nobody is asked for a formatter that runs no code of the workspace, or whose files are others', async () => {
  const { asked, write } = place([ALLOW])
  expect((await write('a.txt')).text).toBe('as written')
  const plain = place([ALLOW])
  writeFileSync(plain.workspace.path('.prettierrc'), 'semi: false\n')
  unlinkSync(plain.workspace.path('prettier.config.mjs'))
  expect([(await plain.write('a.js')).text, plain.asked, asked]).toEqual(['formatted', [], []])
})

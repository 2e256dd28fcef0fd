/** The example plugins on a real server: installed as their README says, called by the model. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import type { PackageLifecycleInfo } from '../../../src/protocol/plugin/plugin.js'
import { finish, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { lacking } from '../../fakes/machine.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'
import { toolParts } from '../server/transcript.js'

const NO_PYTHON = lacking('python3')

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const EXAMPLES = join(ROOT, 'examples/plugins')
/** Where the interpreters of this machine come from a version manager, the sandbox would hide them. */
const INTERPRETERS = { SVC_AGENT_PLUGIN_SANDBOX: 'off' }

let scene: Scene
beforeEach(() => {
  scene = openScene(makePlace({ 'README.md': 'one two\nthree\n', 'notes/a.md': 'Buy milk\nCall Ada\n', 'notes/b.txt': 'milk\n' }))
})
afterEach(() => scene.close())

function install(from: string, id: string): void {
  const { repo, env } = scene.place
  cpSync(from, join(repo, '.svc/plugins', id), { recursive: true })
  execFileSync(process.execPath, [PROGRAM, 'plugin', 'trust', id, '--yes'], { cwd: repo, env, stdio: 'ignore' })
}

/** The states of the calls of one prompt that plays these steps. */
async function play(...steps: readonly object[]): Promise<ToolPart['state'][]> {
  const server = await scene.start(INTERPRETERS)
  const { id } = await server.createSession()
  const prompt = `\`\`\`svc-script\n${steps.map((step) => JSON.stringify(step)).join('\n')}\n\`\`\``
  await server.prompt(id, { prompt, model: { providerId: 'svc', modelId: 'offline' } })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  const messages = await server.messages(id)
  await server.stop()
  return messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part.state] : [])))
}

/** The TypeScript example beside the built library, with the compiler of this repository. */
function typescriptProject(): string {
  const project = join(scene.place.root, 'examples/plugins/typescript-changelog')
  mkdirSync(dirname(project), { recursive: true })
  cpSync(join(EXAMPLES, 'typescript-changelog'), project, { recursive: true, filter: (path) => !path.includes('node_modules') })
  mkdirSync(join(scene.place.root, 'dist'))
  for (const name of ['plugin.js', 'plugin.d.ts']) cpSync(join(dirname(PROGRAM), name), join(scene.place.root, 'dist', name))
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules/typescript'), join(project, 'node_modules/typescript'))
  symlinkSync('../typescript/bin/tsc', join(project, 'node_modules/.bin/tsc'))
  return project
}

describe('the example plugins', () => {
  test('in Lua: counts the words of a file and keeps colours out of commands', async () => {
    install(join(EXAMPLES, 'lua-word-count'), 'dev.example.word-count')
    const states = await play(
      { tool: 'word_count', input: { path: 'README.md' } },
      { text: 'next' },
      { tool: 'word_count', input: {} },
      { text: 'next' },
      { tool: 'bash', input: { command: 'echo "colour: $NO_COLOR"', description: 'shows a variable' } },
    )
    expect(states).toMatchObject([
      { status: 'completed', title: 'count words of README.md', output: '3 words, 2 lines, 14 bytes', metadata: { words: 3 } },
      { status: 'error', error: expect.stringContaining('give a path or a text') as string },
      { status: 'completed', output: expect.stringContaining('colour: 1') as string },
    ])
  })

  test.skipIf(NO_PYTHON !== '')(`in Python: finds lines in notes${NO_PYTHON}`, async () => {
    install(join(EXAMPLES, 'python-notes'), 'dev.example.notes')
    const states = await play({ tool: 'search_notes', input: { query: 'MILK' } })
    expect(states).toMatchObject([{ status: 'completed', output: 'notes/a.md:1: Buy milk', metadata: { matches: 1 } }])
  })

  test('in TypeScript: passes its own test, and knows from events what the session changed', async () => {
    const project = typescriptProject()
    const output = execFileSync('npm', ['test'], { cwd: project, env: scene.place.env, encoding: 'utf8' })
    // Node 20 and 22 report in TAP where nobody looks, Node 24 does not.
    expect(output).toMatch(/^(?:#|ℹ) pass 2$/m)

    install(join(project, 'package'), 'dev.example.changelog')
    const states = await play(
      { tool: 'changed_files', input: {} },
      { text: 'next' },
      { tool: 'write', input: { filePath: 'new.md', content: 'new' } },
      { text: 'next' },
      { tool: 'changed_files', input: {} },
    )
    expect(states.map((state) => state.status)).toEqual(['completed', 'completed', 'completed'])
    expect(states[0]).toMatchObject({ output: 'No file was changed in this session yet.' })
    expect(states[2]).toMatchObject({ output: 'new.md (write)', title: '1 changed files' })
  })

  test.skipIf(NO_PYTHON !== '')(`in three languages serve one turn, with one tool each${NO_PYTHON}`, async () => {
    const model = await startModelServer([
      reply(
        toolCall({ id: 'c1', name: 'word_count', input: { text: 'a b c' } }),
        toolCall({ index: 1, id: 'c2', name: 'search_notes', input: { query: 'ada' } }),
        toolCall({ index: 2, id: 'c3', name: 'changed_files', input: {} }),
        finish('tool_calls'),
      ),
      reply(text('All three answered.'), finish('stop')),
    ])
    try {
      scene.place.configure(withModel(model.url))
      install(join(EXAMPLES, 'lua-word-count'), 'dev.example.word-count')
      install(join(EXAMPLES, 'python-notes'), 'dev.example.notes')
      const project = typescriptProject()
      execFileSync('npm', ['run', 'build'], { cwd: project, env: scene.place.env, stdio: 'ignore' })
      install(join(project, 'package'), 'dev.example.changelog')
      const server = await scene.start(INTERPRETERS)
      const lifecycle = await server.get<PackageLifecycleInfo[]>('/v2/plugins/lifecycle')
      expect(lifecycle.map(({ packageId }) => packageId)).toEqual(['dev.example.changelog', 'dev.example.notes', 'dev.example.word-count'])
      const session = await server.createSession()
      await server.prompt(session.id, { prompt: 'use all three' })
      await server.call('POST', `/v2/sessions/${session.id}/wait`)
      const calls = toolParts(await server.messages(session.id))
      expect(calls.map(({ tool, state }) => [tool, state.status === 'error' ? state.error : state.status])).toEqual([
        ['word_count', 'completed'],
        ['search_notes', 'completed'],
        ['changed_files', 'completed'],
      ])
      expect(model.requests).toHaveLength(2)
      const after = await server.get<PackageLifecycleInfo[]>('/v2/plugins/lifecycle')
      expect(after.map(({ state, leaseActive }) => [state, leaseActive])).toEqual([
        ['active', true],
        ['active', true],
        ['active', true],
      ])
    } finally {
      await model.close()
    }
  })

  test('in Lua also run where programs are put into a sandbox, if this machine has one', async () => {
    install(join(EXAMPLES, 'lua-word-count'), 'dev.example.word-count')
    const server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'auto' })
    const { id } = await server.createSession()
    const script = '```svc-script\n{"tool":"word_count","input":{"text":"a b"}}\n{"text":"Done."}\n```'
    await server.prompt(id, { prompt: script, model: { providerId: 'svc', modelId: 'offline' } })
    await server.call('POST', `/v2/sessions/${id}/wait`)
    expect(toolParts(await server.messages(id)).map(({ state }) => state.status)).toEqual(['completed'])
  })
})

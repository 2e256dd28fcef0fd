/** The example plugins on a real server: installed as their README says, called by the model. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ToolPart } from '../../src/protocol/message.js'
import { makePlace } from './place.js'
import { openScene, PROGRAM, type Scene } from './server.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
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

  test('in Python: finds lines in notes', async () => {
    install(join(EXAMPLES, 'python-notes'), 'dev.example.notes')
    const states = await play({ tool: 'search_notes', input: { query: 'MILK' } })
    expect(states).toMatchObject([{ status: 'completed', output: 'notes/a.md:1: Buy milk', metadata: { matches: 1 } }])
  })

  test('in TypeScript: passes its own test, and knows from events what the session changed', async () => {
    const project = join(scene.place.root, 'examples/plugins/typescript-changelog')
    mkdirSync(dirname(project), { recursive: true })
    cpSync(join(EXAMPLES, 'typescript-changelog'), project, { recursive: true, filter: (path) => !path.includes('node_modules') })
    mkdirSync(join(scene.place.root, 'dist'))
    for (const name of ['plugin.js', 'plugin.d.ts']) cpSync(join(dirname(PROGRAM), name), join(scene.place.root, 'dist', name))
    mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules/typescript'), join(project, 'node_modules/typescript'))
    symlinkSync('../typescript/bin/tsc', join(project, 'node_modules/.bin/tsc'))
    const output = execFileSync('npm', ['test'], { cwd: project, env: scene.place.env, encoding: 'utf8' })
    expect(output).toMatch(/^# pass 2$/m)

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
})

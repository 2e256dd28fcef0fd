/** Packages as `svc plugin init` writes them and the examples, driven over their pipes the way the server drives them. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inLanguages, lacking } from '../fakes/machine.js'
import { type Home, makeHome } from './program.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
type Frame = Record<string, unknown>

let home: Home
const children: ChildProcessByStdio<Writable, Readable, Readable>[] = []
beforeEach(() => {
  home = makeHome()
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await home.close()
})

/** Starts the program of a package and initialises it; `answer` plays the host. */
async function startPackage(root: string, answer: (method: string, params: Frame) => unknown = () => null) {
  const manifest = JSON.parse(readFileSync(join(root, 'svc-plugin.json'), 'utf8')) as { id: string; agent: { command: string[] } }
  const [program = '', ...args] = manifest.agent.command
  const child = spawn(program, args, { cwd: root, env: { PATH: process.env['PATH'] ?? '' }, stdio: ['pipe', 'pipe', 'pipe'] })
  children.push(child)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const replies = new Map<number, (frame: Frame) => void>()
  let last = 0
  let rest = ''
  const send = (frame: Frame) => child.stdin.write(`${JSON.stringify(frame)}\n`)
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) receive(JSON.parse(line) as Frame)
  })
  const owner = { pluginId: manifest.id, instanceId: 'plugin-instance-1', registryGeneration: 1, scope: 'workspace', workspaceId: '/w' }

  function receive(frame: Frame): void {
    if (typeof frame['method'] !== 'string') return replies.get(Number(frame['id']))?.(frame)
    expect(frame['owner']).toEqual(owner)
    send({ id: frame['id'], result: answer(frame['method'], frame['params'] as Frame) })
  }

  const call = (method: string, params: Frame) =>
    new Promise<Frame>((resolve, reject) => {
      const id = ++last
      replies.set(id, resolve)
      void ended.then((code) => reject(new Error(`the plugin ended with ${code}`)))
      send({ id, method, params })
    })
  const { pluginId, instanceId } = owner
  const offered = await call('initialize', { protocol: 'svc-plugin/2', pluginId, instanceId, directory: root, config: {}, owner })
  return { offered: offered['result'] as Frame, call, send, ended, closeInput: () => child.stdin.end() }
}

describe('what svc plugin init writes', () => {
  test.for(inLanguages('python', 'javascript', 'typescript'))(
    'in $language greets, refuses what it does not know, and ends when told$why',
    async ({ language, why }, { skip }) => {
      skip(why !== '', why)
      expect((await home.run(['plugin', 'init', 'dev.example.hello', '--language', language])).code).toBe(0)
      const root = join(home.workspace, '.svc/plugins/dev.example.hello')
      const plugin = await startPackage(root)
      expect(plugin.offered).toMatchObject({
        protocol: 'svc-plugin/2',
        name: 'hello',
        tools: [{ id: 'hello', parameters: { required: ['name'] } }],
      })
      expect(JSON.stringify(plugin.offered['tools'])).not.toContain('execute')
      const invoke = (tool: string) => plugin.call('tool.invoke', { tool, directory: '/w', input: { name: 'Ada' } })
      expect((await invoke('hello'))['result']).toEqual({ title: 'hello Ada', output: 'Hello, Ada!' })
      expect((await invoke('other'))['error']).toContain('unknown tool other')
      expect((await plugin.call('no.method', {}))['error']).toContain('unknown method no.method')
      plugin.send({ id: null, method: 'event', params: { id: 'e', type: 'session.created', properties: {} } })
      expect((await plugin.call('hook.invoke', { hook: 'shell.env', context: {}, value: { A: '1' } }))['result']).toEqual({ A: '1' })
      expect((await plugin.call('shutdown', {}))['result']).toEqual({})
      expect(await plugin.ended).toBe(0)
      expect(existsSync(join(root, 'node_modules'))).toBe(false)
      expect(existsSync(join(root, '__pycache__'))).toBe(false)
    },
  )

  test.for(inLanguages('python', 'javascript'))('in $language ends with its input$why', async ({ language, why }, { skip }) => {
    skip(why !== '', why)
    await home.run(['plugin', 'init', 'dev.example.hello', '--language', language])
    const plugin = await startPackage(join(home.workspace, '.svc/plugins/dev.example.hello'))
    plugin.closeInput()
    expect(await plugin.ended).toBe(0)
  })

  test('is approved by its exact content, after a person saw it', async () => {
    await home.run(['plugin', 'init', 'dev.example.hello'])
    const approved = await home.run(['plugin', 'trust', 'dev.example.hello', '--yes', '--json'])
    const { revision } = (JSON.parse(approved.stdout) as { approved: { revision: string } }).approved
    expect(approved.stderr).toContain(revision)
    const sound = await home.run(['plugin', 'doctor'])
    expect([sound.code, sound.stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`content: approved for workspace scope, 2 files, ${revision}\n[^]*started for this check: it serves`),
      ),
    ])
  })

  test('is started by the doctor, who tells of one that fails, as a run does; what was approved before it comes back', async () => {
    const shown = await home.run(['plugin', 'init', 'dev.example.hello', '--language', 'javascript'])
    expect(shown.code).toBe(0)
    const hello = ['plugin', 'test', 'dev.example.hello', 'hello', '{"name": "Ada"}']
    await home.run(['plugin', 'trust', 'dev.example.hello', '--yes'])
    expect((await home.run(hello)).stdout).toBe('Hello, Ada!\n')
    writeFileSync(join(home.workspace, '.svc/plugins/dev.example.hello/plugin.js'), "throw new Error('not today')\n")
    expect((await home.run(['plugin', 'list'])).stdout).toContain('serves with what was approved; its content changed since')
    await home.run(['plugin', 'trust', 'dev.example.hello', '--yes'])
    expect((await home.run(['run', 'call hello {"name": "Ada"}'])).stderr).toContain('plugin dev.example.hello does not run')
    const { code, stdout } = await home.run(['plugin', 'doctor'])
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/started for this check: it does not run[^]*svc logs --plugin dev\.example\.hello/),
    ])
    expect((await home.run(['plugin', 'restore', 'dev.example.hello', '--yes'])).code).toBe(0)
    expect((await home.run(hello)).stdout).toBe('Hello, Ada!\n')
  })
})

describe('the library', () => {
  test('keeps what a plugin prints out of the protocol', async () => {
    await home.run(['plugin', 'init', 'dev.example.hello', '--language', 'javascript'])
    const root = join(home.workspace, '.svc/plugins/dev.example.hello')
    const text = readFileSync(join(root, 'plugin.js'), 'utf8').replace('return {', "console.log('not a frame')\n        return {")
    writeFileSync(join(root, 'plugin.js'), text)
    const plugin = await startPackage(root)
    const reply = await plugin.call('tool.invoke', { tool: 'hello', directory: '/w', input: { name: 'Ada' } })
    expect(reply['result']).toMatchObject({ output: 'Hello, Ada!' })
  })
})

describe('the Python example', () => {
  const why = lacking('python3')
  test.skipIf(why !== '')(`searches notes through the host${why}`, async () => {
    const root = join(home.workspace, 'notes')
    cpSync(join(ROOT, 'examples/plugins/python-notes'), root, { recursive: true })
    const files: Record<string, string> = { 'a.md': 'Buy milk\nCall Ada', 'b.txt': 'milk', 'c.md': 'more Milk, ü' }
    const plugin = await startPackage(root, (method, { path }) =>
      method === 'host.workspace.list' ? Object.keys(files) : [...Buffer.from(files[String(path).replace('notes/', '')] ?? '')],
    )
    const reply = await plugin.call('tool.invoke', { tool: 'search_notes', directory: '/w', input: { query: 'milk' } })
    expect(reply['result']).toEqual({
      title: 'search notes for milk',
      output: 'notes/a.md:1: Buy milk\nnotes/c.md:1: more Milk, ü',
      metadata: { matches: 2 },
    })
  })

  test('carries the library for Python as it is', () => {
    const library = readFileSync(join(ROOT, 'src/published/python/svc_plugin.py'), 'utf8')
    expect(readFileSync(join(ROOT, 'examples/plugins/python-notes/svc_plugin.py'), 'utf8')).toBe(library)
  })
})

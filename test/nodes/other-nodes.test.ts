/**
 * Node 22 and 24 run the built program as Node 20 does, after an install that compiles nothing, and on the same state: 22 that of a clone, 24 the
 * one that comes from the published file.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SessionPage } from '../../src/protocol/session/session.js'
import { makePlace, type Place } from '../e2e/server/place.js'
import { type Build, openScene, PROGRAM, type Server } from '../e2e/server/server.js'
import { connect, createTerminal } from '../e2e/terminal/terminals.js'
import { textOf, toolParts } from '../e2e/server/transcript.js'
import { type Installed, installFresh } from './fresh-install.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LUA = fileURLToPath(new URL('../../examples/plugins/lua-word-count', import.meta.url))
const PLUGIN = 'dev.example.word-count'
const SCRIPT = '```svc-script\n{"tool":"word_count","input":{"path":"README.md"}}\n{"text":"counted by TITLE"}\n```'

/** Three installs from a registry, one after the other, on a machine that has other work. */
const INSTALLING = 900_000

let place: Place
let installed: Installed
beforeAll(() => {
  place = makePlace({ 'README.md': 'one two\nthree\n' })
  cpSync(LUA, join(place.repo, '.svc/plugins', PLUGIN), { recursive: true })
  installed = installFresh({ 22: '22.23.3', 24: '24.21.0' })
}, INSTALLING)
afterAll(() => {
  installed.remove()
  place.remove()
})

test('an install with Node 22 and no compiler has all native parts, and has compiled none', () => {
  expect(installed.said).not.toContain('svc:')
  const compiled = ['better-sqlite3', 'better-sqlite3-prebuilt', 'node-pty'].filter((name) =>
    existsSync(join(installed.clone.modules, name, 'build')),
  )
  expect(compiled).toEqual([])
})

test('the published file carries no maps, lists nothing that its program does not load, and tells the licences of what it bundles', () => {
  const { root } = installed.published
  const own = files(root).filter((path) => !path.startsWith('node_modules/'))
  expect(own.filter((path) => path.endsWith('.map'))).toEqual([])
  expect(files(root).filter((path) => path.endsWith('.node') && path.includes('/build/'))).toEqual([])

  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Dependencies
  const program = own.filter((path) => /\.c?js$/.test(path)).map((path) => readFileSync(join(root, path), 'utf8'))
  const carried = readdirSync(join(root, 'node_modules')).filter((name) => name in dependencies)
  const within = carried.flatMap((name) => files(join(root, 'node_modules', name)).map((path) => join(root, 'node_modules', name, path)))
  const loading = [...program, ...within.filter((path) => /\.(?:c?js|gyp)$/.test(path)).map((path) => readFileSync(path, 'utf8'))]
  const listed = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !name.startsWith('@koromix/'))
  expect(listed.filter((name) => !loading.some((text) => new RegExp(`["'\`]${name}(?:/[^"'\`]+)?["'\`]`).test(text)))).toEqual([])

  const notices = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8')
  for (const name of ['fastify', 'xstate', 'zod', 'fengari', 'luxon']) expect(notices).toContain(`\n${name} `)
})

test('what is published is imported by its own name, and by the name that its alias gives', () => {
  const place = makePlace({ 'package.json': '{"type":"module"}' })
  const { name } = JSON.parse(readFileSync(join(installed.published.root, 'package.json'), 'utf8')) as { readonly name: string }
  const told = ['svc', name].map((each) => {
    const link = join(place.repo, 'node_modules', each)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(installed.published.root, link)
    const names = ['client', 'plugin', 'testing'].map((part) => `import * as ${part} from '${each}/${part}'`).join('; ')
    const code = `${names}; console.log([client.createClient, plugin.definePlugin, testing.startTestRuntime].map((each) => typeof each).join())`
    return execFileSync(installed.node(24), ['--input-type=module', '-e', code], { cwd: place.repo, encoding: 'utf8' }).trim()
  })
  place.remove()
  expect(told).toEqual(['function,function,function', 'function,function,function'])
})

test('a simulated world is the same on every Node, and beside a busy process', () => {
  const script = fileURLToPath(new URL('simulated-trace.mjs', import.meta.url))
  const trace = (node: string, root: string) =>
    execFileSync(node, [script, join(root, 'dist/testing.js')], { cwd: place.root, encoding: 'utf8' }).trim()
  const busy = cpus().map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  let told: string
  try {
    told = trace(process.execPath, ROOT)
  } finally {
    for (const each of busy) each.kill('SIGKILL')
  }
  expect(told).toMatch(/^[0-9a-f]{64} after 3 lives$/)
  expect([
    trace(process.execPath, ROOT),
    trace(installed.node(22), dirname(installed.clone.modules)),
    trace(installed.node(24), installed.published.root),
  ]).toEqual([told, told, told])
})

test('Node 22 keeps what it compiled for the next start, where only this user can write', async () => {
  const scene = openScene({ ...place, remove: () => undefined }, buildFor('Node 22'))
  const directory = join(place.root, 'cache/svc/compiled')
  try {
    expect(await (await scene.start()).stop()).toEqual({ code: 0, signal: null })
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    const kept = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(kept.length).toBeGreaterThan(10)
    const server = await scene.start()
    expect((await server.call('GET', '/v2/health')).status).toBe(200)
  } finally {
    await scene.close()
  }
})

/** Each takes up what the one before left when it was killed. */
const TURNS = ['Node 20', 'Node 22', 'Node 24', 'Node 22 again', 'Node 20 again']

test.each(TURNS)('%s takes up the state of a killed server; it answers, opens terminals and runs Lua plugins', async (title) => {
  const before = TURNS.slice(0, TURNS.indexOf(title))
  const build = buildFor(title)
  execFileSync(build.node, [build.program, 'plugin', 'trust', PLUGIN, '--yes'], { cwd: place.repo, env: place.env, stdio: 'ignore' })
  const scene = openScene({ ...place, remove: () => undefined }, build)
  try {
    const server = await scene.start()
    expect(await toldBy(server)).toEqual(before.map((each) => [`counted by ${each}`, '3 words, 2 lines, 14 bytes']))

    const { id } = await server.createSession({ title })
    const prompt = SCRIPT.replace('TITLE', title)
    await server.prompt(id, { prompt, model: { providerId: 'svc', modelId: 'offline' } })
    await server.call('POST', `/v2/sessions/${id}/wait`)
    expect(await toldBy(server)).toHaveLength(before.length + 1)

    const terminal = await createTerminal(server, {
      command: ['/bin/sh', '-c', 'echo "in $TERM"; ls -l /proc/self/fd; read -r line; echo "said $line"'],
    })
    const viewer = await connect(server, terminal.id)
    await viewer.until(/in xterm-256color/)
    viewer.type('hello\n')
    await viewer.until(/said hello/)
    expect(viewer.text()).not.toContain('ptmx')
    viewer.drop()
    await server.kill()
  } finally {
    await scene.close()
  }
})

interface Dependencies {
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

function files(root: string): string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  return entries.map(({ name, parentPath }) => join(parentPath, name).slice(root.length + 1))
}

function buildFor(title: string): Required<Build> {
  const major = Number(/\d+/.exec(title)?.[0])
  if (major === 20) return { node: process.execPath, program: PROGRAM }
  return { node: installed.node(major), program: major === 22 ? installed.clone.program : installed.published.program }
}

/** What the model and the tool of each session said, oldest session first. */
async function toldBy(server: Server): Promise<(readonly [string, unknown])[]> {
  const { items } = await server.get<SessionPage>('/v2/sessions')
  const told = items.map(async ({ id }) => {
    const messages = await server.messages(id)
    const [tool] = toolParts(messages)
    const output = tool?.state.status === 'completed' ? tool.state.output : tool?.state
    return [messages.map(textOf).findLast((text) => text.startsWith('counted by')) ?? '', output] as const
  })
  return (await Promise.all(told)).toReversed()
}

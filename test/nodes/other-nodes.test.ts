/** Node 22 and 24 run the built program as Node 20 does, after an install that compiles nothing, and on the same state. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SessionPage } from '../../src/protocol/session/session.js'
import { makePlace, type Place } from '../e2e/server/place.js'
import { type Build, openScene, PROGRAM, type Server } from '../e2e/server/server.js'
import { connect, createTerminal } from '../e2e/terminal/terminals.js'
import { textOf, toolParts } from '../e2e/server/transcript.js'
import { type Installed, installFresh } from './fresh-install.js'

const LUA = fileURLToPath(new URL('../../examples/plugins/lua-word-count', import.meta.url))
const PLUGIN = 'dev.example.word-count'
const SCRIPT = '```svc-script\n{"tool":"word_count","input":{"path":"README.md"}}\n{"text":"counted by TITLE"}\n```'

let place: Place
let installed: Installed
beforeAll(() => {
  place = makePlace({ 'README.md': 'one two\nthree\n' })
  cpSync(LUA, join(place.repo, '.svc/plugins', PLUGIN), { recursive: true })
  installed = installFresh({ 22: '22.23.3', 24: '24.21.0' })
})
afterAll(() => {
  installed.remove()
  place.remove()
})

test('an install with Node 22 and no compiler has all native parts, and has compiled none', () => {
  expect(installed.said).not.toContain('svc:')
  const compiled = ['better-sqlite3', 'better-sqlite3-prebuilt', 'node-pty'].filter((name) =>
    existsSync(join(installed.modules, name, 'build')),
  )
  expect(compiled).toEqual([])
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

function buildFor(title: string): Required<Build> {
  const major = Number(/\d+/.exec(title)?.[0])
  return major === 20 ? { node: process.execPath, program: PROGRAM } : { node: installed.node(major), program: installed.program }
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

/** Commands of agents in the sandbox reach their workspace and nothing else; the same commands outside of it reach everything. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server as NetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, type Place, withModel } from '../server/place.js'
import { processes, untilNone } from '../server/processes.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import { whyNoBubblewrap } from '../server/bubblewrap.js'
import { toolParts } from '../server/transcript.js'

const NO_SANDBOX = whyNoBubblewrap()
if (NO_SANDBOX !== undefined) process.stderr.write(`Tests of commands in the sandbox are skipped: ${NO_SANDBOX}.\n`)
const TRIES = fileURLToPath(new URL('../../fixtures/commands/tries-everything.mjs', import.meta.url))
/** Programs of the system and the Node of the tests, wherever that is. */
const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`

let scene: Scene | undefined
let model: ModelServer | undefined
const listeners: NetServer[] = []
afterEach(async () => {
  for (const listener of listeners.splice(0)) listener.close()
  await scene?.close()
  await model?.close()
  scene = undefined
  model = undefined
})

interface Input {
  readonly command: string
  readonly network?: boolean
  readonly timeout?: number
}
type Permission = Readonly<Record<string, unknown>>

/** A server whose agent runs these commands, each in a step of its own; `env` besides that of the place. */
async function start(permission: Permission, inputs: readonly Input[], env: Readonly<Record<string, string>> = {}) {
  model = await startModelServer([
    ...inputs.map((input, at) => reply(toolCall({ id: `c${at}`, name: 'bash', input }), finish('tool_calls'))),
    reply(text('done'), finish('stop')),
  ])
  scene = openScene(makePlace())
  const { place } = scene
  place.configure(withModel(model.url, { permission }))
  const server = await scene.start({ PATH, ...env })
  const stream = await server.stream({ tail: true })
  const begin = async () => {
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: 'go on' })
    return session.id
  }
  /** How each command ended. */
  const run = async (): Promise<ToolPart['state'][]> => {
    const sessionId = await begin()
    await stream.idle(sessionId)
    return toolParts(await server.messages(sessionId)).map(({ state }) => state)
  }
  const asked = () => stream.events.flatMap((event) => (event.type === 'permission.asked' ? [event.data] : []))
  return { place, server, stream, begin, run, asked }
}

/** Gives the commands something to reach. */
async function tempt(place: Place, server: Server): Promise<void> {
  const files = {
    '.ssh/id_x': 'secret',
    '.aws/credentials': 'secret',
    '.cargo/credentials.toml': 'secret',
    '.cargo/bin/tool': 'tool',
    'notes.txt': 'notes',
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(place.home, name)), { recursive: true })
    writeFileSync(join(place.home, name), content)
  }
  place.write('svc.json', '{}')
  place.write('.svc/notes.md', 'notes')
  place.write('tries.mjs', readFileSync(TRIES, 'utf8'))
  const socket = await listening(join(place.root, 'socket'))
  const { home, repo, state, configFile: config } = place
  const port = Number(new URL(server.url).port)
  place.write('targets.json', JSON.stringify({ home, repo, state, config, port, socket, agent: agentOf(place), pid: server.pid }))
}

const agentOf = (place: Place) => join(place.home, 'agent')

async function listening(path: string): Promise<string> {
  const listener = createServer((socket) => socket.destroy())
  listeners.push(listener)
  await new Promise<void>((resolve) => listener.listen(path, resolve))
  return path
}

interface Told {
  readonly escaped: string[]
  readonly worked: string[]
  readonly tried: string[]
  readonly needed: string[]
  /** Of what was written outside, what arrived. */
  readonly arrived: string[]
}

const EVERYTHING = { bash: 'allow', external_directory: 'allow', edit: 'allow' }

/** Everything is tried by a program that the rules allow. */
async function tried(permission: Permission): Promise<Told> {
  const { place, server, run } = await start({ ...EVERYTHING, ...permission }, [{ command: 'node tries.mjs' }], {
    SSH_AUTH_SOCK: '/nowhere',
  })
  await listening(agentOf(place))
  await tempt(place, server)
  const [state] = await run()
  if (state?.status !== 'completed') throw new Error(JSON.stringify(state))
  const arrived = [join(place.home, 'written'), join(place.root, 'written')].filter((path) => existsSync(path))
  const [told = ''] = state.output.split('\n') // What a command left running may be told after it.
  return { ...(JSON.parse(told) as Omit<Told, 'arrived'>), arrived }
}

describe.skipIf(NO_SANDBOX !== undefined)(`in bubblewrap${NO_SANDBOX === undefined ? '' : ` (skipped: ${NO_SANDBOX})`}`, () => {
  test('no escape works that works outside, and what is needed to build works', async () => {
    const outside = await tried({ sandbox: 'off' })
    expect(outside.escaped).toEqual(outside.tried)
    expect(outside.arrived).toHaveLength(2)
    await scene?.close()
    await model?.close()
    const inside = await tried({ sandbox: 'on' })
    expect(inside.escaped).toEqual([])
    expect(inside.arrived).toEqual([])
    expect(inside.worked).toEqual(inside.needed)
  })

  test('the rule for the network opens the network and nothing else', async () => {
    const { escaped, arrived } = await tried({ sandbox: 'on', network: 'allow' })
    expect([escaped, arrived]).toEqual([['reach the server'], []])
  })

  test('what the sandbox makes harmless is not asked; the rest is, and holds', async () => {
    const lines = [
      { command: 'cat /etc/hostname' },
      { command: 'f=/etc/hostname; cat $f' },
      { command: 'echo x > /tmp/svc-of-its-own; cat /tmp/svc-of-its-own' },
      { command: 'true > /dev/tcp/127.0.0.1/9' },
      { command: 'cat ~/notes.txt' },
      { command: 'echo x >> .git/config' },
      { command: 'rm .git/config' },
      { command: 'node -e 6', network: true },
    ]
    const permission = {
      sandbox: 'on',
      external_directory: 'ask',
      edit: { '*': 'allow', '/tmp/*': 'allow' },
      bash: { '*': 'allow', 'rm *': 'deny' },
      read: 'allow',
    }
    const { place, server, stream, begin, asked } = await start(permission, lines)
    await tempt(place, server)
    const sessionId = await begin()
    let from = 0
    for (const wanted of [`${place.home}/*`, '.git/config', 'node -e 6']) {
      const event = await stream.waitFor(({ type }) => type === 'permission.asked', from)
      from = stream.events.indexOf(event) + 1
      if (event.type !== 'permission.asked') throw new Error('it was asked')
      expect(event.data.patterns).toEqual([wanted])
      await server.call('POST', `/v2/interactions/permissions/${event.data.id}/reply`, { reply: 'once' })
    }
    await stream.idle(sessionId)
    expect(asked().map(({ permission: group }) => group)).toEqual(['external_directory', 'edit', 'network'])
    const states = toolParts(await server.messages(sessionId)).map(({ state }) => state)
    expect(states.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
      'error',
      'completed',
      'completed',
      'error',
      'completed',
    ])
    expect(states[4]).toMatchObject({ output: 'notes' })
    expect(place.read('.git/config')).toMatch(/\nx\n$/)
    expect(states[6]).toMatchObject({ error: 'A permission rule denies bash for rm .git/config.' })
    expect(states[7]).toMatchObject({ metadata: { sandbox: { network: true } } })
  })

  test('codes, output and time limits are as outside, and nothing stays behind', async () => {
    const escape =
      "(setsid sh -c ': >escaped; while :; do sleep 1; done' escaped-command >/dev/null 2>&1 </dev/null &); while [ ! -e escaped ]; do sleep 0.02; done"
    const polite = "trap ': >goodbye; exit 3' TERM; : >ready; while :; do sleep 0.05; done"
    const { place, run } = await start({ sandbox: 'on' }, [
      { command: 'echo out; echo err >&2; exit 7' },
      { command: `${escape}; echo begun` },
      { command: polite, timeout: 1500 },
    ])
    const states = await run()
    expect(states).toMatchObject([
      { status: 'error', error: expect.stringMatching(/exit status 7. Its output:\n\nout\nerr\n\n\(It ran in a sandbox/) as string },
      { status: 'completed', output: 'begun' },
      { status: 'error', error: expect.stringContaining('stopped after 1500 ms') as string },
    ])
    expect(existsSync(join(place.repo, 'goodbye'))).toBe(true)
    expect(processes().filter(({ command }) => command.endsWith('escaped-command'))).toEqual([])
  })

  test('nothing inside outlives a run that is aborted, or a server that is killed', async () => {
    const names = ['aborted-inside', 'orphan-inside']
    const stubborn = (name: string) =>
      `(setsid sh -c "trap '' HUP TERM; : >${name}; while :; do sleep 1; done" ${name} >/dev/null 2>&1 </dev/null &); sleep 300`
    const { place, server, stream, begin } = await start(
      { sandbox: 'on' },
      names.map((name) => ({ command: stubborn(name) })),
    )
    const inside = (name: string) => processes().filter(({ command }) => command.endsWith(name))
    const running = async (name: string) =>
      untilNone(() => (existsSync(join(place.repo, name)) && inside(name).length > 0 ? [] : processes()))
    const first = await begin()
    await running('aborted-inside')
    expect(inside('aborted-inside')).not.toEqual([])
    await server.call('POST', `/v2/sessions/${first}/abort`)
    await stream.idle(first)
    expect(await untilNone(() => inside('aborted-inside'))).toEqual([]) // the kernel ends them with the first of their namespace
    const second = await begin()
    await running('orphan-inside')
    const states = toolParts(await server.messages(second)).map(({ state }) => state)
    expect({ isInside: inside('orphan-inside').length > 0, states }).toMatchObject({ isInside: true })
    await server.kill()
    expect(await untilNone(() => inside('orphan-inside'))).toEqual([])
  })

  test('a linked worktree takes commits, and its repository keeps its settings', async () => {
    const commit = 'git add README.md && git -c user.name=a -c user.email=a@localhost commit -qm more && git log --format=%s -1'
    const { place, server, stream } = await start({ ...EVERYTHING, sandbox: 'on' }, [
      { command: `echo more > README.md; ${commit}` },
      { command: `node -e "fs.appendFileSync('../repo/.git/config', 'x')"` },
    ])
    const linked = join(place.root, 'linked')
    execFileSync('git', ['worktree', 'add', '-q', linked], { cwd: place.repo, env: place.env })
    const created = await server.call('POST', '/v2/sessions', { title: 'a test' }, { 'x-svc-directory': linked })
    const session = created.body as Session
    await server.prompt(session.id, { prompt: 'go on' })
    await stream.idle(session.id)
    const states = toolParts(await server.messages(session.id)).map(({ state }) => state)
    expect(states).toMatchObject([
      { status: 'completed', output: 'more' },
      { status: 'error', error: expect.stringContaining('read-only') as string },
    ])
  })
})

test('where there is no bubblewrap nothing runs, and who asks is told', async () => {
  const bin = mkdtempSync(join(tmpdir(), 'svc-no-bwrap-'))
  for (const name of ['sh', 'bash', 'touch', 'git']) symlinkSync(`/bin/${name}`, join(bin, name))
  try {
    const { place, server, run } = await start({ sandbox: 'on' }, [{ command: 'touch ran' }], { PATH: bin })
    const [state] = await run()
    expect(state).toMatchObject({ status: 'error', error: expect.stringMatching(/nothing was run: .*not installed|needs Linux/) as string })
    expect(existsSync(join(place.repo, 'ran'))).toBe(false)
    expect((await server.call('GET', '/v2/config/validate')).body).toMatchObject({
      ok: false,
      diagnostics: [{ level: 'error', path: 'permission.sandbox', message: expect.stringContaining('no command can run') as string }],
    })
    expect(doctor(place, bin)).toMatchObject({ level: 'warning' })
    expect(doctor(place, PATH)).toMatchObject({ level: NO_SANDBOX === undefined ? 'ok' : 'warning' })
  } finally {
    rmSync(bin, { recursive: true })
  }
})

function doctor({ env }: Place, path: string): unknown {
  const { stdout } = spawnSync(process.execPath, [PROGRAM, 'doctor', '--json'], { env: { ...env, PATH: path }, encoding: 'utf8' })
  const { findings } = JSON.parse(stdout) as { findings: { check: string }[] }
  return findings.find(({ check }) => check === 'sandbox')
}

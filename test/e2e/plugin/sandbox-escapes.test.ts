/** A plugin in the sandbox reaches nothing that does not belong to it; the same plugin outside of it reaches everything. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server as NetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whyNoBubblewrap } from '../server/bubblewrap.js'
import { makePlace } from '../server/place.js'
import { approve, configurePlugin, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const NO_SANDBOX = whyNoBubblewrap()
if (NO_SANDBOX !== undefined) process.stderr.write(`Tests in the sandbox of plugins are skipped: ${NO_SANDBOX}.\n`)
const TOKEN = 'the-token-of-the-server'

/** What only root can do outside, and what a container may deny to it: tried inside where it works outside. */
const FOR_ROOT = [
  'read the memory of the kernel',
  'change a setting of the kernel',
  'have capabilities of the kernel',
  'see the devices of the machine',
]
/** What the capability `network` opens: the network with its abstract sockets (docs/security.md). */
const NETWORK = ['connect over the network', 'connect to an abstract socket']
/** What bubblewrap makes in a fresh /dev. */
const FRESH = new Set([
  'console',
  'core',
  'fd',
  'full',
  'null',
  'ptmx',
  'pts',
  'random',
  'shm',
  'stderr',
  'stdin',
  'stdout',
  'tty',
  'urandom',
  'zero',
])

interface Told {
  readonly outcomes: Readonly<Record<string, string>>
  readonly descriptors: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly own: object
}

let scene: Scene
let server: Server
let victim: ChildProcess
let temporary: string
const sharedMemory = `/dev/shm/svc-escape-${process.pid}`
const listeners: NetServer[] = []

beforeAll(async () => {
  if (NO_SANDBOX !== undefined) return
  scene = openScene(makePlace())
  scene.place.configure({})
  server = await scene.start({ SVC_AGENT_TOKEN: TOKEN })
  temporary = mkdtempSync(join(tmpdir(), 'svc-escape-'))
  for (const path of [join(temporary, 'secret'), join(scene.place.home, 'secret'), sharedMemory]) writeFileSync(path, 'secret')
  victim = spawn('sleep', ['1000'], { env: { PATH: process.env['PATH'] ?? '', SECRET: TOKEN }, stdio: 'ignore' })
})
afterAll(async () => {
  if (NO_SANDBOX !== undefined) return
  victim.kill('SIGKILL')
  for (const listener of listeners) listener.close()
  rmSync(temporary, { recursive: true, force: true })
  rmSync(sharedMemory, { force: true })
  rmSync(join(tmpdir(), 'svc-of-its-own'), { force: true })
  await scene.close()
})

/** Starts the plugin with a policy and lets it try everything. */
async function told(id: string, { sandbox, capabilities = [] }: { sandbox: boolean; capabilities?: string[] }): Promise<Told> {
  const { place } = scene
  const stream = await server.stream({ tail: true })
  const files = { 'plugin.mjs': 'fixture:tries-to-escape.mjs', 'wire.mjs': 'fixture:wire.mjs' }
  writePackage(place, id, { agent: { capabilities }, files })
  configurePlugin(place, id, (entry) => ({ ...entry, options: { sandbox } }))
  await approve(server, place, id)
  await untilState(stream, id, 'active')
  stream.close()
  const socket = join(place.root, `${id}.socket`)
  const abstract = `svc-escape-${process.pid}-${id}`
  const port = await listening({ port: 0, host: '127.0.0.1' })
  await listening({ path: socket })
  await listening({ path: `\0${abstract}` })
  const targets = {
    secret: join(place.home, 'secret'),
    temporary: join(temporary, 'secret'),
    configFile: place.configFile,
    state: place.state,
    home: place.home,
    repo: place.repo,
    token: TOKEN,
    pid: victim.pid,
    devices: readdirSync('/dev').filter((name) => !FRESH.has(name)),
    sharedMemory,
    socket,
    abstract,
    port,
  }
  const answer = await server.call('POST', `/v2/plugins/${id}/escape`, targets)
  expect(answer).toMatchObject({ status: 200, body: { own: { program: true, temporary: 'x' } } })
  const told = answer.body as Told
  return { ...told, outcomes: { ...told.outcomes, ...arrivals(told) } }
}

/** Of what was written the outcome that counts is seen from outside: a private directory of the same name takes it too. */
function arrivals({ outcomes }: Told): Readonly<Record<string, string>> {
  const { home, state, repo } = scene.place
  const written = Object.entries({ 'the home directory': home, 'the state of the server': state, 'the workspace': repo })
  return Object.fromEntries(
    written.flatMap(([name, directory]) => {
      const path = join(directory, 'written')
      if (outcomes[`write into ${name}`] !== 'did' || existsSync(path)) {
        rmSync(path, { force: true })
        return []
      }
      return [[`write into ${name}`, 'nothing arrived']]
    }),
  )
}

async function listening(options: object): Promise<number> {
  const listener = createServer((socket) => socket.destroy())
  listeners.push(listener)
  await new Promise<void>((resolve) => listener.listen(options, resolve))
  const address = listener.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const succeeded = ({ outcomes }: Told) => Object.keys(outcomes).filter((name) => outcomes[name] === 'did')

/** Nothing of the server came along into the program: neither an open file nor a secret. */
function expectClean({ descriptors, environment }: Told): void {
  const files = descriptors.filter((target) => target.startsWith(scene.place.root) || target.includes('sqlite'))
  expect(files.map((path) => basename(path))).toEqual(['plugin.mjs'])
  expect(environment).toHaveProperty('PATH')
  expect(JSON.stringify(environment)).not.toContain(TOKEN)
}

describe.skipIf(NO_SANDBOX !== undefined)(`in bubblewrap${NO_SANDBOX === undefined ? '' : ` (skipped: ${NO_SANDBOX})`}`, () => {
  test('no escape works that works outside', async () => {
    const outside = await told('dev.example.outside', { sandbox: false })
    const inside = await told('dev.example.inside', { sandbox: true })
    const names = Object.keys(outside.outcomes)
    expect(succeeded(outside)).toEqual(expect.arrayContaining(names.filter((name) => !FOR_ROOT.includes(name))))
    expect(succeeded(inside)).toEqual([])
    expect(Object.keys(inside.outcomes)).toEqual(names)
    for (const each of [outside, inside]) expectClean(each)
  })

  test('the capability for the network opens the network and nothing else', async () => {
    const online = await told('dev.example.online', { sandbox: true, capabilities: ['network'] })
    expect(succeeded(online).toSorted()).toEqual(NETWORK)
    expectClean(online)
  })
})

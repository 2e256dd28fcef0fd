/** In the sandbox no protected name can be made, whether it is there or not; outside of it every one can, and nothing stays of what held them. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PROTECTED_NAMES } from '../../../src/platform/protection/protected-names.js'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import { finish, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { whyNoBubblewrap } from '../server/bubblewrap.js'
import { type House, openHouse, type Room } from '../server/house.js'
import { makePlace, type Place, withModel } from '../server/place.js'
import { openScene, type Server } from '../server/server.js'
import { toolParts } from '../server/transcript.js'

const NO_SANDBOX = whyNoBubblewrap()
if (NO_SANDBOX !== undefined) process.stderr.write(`Tests of names in the sandbox are skipped: ${NO_SANDBOX}.\n`)
const MAKES = readFileSync(fileURLToPath(new URL('../../fixtures/commands/makes-names.mjs', import.meta.url)), 'utf8')
const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`
const HARMLESS = ['package.json', 'src/a.ts', 'HEADS', 'svc.json.txt', '.vscode/extensions.json', '.claude/notes.md', '.github/x.yml']
const OF_REPOSITORIES = ['.git', 'HEAD', 'commondir']

const rules = (sandbox: 'on' | 'off') => ({ permission: { sandbox, bash: 'allow', edit: 'allow' } })
let houses: Readonly<Record<'on' | 'off', House>>
const rooms: Room[] = []
beforeAll(async () => {
  const [on, off] = await Promise.all([openHouse(rules('on'), { PATH }), openHouse(rules('off'), { PATH })])
  houses = { on, off }
})
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())))
afterAll(() => Promise.all([houses.on.close(), houses.off.close()]))

const scripted = (commands: readonly string[]) => [
  ...commands.map((command, at) => reply(toolCall({ id: `c${at}`, name: 'bash', input: { command } }), finish('tool_calls'))),
  reply(text('done'), finish('stop')),
]

async function start(sandbox: 'on' | 'off', commands: readonly string[]) {
  const room = await houses[sandbox].room(scripted(commands))
  rooms.push(room)
  return runner(room.place, room.server)
}

/** In the sandbox of a server that the test kills. */
async function startApart(commands: readonly string[]) {
  const model = await startModelServer(scripted(commands))
  const scene = openScene(makePlace())
  onTestFinished(async () => {
    await scene.close()
    await model.close()
  })
  scene.place.configure(withModel(model.url, rules('on')))
  return runner(scene.place, await scene.start({ PATH }))
}

async function runner(place: Place, server: Server) {
  const stream = await server.stream({ tail: true })
  const begin = async () => {
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: 'go on' })
    return session.id
  }
  const run = async (): Promise<ToolPart['state'][]> => {
    const id = await begin()
    await stream.idle(id)
    return toolParts(await server.messages(id)).map(({ state }) => state)
  }
  return { place, server, stream, begin, run }
}

/** Names a program could make, in the ways it could. */
async function made(sandbox: 'on' | 'off', prepare: (repo: string) => void, names: readonly string[]): Promise<readonly string[]> {
  const { place, run } = await start(sandbox, ['node makes.mjs'])
  place.write('makes.mjs', MAKES)
  place.write('names.json', JSON.stringify(names))
  prepare(place.repo)
  const before = listing(place.repo)
  const [state] = await run()
  if (state?.status !== 'completed') throw new Error(JSON.stringify(state))
  expect(listing(place.repo).filter((name) => !before.includes(name) && names.every((each) => !each.startsWith(`${name}/`)))).toEqual([
    'made.txt',
  ])
  return JSON.parse(state.output.split('\n')[0] ?? '') as string[]
}

const listing = (directory: string) => readdirSync(directory).filter((name) => name !== 'moved.txt')
const namesOf = (ways: readonly string[]) => [...new Set(ways.map((each) => each.slice(each.indexOf(' ') + 1)))]
const withoutRepository = (repo: string) => rmSync(join(repo, '.git'), { recursive: true })
const asItIs = () => undefined

describe.skipIf(NO_SANDBOX !== undefined)(`in bubblewrap${NO_SANDBOX === undefined ? '' : ` (skipped: ${NO_SANDBOX})`}`, () => {
  test.each([
    ['a directory without a repository', withoutRepository, PROTECTED_NAMES],
    ['a worktree', asItIs, PROTECTED_NAMES.filter((name) => !OF_REPOSITORIES.includes(name))],
  ])('no protected name is made in %s, and every other one is', async (_, prepare, names) => {
    const all = [...names, ...HARMLESS]
    expect(namesOf(await made('off', prepare, all)).toSorted()).toEqual(all.toSorted())
    expect(namesOf(await made('on', prepare, all)).toSorted()).toEqual(HARMLESS.toSorted())
  })

  test('protected files stay as they are among 1,100 other names', async () => {
    const many = (repo: string) => {
      writeFileSync(join(repo, 'svc.json'), '{}')
      writeFileSync(join(repo, '.envrc'), 'mine')
      for (let at = 0; at < 1100; at += 1) writeFileSync(join(repo, `!${at}`), '')
    }
    expect(await made('on', many, ['svc.json', '.envrc', '.svc', '.husky'])).toEqual([])
  })

  test('a protected name that is a link cannot be replaced, and the files beside it can be changed', async () => {
    const lines = ['rm .husky', 'mv .husky x', 'echo x > new.txt', 'node -e "fs.unlinkSync(\'.husky\')"', 'echo more >> README.md']
    const { place, run } = await start(
      'on',
      lines.map((line) => `node -e "child_process.execSync(process.argv[1])" ${JSON.stringify(line)}`),
    )
    symlinkSync('elsewhere', join(place.repo, '.husky'))
    expect((await run()).map(({ status }) => status)).toEqual(['error', 'error', 'error', 'error', 'completed'])
    expect(readlinkSync(join(place.repo, '.husky'))).toBe('elsewhere')
  })

  test('a protected name in a dot directory that is a link cannot be replaced, nor can what it leads to or its directory', async () => {
    const lines = [
      'rm .vscode/tasks.json',
      'echo x > .vscode/new.txt',
      'mv .vscode x',
      'echo x > tools/deep/tasks.json',
      'mv tools x',
      'mv tools/deep x',
      'echo more >> .vscode/other.json',
      'echo more > tools/deep/other.json',
    ]
    const { place, run } = await start(
      'on',
      lines.map((line) => `node -e "child_process.execSync(process.argv[1])" ${JSON.stringify(line)}`),
    )
    mkdirSync(join(place.repo, '.vscode'))
    mkdirSync(join(place.repo, 'tools/deep'), { recursive: true })
    writeFileSync(join(place.repo, 'tools/deep/tasks.json'), 'mine')
    writeFileSync(join(place.repo, '.vscode/other.json'), '')
    symlinkSync('../tools/deep/tasks.json', join(place.repo, '.vscode/tasks.json'))
    const failed = Array.from({ length: 6 }, () => 'error')
    expect((await run()).map(({ status }) => status)).toEqual([...failed, 'completed', 'completed'])
    expect(readlinkSync(join(place.repo, '.vscode/tasks.json'))).toBe('../tools/deep/tasks.json')
    expect(readFileSync(join(place.repo, '.vscode/tasks.json'), 'utf8')).toBe('mine')
  })

  test('git works as before, a repository can be made by a line that says so, and nothing stays', async () => {
    const lines = [
      'git status --porcelain && git diff HEAD --stat && git log --format=%s -1',
      'git init -q sub && ls -A sub',
      'ls -d .hg .envrc',
    ]
    const { place, run } = await start('on', lines)
    const states = await run()
    expect(states.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    expect(states[1]).toMatchObject({ output: '.git' })
    expect(listing(place.repo).filter((name) => ['.hg', '.envrc', '.jj', 'svc.json'].includes(name))).toEqual([])
    expect(existsSync(join(place.repo, 'sub/.git/HEAD'))).toBe(true)
  })

  test('a new repository is made where there is none', async () => {
    const { place, run } = await start('on', ['git init -q . && git status --short | wc -l && git diff --stat'])
    rmSync(join(place.repo, '.git'), { recursive: true })
    expect(await run()).toMatchObject([{ status: 'completed' }])
    expect(execFileSync('git', ['rev-parse', '--is-inside-work-tree'], { cwd: place.repo, env: place.env, encoding: 'utf8' })).toBe(
      'true\n',
    )
  })

  test('nothing stays when the server is killed, and its own settings are read all the while', async () => {
    const { place, server, begin } = await startApart(["node -e \"fs.writeFileSync('ready', ''); setInterval(() => {}, 1000)\""])
    mkdirSync(join(place.repo, '.cursor'))
    await begin()
    await expect.poll(() => existsSync(join(place.repo, 'ready'))).toBe(true)
    expect(listing(place.repo)).toEqual(expect.arrayContaining(['.envrc', '.svc', 'svc.json', '.hg', '.vscode']))
    expect((await server.call('GET', '/v2/config/validate')).body).toMatchObject({ ok: true })
    await server.kill()
    const left = () =>
      [...listing(place.repo), ...readdirSync(join(place.repo, '.cursor'))].filter((name) => PROTECTED_NAMES.includes(name))
    await expect.poll(() => left().filter((name) => name !== '.git')).toEqual([])
    expect(listing(place.repo)).toContain('.cursor')
  })
})

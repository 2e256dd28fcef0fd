/** Turns are undone and redone on the built program, in a real repository (sessions-events §7). `SVC_TEST_KILLS` says how many restores are killed. */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import type { SessionPage } from '../../../src/protocol/session/session.js'
import type { SessionUndoTree } from '../../../src/protocol/session/undo.js'
import { type House, openHouse, type Room } from '../server/house.js'
import { makePlace, withModel } from '../server/place.js'
import { type Answer, openScene, type Scene, type Server } from '../server/server.js'
import { PATIENCE } from '../../fakes/patience.js'
import { until } from '../../fakes/programs.js'

const KILLS = Number(process.env['SVC_TEST_KILLS'] ?? 4)

const CONFIG = { permission: { '*': 'allow' }, agent: { boss: { mode: 'all', permission: { task: 'allow' } } } }

let house: House
const rooms: Room[] = []
const scenes: Scene[] = []
const models: ModelServer[] = []
beforeAll(async () => {
  house = await openHouse(CONFIG)
})
afterAll(() => house.close())
afterEach(async () => {
  await Promise.all(rooms.splice(0).map((room) => room.close()))
  await Promise.all(scenes.splice(0).map((scene) => scene.close()))
  await Promise.all(models.splice(0).map((model) => model.close()))
})

/** Answers a prompt `tool {…}` with that call, and its result with a word; `each [[tool, {…}], …]` with one after the other. */
function turn({ body, index }: ModelServerRequest) {
  const last = body?.messages.at(-1)
  const content = body?.messages.findLast(({ role }) => role === 'user')?.['content'] ?? ''
  const said = typeof content === 'string' ? content : (content as { text: string }[]).map((part) => part.text).join('')
  if (said.startsWith('each ')) {
    const calls = JSON.parse(said.slice(5)) as [string, object][]
    const next = calls[body?.messages.filter(({ role }) => role === 'tool').length ?? 0]
    if (next === undefined) return reply(text('done'), finish('stop'))
    return reply(toolCall({ id: `c${index}`, name: next[0], input: next[1], pieces: 1 }), finish('tool_calls'))
  }
  if (last?.role !== 'user') return reply(text('done'), finish('stop'))
  const [, name = '', input = '{}'] = /^(\w+) (.*)$/s.exec(said) ?? []
  return reply(toolCall({ id: `c${index}`, name, input: JSON.parse(input) as object, pieces: 1 }), finish('tool_calls'))
}

/** Every file and link of the worktree with its mode and what it contains. */
function picture(root: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (name === '.git' || name.startsWith('.git/')) continue
    const path = join(root, name)
    const stat = lstatSync(path)
    if (stat.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`
    else if (stat.isFile())
      found[name] = `${(stat.mode & 0o777).toString(8)} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`
    else found[name] = 'directory'
  }
  return found
}

async function begin(files: Readonly<Record<string, string>>) {
  const room = await house.room(turn, undefined, files)
  rooms.push(room)
  const { id } = await room.server.createSession()
  return { ...room, id }
}

/** With a server of its own, which the test kills. */
async function beginApart(files: Readonly<Record<string, string>>) {
  const model = await startModelServer(turn)
  models.push(model)
  const scene = openScene(makePlace(files))
  scenes.push(scene)
  scene.place.configure(withModel(model.url, CONFIG))
  const server = await scene.start()
  const { id } = await server.createSession()
  return { scene, place: scene.place, server, id }
}

async function play(server: Server, id: string, tool: string, input: object): Promise<void> {
  await server.prompt(id, { prompt: `${tool} ${JSON.stringify(input)}` })
  const answer = await server.call('POST', `/v2/sessions/${id}/wait`)
  expect(answer.status).toBe(204)
  const calls = (await server.messages(id)).flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool'))
  expect(calls.at(-1)).toMatchObject({ tool, state: { status: 'completed' } })
}

const bash = (command: string) => ['bash', { command, description: 'change files' }] as const

const TURNS: readonly (readonly [string, object])[] = [
  ['write', { filePath: 'deep/new/file.txt', content: 'new\r\nlines\r\n' }],
  ['edit', { filePath: 'crlf.txt', oldString: 'two', newString: 'zwei' }],
  bash('rm gone.txt && rm -r old'),
  bash('git mv moved.txt there.txt && mv plain.txt other.txt && ln -s other.txt link && ln -sfn README.md way'),
  bash('chmod 755 script.sh && chmod 600 crlf.txt'),
  bash("sed -i 's/^/  /' README.md src/*.js"),
  bash("printf '\\000\\001\\377\\000' > data.bin && printf '\\377' >> kept.bin"),
  bash('head -c 5242880 /dev/zero | tr "\\0" "x" > big.dat && head -c 200000 /dev/zero >> grown.dat'),
]

const FILES = {
  'README.md': 'hello\n',
  'crlf.txt': '\uFEFFone\r\ntwo\r\n',
  'gone.txt': 'gone',
  'old/a/b.txt': 'b\n',
  'moved.txt': 'moved\n',
  'plain.txt': 'plain\n',
  'script.sh': '#!/bin/sh\n',
  'src/a.js': 'a\n',
  'src/b.js': 'b\n',
  'kept.bin': '\u0000\u0001',
  'grown.dat': 'y'.repeat(300_000),
}

test('eight turns are undone and redone with every byte, mode and link; a hand edit is a conflict that changes nothing', async () => {
  const { place, server, id } = await begin(FILES)
  chmodSync(join(place.repo, 'crlf.txt'), 0o644)
  const step = async (what: string) => {
    const answer = await server.call('POST', `/v2/sessions/${id}/${what}`)
    expect([what, answer.status, answer.text.slice(0, 300)]).toEqual([what, 200, expect.any(String)])
  }
  const pictures = [picture(place.repo)]
  for (const [tool, input] of TURNS) {
    await play(server, id, tool, input)
    pictures.push(picture(place.repo))
  }
  expect(new Set(pictures.map((each) => JSON.stringify(each))).size).toBe(TURNS.length + 1)

  const changed = join(place.repo, 'src/a.js')
  const before = readFileSync(changed)
  writeFileSync(changed, 'by hand\n')
  const messages = await server.messages(id)
  const handmade = picture(place.repo)
  const refused = await server.call('POST', `/v2/sessions/${id}/revert`, { messageId: messages[0]?.info.id })
  expect(refused.status).toBe(409)
  expect(refused.body).toMatchObject({ code: 'resource.conflict', details: { paths: [changed] } })
  expect(picture(place.repo)).toEqual(handmade)
  expect(await server.messages(id)).toEqual(messages)
  writeFileSync(changed, before)

  for (let at = TURNS.length - 1; at >= 0; at--) {
    await step('undo')
    expect([at, picture(place.repo)]).toEqual([at, pictures[at]])
  }
  for (let at = 1; at <= TURNS.length; at++) {
    await step('redo')
    expect([at, picture(place.repo)]).toEqual([at, pictures[at]])
  }
  expect(await server.messages(id)).toEqual(messages)
  expect((await server.call('POST', `/v2/sessions/${id}/revert`, { messageId: messages[0]?.info.id })).status).toBe(200)
  expect(picture(place.repo)).toEqual(pictures[0])
  await step('unrevert')
  expect(picture(place.repo)).toEqual(pictures.at(-1))
})

/** Delegates `work` (a list of calls for the agent) in the foreground. */
const delegate = (calls: readonly (readonly [string, object])[], agent = 'boss') => {
  const prompt = `each ${JSON.stringify(calls)}`
  return ['task', { description: 'work', prompt, subagent_type: agent, background: false }] as const
}

test('a turn that delegated in the foreground is undone and redone with all that was done below it', async () => {
  const { place, server, id } = await begin({ ...FILES, 'two.txt': 'two\n' })
  const call = (what: string, body?: object) => server.call('POST', `/v2/sessions/${id}/${what}`, body)
  const before = picture(place.repo)
  const below = delegate([bash('rm plain.txt && head -c 300000 /dev/urandom > large.txt')])
  await play(
    server,
    id,
    ...delegate([
      ['edit', { filePath: 'two.txt', oldString: 'two', newString: 'zwei' }],
      ['edit', { filePath: 'two.txt', oldString: 'zwei', newString: 'deux' }],
      bash('chmod 755 script.sh && ln -s two.txt link && printf "\\377" >> kept.bin'),
      below,
    ]),
  )
  const after = picture(place.repo)
  expect(after).not.toEqual(before)
  const tree = (await server.get<SessionUndoTree>(`/v2/sessions/${id}/undo-tree`)).nodes
  expect(tree.map(({ snapshots }) => snapshots.paths?.toSorted())).toEqual([
    ['kept.bin', 'large.txt', 'link', 'plain.txt', 'script.sh', 'two.txt'],
  ])

  writeFileSync(join(place.repo, 'two.txt'), 'by hand\n')
  const handmade = picture(place.repo)
  expect(await call('undo')).toMatchObject({ status: 409, body: { details: { paths: [join(place.repo, 'two.txt')] } } })
  expect(picture(place.repo)).toEqual(handmade)
  writeFileSync(join(place.repo, 'two.txt'), 'deux\n')

  expect((await call('undo')).status).toBe(200)
  expect(picture(place.repo)).toEqual(before)
  const { items } = await server.get<SessionPage>(`/v2/sessions/${id}/children`)
  for (const child of items) await server.call('DELETE', `/v2/sessions/${child.id}`)
  expect((await call('redo')).status).toBe(200)
  expect(picture(place.repo)).toEqual(after)
  expect((await call('undo')).status).toBe(200)
  expect(picture(place.repo)).toEqual(before)
})

/** An abort waits a moment only for the comparison of what a command changed, which a busy machine may not end by then: then it is tried again. */
async function undoneInTime(attempt: () => Promise<Answer>, clean: () => void): Promise<Answer> {
  let undone: Answer | undefined
  await until('the comparison ends in time', async () => {
    undone = await attempt()
    const isLate = undone.status === 409 && /could not be compared|what it changed is not known/.test(undone.text)
    if (isLate) clean()
    return !isLate
  })
  if (undone === undefined) throw new Error('it was not tried')
  return undone
}

async function untilThere(path: string): Promise<void> {
  while (!existsSync(path)) await delay(10)
}

test('what a task did that was aborted is undone with its turn', async () => {
  const { place, server } = await begin(FILES)
  const before = picture(place.repo)
  const made = ['made.txt', 'begun.txt'].map((name) => join(place.repo, name))
  const [tool, input] = delegate([['write', { filePath: 'made.txt', content: 'made\n' }], bash('touch begun.txt; sleep 600')])
  const attempt = async () => {
    const { id } = await server.createSession()
    await server.prompt(id, { prompt: `${tool} ${JSON.stringify(input)}` })
    await Promise.all(made.map(untilThere))
    await server.call('POST', `/v2/sessions/${id}/abort`)
    await server.call('POST', `/v2/sessions/${id}/wait`)
    expect(picture(place.repo)).not.toEqual(before)
    return server.call('POST', `/v2/sessions/${id}/undo`)
  }
  const undone = await undoneInTime(attempt, () => made.forEach((path) => rmSync(path)))
  expect([undone.status, undone.text.slice(0, 300)]).toEqual([200, expect.any(String)])
  expect(picture(place.repo)).toEqual(before)
})

test('what an aborted command has changed is undone; a command that a kill cut short refuses the undo', async () => {
  const { scene, place, server, id } = await beginApart({ 'slow.sh': 'echo new > made.txt\nsleep 60\n', 'README.md': 'hello\n' })
  const made = join(place.repo, 'made.txt')
  const old = picture(place.repo)
  const [tool, input] = bash('sh slow.sh')
  const undoAborted = async () => {
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: `${tool} ${JSON.stringify(input)}` })
    await untilThere(made)
    expect((await server.call('POST', `/v2/sessions/${session.id}/abort`)).body).toBe(true)
    await server.call('POST', `/v2/sessions/${session.id}/wait`)
    return server.call('POST', `/v2/sessions/${session.id}/undo`)
  }
  const undone = await undoneInTime(undoAborted, () => rmSync(made))
  expect([undone.status, undone.text.slice(0, 300)]).toEqual([200, expect.any(String)])
  expect(picture(place.repo)).toEqual(old)

  await server.prompt(id, { prompt: `${tool} ${JSON.stringify(input)}` })
  await untilThere(made)
  await server.kill()
  const again = await scene.start()
  const refused = await again.call('POST', `/v2/sessions/${id}/undo`)
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('was cut short, and what it changed is not known')])
  expect(existsSync(made)).toBe(true)
})

/** Changes many files, so that a kill meets some of them changed and others not. */
const MANY = `for i in $(seq 60); do mkdir -p d$i; printf '%s\\r\\n' "line $i" > d$i/f.txt; done
chmod 700 d1/f.txt; ln -s d1/f.txt link; echo changed > README.md
`

test(
  `a restore that is killed leaves all files and messages in one state or the other, over ${KILLS} kills`,
  async () => {
    const { scene, place, server: first, id } = await beginApart({ 'README.md': 'hello\n', 'make.sh': MANY })
    const old = picture(place.repo)
    await play(first, id, ...bash('sh make.sh'))
    const now = picture(place.repo)
    const journal = { before: 0, after: 0 }
    let server = first
    for (let round = 0; round < KILLS; round++) {
      const isUndone = existsSync(join(place.repo, 'd1')) ? 'undo' : 'redo'
      const answer = server.call('POST', `/v2/sessions/${id}/${isUndone}`).catch(() => undefined)
      await delay(2 + ((round * 13) % 90))
      await server.kill()
      await answer
      server = await scene.start()
      const { revert } = await server.get<{ revert?: unknown }>(`/v2/sessions/${id}`)
      expect([round, picture(place.repo)]).toEqual([round, revert === undefined ? now : old])
      expect(await server.messages(id)).toHaveLength(revert === undefined ? 3 : 0)
      journal[revert === undefined ? 'before' : 'after']++
    }
    expect(journal.before + journal.after).toBe(KILLS)
  },
  PATIENCE * (3 + KILLS),
)

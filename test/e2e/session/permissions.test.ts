// Holds sessions-events §8.7.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { type Reply, finish, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { type House, openHouse, type Room } from '../server/house.js'
import { makePlace, type Place, withModel } from '../server/place.js'
import { openScene, type Server } from '../server/server.js'
import type { AnyEvent, Stream } from '../server/stream.js'
import { textOf, toolParts, unfinished } from '../server/transcript.js'

let house: House
const rooms: Room[] = []
beforeAll(async () => {
  house = await openHouse()
})
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())))
afterAll(() => house.close())

const write = (id: string, filePath: string, index = 0) => toolCall({ id, name: 'write', input: { filePath, content: `${id}\n` }, index })
const bash = (id: string, command: string) => toolCall({ id, name: 'bash', input: { command, description: 'a command' } })
const calls = (...made: ReturnType<typeof toolCall>[]): Reply => reply(...made, finish('tool_calls'))
const done = reply(text('all done'), finish('stop'))

/** `prepare` changes the repository before the session begins. */
async function begin(replies: readonly Reply[], permission: object, prepare: (place: Place) => void = () => undefined) {
  const room = await house.room(replies, { permission })
  rooms.push(room)
  prepare(room.place)
  return { ...room, ...(await talk(room.server)) }
}

/** With a server of its own, which the test ends. */
async function beginApart(replies: readonly Reply[], permission: object) {
  const model = await startModelServer(replies)
  const scene = openScene(makePlace())
  onTestFinished(async () => {
    await scene.close()
    await model.close()
  })
  scene.place.configure(withModel(model.url, { permission }))
  return { scene, place: scene.place, ...(await talk(await scene.start())) }
}

async function talk(server: Server): Promise<{ server: Server; stream: Stream; sessionId: string }> {
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'go on' })
  return { server, stream, sessionId: session.id }
}

function isAsked(event: AnyEvent): event is Extract<AnyEvent, { type: 'permission.asked' }> {
  return event.type === 'permission.asked'
}

/** The first `count` requests asked on a stream. */
async function asked(stream: Stream, count: number): Promise<PermissionRequest[]> {
  let from = 0
  for (let seen = 0; seen < count; seen++) {
    const event = await stream.waitFor(isAsked, from)
    from = stream.events.indexOf(event) + 1
  }
  return stream.events.filter(isAsked).map(({ data }) => data)
}

const answer = (server: Server, id: string | undefined, body: object) =>
  server.call('POST', `/v2/interactions/permissions/${id ?? ''}/reply`, body)
const replies = (stream: Stream) =>
  stream.events.flatMap((event) => (event.type === 'permission.replied' ? [[event.data.requestID, event.data.reply]] : []))
const states = async (server: Server, sessionId: string) =>
  Object.fromEntries(toolParts(await server.messages(sessionId)).map(({ callId, state }) => [callId, state.status]))

test('what is asked about before it is read is asked about by every way to read it, and not searched unasked', async () => {
  const grep = (id: string, input: object, index = 0) => toolCall({ id, name: 'grep', input: { pattern: 'TOKEN', ...input }, index })
  const { server, stream, sessionId } = await begin(
    [
      calls(grep('tree', { includeHidden: true })),
      calls(grep('file', { path: '.env' })),
      calls(bash('link', 'ln .env other; cat other')),
      calls(bash('move', 'mv .env other; cat other')),
      calls(bash('unpack', 'gunzip -k .envrc.gz')),
      done,
    ],
    {},
    (place) => {
      place.write('.env', 'TOKEN=5e2c1\n')
      place.write('plain.txt', 'TOKEN\n')
    },
  )
  const reading = { permission: 'read', patterns: ['.env'] }
  const unpacking = { permission: 'edit', patterns: ['.envrc.gz', '.envrc'], metadata: { explicit: expect.any(String) } }
  for (const [index, expected] of [reading, reading, reading, unpacking].entries()) {
    const request = (await asked(stream, index + 1)).at(-1)
    expect(request).toMatchObject(expected)
    expect((await answer(server, request?.id, { message: 'no' })).status, 'an answer without a decision is none').toBe(400)
    await answer(server, request?.id, { reply: 'reject' })
  }
  await stream.idle(sessionId)
  const messages = await server.messages(sessionId)
  expect(JSON.stringify(toolParts(messages).map(({ state }) => state))).toContain('plain.txt')
  expect(JSON.stringify(messages)).not.toContain('5e2c1')
})

test('answers are remembered for a repository and its worktrees, not for another that begins with the same commit', async () => {
  const count = 4
  const { place, server, stream, sessionId } = await begin(
    Array.from({ length: count }, (_, index) => [calls(write(`c${index}`, 'a.txt')), done]).flat(),
    { edit: 'ask' },
  )
  const git = (directory: string, ...args: string[]) => execFileSync('git', args, { cwd: directory, env: place.env, stdio: 'ignore' })
  const [worktree, clone, claimed] = ['worktree', 'clone', 'claimed'].map((name) => join(place.root, name)) as [string, string, string]
  git(place.repo, 'worktree', 'add', '--quiet', worktree)
  git(place.root, 'clone', '--quiet', place.repo, clone)
  mkdirSync(claimed)
  writeFileSync(join(claimed, '.git'), `gitdir: ${join(place.repo, '.git')}\n`)
  copyFileSync(join(place.repo, 'svc.json'), join(claimed, 'svc.json'))
  const [first] = await asked(stream, 1)
  await answer(server, first?.id, { reply: 'always' })
  await stream.idle(sessionId)

  const begun = await Promise.all(
    [worktree, clone, claimed].map((directory) => server.call('POST', '/v2/sessions', { title: 'x' }, { 'x-svc-directory': directory })),
  )
  const [inWorktree, inClone, inClaimed] = begun.map(({ body }) => body as Session) as [Session, Session, Session]
  expect(inClone.projectId, 'control: the same first commit').toBe(inWorktree.projectId)
  await server.prompt(inWorktree.id, { prompt: 'go on' })
  await stream.idle(inWorktree.id)
  expect(stream.events.filter(isAsked)).toHaveLength(1)
  for (const [count, { id }] of [
    [2, inClone],
    [3, inClaimed],
  ] as const) {
    await server.prompt(id, { prompt: 'go on' })
    const request = (await asked(stream, count)).at(-1)
    expect(request).toMatchObject({ sessionId: id, patterns: ['a.txt'] })
    await answer(server, request?.id, { reply: 'reject' })
    await stream.idle(id)
  }
})

describe('a rule that says ask', () => {
  test('lets a call wait, and "once" lets this call happen but not the next one', async () => {
    const { place, server, stream, sessionId } = await begin([calls(write('c1', 'a.txt')), calls(write('c2', 'a.txt')), done], {
      edit: 'ask',
    })
    const [first] = await asked(stream, 1)
    expect(first).toMatchObject({
      sessionId,
      permission: 'edit',
      patterns: ['a.txt'],
      tool: { callID: 'c1' },
      metadata: { tool: 'write', input: { filePath: 'a.txt' } },
    })
    expect(await server.get('/v2/interactions/permissions')).toEqual([first])
    expect(await server.get(`/v2/interactions/permissions?sessionId=${sessionId}`)).toEqual([first])
    expect(await states(server, sessionId)).toEqual({ c1: 'running' })
    expect(existsSync(join(place.repo, 'a.txt'))).toBe(false)

    expect((await answer(server, first?.id, { reply: 'once' })).body).toBe(true)
    const [, second] = await asked(stream, 2)
    expect(place.read('a.txt')).toBe('c1\n')
    expect(second).toMatchObject({ patterns: ['a.txt'], tool: { callID: 'c2' } })
    await answer(server, second?.id, { reply: 'once' })
    await stream.idle(
      sessionId,
      stream.events.findLastIndex((event) => event.type === 'permission.asked'),
    )
    expect(place.read('a.txt')).toBe('c2\n')
    expect(await states(server, sessionId)).toEqual({ c1: 'completed', c2: 'completed' })
    expect(replies(stream)).toEqual([
      [first?.id, 'once'],
      [second?.id, 'once'],
    ])
    expect(await server.get('/v2/interactions/permissions')).toEqual([])
  })

  test('"always" answers other requests it covers, is not asked again, and is remembered after a restart', async () => {
    const { scene, server, stream, sessionId } = await beginApart(
      [
        calls(write('c1', 'a.txt', 0), write('c2', 'a.txt', 1), write('c3', 'b.txt', 2)),
        calls(write('c4', 'a.txt')),
        done,
        calls(write('c5', 'a.txt')),
        done,
      ],
      { edit: 'ask' },
    )
    const requests = await asked(stream, 3)
    const of = (callId: string) => requests.find(({ tool }) => (tool as { callID: string }).callID === callId)?.id
    await answer(server, of('c1'), { reply: 'always' })
    await stream.waitFor((event) => event.type === 'permission.replied' && event.data.requestID === of('c2'))
    expect(replies(stream)).toEqual(
      expect.arrayContaining([
        [of('c1'), 'always'],
        [of('c2'), 'always'],
      ]),
    )
    expect(await server.get('/v2/interactions/permissions')).toEqual([expect.objectContaining({ id: of('c3') })])
    await answer(server, of('c3'), { response: 'once' })
    await stream.idle(sessionId)
    expect(await states(server, sessionId)).toEqual({ c1: 'completed', c2: 'completed', c3: 'completed', c4: 'completed' })
    expect(stream.events.filter(isAsked)).toHaveLength(3)
    stream.close()

    await server.stop()
    const again = await scene.start()
    const later = await again.stream({ tail: true })
    const session = await again.createSession()
    await again.prompt(session.id, { prompt: 'once more' })
    await later.idle(session.id)
    expect(await states(again, session.id)).toEqual({ c5: 'completed' })
    expect(later.events.filter(isAsked)).toEqual([])
  })

  test('one "reject" among three parallel requests fails all three, and the run goes on to its answer', async () => {
    const { model, place, server, stream, sessionId } = await begin(
      [calls(write('c1', 'a.txt', 0), write('c2', 'b.txt', 1), write('c3', 'c.txt', 2)), done],
      { edit: 'ask' },
    )
    const requests = await asked(stream, 3)
    const rejected = requests.find(({ tool }) => (tool as { callID: string }).callID === 'c2')
    await answer(server, rejected?.id, { reply: 'reject', message: 'not that file' })
    await stream.idle(sessionId)

    const messages = await server.messages(sessionId)
    const tools = Object.fromEntries(toolParts(messages).map(({ callId, state }) => [callId, state]))
    expect(tools['c2']).toMatchObject({ status: 'error', error: 'not that file' })
    expect(tools['c1']).toMatchObject({ status: 'error', error: 'The user rejected this action.' })
    expect(tools['c3']).toMatchObject({ status: 'error', error: 'The user rejected this action.' })
    expect(textOf(messages.at(-1))).toBe('all done')
    expect(messages.at(-1)?.info).toMatchObject({ finish: 'stop' })
    expect(unfinished(messages)).toEqual([])
    expect(replies(stream).map(([, kind]) => kind)).toEqual(['reject', 'reject', 'reject'])
    expect(['a.txt', 'b.txt', 'c.txt'].filter((name) => existsSync(join(place.repo, name)))).toEqual([])
    const told = model.requests[1]?.body?.messages.filter(({ role }) => role === 'tool')
    expect(told?.map((message) => message['content'])).toEqual(expect.arrayContaining(['not that file']))

    const late = await answer(server, rejected?.id, { reply: 'always' })
    expect([late.status, late.body]).toEqual([200, true])
    expect(replies(stream)).toHaveLength(3)
  })

  test('an abort withdraws the request; a later answer changes nothing', async () => {
    const { place, server, stream, sessionId } = await begin([calls(write('c1', 'a.txt'))], { edit: 'ask' })
    const [request] = await asked(stream, 1)
    expect((await server.call('POST', `/v2/sessions/${sessionId}/abort`)).body).toBe(true)
    await stream.idle(sessionId)
    expect(replies(stream)).toEqual([[request?.id, 'cancelled']])
    expect((await answer(server, request?.id, { reply: 'once' })).body).toBe(true)
    expect(existsSync(join(place.repo, 'a.txt'))).toBe(false)
    expect(await states(server, sessionId)).toEqual({ c1: 'error' })
  })

  test('a request of a killed server is withdrawn when the next one starts', async () => {
    const { scene, place, server, stream, sessionId } = await beginApart([calls(write('c1', 'a.txt'))], { edit: 'ask' })
    const [request] = await asked(stream, 1)
    const seen = stream.events.at(-1)?.sequence ?? 0
    await server.kill()
    const again = await scene.start()
    const later = await again.stream({ since: seen })
    await later.idle(sessionId)
    expect(replies(later)).toEqual([[request?.id, 'cancelled']])
    expect(await again.get('/v2/interactions/permissions')).toEqual([])
    expect((await answer(again, request?.id, { reply: 'once' })).body).toBe(true)
    expect(await states(again, sessionId)).toEqual({ c1: 'error' })
    expect(existsSync(join(place.repo, 'a.txt'))).toBe(false)
  })

  test('a rule that says deny is told to the model, and nobody is asked', async () => {
    const { place, server, stream, sessionId } = await begin([calls(write('c1', 'secret.txt')), done], {
      edit: { 'secret.txt': 'deny' },
    })
    await stream.idle(sessionId)
    expect(stream.events.filter(isAsked)).toEqual([])
    expect(await states(server, sessionId)).toEqual({ c1: 'error' })
    expect(existsSync(join(place.repo, 'secret.txt'))).toBe(false)
  })
})

describe('an answer for commands that is remembered', () => {
  test('holds for the very command; a wider pattern only if it was offered and is named', async () => {
    const commands = ['echo *', 'echo x', 'echo x', 'echo y', 'sh -c true']
    const { server, stream, sessionId } = await begin(
      commands.flatMap((command, index) => [calls(bash(`c${index}`, command))]).concat(done),
      { bash: 'ask' },
    )
    const [star] = await asked(stream, 1)
    expect(star).toMatchObject({ patterns: ['echo *'], always: ['echo *'], metadata: { alwaysPatterns: ['echo *'] } })
    await answer(server, star?.id, { reply: 'always' })
    const [, literal] = await asked(stream, 2)
    expect(literal).toMatchObject({ patterns: ['echo x'], always: ['echo x'], tool: { callID: 'c1' } })
    const refused = await answer(server, literal?.id, { reply: 'always', alwaysPatterns: ['*'] })
    expect([refused.status, refused.body]).toEqual([
      422,
      expect.objectContaining({ code: 'request.unprocessable', message: expect.stringContaining('It offers echo *.') as string }),
    ])
    expect((await answer(server, literal?.id, { reply: 'once', alwaysPatterns: ['echo *'] })).status).toBe(422)
    await answer(server, literal?.id, { reply: 'once' })
    const [, , again] = await asked(stream, 3)
    expect(again).toMatchObject({ patterns: ['echo x'], tool: { callID: 'c2' } })
    await answer(server, again?.id, { reply: 'always', alwaysPatterns: ['echo *'] })
    const [, , , shell] = await asked(stream, 4)
    expect(shell).toMatchObject({ tool: { callID: 'c4' }, patterns: ['sh -c true', 'true'], metadata: { alwaysPatterns: ['true *'] } })
    await answer(server, shell?.id, { reply: 'reject' })
    await stream.idle(sessionId)
    expect(await states(server, sessionId)).toEqual({ c0: 'completed', c1: 'completed', c2: 'completed', c3: 'completed', c4: 'error' })
  })
})

describe('a rule for commands', () => {
  test('is applied to commands that are hidden inside others', async () => {
    const hidden = ['echo ok; $(touch x)', 'echo "$(touch x)"', 'echo ok | (touch x)', 'true && `touch x`', 'sh -c "touch x"']
    const { place, server, stream, sessionId } = await begin(
      hidden.flatMap((command, index) => [calls(bash(`c${index}`, command))]).concat(done),
      { bash: { 'touch *': 'ask', 'touch x': 'ask' } },
    )
    for (const [index] of hidden.entries()) {
      const requests = await asked(stream, index + 1)
      expect(requests[index]).toMatchObject({ permission: 'bash', tool: { callID: `c${index}` } })
      expect(existsSync(join(place.repo, 'x'))).toBe(false)
      await answer(server, requests[index]?.id, { reply: 'reject' })
    }
    await stream.idle(sessionId)
    expect(Object.values(await states(server, sessionId))).toEqual(hidden.map(() => 'error'))
    expect(existsSync(join(place.repo, 'x'))).toBe(false)
  })
})

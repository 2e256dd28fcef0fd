// Holds http-contract §5.7.
/** Agents, commands and skills are files: whoever writes them, they are there once the event says so, and a kill leaves the old or the new ones. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { ManagedResource } from '../../../src/protocol/resource/managed.js'
import { type House, openHouse, type Room } from '../server/house.js'
import { makePlace } from '../server/place.js'
import { openScene, type Server } from '../server/server.js'

const OPERATOR = { SVC_AGENT_TOKEN: 'operator-token-of-this-test' }
const MANAGED = '/v2/management'

let house: House
beforeAll(async () => {
  house = await openHouse({}, OPERATOR)
})
afterAll(() => house.close())

async function enter(): Promise<Room> {
  const room = await house.room([])
  onTestFinished(() => room.close())
  return room
}

const PATHS = {
  agents: (id: string) => `.svc/agents/${id}.md`,
  commands: (id: string) => `.svc/commands/${id}.md`,
  skills: (id: string) => `.svc/skills/${id}/SKILL.md`,
}
const textOf = (said: string) => `---\ndescription: ${said}\n---\n${said}\n`

/** What a client sees of the one called `id`, in each list. */
async function seen(server: Server, id: string): Promise<(string | null | undefined)[]> {
  const lists = await Promise.all(
    Object.keys(PATHS).map((kind) => server.get<{ name: string; description?: string | null }[]>(`/v2/${kind}`)),
  )
  return lists.map((list) => list.find(({ name }) => name === id)?.description)
}

test('written by the API, by an editor in every manner and by a checkout, they appear when the event comes', async () => {
  const { place, server } = await enter()
  const { repo, env } = place
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: repo, env, stdio: 'ignore' })
  const inEach = (id: string, write: (path: string) => void) => {
    for (const at of Object.values(PATHS)) {
      mkdirSync(dirname(join(repo, at(id))), { recursive: true })
      write(join(repo, at(id)))
    }
  }
  git('switch', '-c', 'with')
  inEach('one', (path) => writeFileSync(path, textOf('by checkout')))
  git('add', '.')
  git('commit', '-m', 'with')
  git('switch', 'main')
  const stream = await server.stream({ tail: true })
  expect(await seen(server, 'one')).toEqual([undefined, undefined, undefined])

  /** Looks when an event tells to, and only then. */
  async function appears(said: string | undefined, write: () => unknown): Promise<void> {
    let from = stream.events.length
    await write()
    const expected = [said, said, said]
    for (;;) {
      const told = await stream.waitFor(({ type }) => type === 'config.updated', from)
      from = stream.events.indexOf(told) + 1
      const now = await seen(server, 'one')
      if (JSON.stringify(now) !== JSON.stringify(expected)) continue
      expect(now).toEqual(expected)
      return
    }
  }

  await appears('by checkout', () => git('switch', 'with'))
  await appears(undefined, () => git('switch', 'main'))
  await appears('in place', () => inEach('one', (path) => writeFileSync(path, textOf('in place'))))
  await appears('renamed over', () =>
    inEach('one', (path) => {
      writeFileSync(`${path}~`, textOf('renamed over'))
      renameSync(`${path}~`, path)
    }),
  )
  await appears('in pieces', () =>
    inEach('one', (path) => {
      writeFileSync(path, '')
      for (const piece of textOf('in pieces')) appendFileSync(path, piece)
    }),
  )
  await appears('by the API', async () => {
    for (const kind of ['agents', 'commands'])
      expect(
        (await server.call('PUT', `${MANAGED}/${kind}/one`, { content: 'x', frontmatter: { description: 'by the API' } })).status,
      ).toBe(200)
    expect((await server.call('PUT', `${MANAGED}/skills/one`, { content: 'x', description: 'by the API' })).status).toBe(200)
  })
})

test('a kill during writes leaves the old or the new file, and a whole skill', async () => {
  const scene = openScene(makePlace())
  onTestFinished(() => scene.close())
  const { repo } = scene.place
  const said = (round: number, index: number) => `${'All of it, from the first to the last word. '.repeat(2000)}${round}.${index}`
  let server = await scene.start(OPERATOR)
  for (const kind of ['agents', 'skills']) await server.call('POST', `${MANAGED}/${kind}/one`, { content: 'Old.' })
  for (let round = 0; round < 2; round++) {
    const stream = await server.stream({ tail: true })
    const writes = Array.from({ length: 12 }, (_, index) =>
      server.call('PUT', `${MANAGED}/${index % 2 === 0 ? 'agents' : 'skills'}/one`, {
        content: said(round, index),
        ...(index % 2 === 1 && { files: { 'same.txt': `${round}.${index}` } }),
      }),
    )
    const settled = Promise.allSettled(writes)
    await stream.waitFor(({ type }) => type === 'config.updated')
    await server.kill()
    await settled
    const agent = readFileSync(join(repo, PATHS.agents('one')), 'utf8')
    expect(agent).toMatch(/\n(Old\.|.* \d\.\d+)\n$/)
    server = await scene.start(OPERATOR)
    const skill = await server.get<ManagedResource>(`${MANAGED}/skills/one`)
    const content = readFileSync(join(repo, PATHS.skills('one')), 'utf8').trim()
    const beside = readdirSync(join(repo, '.svc/skills/one')).includes('same.txt')
      ? readFileSync(join(repo, '.svc/skills/one/same.txt'), 'utf8')
      : 'Old.'
    expect([content.endsWith(` ${beside}`) || content.endsWith('\nOld.'), skill.managed]).toEqual([true, true])
    expect(readdirSync(join(repo, '.svc')).toSorted()).toEqual(['agents', 'skills'])
  }
})

test('a bundle of 500 files, one that is packed, one that leads out and one of a newer kind are refused, and nothing is written', async () => {
  const { place, server } = await enter()
  const install = (body: unknown, headers = {}) => server.call('POST', `${MANAGED}/skills/install`, body, headers)
  const bundle = (files: Record<string, string>, more: object = {}) => ({ id: 'big', content: 'Big.', files, ...more })
  const packed = gzipSync(JSON.stringify(bundle({ 'a.txt': '0'.repeat(50_000_000) })))
  const answers = [
    await install(bundle(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, 'x'])))),
    await install(packed, { 'content-encoding': 'gzip', 'content-type': 'application/json' }),
    await install(bundle({ '../../outside.txt': 'x' })),
    await install(bundle({}, { manifestVersion: 2 })),
  ]
  expect(answers.map(({ status }) => status)).toEqual([400, 415, 400, 400])
  expect(readdirSync(place.repo).toSorted()).toEqual(['.git', 'README.md'])
  expect((await install(bundle({ 'a/b.txt': 'x' }))).status).toBe(201)
})

test('a revision that is expected in the query is one that is expected, of every kind', async () => {
  const { place, server } = await enter()
  const stale = '?expectedRevision=sha256:stale'
  const conflict = { status: 409, body: { code: 'management.revision_conflict' } }
  for (const kind of ['agents', 'commands', 'skills'] as const) {
    const made = await server.call('POST', `${MANAGED}/${kind}/one`, { content: 'First.' })
    const { revision } = made.body as ManagedResource
    expect(await server.call('PUT', `${MANAGED}/${kind}/one${stale}`, { content: 'Second.' })).toMatchObject(conflict)
    expect(await server.call('DELETE', `${MANAGED}/${kind}/one${stale}`)).toMatchObject(conflict)
    expect(readFileSync(join(place.repo, PATHS[kind]('one')), 'utf8')).toContain('First.')
    expect(await server.call('DELETE', `${MANAGED}/${kind}/one?expectedRevision=${revision}`)).toMatchObject({ status: 204 })
  }
  await server.call('POST', `${MANAGED}/workspaces`, { id: 'one', root: place.repo })
  expect(await server.call('PUT', `${MANAGED}/workspaces/one${stale}`, { name: 'Other' })).toMatchObject(conflict)
  const workflow = { id: 'one', name: 'One', active: false, schedule: { frequency: 'daily' }, prompt: 'list' }
  expect(await server.call('POST', '/v2/plugins/dev.svc.workflows', workflow)).toMatchObject({ status: 201 })
  for (const [method, body] of [
    ['PUT', workflow],
    ['PATCH', { name: 'Two' }],
    ['DELETE', undefined],
  ] as const)
    expect(await server.call(method, `/v2/plugins/dev.svc.workflows/one${stale}`, body)).toMatchObject({ status: 409 })
})

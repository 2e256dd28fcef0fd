/** `svc cleanup --unused-for` of the built program: a conversation goes by its own last use, and nothing goes with it that is used. */
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { compare } from '../../src/kernel/sort.js'
import type { Session } from '../../src/protocol/session/session.js'
import type { Client } from '../../src/published/client/client-types.js'
import { createClient } from '../../src/published/client/client.js'
import { Database } from '../../src/store/disk/driver.js'
import { makeHome } from './program.js'

const home = makeHome()
afterAll(() => home.close())

const DAY = 24 * 60 * 60 * 1000
const sessions = () =>
  withRows((database) =>
    database
      .prepare<[], { json: string }>('select json from sessions')
      .all()
      .map(({ json }) => JSON.parse(json) as Session),
  )

function withRows<T>(use: (database: InstanceType<typeof Database>) => T): T {
  const database = new Database(join(home.state, 'agent.sqlite3'))
  try {
    return use(database)
  } finally {
    database.close()
  }
}

/** As if these had been used last so many days ago, and the others now. */
function unusedFor(days: number, ids: readonly string[]): void {
  withRows((database) => {
    const set = database.prepare(
      `update sessions set updated = @at, json = json_set(json, '$.time.updated', @at), summary = json_set(summary, '$.time.updated', @at) where id = @id`,
    )
    for (const { id } of sessions()) set.run({ id, at: Date.now() - (ids.includes(id) ? days * DAY : 0) })
  })
}

async function cleanup(...args: readonly string[]): Promise<{ readonly conversations: string[]; readonly forks: string[] }> {
  const { code, stdout, stderr } = await home.run(['cleanup', '--unused-for', '30', '--json', ...args])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { conversations, forks } = JSON.parse(stdout) as Awaited<ReturnType<typeof cleanup>>
  return { conversations: conversations.toSorted(), forks: forks.toSorted() }
}

/** Answers what it answers of a server that is stopped afterwards: nobody else uses the rows then. */
async function served<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const server = await home.serve()
  const answer = await use(createClient({ baseUrl: server.url }))
  server.child.kill('SIGTERM')
  await server.ended
  return answer
}

test('forks that are used stay where what they came from is not, and unused ones go alone', async () => {
  const made = await served(async ({ sessions: api }) => {
    const begun = async () => (await api.create({ directory: home.workspace, body: {} })).id
    const forkOf = async (sessionId: string) => (await api.fork({ sessionId, body: {} })).id
    const [old, used] = [await begun(), await begun()]
    const [usedFork, unusedFork, unusedOfUsed] = [await forkOf(old), await forkOf(old), await forkOf(used)]
    return { old, used, usedFork, unusedFork, unusedOfUsed, below: await forkOf(usedFork), deep: await forkOf(unusedFork) }
  })
  const { old, used, usedFork, unusedFork, unusedOfUsed, below, deep } = made
  unusedFor(31, [old, below, unusedFork, unusedOfUsed])

  const expected = { conversations: [old, below, unusedFork, unusedOfUsed].toSorted(), forks: [usedFork, deep].toSorted() }
  expect(await cleanup()).toEqual(expected)
  expect(sessions()).toHaveLength(7)
  expect((await home.run(['cleanup', '--unused-for', '30'])).stdout).toContain(
    '4 conversations would be deleted\n2 forks of them are in use and would stay\nnothing was changed',
  )
  expect(await cleanup('--yes')).toEqual(expected)
  const left = sessions().toSorted((a, b) => compare(a.id, b.id))
  expect(left.map(({ id, parentId }) => [id, parentId])).toEqual([usedFork, deep, used].toSorted().map((id) => [id, undefined]))
})

test('what a subagent did belongs to the conversation it did it for', async () => {
  const root = await served(async (client) => {
    const { id } = await client.sessions.create({ directory: home.workspace, body: { title: 'delegates' } })
    await client.prompt(id, 'delegate to general: list .').result()
    await client.sessions.wait({ sessionId: id })
    return id
  })
  const child = sessions().find(({ parentId }) => parentId === root)?.id ?? 'none'
  unusedFor(31, [root])
  expect(await cleanup()).toEqual({ conversations: [], forks: [] })
  unusedFor(31, [root, child])
  expect(await cleanup('--yes')).toEqual({ conversations: [root], forks: [] })
  expect(sessions().map(({ id }) => id)).not.toContain(child)
})

test('what is pinned stays, and what came from it goes by itself', async () => {
  const { pinned, fork } = await served(async ({ sessions: api }) => {
    const { id } = await api.create({ directory: home.workspace, body: { title: 'kept' } })
    await api.pin({ sessionId: id, body: { pinned: true } })
    return { pinned: id, fork: (await api.fork({ sessionId: id, body: {} })).id }
  })
  unusedFor(31, [pinned, fork])
  expect(await cleanup('--yes')).toEqual({ conversations: [fork], forks: [] })
  expect(sessions().map(({ id }) => id)).toContain(pinned)
})

/** `svc cleanup --unused-for` of the built program: a conversation goes by its own last use, and nothing goes with it that is used. */
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Session } from '../../src/protocol/session/session.js'
import { Database } from '../../src/store/disk/driver.js'
import { script } from './conversation.js'
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

async function begun(prompt: string): Promise<string> {
  const { stderr } = await home.run(['run', prompt])
  return /--session (ses_\w+)/.exec(stderr)?.[1] ?? 'none'
}

const forkOf = async (id: string) => (await home.run(['session', 'fork', id])).stdout.trim()

async function cleanup(...args: readonly string[]): Promise<{ readonly conversations: string[]; readonly forks: string[] }> {
  const { code, stdout, stderr } = await home.run(['cleanup', '--unused-for', '30', '--json', ...args])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { conversations, forks } = JSON.parse(stdout) as Awaited<ReturnType<typeof cleanup>>
  return { conversations: conversations.toSorted(), forks: forks.toSorted() }
}

test('forks that are used stay where what they came from is not, and unused ones go alone', async () => {
  const old = await begun(script({ text: 'one' }))
  const usedFork = await forkOf(old)
  const below = await forkOf(usedFork)
  const unusedFork = await forkOf(old)
  const deep = await forkOf(unusedFork)
  const used = await begun(script({ text: 'two' }))
  const unusedOfUsed = await forkOf(used)
  unusedFor(31, [old, below, unusedFork, unusedOfUsed])

  const expected = { conversations: [old, below, unusedFork, unusedOfUsed].toSorted(), forks: [usedFork, deep].toSorted() }
  expect(await cleanup()).toEqual(expected)
  expect(sessions()).toHaveLength(7)
  expect((await home.run(['cleanup', '--unused-for', '30'])).stdout).toContain(
    '4 conversations would be deleted\n2 forks of them are in use and would stay\nnothing was changed',
  )
  expect(await cleanup('--yes')).toEqual(expected)
  expect(
    sessions()
      .map(({ id, parentId }) => [id, parentId])
      .toSorted(),
  ).toEqual([usedFork, deep, used].toSorted().map((id) => [id, undefined]))
  expect(await cleanup('--yes')).toEqual({ conversations: [], forks: [] })
})

test('what a subagent did belongs to the conversation it did it for', async () => {
  const root = await begun('delegate to general: list .')
  const child = sessions().find(({ parentId }) => parentId === root)?.id ?? 'none'
  unusedFor(31, [root])
  expect(await cleanup()).toEqual({ conversations: [], forks: [] })
  unusedFor(31, [child])
  expect(await cleanup()).toEqual({ conversations: [], forks: [] })
  unusedFor(31, [root, child])
  expect(await cleanup('--yes')).toEqual({ conversations: [root], forks: [] })
  expect(sessions().map(({ id }) => id)).not.toContain(child)
})

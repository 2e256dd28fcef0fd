/** `svc backup`, `svc restore` and `svc upgrade` of the built program: states of every schema that landed, and another machine. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { layOutState, OLD_SCHEMAS, rowsOf } from '../fixtures/old-states.js'
import { filesOf } from '../server/keeping/fixture.js'
import { type Home, makeHome } from './program.js'

const homes: Home[] = []
afterAll(() => Promise.all(homes.map((home) => home.close())))

function newHome(): Home {
  const home = makeHome()
  homes.push(home)
  return home
}

/** Of a conversation: its title, and texts of what was said. */
async function said(home: Home): Promise<string> {
  const [session] = JSON.parse((await home.run(['session', 'list', '--all', '--json'])).stdout) as { id: string }[]
  const { stdout } = await home.run(['session', 'show', session?.id ?? '', '--json'])
  const { title, messages } = JSON.parse(stdout) as { title: string; messages: unknown[] }
  return JSON.stringify([title, messages])
}

describe.each(OLD_SCHEMAS)('a state of schema %i', (schema) => {
  test('opens, works, is backed up beside its server, and restored row by row and byte by byte', async () => {
    const old = newHome()
    layOutState(schema, old.state)
    const uploads = filesOf(join(old.state, 'artifacts'))
    const server = await old.serve()
    expect(await said(old)).toContain(`made by schema ${schema}`)
    expect((await old.run(['run', 'list'])).code).toBe(0)
    const file = join(old.path, 'backup.tar')
    const written = await old.run(['backup', file, '--json'])
    expect(written).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(written.stdout)).toMatchObject({ credentials: false, counts: { schema: OLD_SCHEMAS.at(-1), artifacts: 2 } })
    const refused = await old.run(['restore', '--replace', file])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`a server at ${server.url} (process ${server.child.pid}) is using ${old.state}`)
    server.child.kill('SIGTERM')
    await server.ended
    const next = newHome()
    rmSync(join(next.state, 'auth.json'))
    expect(await next.run(['restore', file])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^restored .*: \d+ conversations?, \d+ messages?, 2 uploads, as of /),
    })
    const tables = ['sessions', 'messages', 'parts', 'queue', 'approvals', 'todos', 'artifacts']
    expect(rowsOf(join(next.state, 'agent.sqlite3'), tables)).toEqual(rowsOf(join(old.state, 'agent.sqlite3'), tables))
    expect(filesOf(join(next.state, 'artifacts'))).toEqual(uploads)
    expect(readFileSync(file).includes('planted-stored')).toBe(false)
    // What was restored has the same rows, which were opened above: the first and the last schema show that it works elsewhere.
    if (schema !== OLD_SCHEMAS.at(0) && schema !== OLD_SCHEMAS.at(-1)) return
    await next.serve()
    expect((await next.run(['run', 'list'])).code).toBe(0)
    expect((await next.run(['session', 'list', '--all'])).stdout).toContain(`made by schema ${schema}`)
  })
})

test('what a newer svc has made is refused by backup, and by a restore that changes nothing', async () => {
  const home = newHome()
  mkdirSync(join(home.path, 'elsewhere'))
  expect(await home.run(['backup', 'x.tar'])).toMatchObject({ code: 1, stderr: expect.stringContaining('There is nothing to back up') })
  expect(await home.run(['restore', join(home.workspace, 'x.tar')])).toMatchObject({ code: 1 })
  expect(readdirSync(home.state).filter((name) => !name.startsWith('agent.lock'))).toEqual(['auth.json'])
})

test('how svc was installed is told with what to type, and nothing is run', async () => {
  const { code, stdout } = await newHome().run(['upgrade'])
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^svc \S+ in .*, installed by a clone that was built\. For a newer one:\n\n {2}svc backup .*\n {2}cd .*\n {2}git pull\n {2}npm ci\n {2}npm run build\n {2}svc doctor\n$/,
  )
})

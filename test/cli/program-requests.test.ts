// Holds choice 40.
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/published/client/client.js'
import { script } from './conversation.js'
import { openHomes } from './homes.js'
import type { Home } from './program.js'

const homes = openHomes()
let home: Home
beforeEach(() => {
  home = homes.home()
  writeFileSync(join(home.workspace, '.env'), 'A=1\n')
})

const read = (filePath: string) => ({ tool: 'read', input: { filePath } })
const question = (...questions: readonly object[]) => ({ tool: 'question', input: { questions } })
const client = () => createClient({ baseUrl: homes.server.url })

/** A session that asks; nobody attends to it. */
async function asking(...steps: readonly Record<string, unknown>[]) {
  const { id: sessionId } = await client().sessions.create({ directory: home.workspace, body: { title: 'secrets' } })
  const events = client().events({ sessionId, since: 0 })
  await client().sessions.prompt({ sessionId, body: { prompt: script(...steps, { text: 'done' }) } })
  for await (const event of events)
    if (event.type === 'permission.asked' || event.type === 'question.asked') return { sessionId, id: event.data.id }
  throw new Error('nothing was asked')
}

interface Listed {
  readonly id: string
  readonly number: number
}

async function listed(sessionId: string): Promise<Listed[]> {
  const { code, stdout, stderr } = await home.run(['requests', 'list', '--session', sessionId, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Listed[]
}

async function numberOf(sessionId: string): Promise<string> {
  const [first] = await listed(sessionId)
  return String(first?.number)
}

describe('svc requests', () => {
  test('lists what waits with what an answer would remember, and allows it once', async () => {
    const { sessionId, id } = await asking(read('.env'))
    const number = await numberOf(sessionId)
    const { stdout } = await home.run(['requests', 'list', '--session', sessionId])
    expect(stdout).toBe(
      [
        `${number}  Read .env`,
        '   read: .env',
        `   ${id} of ${sessionId} (secrets)`,
        `   svc requests answer ${number} y | a (always: .env) | n`,
        '',
      ].join('\n'),
    )
    const answered = await home.run(['requests', 'answer', number, 'y'])
    expect(answered).toMatchObject({ code: 0, stderr: '' })
    expect(answered.stdout).toMatch(/^Read \.env \(read\): allowed once, by local at \d\d:\d\d:\d\d\n$/)
    await client().sessions.wait({ sessionId })
    expect(await listed(sessionId)).toEqual([])
  })

  test('tells a second answer that it came late, and what counted; a number stays with its request', async () => {
    const { sessionId, id } = await asking(read('.env'))
    const number = await numberOf(sessionId)
    await client().interactions.permissions.reply({ requestId: id, body: { reply: 'reject', message: 'use the example' } })
    const other = await asking(read('.env'))
    expect(await numberOf(other.sessionId)).not.toBe(number)
    const second = await home.run(['requests', 'answer', number, 'a'])
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toMatch(/^svc: too late: Read \.env \(read\): refused \(use the example\), by local at [\d:]+\n$/)
    const told = await home.run(['requests', 'answer', id, 'y', '--json'])
    expect([told.code, JSON.parse(told.stdout)]).toEqual([1, expect.objectContaining({ late: true, reply: 'reject', by: 'local' })])
    expect(await listed(other.sessionId)).toHaveLength(1)
    expect((await home.run(['requests', 'answer', other.id, '--decline'])).stdout).toContain('refused')
    await client().sessions.wait({ sessionId: other.sessionId })
  })

  test('answers questions by option or text, each with a word of its own', async () => {
    const colours = { question: 'Which colour?', header: 'Colour', options: [{ label: 'red' }, { label: 'blue' }] }
    const { sessionId } = await asking(question(colours, { question: 'Why?', header: 'Why', options: [] }))
    const number = await numberOf(sessionId)
    expect(await home.run(['requests', 'answer', number, '2'])).toMatchObject({ code: 2 })
    const { code, stdout } = await home.run(['requests', 'answer', number, '2', 'it is calm'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('answered: blue; it is calm')])
    await client().sessions.wait({ sessionId })
  })

  test('watches: what waits, what is asked, and what counted', async () => {
    const first = await asking(read('.env'))
    const watching = home.start(['requests', '--watch', '--json'])
    await watching.prints(new RegExp(`"event":"waits","id":"${first.id}"`))
    await home.run(['requests', 'answer', first.id, 'n'])
    await watching.prints(new RegExp(`"event":"settled".*"${first.id}"`))
    const second = await asking(read('.env'))
    await watching.prints(new RegExp(`"event":"waits","id":"${second.id}"`))
    watching.child.kill('SIGINT')
    expect((await watching.ended).code).toBe(0)
    await home.run(['requests', 'answer', second.id, 'n'])
  })

  test('says so where nothing waits, and where there is no such request', async () => {
    expect(await home.run(['requests', 'answer', 'per_none', 'y'])).toMatchObject({
      code: 1,
      stderr: 'svc: There is no request per_none; svc requests lists those that wait.\n',
    })
    expect(await home.run(['request', 'answer', '1'])).toMatchObject({ code: 2 })
  })
})

describe('svc permissions', () => {
  const CALL = [read('.env')]
  const explained = async (...args: readonly string[]) => (await home.run(['permissions', 'explain', ...args])).stdout

  test('lists an answer with its origin, explains by it, takes it back, and it is asked again', async () => {
    expect(await explained('--kind', 'read', '.env')).toBe(
      'asked: .env (agent build)\n  asked  read: .env, by the rule read: *.env -> ask\n',
    )
    const { sessionId, id } = await asking(...CALL)
    await home.run(['requests', 'answer', id, 'a'])
    await client().sessions.wait({ sessionId })
    const [answer] = JSON.parse((await home.run(['permissions', 'list', '--json'])).stdout) as { id: string }[]
    expect(answer).toMatchObject({
      permission: 'read',
      pattern: '.env',
      exact: true,
      sessionId,
      by: 'local',
      remembered: expect.any(Number),
    })
    const short = answer?.id.slice(0, 12) ?? ''
    expect((await home.run(['permissions'])).stdout).toMatch(new RegExp(`${short}  read: \\.env  \\d{4}-.* local  ${sessionId}\n`))
    expect(await explained('--kind', 'read', '.env')).toContain(`allowed  read: .env, by the answer ${short} that local gave on`)
    expect((await home.run(['agents'])).stdout).toContain('remembered here, and asked no more: read .env (svc permissions)\n')
    await client().sessions.prompt({ sessionId, body: { prompt: script(...CALL, { text: 'done' }) } })
    await client().sessions.wait({ sessionId })
    expect(await listed(sessionId)).toEqual([])
    expect(await home.run(['permissions', 'revoke', short])).toMatchObject({ code: 0, stdout: 'taken back: read: .env\n' })
    expect(await explained('--kind', 'read', '.env')).toContain('asked  read: .env')
    const again = await asking(...CALL)
    await home.run(['requests', 'answer', again.id, 'n'])
    await client().sessions.wait({ sessionId: again.sessionId })
  })

  test('explains a line of the shell by each of its needs, as a call is judged', async () => {
    writeFileSync(join(home.workspace, 'svc.json'), '{ "permission": { "bash": { "git push*": "deny" } } }')
    expect(await explained('git push && cat .env')).toBe(
      [
        'denied: git push && cat .env (agent build)',
        '  denied  bash: git push, by the rule bash: git push* -> deny of the workspace',
        '  allowed  bash: cat .env, by the rule *: * -> allow',
        '  asked  read: .env, by the rule read: *.env -> ask',
        '',
      ].join('\n'),
    )
    const { id: sessionId } = await client().sessions.create({ directory: home.workspace, body: { title: 'elsewhere' } })
    for (const directory of [undefined, tmpdir()]) {
      const call = { command: 'git push', sessionId, ...(directory !== undefined && { directory }) }
      expect(await client().interactions.explain(call)).toMatchObject({ decision: 'deny', directory: home.workspace })
    }
    await expect(client().interactions.explain({ command: 'git push', sessionId: 'ses_nobody' })).rejects.toMatchObject({
      code: 'resource.not_found',
    })
    const asked = await home.run(['permissions', 'explain', '--json', 'bash -c "$X"'])
    expect(JSON.parse(asked.stdout)).toMatchObject({ decision: 'ask', needs: [{ permission: 'bash', patterns: [{ by: 'explicit' }] }] })
  })

  test('says so where nothing is remembered', async () => {
    expect((await home.run(['permissions'])).stdout).toBe(`nothing is remembered for ${home.workspace}\n`)
    expect(await home.run(['permissions', 'revoke', 'git status'])).toMatchObject({
      code: 1,
      stderr: 'svc: No answer "git status" is remembered here; svc permissions lists them.\n',
    })
  })
})

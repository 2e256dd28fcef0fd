// What the built program says of a server that is stopped, and of one that wants the operator's token, with `svc workflow`.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClient } from '../../src/published/client/client.js'
import { script } from './conversation.js'
import { type Home, makeHome } from './program.js'

let home: Home
beforeEach(() => {
  home = makeHome()
  mkdirSync(join(home.path, '.config/svc'), { recursive: true })
  writeFileSync(join(home.path, '.config/svc/config.json'), JSON.stringify({ model: 'svc/offline', agent: { title: { disable: true } } }))
})
afterEach(() => home.close())

/** A workflow; answers its file. */
function writeWorkflow(id: string, prompt: string, ...fields: readonly string[]): string {
  const folder = join(home.workspace, '.svc/workflows')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${id}.md`)
  const all = [`id: ${id}`, `name: ${id}`, 'schedule: {frequency: daily, time: "02:30", timezone: UTC}', ...fields]
  writeFileSync(file, `---\n${all.join('\n')}\n---\n${prompt}\n`)
  return file
}

const writeFailing = () => writeWorkflow('fails', script({ error: { message: 'the model is gone' } }))

test('a run that failed is run again, and a file deleted, with the token of the operator; without it the message says where it belongs', async () => {
  const file = writeFailing()
  const token = 'operator-of-this-test'
  const env = { SVC_AGENT_TOKEN: token }
  await home.serve([], env)
  const failed = await home.run(['workflow', 'run', 'fails', '--wait'], { env })
  expect(failed).toMatchObject({ code: 1 })
  const refused = { code: 1, stdout: '', stderr: expect.stringContaining('Set SVC_AGENT_TOKEN to the token of the server.') as string }
  expect(await home.run(['workflow', 'retry', 'fails'])).toEqual(refused)
  expect(await home.run(['workflow', 'delete', 'fails', '--yes'])).toEqual(refused)
  expect(existsSync(file)).toBe(true)
  const again = await home.run(['workflow', 'retry', 'fails'], { env })
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^wfr_\S+ is .+, again for wfr_\S+;/) as string })
  expect(await home.run(['workflow', 'delete', 'fails', '--yes'], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^deleted .*fails\.md\n$/) as string,
  })
  expect(existsSync(file)).toBe(false)
})

test('a server without a token deletes no file and says what to do; a run is told that its server was stopped', async () => {
  const file = writeFailing()
  const server = await home.serve()
  expect(await home.run(['workflow', 'delete', 'fails', '--yes'])).toEqual({
    code: 1,
    stdout: '',
    stderr: `svc: a server without a token deletes no files: remove ${file} yourself\n`,
  })
  expect(existsSync(file)).toBe(true)
  const running = home.start(['run', script({ text: 'begun' }, { delayMs: 60_000, text: 'never' })])
  for await (const event of createClient({ baseUrl: server.url }).events({ since: 0 }))
    if (event.type === 'message.part.delta' && event.data.delta.includes('begun')) break
  server.child.kill('SIGTERM')
  const { code, stdout, stderr } = await running.ended
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'begun\n' })
  expect(stderr).toContain(
    'svc: the server was stopped, or cannot be reached any more, before the answer was complete; it keeps what it has of it\n',
  )
})

test('a run that went on without a tool that its rules deny says so, and the session shows the call and what came of it', async () => {
  writeWorkflow('careful', script({ tool: 'bash', input: { command: 'ls' } }, { text: 'done' }), 'permissions: {bash: deny}')
  await home.serve()
  const run = await home.run(['workflow', 'run', 'careful', '--wait'])
  expect(run).toMatchObject({ code: 3, stderr: 'svc: refused: bash: There is no tool "bash".\n' })
  const [, sessionId = ''] = /svc session show (ses_\w+)/.exec(run.stdout) ?? []
  expect((await home.run(['session', 'show', sessionId])).stdout).toMatch(/^✗ bash ls\n {2}There is no tool "bash"\. Available tools: /m)
  const { messages } = JSON.parse((await home.run(['session', 'show', sessionId, '--json'])).stdout) as { readonly messages: object[] }
  expect(messages).toContainEqual(
    expect.objectContaining({
      tools: ['bash'],
      calls: [{ tool: 'bash', title: 'bash ls', status: 'error', error: expect.stringContaining('There is no tool') as string }],
    }),
  )
})

test('waiting for a run of a workflow that is not there ends with what is wrong', async () => {
  await home.serve()
  expect(await home.run(['workflow', 'run', 'none', '--wait'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'svc: There is no workflow "none".\n',
  })
})

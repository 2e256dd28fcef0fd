/** Where a server has a token, programs of its agents do not act as its operator, whatever token they show; others do. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'
import { toolParts } from '../server/transcript.js'

const run = promisify(execFile)
const TOKEN = 'the-token-of-this-test'
const HAS_PROCESS_TABLE = existsSync('/proc/self/environ')
/** Asks the server for everything on its command line, with the token, and prints the statuses. */
const ASKS = `
const [url, token, directory, ...asked] = process.argv.slice(2)
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', 'x-svc-directory': directory }
const answers = []
for (const each of asked) {
  const [method, path, body] = each.split(' ')
  const answer = await fetch(url + path, { method, headers, ...(body && { body }) })
  const { code } = answer.ok ? {} : await answer.json()
  answers.push(code ?? answer.status)
}
console.log(JSON.stringify(answers))
`
const REFUSED = [
  'PATCH /v2/config {"permission":{"bash":"allow"}}',
  'GET /v2/config',
  'POST /v2/interactions/permissions/per_x/reply {"reply":"once"}',
  'POST /v2/interactions/questions/que_x/reject {}',
  'PUT /v2/providers/openai/auth {"key":"x"}',
  'POST /v2/providers/openai/connections {}',
  'POST /v2/plugins/dev.svc.mcp {"name":"x"}',
  'POST /v2/plugins/dev.svc.workflows {}',
  'POST /v2/plugins/dev.svc.pty {}',
  'GET /v2/plugins',
  'GET /v2/management/agents',
  'POST /v2/management/agents/x {}',
  'GET /v2/audit',
  'POST /v2/sessions {"permission":[{"permission":"*","pattern":"*","action":"allow"}]}',
  'PATCH /v2/sessions/OWN {"permission":[]}',
  'PATCH /v2/sessions/OWN {"directory":"/"}',
  'POST /v2/sessions/OWN/undo {}',
  'POST /v2/sessions/ses_x/shell {}',
  'POST /v2/sessions/ses_x/%73hell {}',
]
const GRANTED = [
  'POST /v2/sessions {"title":"x"}',
  'PATCH /v2/sessions/OWN {"title":"x"}',
  'GET /v2/health',
  'GET /v2/sessions',
  'GET /v2/agents',
  'GET /v2/plugins/dev.svc.vcs',
]

let scene: Scene | undefined
let model: ModelServer | undefined
afterEach(async () => {
  await scene?.close()
  await model?.close()
  scene = undefined
  model = undefined
})

describe.skipIf(!HAS_PROCESS_TABLE)('a server with a token', () => {
  test.each([
    ['a command', (line: string) => line],
    [
      'a child without its environment',
      (line: string) => `env -i ${process.execPath} -e "child_process.execSync(process.argv[1],{stdio:'inherit'})" "${line}"`,
    ],
    ['what left its group', (line: string) => `setsid -w ${line}`],
  ])('refuses %s what is for the person, and answers the same to others', async (_, through) => {
    model = await startModelServer((request) => {
      const line = /RUN (.*)/.exec(JSON.stringify(request.body?.messages.at(-1)))?.[1]
      return line === undefined || request.body?.messages.at(-1)?.role === 'tool'
        ? reply(text('done'), finish('stop'))
        : reply(toolCall({ id: `c${request.index}`, name: 'bash', input: { command: 'sh line.sh' } }), finish('tool_calls'))
    })
    scene = openScene(makePlace())
    const { place } = scene
    place.configure(withModel(model.url, { permission: { bash: 'allow' } }))
    const server = await scene.start({ SVC_AGENT_TOKEN: TOKEN })
    place.write('asks.mjs', ASKS)
    const stream = await server.stream({ tail: true })
    const session = await server.createSession()
    const asked = [...REFUSED, ...GRANTED].map((each) => `'${each.replace('OWN', session.id)}'`).join(' ')
    place.write('ask.sh', `exec ${process.execPath} asks.mjs ${server.url} ${TOKEN} ${place.repo} ${asked}\n`)
    place.write('line.sh', `${through('sh ask.sh')}\n`)
    await server.prompt(session.id, { prompt: 'RUN it' })
    await stream.idle(session.id)
    const state = toolParts(await server.messages(session.id))[0]?.state as ToolPart['state'] & { output: string }
    expect(state).toMatchObject({ status: 'completed' })
    const answers = JSON.parse(state.output) as unknown[]
    expect(answers.map((each, at) => [[...REFUSED, ...GRANTED][at], each])).toEqual([
      ...REFUSED.map((each) => [each, 'auth.agent_forbidden']),
      ...GRANTED.map((each) => [each, 200]),
    ])
    expect(existsSync(join(place.repo, 'svc.json'))).toBe(false)

    const { stdout } = await run('sh', ['ask.sh'], { cwd: place.repo })
    const others = JSON.parse(stdout) as unknown[]
    expect(others).not.toContain('auth.agent_forbidden')
    expect([others[0], ...others.slice(REFUSED.length)]).toEqual([200, ...GRANTED.map(() => 200)])
  })
})

describe.skipIf(!HAS_PROCESS_TABLE)('the server inside a command', () => {
  test('gives its token to other commands of the user, and neither to a file nor to what its agent starts', async () => {
    const script = [
      { tool: 'bash', input: { command: 'sh inside.sh > told.txt 2>&1' }, finish: 'tool-calls' },
      { text: 'done', finish: 'stop' },
    ]
    scene = openScene(makePlace())
    const { place } = scene
    place.configure({ model: 'svc/offline', permission: { bash: 'allow' } })
    const svc = `${process.execPath} ${PROGRAM}`
    place.write(
      'inside.sh',
      `export SVC_AGENT_STATE_DIR=${place.state}; grep -l token ${place.state}/server.json; ${svc} session list --json; echo "exit $?"; ${svc} run hello; echo "exit $?"; : > ready; while [ ! -e go ]; do sleep 0.05; done\n`,
    )
    const prompt = `\`\`\`svc-script\n${JSON.stringify(script)}\n\`\`\``
    const child = spawn(process.execPath, [PROGRAM, 'run', prompt], { cwd: place.repo, env: place.env, stdio: 'pipe' })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    await expect.poll(() => existsSync(join(place.repo, 'ready'))).toBe(true)
    const told = place.read('told.txt')
    expect(told).toMatch(/^an agent runs this: it has a server of its own/m)
    expect(told).toMatch(/\[\]\s*exit 0/) // its own, without conversations
    expect(told).toMatch(/exit 0\s*$/)
    expect(JSON.parse(readFileSync(join(place.state, 'server.json'), 'utf8'))).toEqual({
      pid: child.pid,
      url: expect.any(String) as string,
      kind: 'run',
    })
    expect([
      statSync(join(place.state, 'server.sock')).isSocket(),
      readdirSync(place.state).filter((name) => name.startsWith('server.sock.')),
    ]).toEqual([true, []])
    const { stdout } = await run(process.execPath, [PROGRAM, 'session', 'list', '--json'], { cwd: place.repo, env: place.env })
    expect(JSON.parse(stdout)).toHaveLength(1) // the conversation of the command that runs
    place.write('go', '')
    expect(await ended).toBe(0)
    expect(existsSync(join(place.state, 'server.sock'))).toBe(false)
  })
})

// Holds choice 9.
/** What the program says of configuration it does not use: to clients, to whoever runs the doctor, and in its log. */
import { execFile } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import type { ConfigValidation } from '../../../src/protocol/resource/config.js'
import { makePlace, type Place, withModel } from '../server/place.js'
import { finish, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'

const scenes: Scene[] = []
afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.close()))
})

function open(files?: Readonly<Record<string, string>>): Scene {
  const scene = openScene(makePlace(files))
  scenes.push(scene)
  return scene
}

/** What `svc doctor` prints about a place, its columns one space apart; it may end with 1. */
async function doctor({ repo, env }: Place, extra: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = { cwd: repo, env: { ...env, ...extra } }
  const run = promisify(execFile)(process.execPath, [PROGRAM, 'doctor'], options)
  const { stdout } = await run.catch((error: unknown) => error as { stdout: string })
  return stdout.replaceAll(/ {2,}/g, ' ')
}

const FLOW = `---
name: Flow
schedule: { kind: manual }
active: false
---
Say hello.
`

test('nothing is read through a directory that others can write, and everybody is told', async () => {
  const scene = open({
    'svc.json': '{"username": "stranger"}',
    '.svc/skills/tidy/SKILL.md': '---\ndescription: Tidy up.\n---\nTidy.\n',
    '.svc/workflows/flow.md': FLOW,
    '.svc/plugins/each/svc-plugin.json': '{"id": "dev.example.each", "agent": {"entrypoint": "agent.lua"}}',
  })
  const { place } = scene
  const server = await scene.start()
  expect(await server.get('/v2/config')).toMatchObject({ username: 'stranger' })

  chmodSync(place.repo, 0o777)
  const reason = `is not read: it is reached through ${place.repo}, which can be written by everybody`
  expect(await server.get<ConfigValidation>('/v2/config/validate')).toMatchObject({
    diagnostics: [
      { message: `${join(place.repo, 'svc.json')} ${reason}` },
      { message: `${join(place.repo, '.svc/skills/tidy/SKILL.md')} ${reason}` },
    ],
  })
  expect(await server.get('/v2/config')).not.toHaveProperty('username')
  expect(await server.get('/v2/skills')).toEqual([])
  expect(await server.get('/v2/plugins/dev.svc.workflows')).toMatchObject({ workflows: [], diagnostics: [{ message: reason }] })
  expect(await doctor(place)).toContain(`warn configuration config: ${join(place.repo, 'svc.json')} ${reason}`)

  chmodSync(place.repo, 0o755)
  expect(await server.get<ConfigValidation>('/v2/config/validate')).toEqual({ ok: true, diagnostics: [] })
  expect(await server.get('/v2/config')).toMatchObject({ username: 'stranger' })
})

test('a key, an adapter, a connection and a variable without effect are told: to clients, by the doctor and in the log', async () => {
  const scene = open()
  const { place } = scene
  place.configure(
    '{\n  "autoshare": true,\n  "provider": {"odd": {"npm": "@x/odd", "env": ["ODD_KEY"], "options": {"baseURL": "http://127.0.0.1:9/v1"}}}\n}',
  )
  const server = await scene.start({ SVC_AGENT_MODLES_URL: 'http://127.0.0.1:9' })
  const { ok, diagnostics } = await server.get<ConfigValidation>('/v2/config/validate')
  const key = `${place.configFile}:2:3: "autoshare" has no effect: this server does not share sessions`
  const adapter = `${place.configFile}:3:24: Provider "odd" needs the adapter "@x/odd", which this server does not have. It has`
  expect(ok).toBe(true)
  expect(diagnostics).toMatchObject([
    { code: 'unsupported', path: 'autoshare', message: key, file: place.configFile, line: 2, column: 3 },
    { code: 'unsupported', path: 'provider.odd.npm', file: place.configFile, line: 3, column: 24 },
  ])
  expect(diagnostics[1]?.message).toContain(adapter)
  expect(diagnostics[1]?.message).toContain('@ai-sdk/openai-compatible')

  const model = { providerId: 'svc', id: 'offline', connectionId: 'conn_nobody' }
  const { id } = await server.createSession()
  const answers = [
    await server.call('POST', '/v2/sessions', { title: 'x', model }),
    await server.call('PATCH', `/v2/sessions/${id}`, { model }),
    await server.call('POST', `/v2/sessions/${id}/prompt-async`, {
      prompt: 'Hello.',
      model: { providerId: 'svc', modelId: 'offline', connectionId: 'conn_nobody' },
    }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422])
  expect(answers[0]?.text).toContain('There is no connection \\"conn_nobody\\" of provider \\"svc\\"')

  await server.get('/v2/providers')
  for (const word of ['SVC_AGENT_MODLES_URL', 'does not share sessions', '@x/odd']) {
    expect(
      server
        .stderr()
        .split('\n')
        .filter((line) => line.includes(word)),
    ).toHaveLength(1)
  }
  const told = await doctor(place, { SVC_AGENT_MODLES_URL: 'http://127.0.0.1:9' })
  expect(told).toContain('warn environment SVC_AGENT_MODLES_URL: set without effect, this svc does not read it')
  expect(told).toContain(`warn configuration autoshare: ${key}`)
  expect(told).toContain(`odd cannot be used: ${adapter}`)
  expect(told).not.toContain('ODD_KEY')
})

test('a run takes what an editor writes at its next step, a deny for the call that is asked about, and who listens to the events is told', async () => {
  const place = makePlace({ 'svc.json': '{}' })
  const call = (id: string) =>
    reply(toolCall({ id, name: 'bash', input: { command: `echo ${id}`, description: id } }), finish('tool_calls'))
  const model = await startModelServer([call('c1'), call('c2'), call('c3'), reply(text('Enough.'), finish('stop'))])
  try {
    const scene = openScene(place)
    scenes.push(scene)
    place.configure(withModel(model.url, { permission: { bash: 'ask' } }))
    const server = await scene.start()
    const stream = await server.stream({ tail: true })
    const { id } = await server.createSession()
    await server.prompt(id, { prompt: 'go' })
    const edits = [
      async () => (place.write('.svc/agents/build.md', 'Answer in verse.'), place.write('svc.json', '{')),
      async (from: number) => {
        place.write('svc.json', '{"permission": {"bash": "deny"}, "username": "late"}')
        await stream.waitFor(({ type }) => type === 'config.updated', from)
      },
    ]
    let asked = 0
    for (const edit of edits) {
      await stream.waitFor(({ type }) => type === 'permission.asked', asked)
      const at = stream.events.findIndex((event, index) => index >= asked && event.type === 'permission.asked')
      asked = at + 1
      await edit(stream.events.length)
      const [request] = await server.get<{ id: string }[]>('/v2/interactions/permissions')
      await server.call('POST', `/v2/interactions/permissions/${request?.id ?? ''}/reply`, { reply: 'once' })
    }
    await stream.idle(id)
    const system = (at: number) => JSON.stringify(model.requests[at]?.body?.messages.filter(({ role }) => role === 'system'))
    expect([0, 1].map((at) => system(at).includes('Answer in verse.'))).toEqual([false, true])
    const tools = (await server.messages(id)).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool' ? [part.state.status] : [])),
    )
    expect(tools).toEqual(['completed', 'error', 'error'])
    expect(stream.events).toContainEqual(expect.objectContaining({ type: 'config.updated', data: { directory: place.repo } }))

    const from = stream.events.length
    place.write('svc.json', '{\n  "username": oops\n}')
    await stream.waitFor(({ type }) => type === 'config.updated', from)
    expect(await server.get('/v2/config')).toMatchObject({ username: 'late' })
    expect(await server.get('/v2/config/validate')).toMatchObject({
      ok: false,
      diagnostics: [{ message: expect.stringContaining('svc.json:2:') as string }],
    })
  } finally {
    await model.close()
  }
})

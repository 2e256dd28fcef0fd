/** What programs start and let go of ends with them: of tools, plugins and terminals, and of a server that is killed (threat-model C3, C7). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { type Process, processes, untilNone } from '../server/processes.js'
import { approve, configurePlugin, toolProgram, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene } from '../server/server.js'
import { connect, createTerminal } from '../terminal/terminals.js'
import { toolParts } from '../server/transcript.js'

let scene: Scene
let model: ModelServer | undefined
afterEach(async () => {
  await scene.close()
  await model?.close()
  model = undefined
})

/** Starts a process that leaves its session, ignores polite requests and writes `file` once it has; then waits for that. */
const escape = (file: string) =>
  `(setsid sh -c "trap '' HUP TERM; : >${file}; while :; do sleep 1; done" escaped-${file} >/dev/null 2>&1 </dev/null &); while [ ! -e ${file} ]; do sleep 0.02; done`

const escaped = (file: string): Process[] => processes().filter(({ command }) => command.endsWith(`escaped-${file}`))

async function start(...commands: string[]) {
  model = await startModelServer([
    ...commands.map((command, at) => reply(toolCall({ id: `c${at}`, name: 'bash', input: { command } }), finish('tool_calls'))),
    reply(text('done'), finish('stop')),
  ])
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'go on' })
  return { server, stream, sessionId: session.id }
}

test('of a command: it has ended before the result is told', async () => {
  const { server, stream, sessionId } = await start(`${escape('tool')}; echo begun`)
  await stream.idle(sessionId)
  expect(toolParts(await server.messages(sessionId))).toMatchObject([{ state: { status: 'completed', output: 'begun' } }])
  expect(existsSync(join(scene.place.repo, 'tool'))).toBe(true)
  expect(escaped('tool')).toEqual([])
})

test('of a command whose server is killed without warning', async () => {
  const { server } = await start(`${escape('orphan')}; sleep 300`)
  await untilNone(() => (escaped('orphan').length > 0 ? [] : processes()))
  expect(escaped('orphan')).not.toEqual([])
  server.child.kill('SIGKILL')
  await server.ended
  expect(await untilNone(() => escaped('orphan'))).toEqual([])
})

test('of a terminal whose shell exits', async () => {
  scene = openScene(makePlace())
  const server = await scene.start()
  const { id } = await createTerminal(server, { command: ['/bin/sh'], cwd: scene.place.repo })
  const viewer = await connect(server, id)
  viewer.type(`${escape('terminal')}; echo be''gun\n`)
  await viewer.until(/begun/)
  expect(escaped('terminal')).not.toEqual([])
  viewer.type('exit\n')
  await viewer.closed
  expect(await untilNone(() => escaped('terminal'))).toEqual([])
})

test('of a plugin that is switched off', async () => {
  const id = 'dev.example.starter'
  scene = openScene(makePlace())
  const { place } = scene
  place.configure({})
  const script = "trap '' HUP TERM; while :; do sleep 1; done"
  const start = `import { spawn } from 'node:child_process'
    spawn('/bin/sh', ['-c', ${JSON.stringify(script)}, 'escaped-plugin'], { detached: true, stdio: 'ignore' }).unref()\n`
  writePackage(place, id, { files: { 'plugin.mjs': start + toolProgram('x', 'x') } })
  const server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
  const stream = await server.stream({ tail: true })
  await server.createSession()
  await approve(server, place, id)
  await untilState(stream, id, 'active')
  expect(escaped('plugin')).not.toEqual([])
  configurePlugin(place, id, (entry) => ({ ...entry, enabled: false }))
  await untilState(stream, id, 'disabled')
  expect(await untilNone(() => escaped('plugin'))).toEqual([])
})

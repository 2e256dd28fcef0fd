/** `svc plugin trust` beside a running server ends when that has taken up what was approved, and `svc plugin test` says which content answered. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { toolProgram, writePackage } from '../server/plugins.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'

const ID = 'dev.example.greeter'

let scene: Scene | undefined
afterEach(() => scene?.close())

/** A plugin that starts when this file is there. */
const waitingFor = (gate: string, program: string) => `import { existsSync, watch } from 'node:fs'
import { dirname } from 'node:path'
const gate = ${JSON.stringify(gate)}
await new Promise((resolve) => {
  const watcher = watch(dirname(gate), look)
  function look() {
    if (!existsSync(gate)) return
    watcher.close()
    resolve()
  }
  look()
})
${program}`

test('an approval waits for the server, or says why that did not start it; a call tells the content that answered', async () => {
  scene = openScene(makePlace())
  const { place } = scene
  place.configure({ plugins: { [ID]: { options: { sandbox: false } } } }) // it looks at a file that is not its own
  await scene.start()
  const gate = join(place.home, 'gate')
  const put = (program: string) => writePackage(place, ID, { files: { 'plugin.mjs': program } })
  const svc = (...words: string[]) => {
    const child = spawn(process.execPath, [PROGRAM, 'plugin', ...words, '--dir', place.repo], { env: place.env })
    const said = { stdout: '', stderr: '' }
    let heard: () => void = () => undefined
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text
        heard()
      })
    const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
      child.on('close', (code) => resolve({ code, ...said }))
    })
    const says = (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        heard = () => pattern.test(said.stderr) && resolve()
        heard()
      })
    return { child, ended, says }
  }
  const trust = () => svc('trust', ID, '--yes')
  const call = () => svc('test', ID, 'greet', '{}').ended

  put(toolProgram('greet', 'one'))
  expect(await trust().ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^dev\.example\.greeter serves$/m) })
  expect(await call()).toMatchObject({ code: 0, stdout: 'one\n', stderr: expect.stringMatching(/^answered by sha256:\w{12}$/m) })

  put(waitingFor(gate, toolProgram('greet', 'two')))
  const waiting = trust()
  await waiting.says(/^dev\.example\.greeter (?!serves$).+\n/m)
  expect(waiting.child.exitCode).toBe(null)
  writeFileSync(gate, '')
  expect(await waiting.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^dev\.example\.greeter serves$/m) })
  expect(await call()).toMatchObject({ code: 0, stdout: 'two\n', stderr: expect.stringMatching(/^answered by sha256:\w{12}$/m) })

  put('this is no program')
  const failed = await trust().ended
  expect(failed.stderr).toMatch(
    /^svc: dev\.example\.greeter serves with earlier content, because what it is now did not start: .*svc logs/m,
  )
  expect(await call()).toMatchObject({
    code: 0,
    stdout: 'two\n',
    stderr: expect.stringMatching(/^answered by sha256:\w{12}, not by what is in the folder: it serves with earlier content, because/m),
  })

  put(toolProgram('greet', 'three'))
  expect(await call()).toMatchObject({ stdout: 'two\n', stderr: expect.stringMatching(/not by what is in the folder: it serves with/) })
})

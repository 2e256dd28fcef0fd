/** The files of packaging/: what systemd says of its units, and svc in the view of the file system that the unit gives it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import { whyNoBubblewrap } from '../server/bubblewrap.js'
import { makePlace, type Place } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const PACKAGING = fileURLToPath(new URL('../../../packaging/', import.meta.url))
const UNIT = readFileSync(join(PACKAGING, 'systemd/system/svc.service'), 'utf8')
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0
const lacking = hasAnalyze ? '' : ' (skipped: systemd-analyze is not installed)'

describe.skipIf(!hasAnalyze)(`systemd says of the units${lacking}`, () => {
  const analyze = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: tmpdir() },
    })
    return { status, said: `${stdout}${stderr}` }
  }

  test.each(['system', 'user'])('of the %s manager that there is nothing wrong with them', (manager) => {
    const folder = join(PACKAGING, 'systemd', manager)
    expect(analyze(...(manager === 'user' ? ['--user'] : []), 'verify', join(folder, 'svc.service'), join(folder, 'svc.socket'))).toEqual({
      status: 0,
      said: '',
    })
  })

  test('that the service of the machine is exposed no more than it has to be', () => {
    const { status, said } = analyze('security', '--offline=yes', '--threshold=32', join(PACKAGING, 'systemd/system/svc.service'))
    expect(said).toContain('Overall exposure level')
    expect(status).toBe(0)
  })
})

test('the file of launchd starts the same program', () => {
  const plist = readFileSync(join(PACKAGING, 'launchd/dev.svc.agent.plist'), 'utf8')
  const words = [...(/<key>ProgramArguments<\/key>\s*<array>([^]*?)<\/array>/.exec(plist)?.[1] ?? '').matchAll(/<string>(.*?)<\/string>/g)]
  expect(`ExecStart=${words.map(([, word]) => word).join(' ')}`).toBe(/^ExecStart=.*$/m.exec(UNIT)?.[0])
})

const why = whyNoBubblewrap()

describe.skipIf(why !== undefined)(`in the view of the unit${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  let place: Place
  let inner: string
  let scene: Scene | undefined
  beforeEach(() => {
    place = makePlace()
    inner = mkdtempSync(join(tmpdir(), 'svc-unit-'))
  })
  afterEach(async () => {
    await scene?.close()
    scene = undefined
    rmSync(inner, { recursive: true, force: true })
  })

  /** A Node that runs what it is given as the unit would: everything can be read, and only its own places be written. */
  function nodeInView(): string {
    for (const line of ['ProtectSystem=strict', 'PrivateTmp=yes', 'PrivateDevices=yes']) expect(UNIT.split('\n')).toContain(line)
    mkdirSync(join(inner, 'tmp'))
    const view = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', place.root, place.root]
    const path = join(inner, 'node')
    writeFileSync(
      path,
      `#!/bin/sh\nexec bwrap ${view.join(' ')} --die-with-parent --setenv TMPDIR ${place.root}/tmp ${process.execPath} "$@"\n`,
    )
    mkdirSync(join(place.root, 'tmp'))
    chmodSync(path, 0o755)
    return path
  }

  async function play(running: Server, sessionId: string, call: object): Promise<string> {
    await running.prompt(sessionId, { prompt: `\`\`\`svc-script\n${JSON.stringify(call)}\n{"text":"done"}\n\`\`\`` })
    await running.call('POST', `/v2/sessions/${sessionId}/wait`)
    return JSON.stringify(await running.get<Message[]>(`/v2/sessions/${sessionId}/context`))
  }

  test('files are written in the workspace, commands run, uploads and plugins are kept, and nothing else can be written', async () => {
    place.configure({ permission: { '*': 'allow' } })
    place.write('.svc/tools/shout.ts', SHOUT)
    scene = openScene(place, { node: nodeInView() })
    const server = await scene.start()
    expect((await server.call('GET', '/v2/health')).status).toBe(200)
    const here = server.in(place.repo)
    const session = await here.createSession({ permission: [{ permission: '*', pattern: '*', action: 'allow' }] })
    await play(here, session.id, { tool: 'write', input: { filePath: join(place.repo, 'new.txt'), content: 'kept\n' } })
    expect(place.read('new.txt')).toBe('kept\n')
    const ran = await play(here, session.id, {
      tool: 'bash',
      input: { command: 'cat new.txt; touch /usr/x || echo refused', description: 'looks' },
    })
    expect(ran).toContain('refused')
    const uploaded = await fetch(`${server.url}/v2/artifacts`, {
      method: 'POST',
      body: 'bytes',
      headers: { 'content-type': 'application/octet-stream' },
    })
    expect(uploaded.status).toBe(201)
    expect((await server.call('GET', '/v2/metrics')).text).toMatch(/# EOF\n$/)
    expect(execFileSync('ls', [place.state], { encoding: 'utf8' })).toContain('agent.sqlite3')
  })
})

const SHOUT = `export default { description: 'Shouts.', args: {}, async execute() { return 'HEY' } }\n`

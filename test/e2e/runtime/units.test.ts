/** The files of packaging/: what systemd says of its units, and svc in the view of the file system that the unit gives it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import { whyNoBubblewrap } from '../server/bubblewrap.js'
import { makePlace, type Place } from '../server/place.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import { connect, createTerminal } from '../terminal/terminals.js'

const PACKAGING = fileURLToPath(new URL('../../../packaging/', import.meta.url))
const EXAMPLES = fileURLToPath(new URL('../../../examples/plugins/', import.meta.url))
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
    for (const line of ['ProtectSystem=strict', 'ProtectHome=yes', 'PrivateTmp=yes', 'PrivateDevices=yes', 'CapabilityBoundingSet='])
      expect(UNIT.split('\n')).toContain(line)
    const programs = [dirname(process.execPath), dirname(dirname(PROGRAM))].map((path) => `--ro-bind ${path} ${path}`).join(' ')
    const view = `--ro-bind / / --dev /dev --bind /proc /proc --tmpfs /home --tmpfs /tmp ${programs} --bind ${place.root} ${place.root}`
    // Somebody without rights, as the user of the unit is, in the namespaces of the machine but for his own.
    const user = '--unshare-user --uid 1000 --gid 1000 --cap-drop ALL'
    const path = join(inner, 'node')
    writeFileSync(
      path,
      `#!/bin/sh\nexec bwrap ${view} ${user} --die-with-parent --setenv TMPDIR ${place.root}/tmp ${process.execPath} "$@"\n`,
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

  test('commands run in the sandbox of svc, inside of it; terminals and plugins work, a backup is made; what the documents name does not', async () => {
    place.configure({ permission: { '*': 'allow', sandbox: 'on' } })
    cpSync(join(EXAMPLES, 'lua-word-count'), join(place.repo, '.svc/plugins/dev.example.word-count'), { recursive: true })
    const node = nodeInView()
    const svc = (...args: string[]) => execFileSync(node, [PROGRAM, ...args], { cwd: place.repo, env: place.env, encoding: 'utf8' })
    svc('plugin', 'trust', 'dev.example.word-count', '--yes')
    scene = openScene(place, { node })
    const server = (await scene.start()).in(place.repo)
    const session = await server.createSession({ permission: [{ permission: '*', pattern: '*', action: 'allow' }] })
    const look = `echo inside > kept.txt; touch ${place.home}/x || echo kept out; grep CapEff /proc/self/status`
    const ran = await play(server, session.id, { tool: 'bash', input: { command: look, description: 'looks' } })
    expect(place.read('kept.txt')).toBe('inside\n')
    expect(ran).toContain('kept out')
    expect(ran).toMatch(/CapEff:\\t0000000000000000/)
    expect(existsSync(join(place.home, 'x'))).toBe(false)
    expect(await play(server, session.id, { tool: 'word_count', input: { path: 'README.md' } })).toContain('1 words, 1 lines')

    const terminal = await createTerminal(server, {
      command: ['/bin/sh', '-c', 'ls -A /home /tmp; sudo -n true || echo no rights; read -r line'],
    })
    const viewer = await connect(server, terminal.id)
    await viewer.until(/no rights/)
    viewer.drop()
    expect(svc('backup', join(place.repo, 'kept.tar'))).toContain('kept.tar')
    // Beyond the places of the unit nothing is written, and nothing of other homes is there.
    expect(() => svc('backup', join(dirname(PACKAGING), 'kept.tar'))).toThrow(/kept\.tar could not be written/)
  })

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

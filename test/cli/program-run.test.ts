import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/published/client/client.js'
import { startForgetfulProxy } from './forgetful-proxy.js'
import { script } from './conversation.js'
import { homeApart, openHomes } from './homes.js'
import type { Home } from './program.js'

const homes = openHomes()
let home: Home
beforeEach(() => {
  home = homes.home()
})

/** Of the first session of a directory. */
const FIRST = /^first use of .* \(svc agents tells the rest\)\n/m
/** How to go on is said at the end of every run. */
const GO_ON = /^go on with: svc run --session ses_\w+ "…"\n$/m

/** Resolves once a message of the server has this text, which no other test says. */
async function saidOn(url: string, text: string): Promise<void> {
  const stop = new AbortController()
  for await (const event of createClient({ baseUrl: url }).events({ since: 0, signal: stop.signal })) {
    if (JSON.stringify(event).includes(`"${text}"`) && event.type.startsWith('message.part')) return stop.abort()
  }
}

describe('svc run', () => {
  test('answers inside its own process, on standard output alone', async () => {
    const { code, stdout, stderr } = await homeApart().run(['run', 'hello'])
    expect(code).toBe(0)
    expect(stderr).toMatch(GO_ON)
    expect(stdout.trim()).not.toBe('')
    expect(stdout.endsWith('\n')).toBe(true)
  })

  test('takes the prompt from standard input and goes on in a session', async () => {
    const first = await home.run(['run', '--output', 'events'], { stdin: 'hello\n' })
    const events = first.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; subject?: { id: string } })
    const session = events.find(({ type }) => type === 'message.updated')?.subject?.id ?? ''
    expect(session).toMatch(/^ses_/)
    expect(events.slice(-2)).toMatchObject([
      { type: 'session.status', data: { status: { type: 'idle' } } },
      { type: 'result', exitCode: 0 },
    ])
    expect((await home.run(['run', '--session', session, 'and again'])).code).toBe(0)
  })

  test('uses the running server by itself, and one that is named', async () => {
    const home = homeApart()
    const server = await home.serve([], { SVC_AGENT_TOKEN: 'secret' })
    const stranger = await home.run(['run', 'hello'])
    expect([stranger.code, stranger.stderr.includes('Set SVC_AGENT_TOKEN')]).toEqual([1, true])
    const local = await home.run(['run', 'hello'], { env: { SVC_AGENT_TOKEN: 'secret' } })
    expect(local.code).toBe(0)
    const seen = await fetch(`${server.url}/v2/sessions`, { headers: { authorization: 'Bearer secret' } })
    expect(((await seen.json()) as { items: unknown[] }).items).toHaveLength(1)
    const refused = await home.run(['run', '--server', server.url, 'hello'])
    expect([refused.code, refused.stderr.includes('Set SVC_AGENT_TOKEN')]).toEqual([1, true])
    const remote = await home.run(['run', '--server', server.url, 'hello'], { env: { SVC_AGENT_TOKEN: 'secret' } })
    expect(remote.code).toBe(0)
    expect(remote.stderr).toMatch(GO_ON)
    expect(remote.stdout.trim()).not.toBe('')
  })

  test('fails with the reason when the model does not exist', async () => {
    const { code, stderr } = await home.run(['run', '--model', 'svc/nothing', 'hello'])
    expect(code).toBe(1)
    expect(stderr).toContain('nothing')
  })

  test('shows tools on standard error and the text of every step on standard output', async () => {
    writeFileSync(join(home.workspace, 'a.txt'), 'content')
    const { code, stdout, stderr } = await home.run([
      'run',
      script({ text: 'one' }, { tool: 'read', input: { filePath: 'a.txt' } }, { text: 'two' }),
    ])
    expect([code, stdout, stderr.replace(FIRST, '').replace(GO_ON, '')]).toEqual([0, 'one\ntwo\n', '→ read a.txt\n'])
  })

  test('fails with what went wrong while generating', async () => {
    const { code, stderr } = await home.run(['run', script({ text: 'so far' }, { error: { message: 'the model is gone' } })])
    expect(code).toBe(1)
    expect(stderr).toContain('the model is gone')
  })

  test('refuses what is asked while nobody is there, allows it by policy', async () => {
    writeFileSync(join(home.workspace, 'svc.json'), '{ "permission": { "edit": "ask" } }')
    const prompt = script({ tool: 'write', input: { filePath: 'b.txt', content: 'b' } }, { text: 'done' })
    const refused = await home.run(['run', prompt])
    expect([refused.code, refused.stdout]).toEqual([3, 'done\n'])
    expect(refused.stderr).toContain('refused, because nobody is here to answer: Write b.txt (edit: b.txt)')
    expect(refused.stderr).toContain('It went on without what nobody was there to allow:\n     Write b.txt (edit: b.txt)')
    expect(existsSync(join(home.workspace, 'b.txt'))).toBe(false)
    const allowed = await home.run(['run', '--allow', 'once', prompt])
    expect([allowed.code, allowed.stdout]).toEqual([0, 'done\n'])
    expect(readFileSync(join(home.workspace, 'b.txt'), 'utf8')).toBe('b')
  })

  test('aborts the run on the server at Ctrl-C, keeps what was said, and ends with 130', async () => {
    const running = home.start(['run', '--server', homes.server.url, script({ text: 'begun' }, { delayMs: 60_000, text: 'never' })])
    await saidOn(homes.server.url, 'begun')
    running.child.kill('SIGINT')
    const { code, stdout } = await running.ended
    expect({ code, stdout }).toEqual({ code: 130, stdout: 'begun\n' })
    expect(await (await fetch(`${homes.server.url}/v2/sessions/status`)).json()).toEqual({})
  })

  test('ends with the interruption when the server is restarted in the middle', async () => {
    const home = homeApart()
    const first = await home.serve()
    const port = new URL(first.url).port
    const running = home.start(['run', '--server', first.url, script({ text: 'started' }, { delayMs: 60_000, text: 'never' })])
    await saidOn(first.url, 'started')
    first.child.kill('SIGKILL')
    await first.ended
    await home.serve(['--port', port])
    const { code, stderr } = await running.ended
    expect(code).toBe(1)
    expect(stderr).not.toBe('')
  })

  test('reads the state again, and says so, when the server no longer keeps the events it missed', async () => {
    const home = homeApart() // Its stream breaks at the first text, which is to be of this run.
    const proxy = await startForgetfulProxy((await home.serve()).url)
    const text = 'one two three four'
    const run = (...flags: readonly string[]) => home.run(['run', '--server', proxy.url, ...flags, script({ text, gapMs: 200 })])
    try {
      const { code, stdout, stderr } = await run()
      expect({ code, stdout, stderr: stderr.replace(FIRST, '').replace(GO_ON, '') }).toEqual({
        code: 0,
        stdout: 'one two three four\n',
        stderr: 'the server no longer keeps some events of this run; what happened is read again\n',
      })
    } finally {
      proxy.close()
    }
  })

  test('prints one record for programs, whatever the end, with the code it ends with', async () => {
    writeFileSync(join(home.workspace, 'svc.json'), '{ "permission": { "edit": "ask" } }')
    writeFileSync(join(home.workspace, 'schema.json'), '{ "type": "array", "items": { "type": "number" } }')
    const last = join(home.workspace, 'last.txt')
    const record = async (...args: readonly string[]) => {
      const { code, stdout } = await home.run(['run', '--json', ...args])
      return { code, ...(JSON.parse(stdout) as Record<string, unknown>) }
    }
    expect(
      await record('--model', 'offline', '--output-last-message', last, '--output-schema', 'schema.json', script({ text: '[1, 2]' })),
    ).toMatchObject({
      code: 0,
      type: 'result',
      status: 'done',
      exitCode: 0,
      answer: '[1, 2]',
      structured: [1, 2],
      model: 'svc/offline',
      refused: [],
    })
    expect(readFileSync(last, 'utf8')).toBe('[1, 2]')
    expect(await record(script({ tool: 'write', input: { filePath: 'b.txt', content: 'b' } }, { text: 'done' }))).toMatchObject({
      code: 3,
      status: 'refused',
      answer: 'done',
      refused: [{ permission: 'edit', title: 'Write b.txt', patterns: ['b.txt'] }],
    })
    expect(await record(script({ text: 'so far' }, { error: { message: 'the model is gone' } }))).toMatchObject({
      code: 1,
      status: 'failed',
      error: { message: expect.stringContaining('the model is gone') as string },
    })
    expect(await record('--session', 'ses_nope', 'hi')).toMatchObject({ code: 1, error: { code: 'resource.not_found' } })
  })

  test('begins no session with a model that is not there', async () => {
    const sessions = async () => JSON.parse((await home.run(['session', 'list', '--json'])).stdout) as { id: string }[]
    const before = await sessions()
    const { code, stderr } = await home.run(['run', '--model', 'nope', 'hi'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no model "nope"')])
    expect(await sessions()).toEqual(before)
  })

  test('begins no session with an agent that is not there', async () => {
    const sessions = async () => JSON.parse((await home.run(['session', 'list', '--json'])).stdout) as { id: string }[]
    const before = await sessions()
    const { code, stderr } = await home.run(['run', '--agent', 'nobody', 'hi'])
    expect([code, stderr]).toEqual([1, 'svc: There is no agent "nobody". Known agents: build, explore, general, plan.\n'])
    expect(await sessions()).toEqual(before)
  })

  test('tells which files the model takes none of', async () => {
    writeFileSync(join(home.workspace, 'shot.png'), Buffer.from('89504e470d0a1a0a', 'hex'))
    const { code, stderr } = await home.run(['run', '--image', join(home.workspace, 'shot.png'), 'hello'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('shot.png was not sent: svc/offline does not take image/png\n')])
    expect((await home.run(['run', 'hello'])).stderr).not.toContain('was not sent')
  })

  test('needs a prompt', async () => {
    const { code, stderr } = await home.run(['run'])
    expect([code, stderr]).toEqual([2, 'svc: the prompt on standard input is empty\n'])
  })
})

describe('svc doctor', () => {
  test('finds nothing wrong with a fresh home', async () => {
    const { code, stdout } = await homeApart().run(['doctor', '--json'])
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: { level: string; check: string; detail: string }[] }
    expect(findings.filter(({ level }) => level === 'error')).toEqual([])
    expect([code, ok]).toEqual([0, true])
    expect(findings.map(({ check }) => check)).toEqual([
      'node',
      'platform',
      'environment',
      'state directory',
      'database',
      'ripgrep',
      'git',
      'shell parser',
      'process table',
      'sandbox',
      'server',
      'configuration',
      'providers',
      'model',
      'plugins',
      'external agents',
    ])
    expect(findings.find(({ check }) => check === 'server')?.detail).toMatch(
      /^none runs here; one started for this check answers, version \d/,
    )
  })

  test('names the file with a mistake and ends with 1', async () => {
    writeFileSync(join(home.workspace, 'svc.json'), '{ "model": }')
    const { code, stdout } = await home.run(['doctor'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/FAIL +configuration +.*svc\.json/)
  })

  test('names the providers that cannot be used, and what they need', async () => {
    const provider = {
      local: { npm: '@ai-sdk/openai-compatible', auth: 'required', env: ['A_KEY', 'B_KEY'], options: { baseURL: 'http://127.0.0.1:9/v1' } },
    }
    const home = homeApart()
    const SVC_AGENT_CONFIG_CONTENT = JSON.stringify({ provider })
    const without = await home.run(['doctor'], { env: { SVC_AGENT_CONFIG_CONTENT } })
    expect(without.code).toBe(0)
    expect(without.stdout).toMatch(/^warn +providers +local cannot be used; if it needs a key, start svc with A_KEY or B_KEY set$/m)
    const withKey = await home.run(['doctor'], { env: { SVC_AGENT_CONFIG_CONTENT, B_KEY: 'secret' } })
    expect(withKey.stdout).toMatch(/^ok +providers +local, svc$/m)
  })

  test('looks at the server that holds the state', async () => {
    const { code, stdout } = await home.run(['doctor'])
    expect(code).toBe(0)
    expect(stdout).toContain(`${homes.server.url} answers`)
  })
})

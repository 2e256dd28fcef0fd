import { existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Home, makeHome } from './program.js'

let home: Home
beforeEach(() => {
  home = makeHome()
})
afterEach(() => home.close())

describe('svc', () => {
  test('prints its version and the document of its API without making any state', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
    expect(await home.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
    const openapi = await home.run(['openapi'])
    expect(openapi.code).toBe(0)
    expect(JSON.parse(openapi.stdout)).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./) as string, info: { version: '2.0.0' } })
    expect(readdirSync(home.state)).toEqual(['auth.json'])
  })

  test('explains its usage on standard error with exit code 2', async () => {
    const { code, stdout, stderr } = await home.run(['srve'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe('svc: there is no command "srve"; did you mean serve? (svc help)\n')
  })
})

describe('svc serve', () => {
  test('says one line when it can answer, answers at once, and ends in order on SIGTERM while an event stream is open', async () => {
    const server = await home.serve()
    const health = await fetch(`${server.url}/v2/health`)
    expect([health.status, ((await health.json()) as { healthy: boolean }).healthy]).toEqual([200, true])
    const stream = await fetch(`${server.url}/v2/events?tail=true`)
    server.child.kill('SIGTERM')
    const { code, stdout } = await server.ended
    await stream.text()
    expect({ code, stdout }).toEqual({ code: 0, stdout: `svc agent listening on ${server.url}\n` })
    await expect(fetch(`${server.url}/v2/health`)).rejects.toThrow('fetch failed')
    expect(existsSync(join(home.state, 'server.json'))).toBe(false)
  })

  test('keeps lines of its start, its stop and, on request, of each call in its log, without what calls are about', async () => {
    const log = async (env: Readonly<Record<string, string>>, kill: 'SIGTERM' | 'SIGINT') => {
      const server = await home.serve([], env)
      await (await fetch(`${server.url}/v2/sessions?limit=3&directory=${encodeURIComponent(home.workspace)}`)).text()
      await (await fetch(`${server.url}/v2/nothing`, { method: 'POST' })).text()
      server.child.kill(kill)
      await server.ended
      const lines = readFileSync(join(home.state, 'log/svc.log'), 'utf8').trim().split('\n')
      const read = lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ message }) => ['listening', 'answered', 'stopping', 'stopped'].includes(String(message)))
      rmSync(join(home.state, 'log'), { recursive: true })
      return { url: server.url, read }
    }
    const plain = await log({}, 'SIGTERM')
    expect(plain.read).toMatchObject([
      { level: 'info', message: 'listening', url: plain.url, version: expect.any(String) as string },
      { level: 'info', message: 'stopping', signal: 'SIGTERM' },
      { level: 'info', message: 'stopped', exitCode: 0 },
    ])
    const all = await log({ SVC_LOG: 'debug' }, 'SIGINT')
    expect(all.read).toMatchObject([
      { message: 'listening' },
      { level: 'debug', message: 'answered', method: 'GET', path: '/v2/sessions', status: 200, ms: expect.any(Number) as number },
      { level: 'debug', message: 'answered', method: 'POST', path: '/v2/nothing', status: 404 },
      { message: 'stopping', signal: 'SIGINT' },
      { message: 'stopped' },
    ])
  })

  test('that has a token tells a doctor without it so once', async () => {
    const server = await home.serve([], { SVC_AGENT_TOKEN: 'open-sesame' })
    const without = await home.run(['doctor', '--json', '--server', server.url])
    const { findings } = JSON.parse(without.stdout) as { findings: { level: string; check: string; detail: string }[] }
    expect(findings.filter(({ detail }) => detail.includes('bearer token'))).toEqual([
      { level: 'error', check: 'server', detail: expect.stringContaining('SVC_AGENT_TOKEN') as string },
    ])
    expect(findings.at(-2)).toMatchObject({ level: 'ok', check: 'server' })
    const withIt = await home.run(['doctor', '--server', server.url], { env: { SVC_AGENT_TOKEN: 'open-sesame' } })
    expect(withIt.stdout).not.toContain('bearer token')
    expect(withIt.stdout).toContain('configuration')
  })

  test('refuses an emptied database beside its log, as the doctor does, and touches neither', async () => {
    const server = await home.serve()
    server.child.kill('SIGKILL')
    await server.ended
    const database = join(home.state, 'agent.sqlite3')
    truncateSync(database)
    const look = () => ['', '-wal', '-shm'].map((suffix) => readFileSync(database + suffix).toString('base64'))
    const before = look()
    expect(before[1]).not.toBe('')
    const problem = `The database ${database} is damaged: it is empty although its write-ahead log ${database}-wal holds`
    const refused = await home.run(['serve', '--port', '0'])
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: '' })
    expect(refused.stderr).toContain(problem)
    const doctor = await home.run(['doctor'])
    expect(doctor.code).toBe(1)
    expect(doctor.stdout.replaceAll(/ {2,}/g, ' ')).toContain(`FAIL database ${problem}`)
    expect(look()).toEqual(before)
  })

  test('says how to go on when the port is taken, and leaves the state directory free', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const { code, stdout, stderr } = await home.run(['serve', '--port', String(port)])
    taken.close()
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(
      `svc: port ${port} of 127.0.0.1 is in use, perhaps by another svc; choose another with --port, or any free one with --port 0`,
    )
    await home.serve()
  })

  test('refuses a second server on the same state, and names the first, which goes on', async () => {
    const first = await home.serve()
    const { code, stdout, stderr } = await home.run(['serve', '--port', '0'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(
      `svc: a server at ${first.url} (process ${first.child.pid}) is using ${home.state}: stop it, or choose another`,
    )
    expect((await fetch(`${first.url}/v2/health`)).status).toBe(200)
    expect(existsSync(join(home.state, 'server.json'))).toBe(true)
  })

  test('refuses to listen beyond loopback without a credential, and does with one', async () => {
    const open = await home.run(['serve', '--port', '0', '--hostname', '0.0.0.0'])
    expect(open.code).toBe(1)
    expect(open.stderr).toContain('SVC_AGENT_TOKEN')
    const closed = await home.serve(['--hostname', '0.0.0.0'], { SVC_AGENT_TOKEN: 'secret' })
    expect(closed.url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/)
  })

  test('refuses an empty token instead of trusting everybody', async () => {
    const { code, stderr } = await home.run(['serve', '--port', '0'], { env: { SVC_AGENT_TOKEN: '' } })
    expect(code).toBe(1)
    expect(stderr).toContain('SVC_AGENT_TOKEN is empty')
  })
})

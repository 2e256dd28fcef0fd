/**
 * The image of packaging/image, built from the packed program and run where `SVC_TEST_PODMAN` says so: its value is what this machine needs
 * before the command of podman, as JSON; `SVC_TEST_PODMAN_RUN` what it needs behind `run`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const TOKEN = 'the-token-of-the-image'
const HOUR = 3_600_000

/** One, or none: a machine without containers has no test to skip. */
const machines = [process.env['SVC_TEST_PODMAN']].flatMap((options) => (options === undefined ? [] : [JSON.parse(options) as string[]]))
const runOptions = JSON.parse(process.env['SVC_TEST_PODMAN_RUN'] ?? '[]') as string[]

/** Asks the server inside of the container, from there: it may have no network but its own. */
const ASK = `
const [method, path, body] = JSON.parse(process.argv[1])
const headers = { authorization: 'Bearer ${TOKEN}', ...(body && { 'content-type': 'application/json' }) }
const answer = await fetch('http://127.0.0.1:4096' + path, { method, headers, body: body && JSON.stringify(body) })
process.stdout.write(JSON.stringify({ status: answer.status, text: await answer.text() }))`

test('the recipe takes no file that is not there, and has made nothing by then', () => {
  const empty = mkdtempSync(join(tmpdir(), 'svc-image-none-'))
  const made = spawnSync(join(ROOT, 'packaging/image/build'), [join(empty, 'none.tgz', 'x')], {
    env: { ...process.env, TMPDIR: empty },
    encoding: 'utf8',
  })
  expect(made).toMatchObject({ status: 1, stderr: expect.stringContaining('none.tgz') as string })
  expect(readdirSync(empty)).toEqual([])
  rmSync(empty, { recursive: true })
})

for (const options of machines) {
  describe('the image', () => {
    const name = `svc-test-${process.pid}`
    const image = `localhost/${name}`
    const podman = (...args: string[]) => execFileSync('podman', [...options, ...args], { encoding: 'utf8' }).trim()
    const ask = (method: string, path: string, body?: object) =>
      JSON.parse(podman('exec', name, 'node', '--input-type=module', '-e', ASK, JSON.stringify([method, path, body]))) as {
        status: number
        text: string
      }
    beforeAll(() => {
      const folder = mkdtempSync(join(tmpdir(), 'svc-image-'))
      try {
        const pack = [join(ROOT, 'scripts/package.mjs'), '--out', folder]
        const file = execFileSync(process.execPath, pack, { encoding: 'utf8', env: { ...process.env, SVC_TEST_BUILT: '1' } }).trim()
        const env = { ...process.env, SVC_PODMAN_OPTIONS: options.join(' ') }
        execFileSync(join(ROOT, 'packaging/image/build'), [file, image], { env, stdio: ['ignore', 'ignore', 'inherit'] })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
      const health = podman('image', 'inspect', '--format', '{{index .Labels "dev.svc.health"}}', image)
      podman(
        'run',
        '--detach',
        '--name',
        name,
        '--pull',
        'never',
        '--health-cmd',
        health,
        '--env',
        `SVC_AGENT_TOKEN=${TOKEN}`,
        ...runOptions,
        image,
      )
    }, HOUR)
    afterAll(() => {
      podman('rm', '--force', '--volumes', name)
      podman('image', 'rm', '--force', image)
    })

    test('runs as a user without rights, whose health is told, and who works in its workspace and keeps its state in its volume', async () => {
      await expect.poll(() => ask('GET', '/v2/health').status).toBe(200)
      expect(podman('exec', name, 'id', '-u')).toBe('10001')
      podman('healthcheck', 'run', name) // throws when it is not well
      const session = JSON.parse(
        ask('POST', '/v2/sessions', { title: 'a test', permission: [{ permission: '*', pattern: '*', action: 'allow' }] }).text,
      ) as { id: string }
      const call = JSON.stringify({ tool: 'bash', input: { command: 'id -u > who.txt; git --version >> who.txt', description: 'who' } })
      ask('POST', `/v2/sessions/${session.id}/prompt`, { prompt: `\`\`\`svc-script\n${call}\n{"text":"done"}\n\`\`\`` })
      ask('POST', `/v2/sessions/${session.id}/wait`)
      expect(podman('exec', name, 'cat', '/workspace/who.txt')).toMatch(/^10001\ngit version /)
      expect(podman('exec', name, 'ls', '/var/lib/svc/state')).toContain('agent.sqlite3')
      expect(ask('GET', '/v2/metrics').text).toMatch(/# EOF\n$/)
      expect(() => podman('exec', name, 'touch', '/usr/x')).toThrow('Permission denied')
      expect(podman('exec', name, 'svc', 'upgrade')).toMatch(/installed by an image of a container[^]*pull the newer image/)
      expect(podman('exec', name, 'svc', 'backup', '/var/lib/svc/kept.tar')).toContain('kept.tar')
      expect(ask('POST', '/v2/plugins/dev.svc.pty', { command: ['/bin/sh'] }).status).toBe(200)
    })

    test('stops in order, and goes on with what it kept', async () => {
      podman('stop', '--time', '20', name)
      expect(podman('inspect', '--format', '{{.State.ExitCode}}', name)).toBe('0')
      podman('start', name)
      await expect.poll(() => ask('GET', '/v2/health').status).toBe(200)
      expect(ask('GET', '/v2/sessions?limit=5').text).toContain('a test')
    })
  })
}

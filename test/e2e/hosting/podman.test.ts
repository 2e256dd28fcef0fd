// Holds service "Authentication" 8; http-contract §7.2.
/**
 * Workers in containers of podman. What containers are told is looked at everywhere; they are run where `SVC_TEST_PODMAN` says so, after
 * `examples/hosting/image`: its value is what this machine needs before `run`, as JSON; `SVC_TEST_PODMAN_RUN` what it needs behind it.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { hasPackages, type Host, installHosting, openHost, type User } from './host.js'

/** One, or none: a machine without containers has no test to skip. */
const machines = [process.env['SVC_TEST_PODMAN']].flatMap((options) => (options === undefined ? [] : [options]))
const runOptions = process.env['SVC_TEST_PODMAN_RUN'] ?? '[]'

describe.skipIf(!hasPackages())(
  `containers${hasPackages() ? '' : ' (skipped: .ci/hosting has not installed the packages of the example)'}`,
  () => {
    let folder: string
    beforeAll(() => {
      folder = installHosting()
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    test('have no network, no capabilities, nothing to write to but their volume, and the limits of the spec', async () => {
      const { podmanArguments } = await import(pathToFileURL(join(folder, 'dist/parts.js')).href)
      const allocation = {
        owner: { tenant: 'acme', workspace: 'alpha' },
        generation: 3,
        provider: 'podman',
        spec: { image: 'svc', region: 'here', vcpus: 2, memory_mib: 512, disk_gib: 1 },
        launch: { version: 1, runtime_id: 'rt', root: '/workspace', state_root: '/state', expires_at: 1, verification_key: 'A'.repeat(43) },
      }
      const programs = { package: '/svc', main: 'dist/main.js', inside: '/inside' }
      const line = (podmanArguments(allocation, '/home', { programs, runOptions: [] }) as string[]).join(' ')
      for (const part of [
        '--network none',
        '--cap-drop all',
        '--security-opt no-new-privileges',
        '--read-only',
        '--cpus 2',
        '--memory 512m',
        '--pull never',
      ]) {
        expect(line).toContain(part)
      }
      expect([...line.matchAll(/--volume (\S+)/g)].map(([, volume]) => volume)).toEqual([
        '/home/root:/workspace:rw',
        '/home/state:/state:rw',
        '/home/run:/run/svc:rw',
        '/home/launch:/launch:ro',
        '/svc:/opt/svc:ro',
        '/inside:/opt/inside:ro',
      ])
    })
  },
)

for (const options of machines) {
  describe('workers in podman', () => {
    let host: Host
    let alpha: User
    beforeAll(async () => {
      host = await openHost(['--driver', 'podman', '--podman', options, '--podman-run', runOptions])
      alpha = await host.connect('acme', 'alpha')
    })
    afterAll(() => host.close())

    const podman = (...args: string[]) =>
      execFileSync('podman', [...(JSON.parse(options) as string[]), ...args], { encoding: 'utf8' }).trim()

    async function run(user: User, session: Session, command: string): Promise<string> {
      const call = JSON.stringify({ tool: 'bash', input: { command, description: 'a look around' } })
      await user.must('POST', `/v2/sessions/${session.id}/prompt`, { prompt: `\`\`\`svc-script\n${call}\n{"text":"done"}\n\`\`\`` })
      await user.must('POST', `/v2/sessions/${session.id}/wait`)
      return JSON.stringify(await user.must<Message[]>('GET', `/v2/sessions/${session.id}/context`))
    }

    test('run commands, see no network, and a container that is killed is replaced from its volume', async () => {
      const session = await alpha.must<Session>('POST', '/v2/sessions', ALLOWED)
      expect(await run(alpha, session, 'echo kept > kept.txt; cat /proc/net/dev | wc -l; cat kept.txt')).toContain('3\\nkept')
      const { machine_id: machine } = (await host.ask('acme', 'alpha', 'status')).body.binding.status.handle
      expect(podman('inspect', '--format', '{{.HostConfig.NetworkMode}} {{.HostConfig.Memory}}', machine)).toBe('none 1073741824')
      podman('kill', machine)
      await expect.poll(async () => (await host.ask('acme', 'alpha', 'status')).body.verification?.handle.generation).toBe(2)
      const next = await host.connect('acme', 'alpha')
      expect(await run(next, session, 'cat kept.txt; echo again')).toContain('kept\\nagain')
      expect(podman('ps', '--all', '--format', '{{.Names}}')).not.toContain(machine)
    })
  })
}

const ALLOWED = { title: 'a test', permission: [{ permission: '*', pattern: '*', action: 'allow' }] }
